// Output, Records: what goes to standard output: buffered bytes, and lists of records in every format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "cellar/status.h"
#include "tools/frame/colour.h"
#include "tools/frame/pager.h"

namespace cellar {

enum class Format : uint8_t { kTable, kJson, kJsonl, kCsv, kRaw };
// "table", "json", "jsonl", "csv", "raw"; anything else is kTable.
Format format_of(std::string_view name);

// How far a document of JSON is indented: not at all in JSON Lines, where it is one line.
inline int json_indent(Format format) { return format == Format::kJsonl ? -1 : 2; }

// Output: a buffer in front of a file descriptor. A reader that goes away is not an error: writing then does
// nothing, and loops should ask is_lost() and end. One thread.
//
// Control characters have no effect where people read the output. A terminal gets them as \xHH in every
// format. A text for people (set_for_people()) gets them so at every destination. Other output is written
// byte for byte. Pieces must not end inside a character of UTF-8.
class Output {
 public:
  explicit Output(int descriptor);
  ~Output() {
    flush();
    finish_paging();
  }
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
  // Switches the style of what follows. Only texts for people have styles, where color_wanted() says so.
  void set_style(Style style);
  // Writes a text whose first word, such as "ok", has a style.
  void write_verdict(std::string_view text, Style style);
  // Writes a table, its first line as a heading.
  void write_table(std::string_view table);

  // Allows a pager: an answer that is longer than the terminal goes through it.
  void allow_pager(bool allowed) { may_page_ = allowed; }
  bool may_page() const { return may_page_; }
  // While a pager shows the answer, other text must not reach the terminal: say_later() keeps it.
  bool is_paged() const { return pager_.is_running(); }
  void say_later(std::string_view text) { later_ += text; }
  // Ends the answer: waits for the pager, and returns what was kept for after it.
  std::string finish_paging();
  // Returns how many columns a line of the terminal has; SIZE_MAX if the output is no terminal.
  size_t columns() const;
  // Returns how many lines the terminal shows; SIZE_MAX if that is unknown.
  size_t rows() const;

  // From now on there; the caller keeps the descriptor open. Forgets what was wrong with the one before.
  void redirect(int descriptor);
  // States that the following output is a text for people, no matter where it goes.
  void set_for_people(bool is) {
    if (is != for_people_) flush();
    for_people_ = is;
  }
  // Returns whether more output is useless: nobody reads it, or it cannot be written.
  bool is_lost() const { return reader_gone_ || !status_.ok(); }
  // Why output was lost, when it was not the reader who left.
  const Status& status() const { return status_; }

 private:
  static constexpr size_t kBufferBytes = 64 * 1024;
  struct StyleMark {
    size_t at;  // in buffer_
    Style style;
  };
  std::string safe_text() const;
  void begin_paging();

  int descriptor_;
  bool terminal_;
  bool for_people_ = false;
  std::string buffer_;
  std::vector<StyleMark> styles_;
  bool reader_gone_ = false;
  Status status_;
  bool may_page_ = false;
  bool answered_ = false;  // something of this answer is on the terminal
  Pager pager_;
  int terminal_descriptor_ = -1;  // while the pager runs
  std::string later_;
};

// Returns "1 row", "1,204 rows", "2 families", "3 indexes": the count and the noun in its number.
std::string counted(uint64_t count, std::string_view one);
// Returns the noun in its number: "file" for 1, "files" for other counts.
std::string plural(uint64_t count, std::string_view one);
// A name as a report for people shows it: on one line, no control character in it.
std::string shown_name(std::string_view name);
// "1,234 B".
std::string exact_bytes(uint64_t bytes);
// A bar of eighths of a character, `width` characters for a share of 1.
std::string bar(double share, size_t width);
// Appends a field of a CSV line, quoted where it must be (RFC 4180).
void append_csv(std::string& to, std::string_view field);
// "2026-11-20T18:04:11.203Z"; LATEST for the sentinel; the plain number outside years 0 to 9999.
std::string time_text(int64_t milliseconds);

// Records: rows of named fields: an aligned table, one JSON document, JSON Lines, or CSV. Tables are printed
// by finish(), and after each 10,000 rows, so that any number of rows fits into memory.
class Records {
 public:
  // `schema` is "cellar.list/1", `list` the key of the array in the JSON document.
  Records(Output& out, Format format, std::string schema, std::string list);

  Records& text(std::string name, std::string_view value);
  // Text that people see in another form.
  Records& text(std::string name, std::string_view value, std::string people);
  // Bytes of a key: text for people, escaped for programs; or `people` in their place.
  Records& bytes(std::string name, std::string_view value);
  Records& shown_bytes(std::string name, std::string_view value, std::string people) {
    return text(std::move(name), escaped(value), std::move(people));
  }
  Records& count(std::string name, uint64_t value);
  Records& number(std::string name, int64_t value);
  Records& size(std::string name, uint64_t value);  // bytes
  Records& time(std::string name, int64_t milliseconds);
  Records& flag(std::string name, bool value);
  // A fraction with three digits after the point.
  Records& fraction(std::string name, double value);
  // Microseconds for programs, in a member "micros"; people see "took".
  Records& micros(int64_t value);
  // A list of names in JSON; elsewhere one text with `between` between them.
  Records& list(std::string name, const std::vector<std::string>& values, std::string_view between);
  // Any other value: its JSON, its text in other formats, and what people see.
  Records& value(std::string name, std::string json, std::string text, std::string people);
  // A member of JSON that other formats leave out: `json` is its value.
  Records& json_only(std::string name, std::string json);
  // Ends the record.
  void add();
  // Fields since the last add() are about all records. They are members of the JSON document and a last line
  // in JSON Lines; tables and CSV leave them out.
  // `members` are further members of the JSON document, already JSON ("\"stats\":{…}"); empty: none.
  void finish(std::string_view members = {});

 private:
  struct Field {
    std::string name;
    std::string json;
    std::string people;
    std::string plain;
    std::string heading = {};  // of tables, where it is not the name
  };
  void put_json(std::string& to) const;
  void begin();
  void print_table();

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
