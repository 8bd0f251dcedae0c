// Output, Records: what goes to standard output: buffered bytes, and lists of records in every format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/status.h"

namespace cellar {

enum class Format : uint8_t { kTable, kJson, kJsonl, kCsv, kRaw };
// "table", "json", "jsonl", "csv", "raw"; anything else is kTable.
Format format_of(std::string_view name);

// How far a document of JSON is indented: not at all in JSON Lines, where it is one line.
inline int json_indent(Format format) { return format == Format::kJsonl ? -1 : 2; }

// Output: a buffer in front of a file descriptor. A reader that goes away is not an error: writing then does
// nothing, and loops should ask reader_gone() and end. One thread.
//
// Where people read it, control characters cannot do anything: a terminal gets them as \xHH in every format,
// and so do texts for people (set_for_people()) wherever they go. Other output is written byte for byte.
// Pieces must not end inside a character of UTF-8.
class Output {
 public:
  explicit Output(int descriptor);
  ~Output() { flush(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view bytes) {
    buffer_ += bytes;
    if (buffer_.size() >= kBufferBytes) flush();
  }
  // For appending in place; call commit() after a piece.
  std::string& buffer() { return buffer_; }
  void commit() {
    if (buffer_.size() >= kBufferBytes) flush();
  }
  void flush();
  // From now on there; the caller keeps the descriptor open. Forgets what was wrong with the one before.
  void redirect(int descriptor);
  // Whether what follows is a text for people, no matter where it goes.
  void set_for_people(bool is) {
    if (is != for_people_) flush();
    for_people_ = is;
  }
  bool reader_gone() const { return reader_gone_; }
  // Why output was lost, when it was not the reader who left.
  const Status& status() const { return status_; }

 private:
  static constexpr size_t kBufferBytes = 64 * 1024;
  int descriptor_;
  bool terminal_;
  bool for_people_ = false;
  std::string buffer_;
  bool reader_gone_ = false;
  Status status_;
};

// "1 row", "1,204 rows".
std::string counted(uint64_t count, std::string_view one);
// A name as a report for people shows it: on one line, no control character in it.
std::string shown_name(std::string_view name);
// "1,234 B".
std::string exact_bytes(uint64_t bytes);
// Returns how many characters of a terminal the UTF-8 text takes: one for each code point.
size_t shown_width(std::string_view text);
// A bar of eighths of a character, `width` characters for a share of 1.
std::string bar(double share, size_t width);
// Appends a field of a CSV line, quoted where it must be (RFC 4180).
void append_csv(std::string& to, std::string_view field);
// "2026-11-20T18:04:11.203Z"; LATEST for the sentinel; the plain number outside years 0 to 9999.
std::string time_text(int64_t milliseconds);

// Records: rows of named fields: an aligned table, one JSON document, JSON Lines, or CSV. Tables are printed
// by finish().
class Records {
 public:
  // `schema` is "cellar.list/1", `list` the key of the array in the JSON document.
  Records(Output& out, Format format, std::string schema, std::string list);

  Records& text(std::string name, std::string_view value);
  Records& bytes(std::string name, std::string_view value);  // escaped
  Records& count(std::string name, uint64_t value);
  Records& number(std::string name, int64_t value);
  Records& size(std::string name, uint64_t value);  // bytes
  Records& time(std::string name, int64_t milliseconds);
  Records& flag(std::string name, bool value);
  // Ends the record.
  void add();
  // Fields since the last add() are about all records: members of the JSON document, a last line in JSON
  // Lines; tables and CSV leave them out.
  void finish();

 private:
  struct Field {
    std::string name;
    std::string json;
    std::string people;
    std::string plain;
  };
  void put_json(std::string& to) const;
  void begin();

  Output& out_;
  Format format_;
  std::string schema_;
  std::string list_;
  std::vector<Field> fields_;
  std::vector<std::vector<std::string>> table_;
  bool begun_ = false;
  bool first_ = true;
};

}  // namespace cellar
