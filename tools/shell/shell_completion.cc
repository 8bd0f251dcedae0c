// A reader that follows the statement up to the cursor, and the offers for the place where it ends.
#include "tools/shell/shell_completion.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "base/bytes.h"
#include "base/utf8.h"
#include "cellar/filter.h"
#include "cellar/options.h"
#include "tools/shell/shell_call.h"
#include "tools/store/schema_text.h"

namespace cellar {
namespace {

// Where the cursor stands.
struct Place {
  std::string command;                 // empty: it is the command that is typed
  std::vector<std::string> positions;  // whole arguments before the cursor, without their quotes
  std::string option;                  // whose value is typed
  std::string brackets;                // open ones, outermost first
  char quote = 0;                      // that is open
  bool comma = false;                  // one was typed since the command: HBase's syntax
  bool assigned = false;               // the option was written option='…'
  bool unknown = false;                // within a dictionary that is a value: nothing is known of its names
  size_t from = 0;                     // of the piece that is typed
  std::string piece;
};

// Follows one statement; each piece of text between separators comes to an end, or is the last one.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  Place read();

 private:
  void separator(char c);
  void open(char bracket);
  void close();
  void end_of_piece(bool was_quoted);
  void arrow();
  bool is_separator(char c) const;

  std::string_view text_;
  size_t at_ = 0;
  Place place_;
  std::vector<std::string> outer_options_;
};

bool Reader::is_separator(char c) const {
  return std::string_view(" \t\r\n,{}[];").find(c) != std::string_view::npos ||
         (c == '(' && place_.command.empty()) || (c == ')' && place_.brackets.empty());
}

void Reader::end_of_piece(bool was_quoted) {
  if (place_.piece.empty() && !was_quoted) return;
  if (place_.command.empty()) {
    place_.command = place_.piece;
  } else if (place_.brackets.empty() && place_.option.empty() &&
             (was_quoted || place_.piece.find('=') == std::string::npos)) {
    place_.positions.push_back(place_.piece);
  }
  if (place_.assigned) place_.option.clear();
  place_.assigned = false;
  place_.piece.clear();
}

// The piece before it names an option.
void Reader::arrow() {
  std::string name = place_.piece;
  if (name.empty() && place_.brackets.empty() && !place_.positions.empty()) {
    name = place_.positions.back();
    place_.positions.pop_back();
  } else if (name.empty()) {
    name = place_.option;  // a blank stands between name and arrow
  }
  place_.piece.clear();
  place_.option = upper_ascii(name);
}

void Reader::open(char bracket) {
  outer_options_.push_back(place_.option);
  place_.brackets += bracket;
  if (bracket != '{') return;
  place_.unknown = !place_.option.empty();
  place_.option.clear();
}

void Reader::close() {
  if (place_.brackets.empty()) return;
  const bool list = place_.brackets.back() == '[';
  place_.brackets.pop_back();
  place_.option = outer_options_.back();
  outer_options_.pop_back();
  place_.unknown = false;
  if (place_.brackets.empty() && list && place_.option.empty()) place_.positions.emplace_back();
}

void Reader::separator(char c) {
  const bool names_option = !place_.brackets.empty() && place_.brackets.back() == '{' &&
                            place_.option.empty() && !place_.piece.empty();
  const std::string piece = place_.piece;
  end_of_piece(false);
  if (names_option && c == ' ') place_.option = upper_ascii(piece);
  if (c == '{' || c == '[') open(c);
  if (c == '}' || c == ']') close();
  if (c == ',') {
    place_.comma = true;
    if (place_.brackets.empty() || place_.brackets.back() == '{') place_.option.clear();
  }
  if (c == ';' && place_.brackets.empty()) {
    place_ = Place();
    outer_options_.clear();
  }
}

Place Reader::read() {
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (place_.quote != 0) {
      if (c == '\\' && at_ + 1 < text_.size()) {
        place_.piece += text_[++at_];
      } else if (c == place_.quote) {
        place_.quote = 0;
        end_of_piece(true);
        place_.from = at_ + 1;
      } else {
        place_.piece += c;
      }
      continue;
    }
    if (c == '=' && at_ + 1 < text_.size() && text_[at_ + 1] == '>') {
      arrow();
      ++at_;
      place_.from = at_ + 1;
    } else if (is_separator(c)) {
      separator(c);
      place_.from = at_ + 1;
    } else if ((c == '\'' || c == '"') && (place_.piece.empty() || place_.piece.ends_with('='))) {
      place_.assigned = place_.piece.ends_with('=');
      if (place_.assigned) place_.option = upper_ascii(place_.piece.substr(0, place_.piece.size() - 1));
      place_.piece.clear();
      place_.quote = c;
      place_.from = at_ + 1;
    } else {
      place_.piece += c;
    }
  }
  return std::move(place_);
}

// The operands that a usage names, by position: "t", "f:q", "table|json|csv". The last one may repeat.
struct Usage {
  std::vector<std::string> positions;
  bool repeats = false;
};

Usage usage_of(const ShellVerb& verb) {
  std::string_view line = verb.usage.substr(0, verb.usage.find('\n'));
  line.remove_prefix(std::min(verb.name.size(), line.size()));
  line = line.substr(0, line.find('{'));
  Usage usage;
  usage.repeats = line.find("…") != std::string_view::npos;
  std::string word;
  for (const char c : line) {
    const bool ends = std::string_view(" ,[]").find(c) != std::string_view::npos;
    if (ends && !word.empty() && word != "…") usage.positions.push_back(word);
    if (ends) word.clear();
    if (!ends && c != '\'') word += c;
  }
  if (!word.empty() && word != "…") usage.positions.push_back(word);
  return usage;
}

class Offers {
 public:
  Offers(const Place& place, const ShellNames& names, bool closed)
      : place_(place), names_(names), closed_(closed) {}
  ShellCompletion all();

 private:
  void offer(const std::string& name, std::string_view ending, std::string_view opening = "");
  // A name that is whole: with the quote that is open, else a blank.
  void offer_whole(const std::string& name) {
    offer(name, place_.quote == 0 ? " " : closed_ ? "" : std::string_view(&place_.quote, 1));
  }
  void offer_all(const std::vector<std::string>& names) {
    for (const std::string& name : names) offer_whole(name);
  }
  void commands();
  void position(const ShellVerb& verb);
  void value();
  void options(const ShellVerb& verb);
  void families(bool as_columns);
  void filters();
  bool takes_attributes() const { return place_.command == "create" || place_.command.starts_with("alter"); }

  const Place& place_;
  const ShellNames& names_;
  bool closed_;  // the open quote is closed just after the cursor
  std::string start_ = place_.piece;
  size_t from_ = place_.from;
  ShellCompletion found_;
};

void Offers::offer(const std::string& name, std::string_view ending, std::string_view opening) {
  const bool plain = name.find_first_of("'\"\\ ") == std::string::npos;
  if (plain && name.starts_with(start_))
    found_.candidates.push_back(std::string(opening) + name + std::string(ending));
}

void Offers::commands() {
  for (const std::string& name : shell_verb_names()) offer_whole(name);
}

// Offers families. Also opens a quote if nothing is typed after a comma.
void Offers::families(bool as_columns) {
  if (place_.positions.empty() || !names_.families) return;
  const std::string_view opening = place_.quote == 0 && place_.comma && start_.empty() ? "'" : "";
  for (const std::string& family : names_.families(place_.positions.front())) {
    if (as_columns) {
      offer(family, ":", opening);
    } else if (opening.empty()) {
      offer_whole(family);
    } else {
      offer(family, "'", opening);
    }
  }
}

// Within a filter's text the word before the cursor is a filter's name.
void Offers::filters() {
  size_t begin = start_.size();
  while (begin > 0 && ((start_[begin - 1] | 0x20) >= 'a' && (start_[begin - 1] | 0x20) <= 'z')) --begin;
  from_ += begin;
  start_.erase(0, begin);
  for (const std::string& name : filter_names()) offer(name, "(");
}

void Offers::value() {
  constexpr std::array<std::string_view, 5> kSwitches = {"REVERSED", "RAW", "CACHE_BLOCKS", "ALL_METRICS",
                                                         "SKIP_FLUSH"};
  std::string option = place_.option;
  if (const size_t equals = place_.piece.find('='); option.empty() && equals != std::string::npos) {
    option = upper_ascii(place_.piece.substr(0, equals));
    from_ += equals + 1;
    start_.erase(0, equals + 1);
  }
  if (option == "COLUMN" || option == "COLUMNS") families(true);
  if (option == "NAME" && takes_attributes()) families(false);
  if (option == "FILTER" && place_.quote != 0) filters();
  if (std::ranges::find(kSwitches, option) != kSwitches.end() && place_.quote == 0)
    for (const char* const word : {"true", "false"}) offer(word, "");
}

// NAME => in HBase's syntax, name= among plain words.
void Offers::options(const ShellVerb& verb) {
  if (place_.quote != 0 || place_.unknown) return;
  std::vector<std::string> all(verb.options.begin(), verb.options.end());
  if (takes_attributes()) {
    all.emplace_back("NAME");
    for (std::string& name : family_attributes()) all.push_back(std::move(name));
  }
  const bool plain_words = place_.brackets.empty() && !place_.comma;
  for (const std::string& name : all)
    offer(plain_words ? lower_ascii(name) : name, plain_words ? "=" : " => ");
}

void Offers::position(const ShellVerb& verb) {
  const Usage usage = usage_of(verb);
  size_t i = place_.positions.size();
  if (i >= usage.positions.size() && usage.repeats) i = usage.positions.size() - 1;
  const std::string kind = i < usage.positions.size() ? usage.positions[i] : "";
  const bool of_snapshots = verb.name.find("_snapshot") != std::string_view::npos;
  if (kind == "t" || kind == "tables" || (kind == "pattern" && !of_snapshots)) offer_all(names_.tables);
  if ((kind == "name" && of_snapshots) || (kind == "pattern" && of_snapshots)) offer_all(names_.snapshots);
  if (kind == "f:q") families(true);
  if (kind == "f" && verb.name != "create") families(false);
  if (kind == "command") commands();
  if (kind == "FILE" && names_.files)
    for (const std::string& path : names_.files(start_))
      path.ends_with('/') ? offer(path, "") : offer_whole(path);
  for (size_t at = 0; kind.find('|') != std::string::npos && at < kind.size();) {
    const size_t end = std::min(kind.find('|', at), kind.size());
    offer_whole(kind.substr(at, end - at));
    at = end + 1;
  }
  if (!place_.positions.empty() && (place_.quote == 0)) options(verb);
}

ShellCompletion Offers::all() {
  const ShellVerb* const verb = find_shell_verb(place_.command);
  if (place_.command.empty()) {
    if (place_.quote == 0) commands();
  } else if (verb == nullptr) {
    return {};
  } else if (!place_.option.empty() ||
             (place_.quote == 0 && place_.brackets.empty() && place_.piece.find('=') != std::string::npos)) {
    value();
  } else if (place_.brackets == "{") {
    options(*verb);
  } else if (place_.brackets == "[") {
    families(true);
  } else if (place_.brackets.empty()) {
    position(*verb);
  }
  found_.from = from_;
  std::ranges::sort(found_.candidates);
  // Not std::ranges::unique, whose answer clang 14 cannot take.
  found_.candidates.erase(std::unique(found_.candidates.begin(), found_.candidates.end()),
                          found_.candidates.end());
  return std::move(found_);
}

}  // namespace

ShellCompletion complete_shell(std::string_view text, size_t cursor, const ShellNames& names) {
  cursor = std::min(cursor, text.size());
  const Place place = Reader(text.substr(0, cursor)).read();
  const bool closed = place.quote != 0 && cursor < text.size() && text[cursor] == place.quote;
  return Offers(place, names, closed).all();
}

std::string common_start(const std::vector<std::string>& candidates) {
  if (candidates.empty()) return "";
  std::string common = candidates.front();
  for (const std::string& each : candidates)
    common.resize(static_cast<size_t>(std::ranges::mismatch(common, each).in1 - common.begin()));
  // Characters that differ may begin with the same bytes.
  size_t whole = 0;
  while (whole < common.size()) {
    const Utf8Piece piece = utf8_piece(std::string_view(common).substr(whole));
    if (piece.open) break;
    whole += piece.bytes;
  }
  common.resize(whole);
  return common;
}

std::vector<std::string> paths_beginning(const std::string& start) {
  namespace fs = std::filesystem;
  constexpr size_t kPathsMax = 500;
  const size_t slash = start.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : start.substr(0, slash + 1);
  std::vector<std::string> found;
  std::error_code failed;
  for (fs::directory_iterator at(folder.empty() ? "." : folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    std::string path = folder + at->path().filename().string();
    if (!path.starts_with(start)) continue;
    std::error_code unknown;
    if (at->is_directory(unknown)) path += '/';
    found.push_back(std::move(path));
    if (found.size() == kPathsMax) break;
  }
  return found;
}

}  // namespace cellar
