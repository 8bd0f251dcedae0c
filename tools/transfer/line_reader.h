// LineReader: the lines of a text file or of standard input, plain or compressed by gzip.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cellar/status.h"

namespace cellar {

// One thread. A byte order mark of UTF-8 at the beginning is skipped.
class LineReader {
 public:
  // Opens a file; "-" is standard input. Errors: kNotFound or kIoError if it cannot be opened. Also
  // kInvalidArgument if it holds no text: a directory, an HFile, UTF-16, or the magic of another kind of
  // file. The hint says how to get its content in.
  static Result<std::unique_ptr<LineReader>> open(const std::string& path);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Reads the next line, without its end. Returns false at the end of the input and after an error.
  bool next(std::string& line);
  // Returns why next() returned false; ok at the end of the input.
  const Status& status() const { return status_; }
  uint64_t line() const { return line_; }
  // Returns how many bytes of the file were read; those of a gzip file are compressed.
  uint64_t bytes() const { return bytes_; }
  // Returns the size of the file; 0 if it is unknown.
  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  struct Gzip;
  LineReader(int descriptor, std::string path);
  Status begin();
  bool fill();
  size_t read_some(char* to, size_t room);
  bool inflate_some();

  int descriptor_;
  std::string path_;
  std::string raw_;     // bytes of the file that wait for being decompressed
  std::string text_;    // text that was read
  size_t at_ = 0;       // where the next line begins in text_
  bool ended_ = false;  // the file has no more bytes
  std::unique_ptr<Gzip> gzip_;
  uint64_t line_ = 0;
  uint64_t bytes_ = 0;
  uint64_t size_ = 0;
  Status status_;
};

}  // namespace cellar
