// ScanOptions: the options that choose rows, shared by scan, count and export.
#pragma once

#include <string>

#include "cellar/query.h"
#include "tools/frame/arguments.h"
#include "tools/frame/operands.h"
#include "tools/frame/read_options.h"

namespace cellar {

struct ScanOptions {
  std::string start;
  std::string stop;
  std::string prefix;
  bool start_exclusive = false;
  bool stop_inclusive = false;
  uint64_t limit = 0;
  ReadOptions read;

  void declare(Arguments& arguments);
  // kInvalidArgument for text that cannot be parsed.
  Status apply(Scan& scan) const;
};

}  // namespace cellar
