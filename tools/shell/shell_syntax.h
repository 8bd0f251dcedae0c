// The language of the shell: HBase's literals ('text', "\x00", {KEY => [1, 2]}) and plain words. Text becomes
// statements, a statement becomes values; nothing is evaluated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/status.h"

namespace cellar {

constexpr size_t kShellDepthMax = 64;                  // of brackets in brackets
constexpr size_t kShellStatementBytesMax = 64u << 20;  // holds the largest cell with every byte escaped

struct ShellValue {
  enum class Kind : uint8_t {
    kWord,  // without quotes: t1, 42, true, limit=3; \xHH decoded
    kText,  // 'quoted' or "quoted", decoded
    kList,  // [items]
    kMap,   // {items}, each a pair
    kPair,  // text => items[0]; also text='…' and text=[…]
  };
  Kind kind = Kind::kWord;
  size_t at = 0;  // offset in the statement
  std::string text = {};
  std::vector<ShellValue> items = {};

  bool plain() const { return kind == Kind::kWord || kind == Kind::kText; }
  bool is_word(std::string_view word) const { return kind == Kind::kWord && text == word; }
};

struct ShellStatement {
  std::string name;  // empty: blanks and comments only
  size_t at = 0;
  std::vector<ShellValue> arguments;
};

// kInvalidArgument with a hint; `fault_at` is then the offset of what is wrong.
Result<ShellStatement> parse_shell_statement(std::string_view text, size_t& fault_at);

// ShellSplitter: cuts text into statements at line ends and semicolons outside quotes and brackets. A comma,
// an arrow or a backslash at the end of a line continues it. A byte order mark at the beginning is skipped.
// Each byte is looked at once. One thread.
class ShellSplitter {
 public:
  void add(std::string_view text);
  // No more text comes: what is left is a statement, whole or not.
  void finish() { finished_ = true; }
  // The next statement without what ended it, and the line it begins in, from 1.
  bool next(std::string& statement, size_t& line);
  // Returns how many characters of its line stand before the statement that next() returned last.
  size_t column() const { return column_; }
  // Returns true if a statement has begun and has not ended.
  bool pending() const { return state_.begun; }
  // Forgets the statement that is pending.
  void discard();
  size_t pending_bytes() const { return buffer_.size() - head_; }
  std::string_view pending_text() const { return std::string_view(buffer_).substr(head_); }

 private:
  struct State {
    size_t depth = 0;
    char quote = 0;
    bool escape = false;
    bool comment = false;
    bool begun = false;      // something but blanks and comments was seen
    bool named = false;      // the first word is over
    bool call = false;       // name( … )
    bool in_word = false;    // of an argument without quotes, where # is a letter
    bool continues = false;  // the last thing seen needs more: a comma, an arrow, a backslash
    char before = ' ';
    char before_that = ' ';
  };
  // Returns true if the statement ends at this byte.
  bool step(char c);
  bool step_quoted(char c);
  // False until it is known whether there is one.
  bool skip_byte_order_mark();

  std::string buffer_;
  size_t head_ = 0;  // of the statement that is pending
  size_t scan_ = 0;
  size_t line_ = 1;  // at scan_
  size_t head_line_ = 1;
  size_t scan_column_ = 0;  // characters of the line before scan_
  size_t head_column_ = 0;
  size_t column_ = 0;
  bool finished_ = false;
  bool at_start_ = true;
  State state_;
};

}  // namespace cellar
