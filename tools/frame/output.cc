// Buffered standard output, and records in four formats.
#include "tools/frame/output.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "base/iso_time.h"
#include "base/text_printer.h"
#include "base/text_width.h"
#include "base/utf8.h"
#include "cellar/cell.h"
#include "tools/frame/terminal_line.h"

namespace cellar {

Format format_of(std::string_view name) {
  if (name == "json") return Format::kJson;
  if (name == "jsonl") return Format::kJsonl;
  if (name == "csv") return Format::kCsv;
  if (name == "raw") return Format::kRaw;
  return Format::kTable;
}

namespace {

// Returns true if the bytes must be examined character by character. A byte beyond ASCII may belong to a
// control character of C1.
bool may_hold_controls(std::string_view bytes) {
  return std::ranges::any_of(bytes, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\t') || byte >= 0x7F;
  });
}

}  // namespace

Output::Output(int descriptor) : descriptor_(descriptor), terminal_(::isatty(descriptor) != 0) {}

void Output::redirect(int descriptor) {
  flush();
  finish_paging();
  descriptor_ = descriptor;
  terminal_ = ::isatty(descriptor) != 0;
  reader_gone_ = false;
  status_ = Status();
}

size_t Output::columns() const {
  if (!terminal_) return SIZE_MAX;
  winsize size = {};
  const int descriptor = terminal_descriptor_ >= 0 ? terminal_descriptor_ : descriptor_;
  const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : SIZE_MAX;
}

size_t Output::rows() const {
  if (!terminal_) return SIZE_MAX;
  winsize size = {};
  const int descriptor = terminal_descriptor_ >= 0 ? terminal_descriptor_ : descriptor_;
  const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return known ? size.ws_row : SIZE_MAX;
}

void Output::set_style(Style style) {
  if (for_people_ && color_wanted(terminal_descriptor_ >= 0 ? terminal_descriptor_ : descriptor_))
    styles_.push_back({buffer_.size(), style});
}

void Output::write_verdict(std::string_view text, Style style) {
  const size_t end = std::min(text.find_first_of(" \n"), text.size());
  set_style(style);
  buffer_ += text.substr(0, end);
  set_style(Style::kPlain);
  write(text.substr(end));
}

void Output::write_table(std::string_view table) {
  const size_t end = std::min(table.find('\n'), table.size());
  set_style(Style::kHeading);
  buffer_ += table.substr(0, end);
  set_style(Style::kPlain);
  write(table.substr(end));
}

// The buffer with its control characters escaped, and with the program's own between them.
std::string Output::safe_text() const {
  const auto safe = [](std::string_view piece) {
    return may_hold_controls(piece) ? escaped_controls(piece) : std::string(piece);
  };
  std::string text;
  size_t from = 0;
  for (const StyleMark& mark : styles_) {
    text += safe(std::string_view(buffer_).substr(from, mark.at - from));
    text += style_code(mark.style);
    from = mark.at;
  }
  return text + safe(std::string_view(buffer_).substr(from));
}

// Starts the pager if the buffer is longer than the terminal and nothing before it was shown.
void Output::begin_paging() {
  if (!may_page_ || !terminal_ || answered_ || is_paged()) return;
  winsize size = {};
  if (::ioctl(descriptor_, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return;
  size_t lines = 0;
  for (size_t from = 0; from < buffer_.size() && lines < size.ws_row;) {
    const size_t end = std::min(buffer_.find('\n', from), buffer_.size());
    lines += 1 + text_width(std::string_view(buffer_).substr(from, end - from)) / (size.ws_col + 1u);
    from = end + 1;
  }
  if (lines < size.ws_row) return;
  const int input = pager_.start();
  if (input < 0) return;
  terminal_descriptor_ = std::exchange(descriptor_, input);
  TerminalLine::instance().set_free(false);
}

std::string Output::finish_paging() {
  flush();
  answered_ = false;
  if (is_paged()) {
    pager_.finish();
    descriptor_ = std::exchange(terminal_descriptor_, -1);
    reader_gone_ = false;  // the person has left the pager
    TerminalLine::instance().set_free(true);
  }
  return std::exchange(later_, {});
}

void Output::flush() {
  if (buffer_.empty()) return;
  begin_paging();
  if ((terminal_ || for_people_) && (!styles_.empty() || may_hold_controls(buffer_))) buffer_ = safe_text();
  styles_.clear();
  if (terminal_ && !is_paged()) TerminalLine::instance().wipe();
  size_t at = 0;
  while (at < buffer_.size() && !is_lost()) {
    const ssize_t written = ::write(descriptor_, buffer_.data() + at, buffer_.size() - at);
    if (written >= 0) {
      at += static_cast<size_t>(written);
    } else if (errno == EPIPE) {
      reader_gone_ = true;
    } else if (errno != EINTR) {
      status_ = Status::with_code(errno == ENOSPC ? Code::kNoSpace : Code::kIoError,
                                  fmt::format("standard output: {}", std::strerror(errno)));
    }
  }
  answered_ = true;
  if (terminal_ && !is_paged()) TerminalLine::instance().answered(buffer_.back());
  buffer_.clear();
}

std::string plural(uint64_t count, std::string_view one) {
  std::string word(one);
  if (count == 1) return word;
  const bool consonant =
      word.size() > 1 && std::string_view("aeiou").find(word[word.size() - 2]) == std::string::npos;
  if (word.ends_with('y') && consonant) return word.substr(0, word.size() - 1) + "ies";
  const bool hisses =
      word.ends_with('s') || word.ends_with('x') || word.ends_with("ch") || word.ends_with("sh");
  return word + (hisses ? "es" : "s");
}

std::string counted(uint64_t count, std::string_view one) {
  return human_count(count) + " " + plural(count, one);
}

std::string shown_name(std::string_view name) {
  std::string text;
  for (const char c : escaped_controls(name)) {
    if (c == '\n' || c == '\t')
      append_escaped(text, {&c, 1});
    else
      text += c;
  }
  return text;
}

std::string exact_bytes(uint64_t bytes) { return human_count(bytes) + " B"; }

std::string bar(double share, size_t width) {
  static const char* const kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<size_t>(share * static_cast<double>(width) * 8 + 0.5);
  std::string text;
  for (size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[eighths % 8];
}

void append_csv(std::string& to, std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    to += field;
    return;
  }
  to += '"';
  for (const char c : field) {
    if (c == '"') to += '"';
    to += c;
  }
  to += '"';
}

std::string time_text(int64_t milliseconds) {
  if (milliseconds == kLatestTimestamp) return "LATEST";
  const int64_t within = milliseconds % 1000;
  const std::optional<std::string> text = iso_seconds(milliseconds / 1000 - (within < 0 ? 1 : 0));
  return text ? fmt::format("{}.{:03}Z", *text, within < 0 ? within + 1000 : within)
              : std::to_string(milliseconds);
}

constexpr size_t kTableRowsMax = 10'000;

Records::Records(Output& out, Format format, std::string schema, std::string list)
    : out_(out), format_(format), schema_(std::move(schema)), list_(std::move(list)) {}

Records& Records::text(std::string name, std::string_view value) {
  Field field{std::move(name), "", shown_name(value), std::string(value)};
  append_json_string(field.json, value);
  fields_.push_back(std::move(field));
  return *this;
}

Records& Records::bytes(std::string name, std::string_view value) {
  return shown_bytes(std::move(name), value, readable(value));
}

Records& Records::text(std::string name, std::string_view value, std::string people) {
  text(std::move(name), value);
  fields_.back().people = std::move(people);
  return *this;
}

Records& Records::count(std::string name, uint64_t value) {
  fields_.push_back({std::move(name), std::to_string(value), human_count(value), std::to_string(value)});
  return *this;
}

Records& Records::number(std::string name, int64_t value) {
  const std::string plain = std::to_string(value);
  fields_.push_back({std::move(name), plain, plain, plain});
  return *this;
}

Records& Records::size(std::string name, uint64_t value) {
  fields_.push_back({std::move(name), std::to_string(value), human_bytes(value), std::to_string(value)});
  return *this;
}

Records& Records::time(std::string name, int64_t milliseconds) {
  const std::string plain = std::to_string(milliseconds);
  fields_.push_back({std::move(name), plain, time_text(milliseconds), plain});
  return *this;
}

Records& Records::flag(std::string name, bool value) {
  const std::string word = value ? "true" : "false";
  fields_.push_back({std::move(name), word, value ? "yes" : "no", word});
  return *this;
}

Records& Records::fraction(std::string name, double value) {
  const std::string text = fmt::format("{:.3f}", value);
  fields_.push_back({std::move(name), text, text, text});
  return *this;
}

Records& Records::micros(int64_t value) {
  const std::string plain = std::to_string(value);
  fields_.push_back({"micros", plain, human_micros(value), plain, "took"});
  return *this;
}

Records& Records::list(std::string name, const std::vector<std::string>& values, std::string_view between) {
  std::string json = "[";
  std::string plain;
  for (const std::string& value : values) {
    if (json.size() > 1) json += ',';
    append_json_string(json, value);
    if (!plain.empty()) plain += between;
    plain += value;
  }
  fields_.push_back({std::move(name), json + "]", shown_name(plain), plain});
  return *this;
}

Records& Records::value(std::string name, std::string json, std::string text, std::string people) {
  fields_.push_back({std::move(name), std::move(json), std::move(people), std::move(text)});
  return *this;
}

Records& Records::json_only(std::string name, std::string json) {
  if (format_ == Format::kJson || format_ == Format::kJsonl)
    fields_.push_back({std::move(name), std::move(json), "", ""});
  return *this;
}

void Records::put_json(std::string& to) const {
  to += '{';
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (i > 0) to += ',';
    append_json_string(to, fields_[i].name);
    to += ':';
    to += fields_[i].json;
  }
  to += '}';
}

void Records::begin() {
  if (begun_) return;
  begun_ = true;
  if (format_ != Format::kJson) return;
  std::string& to = out_.buffer();
  to += "{\"schema\":";
  append_json_string(to, schema_);
  to += ",";
  append_json_string(to, list_);
  to += ":[";
}

void Records::add() {
  begin();
  std::string& to = out_.buffer();
  if (format_ == Format::kJson || format_ == Format::kJsonl) {
    if (format_ == Format::kJson) to += first_ ? "\n" : ",\n";
    put_json(to);
    if (format_ == Format::kJsonl) to += '\n';
  } else if (format_ == Format::kCsv || format_ == Format::kRaw) {
    if (first_ && format_ == Format::kCsv) {
      for (size_t i = 0; i < fields_.size(); ++i) (i > 0 ? to += ',' : to) += fields_[i].name;
      to += '\n';
    }
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (i > 0) to += ',';
      append_csv(to, fields_[i].plain);
    }
    to += '\n';
  } else {
    std::vector<std::string> heading;
    std::vector<std::string> row;
    for (const Field& field : fields_) {
      heading.push_back(field.heading.empty() ? field.name : field.heading);
      row.push_back(field.people);
    }
    if (table_.empty()) table_.push_back(std::move(heading));
    table_.push_back(std::move(row));
    if (table_.size() > kTableRowsMax) print_table();
  }
  first_ = false;
  fields_.clear();
  out_.commit();
}

void Records::finish(std::string_view members) {
  begin();
  if (format_ == Format::kJson) {
    std::string& to = out_.buffer();
    to += first_ ? "]" : "\n]";
    for (const Field& field : fields_) {
      to += ',';
      append_json_string(to, field.name);
      to += ':' + field.json;
    }
    if (!members.empty()) to.append(",").append(members);
    to += "}\n";
  }
  if (format_ == Format::kJsonl && !fields_.empty()) {
    put_json(out_.buffer());
    out_.buffer() += '\n';
  }
  if (format_ == Format::kTable && !table_.empty()) print_table();
}

void Records::print_table() {
  out_.write_table(aligned_table(table_));
  table_.clear();
}

}  // namespace cellar
