// Options that commands share that write: how durable the write is, and values that come from files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cellar/options.h"
#include "cellar/status.h"
#include "tools/frame/arguments.h"

namespace cellar {

// --durability. Without it the table decides, else the engine.
class WriteChoice {
 public:
  // kLogged leaves out skip_wal: the command ends after its write, which would be lost then.
  enum class Levels : uint8_t { kLogged, kAll };
  void declare(Arguments& arguments, Levels levels = Levels::kLogged);
  WriteOptions options() const;

 private:
  std::string durability_;
};

// --from-file COLUMN=FILE: the file's bytes, as they are, become the value of the column.
class FileValues {
 public:
  void declare(Arguments& arguments);
  bool empty() const { return given_.empty(); }
  // Reads all files, and standard input for "-", which can be given once. Returns columns as they were typed
  // and values. kInvalidArgument, kNotFound, kIoError; kLimit for a file that is larger than a value may be.
  Result<std::vector<std::pair<std::string, std::string>>> read() const;

 private:
  std::vector<std::string> given_;
};

}  // namespace cellar
