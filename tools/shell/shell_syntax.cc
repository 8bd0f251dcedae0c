// The splitter, and a parser by recursive descent with bounded depth.
#include "tools/shell/shell_syntax.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/utf8.h"

namespace cellar {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_quote(char c) { return c == '\'' || c == '"'; }
bool is_bracket(char c) { return c == '{' || c == '}' || c == '[' || c == ']'; }

// Returns true if a quote after these two bytes opens a text, rather than being part of a word (it's).
bool opens_text(char before, char before_that) {
  return is_blank(before) || before == ',' || before == '{' || before == '[' || before == '(' ||
         before == '=' || (before == '>' && before_that == '=');
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class Parser {
 public:
  Parser(std::string_view text, size_t& fault_at) : text_(text), fault_at_(fault_at) {}

  Result<ShellStatement> statement();

 private:
  Status fault(size_t at, std::string message, std::string_view hint) {
    while (at >= text_.size() && at > 0 && is_blank(text_[at - 1])) --at;  // the caret follows what is there
    fault_at_ = at;
    return Status::invalid_argument(std::move(message)).hinting(hint);
  }
  bool done() const { return at_ >= text_.size(); }
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool at_arrow() const { return peek() == '=' && peek(1) == '>'; }
  void skip_blanks();
  Status name(ShellStatement& statement);
  Status arguments(ShellStatement& statement);
  // A value, or a pair.
  Result<ShellValue> item(size_t depth);
  Result<ShellValue> value(size_t depth);
  Result<ShellValue> word();
  Result<ShellValue> quoted();
  Status escape(std::string& to);
  Status hex_escape(std::string& to);
  bool control_escape(std::string& to);
  std::string without_java(size_t from) const;
  Status unicode_escape(std::string& to);
  Result<ShellValue> bracketed(size_t depth);
  Status needs_separator(const ShellValue& before);
  Status missing_behind(const ShellValue& value, std::string message, std::string_view hint);

  std::string_view text_;
  size_t& fault_at_;
  size_t at_ = 0;
  bool call_ = false;
};

void Parser::skip_blanks() {
  while (!done()) {
    if (is_blank(peek())) {
      ++at_;
    } else if (peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      ++at_;
    } else if (peek() == '#') {  // words take theirs
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

Result<ShellStatement> Parser::statement() {
  ShellStatement statement;
  skip_blanks();
  if (done()) return statement;
  CELLAR_TRY(name(statement));
  CELLAR_TRY(arguments(statement));
  return statement;
}

Status Parser::name(ShellStatement& statement) {
  statement.at = at_;
  if (is_quote(peek()) || is_bracket(peek()) || peek() == ',')
    return fault(at_, "expected a command", "help lists the commands");
  const size_t from = at_;
  while (!done() && !is_blank(peek()) && peek() != '(' && peek() != '#') ++at_;
  statement.name = text_.substr(from, at_ - from);
  if (peek() == '(') {
    call_ = true;
    ++at_;
  }
  const size_t dot = statement.name.find('.', 1);
  const bool assigns = statement.name.find('=') != std::string::npos;
  const size_t before = at_;
  skip_blanks();
  if (assigns || (peek() == '=' && peek(1) != '>' && peek(1) != '=' && !call_))
    return fault(statement.at, "the shell runs commands, not Ruby: it has no variables",
                 "write names out; a program in any language can write a file for -f");
  if (dot != std::string::npos)
    return fault(statement.at + dot, "the shell runs commands, not Ruby: it has no methods",
                 fmt::format("write {} 'table', …", escaped(statement.name.substr(dot + 1))));
  at_ = before;
  return {};
}

Status Parser::arguments(ShellStatement& statement) {
  size_t comma = std::string::npos;
  bool first = true;
  while (true) {
    skip_blanks();
    if (done() || (call_ && peek() == ')')) break;
    if (peek() == ',') {
      if (first || comma != std::string::npos)
        return fault(at_, "a value is missing before this comma", "an empty text is written ''");
      comma = at_++;
      continue;
    }
    CELLAR_TRY_ASSIGN(ShellValue next, item(1));
    statement.arguments.push_back(std::move(next));
    CELLAR_TRY(needs_separator(statement.arguments.back()));
    comma = std::string::npos;
    first = false;
  }
  if (comma != std::string::npos) return fault(comma, "a value is missing after this comma", "");
  if (!call_) return {};
  if (done()) return fault(text_.size(), "the parenthesis after the command is not closed", "write )");
  ++at_;
  skip_blanks();
  return done() ? Status() : fault(at_, "unexpected text after the closing parenthesis", "begin a new line");
}

// Checks that a value ends here: 'a''b' and 'a'b are slips.
Status Parser::needs_separator(const ShellValue& before) {
  const char c = peek();
  if (done() || is_blank(c) || c == ',' || is_bracket(c) || (call_ && c == ')') || c == '\\' || c == '#')
    return {};
  return missing_behind(before, "a comma or a blank is missing here", "a quote within '…' is written \\'");
}

// Returns a fault after this value. Its place is here, unless the value is a text that ends in another line.
// The quote that ends such a text was probably meant to begin the next one.
Status Parser::missing_behind(const ShellValue& value, std::string message, std::string_view hint) {
  const ShellValue& text = value.kind == ShellValue::Kind::kPair ? value.items.front() : value;
  const size_t end = text_.find('\n', text.at);
  if (text.kind != ShellValue::Kind::kText || end >= at_) return fault(at_, std::move(message), hint);
  const auto lines = std::count(text_.begin() + static_cast<std::ptrdiff_t>(text.at),
                                text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
  return fault(text.at,
               fmt::format("this quote closes {} below, and no comma or blank follows",
                           lines == 1 ? "in the line" : fmt::format("{} lines", lines)),
               "is a quote missing at the end of the text?");
}

Result<ShellValue> Parser::item(size_t depth) {
  CELLAR_TRY_ASSIGN(ShellValue key, value(depth));
  if (key.kind == ShellValue::Kind::kPair) return key;
  const size_t behind = at_;
  skip_blanks();
  if (!at_arrow()) {
    at_ = behind;
    return key;
  }
  if (!key.plain()) return fault(key.at, "unexpected list before =>", "write NAME => value");
  at_ += 2;
  skip_blanks();
  if (done() || peek() == ',' || peek() == '}' || peek() == ']' || (call_ && peek() == ')'))
    return fault(at_, fmt::format("the value of {} is missing", escaped(key.text)), "write NAME => value");
  key.kind = ShellValue::Kind::kPair;
  CELLAR_TRY_ASSIGN(key.items.emplace_back(), value(depth));
  return key;
}

Result<ShellValue> Parser::value(size_t depth) {
  if (is_quote(peek())) return quoted();
  if (peek() == '{' || peek() == '[') return bracketed(depth);
  if (peek() == '}' || peek() == ']')
    return fault(at_, fmt::format("unexpected {}: no bracket is open", peek()),
                 "a word with brackets is written in quotes");
  if (at_arrow()) return fault(at_, "a name is missing before =>", "write NAME => value");
  CELLAR_TRY_ASSIGN(ShellValue first, word());
  const bool names = first.text.size() > 1 && first.text.ends_with('=') && text_[at_ - 1] == '=';
  if (!names || (!is_quote(peek()) && peek() != '[' && peek() != '{')) return first;
  first.text.pop_back();
  first.kind = ShellValue::Kind::kPair;
  CELLAR_TRY_ASSIGN(first.items.emplace_back(), value(depth));
  return first;
}

Result<ShellValue> Parser::word() {
  const size_t from = at_;
  while (!done()) {
    const char c = peek();
    if (is_blank(c) || is_bracket(c) || c == ',' || at_arrow() || (call_ && c == ')')) break;
    if (is_quote(c) && at_ > from && text_[at_ - 1] == '=') break;
    ++at_;
  }
  if (at_ == from) return fault(from, "a value is missing here", "an empty text is written ''");
  if (const std::string plain = without_java(from); !plain.empty())
    return fault(from, "the shell runs commands, not Ruby: it cannot create Java objects",
                 fmt::format("write FILTER => \"{}\" (cellar help filters)", plain));
  const Result<std::string> bytes = unescaped(text_.substr(from, at_ - from));
  if (!bytes.ok())
    return fault(from, std::string(bytes.status().message()),
                 "a byte is written \\xHH, a backslash itself \\x5C; or put the word in '…'");
  return ShellValue{.kind = ShellValue::Kind::kWord, .at = from, .text = *bytes};
}

// "ColumnPaginationFilter(1, 0)" for org.apache.….ColumnPaginationFilter.new(1, 0), which begins at `from`;
// else empty.
std::string Parser::without_java(size_t from) const {
  constexpr std::string_view kNew = ".new(";
  const size_t made = text_.find(kNew, from);
  if (made == std::string_view::npos || made > at_) return "";
  const std::string_view path = text_.substr(from, made - from);
  const std::string_view name = path.substr(path.rfind('.') + 1);
  const bool is_path = std::ranges::all_of(path, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
  });
  if (!is_path || name.empty() || name.front() < 'A' || name.front() > 'Z') return "";
  const size_t open = made + kNew.size();
  std::string operands(text_.substr(open, text_.find(')', open) - open));
  std::ranges::replace(operands, '"', '\'');
  const bool simple = operands.find_first_of(".(:") == std::string::npos;  // or they are Java's, too
  return fmt::format("{}({})", name, simple ? escaped(operands) : "…");
}

Result<ShellValue> Parser::quoted() {
  ShellValue text{.kind = ShellValue::Kind::kText, .at = at_};
  const char quote = text_[at_++];
  while (!done() && peek() != quote) {
    if (quote == '"' && peek() == '\\') {
      CELLAR_TRY(escape(text.text));
      continue;
    }
    if (quote == '"' && peek() == '#' && peek(1) == '{')
      return fault(at_, "#{…} is Ruby, and is not evaluated here", "in '…' it is plain text");
    if (peek() == '\\' && (peek(1) == quote || peek(1) == '\\')) ++at_;
    text.text += text_[at_++];
  }
  if (done())
    return fault(text.at, "the quote that opens here is not closed",
                 fmt::format("a quote in a text is written \\{}", quote));
  ++at_;
  return text;
}

// At a backslash between double quotes.
Status Parser::escape(std::string& to) {
  constexpr std::string_view kLetters = "abefnrstv0";
  constexpr std::string_view kBytes("\a\b\x1b\f\n\r \t\v\0", 10);
  if (at_ + 1 >= text_.size()) {
    at_ = text_.size();  // the caller says that the quote is open
    return {};
  }
  const char c = peek(1);
  if (c == '\n' || (c == '\r' && peek(2) == '\n')) {  // the line goes on
    at_ += c == '\n' ? 2 : 3;
    return {};
  }
  if (c == 'x') return hex_escape(to);
  if (c == 'u') return unicode_escape(to);
  if (control_escape(to)) return {};
  if (c >= '0' && c <= '7') {
    uint32_t byte = 0;
    size_t digits = 1;
    for (; digits <= 3 && peek(digits) >= '0' && peek(digits) <= '7'; ++digits)
      byte = byte * 8 + static_cast<uint32_t>(peek(digits) - '0');
    to += static_cast<char>(byte & 0xFF);
    at_ += digits;
    return {};
  }
  const size_t letter = kLetters.find(c);
  to += letter == std::string_view::npos ? c : kBytes[letter];
  at_ += 2;
  return {};
}

// \cA, \C-A: a control character; \c? is the byte 0x7F.
bool Parser::control_escape(std::string& to) {
  const size_t letter = peek(1) == 'c' ? 2 : peek(1) == 'C' && peek(2) == '-' ? 3 : 0;
  const char c = peek(letter);
  if (letter == 0 || at_ + letter >= text_.size() || c < '?' || c > 'z') return false;
  constexpr char kControlBits = 0x1F;
  to += c == '?' ? '\x7F' : static_cast<char>(c & kControlBits);
  at_ += letter + 1;
  return true;
}

Status Parser::hex_escape(std::string& to) {
  const int high = hex_digit(peek(2));
  const int low = hex_digit(peek(3));
  if (high < 0)
    return fault(at_, "\\x is followed by hexadecimal digits", "write \\x00 to \\xFF, a backslash \\\\");
  to += static_cast<char>(low < 0 ? high : high * 16 + low);
  at_ += low < 0 ? 3 : 4;
  return {};
}

Status Parser::unicode_escape(std::string& to) {
  constexpr uint32_t kLast = 0x10FFFF;
  const bool braces = peek(2) == '{';
  uint32_t code = 0;
  size_t digits = 0;
  size_t ahead = braces ? 3 : 2;
  for (; digits < (braces ? 6u : 4u) && hex_digit(peek(ahead)) >= 0; ++digits, ++ahead)
    code = code * 16 + static_cast<uint32_t>(hex_digit(peek(ahead)));
  const bool whole = braces ? digits > 0 && peek(ahead) == '}' : digits == 4;
  if (!whole || code > kLast || (code >= 0xD800 && code <= 0xDFFF))
    return fault(at_, "\\u is followed by the number of a character", "write \\u00E9 or \\u{1F600}");
  append_utf8(to, code);
  at_ += ahead + (braces ? 1 : 0);
  return {};
}

Result<ShellValue> Parser::bracketed(size_t depth) {
  const char open = peek();
  const char close = open == '{' ? '}' : ']';
  if (depth > kShellDepthMax)
    return fault(at_, fmt::format("brackets are nested deeper than {}", kShellDepthMax), "");
  ShellValue all{.kind = open == '{' ? ShellValue::Kind::kMap : ShellValue::Kind::kList, .at = at_++};
  while (true) {
    skip_blanks();
    if (done())
      return fault(all.at, fmt::format("the {} that opens here is not closed", open),
                   fmt::format("write {}", close));
    if (peek() == close) break;
    CELLAR_TRY_ASSIGN(ShellValue next, item(depth + 1));
    if (open == '{' && next.kind != ShellValue::Kind::kPair)
      return fault(next.at, "expected pairs between { and }",
                   "write {NAME => value, …}; write a text in quotes");
    if (open == '[' && next.kind == ShellValue::Kind::kPair)
      return fault(next.at, "expected values between [ and ], not pairs", "write pairs between { and }");
    all.items.push_back(std::move(next));
    const size_t behind = at_;
    skip_blanks();
    if (peek() == ',') {
      ++at_;
    } else if (!done() && peek() != close) {
      const std::string wanted = fmt::format("expected a comma or {}", close);
      return at_ == behind ? missing_behind(all.items.back(), wanted, "") : fault(at_, wanted, "");
    }
  }
  ++at_;
  return all;
}

}  // namespace

Result<ShellStatement> parse_shell_statement(std::string_view text, size_t& fault_at) {
  return Parser(text, fault_at).statement();
}

// Editors on Windows begin files with one.
bool ShellSplitter::skip_byte_order_mark() {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (!at_start_) return true;
  if (!finished_ && buffer_.size() < kMark.size() && kMark.starts_with(buffer_)) return false;
  at_start_ = false;
  if (buffer_.starts_with(kMark)) head_ = scan_ = kMark.size();
  return true;
}

void ShellSplitter::add(std::string_view text) {
  buffer_.erase(0, head_);
  scan_ -= head_;
  head_ = 0;
  buffer_ += text;
}

void ShellSplitter::discard() {
  buffer_.clear();
  head_ = scan_ = 0;
  head_line_ = line_;
  scan_column_ = head_column_ = 0;
  state_ = State();
}

bool ShellSplitter::step_quoted(char c) {
  if (state_.escape) {
    state_.escape = false;
  } else if (c == '\\') {
    state_.escape = true;
  } else if (c == state_.quote) {
    state_.quote = 0;
    state_.in_word = false;
  }
  return false;
}

bool ShellSplitter::step(char c) {
  State& s = state_;
  if (s.quote != 0) return step_quoted(c);
  if (s.comment) {
    if (c != '\n') return false;
    s.comment = false;
  }
  if (c == '\n' && s.depth == 0 && !s.continues) return true;
  if (c == ';' && s.depth == 0) return true;
  if (is_blank(c)) {
    s.named = s.named || s.begun;
    s.in_word = false;
    return false;
  }
  if (c == '#' && !s.in_word) {
    s.named = s.named || s.begun;
    s.comment = true;
    return false;
  }
  const bool arrow = c == '>' && s.before == '=';
  s.continues = c == ',' || arrow || c == '\\';
  s.in_word = s.named && !is_bracket(c) && c != ',' && !arrow && !(s.call && c == ')');
  if (s.named && is_quote(c) && opens_text(s.before, s.before_that)) s.quote = c;
  if (s.begun && !s.named && c == '(') {
    s.call = true;
    s.named = true;
    ++s.depth;
  } else if (s.call && s.depth == 1 && c == ')') {
    s.call = false;
    s.depth = 0;
  } else if (s.named && (c == '{' || c == '[')) {
    ++s.depth;
  } else if (s.named && (c == '}' || c == ']') && s.depth > 0) {
    --s.depth;
  }
  s.begun = true;
  return false;
}

bool ShellSplitter::next(std::string& statement, size_t& line) {
  if (!skip_byte_order_mark()) return false;
  while (scan_ < buffer_.size()) {
    const char c = buffer_[scan_];
    const bool begun = state_.begun;
    const bool ends = step(c);
    if (!begun && state_.begun) head_line_ = line_;
    if (c == '\n') {
      ++line_;
      scan_column_ = 0;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++scan_column_;
    }
    state_.before_that = state_.before;
    state_.before = c;
    ++scan_;
    if (!ends) continue;
    const bool any = state_.begun;
    statement = buffer_.substr(head_, scan_ - 1 - head_);
    line = head_line_;
    column_ = head_column_;
    head_ = scan_;
    head_column_ = scan_column_;
    state_ = State();
    if (any) return true;
  }
  if (!finished_ || !state_.begun) return false;
  statement = buffer_.substr(head_);
  line = head_line_;
  column_ = head_column_;
  discard();
  return true;
}

}  // namespace cellar
