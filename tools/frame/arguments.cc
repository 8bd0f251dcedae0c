// Parsing through CLI11, whose exceptions end here, and help that fits a screen.
#include "tools/frame/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "base/bytes.h"
#include "base/text_width.h"
#include "cellar/plugin.h"
#include "tools/frame/operands.h"
#include "tools/frame/output.h"

namespace cellar {

struct Arguments::Parser {
  CLI::App app;
};

namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : std::string(between)) + word;
  return all;
}

// Appends a line of two columns. The help in the right column is broken at 100 columns.
void append_lines(std::string& to, size_t width, const std::string& left, std::string_view help) {
  constexpr size_t kColumns = 100;
  const std::string margin = "\n" + std::string(width + 2, ' ');
  const size_t taken = text_width(left);
  to += "  " + left;
  to += taken + 2 > width ? margin : std::string(width - taken, ' ');
  size_t column = width + 2;
  while (!help.empty()) {
    const std::string word(help.substr(0, help.find(' ')));
    help.remove_prefix(std::min(help.size(), word.size() + 1));
    const bool fits = column + 1 + text_width(word) <= kColumns;
    if (column > width + 2) to += fits ? " " : margin;
    column = (fits ? column : width + 2) + 1 + text_width(word);
    to += word;
  }
  to += "\n";
}

}  // namespace

Arguments::Arguments(std::string command, std::string summary)
    : command_(std::move(command)), summary_(std::move(summary)), parser_(std::make_unique<Parser>()) {
  parser_->app.set_help_flag();
}

Arguments::~Arguments() = default;

// CLI11 requires names without blanks and brackets. Errors use the name that people see.
std::string Arguments::inner_name() const { return "OPERAND" + std::to_string(operand_lines_.size()); }

Arguments& Arguments::operand(const std::string& name, std::string& to, const std::string& help) {
  parser_->app.add_option(inner_name(), to)->required();
  usage_ += " " + name;
  operand_lines_.push_back({name, help});
  return *this;
}

Arguments& Arguments::optional_operand(const std::string& name, std::string& to, const std::string& help) {
  parser_->app.add_option(inner_name(), to);
  usage_ += " [" + name + "]";
  operand_lines_.push_back({name, help});
  return *this;
}

Arguments& Arguments::operands(const std::string& name, std::vector<std::string>& to, const std::string& help,
                               bool at_least_one) {
  CLI::Option* option = parser_->app.add_option(inner_name(), to);
  if (at_least_one) option->required();
  usage_ += at_least_one ? " " + name + "…" : " [" + name + "…]";
  operand_lines_.push_back({name, help});
  return *this;
}

Arguments& Arguments::words(std::vector<std::string>& to, const std::string& usage,
                            const std::string& other) {
  parser_->app.add_option(inner_name(), to);
  usage_ += " " + usage;
  other_usage_ = other;
  return *this;
}

Arguments& Arguments::word(const std::string& name, const std::string& help) {
  operand_lines_.push_back({name, help});
  return *this;
}

Arguments& Arguments::option(const std::string& names, std::string& to, const std::string& value,
                             const std::string& help) {
  parser_->app.add_option(names, to);
  option_lines_.push_back({names + " " + value, help});
  for (std::string& name : words_of(names)) option_names_.push_back(std::move(name));
  return *this;
}

Arguments& Arguments::option_if(const std::string& names, std::optional<std::string>& to,
                                const std::string& value, const std::string& help) {
  parser_->app.add_option_function<std::string>(names, [&to](const std::string& text) { to = text; });
  option_lines_.push_back({names + " " + value, help});
  for (std::string& name : words_of(names)) option_names_.push_back(std::move(name));
  return *this;
}

Arguments& Arguments::option_list(const std::string& names, std::vector<std::string>& to,
                                  const std::string& value, const std::string& help) {
  parser_->app.add_option(names, to)->allow_extra_args(false);
  option_lines_.push_back({names + " " + value, help});
  for (std::string& name : words_of(names)) option_names_.push_back(std::move(name));
  return *this;
}

Arguments& Arguments::option_count(const std::string& names, uint64_t& to, const std::string& help) {
  const auto refusal = [](const std::string& text) {
    const Result<uint64_t> count = parse_count(text);
    return count.ok() ? std::string() : std::string(count.status().message());
  };
  parser_->app
      .add_option_function<std::string>(names, [&to](const std::string& text) { to = *parse_count(text); })
      ->check(refusal);
  option_lines_.push_back({names + " N", help});
  for (std::string& name : words_of(names)) option_names_.push_back(std::move(name));
  return *this;
}

Arguments& Arguments::choice(const std::string& names, std::string& to, std::vector<std::string> words,
                             const std::string& help) {
  if (to.empty()) to = words.front();
  parser_->app.add_option(names, to)->check([words, names](const std::string& word) {
    if (std::ranges::find(words, word) != words.end()) return std::string();
    const std::string nearest = nearest_name(word, words);
    return "\"" + escaped(word) + "\" is invalid; expected one of " + joined(words, ", ") +
           (nearest.empty() ? "" : "; did you mean " + nearest + "?");
  });
  option_lines_.push_back({names + " " + joined(words, "|"), help});
  for (std::string& name : words_of(names)) option_names_.push_back(std::move(name));
  return *this;
}

Arguments& Arguments::flag(const std::string& names, bool& to, const std::string& help) {
  parser_->app.add_flag(names, to);
  option_lines_.push_back({names, help});
  for (std::string& name : words_of(names)) option_names_.push_back(std::move(name));
  return *this;
}

Arguments& Arguments::example(std::string line, std::string purpose) {
  examples_.push_back({std::move(line), std::move(purpose)});
  return *this;
}

Arguments& Arguments::more_example(std::string line, std::string purpose) {
  more_examples_.push_back({std::move(line), std::move(purpose)});
  return *this;
}

std::vector<std::string> Arguments::examples() const {
  std::vector<std::string> lines;
  for (const std::vector<Example>* some : {&examples_, &more_examples_}) {
    for (const Example& example : *some) lines.push_back(example.line);
  }
  return lines;
}

std::vector<std::vector<std::string>> Arguments::options() const {
  std::vector<std::vector<std::string>> all;
  const size_t own = declared_ ? own_options_ : option_lines_.size();
  for (size_t i = 0; i < own; ++i) {
    const std::string& left = option_lines_[i].left;  // "-o,--output PATH"
    all.push_back(words_of(left.substr(0, left.find(' '))));
  }
  return all;
}

Arguments& Arguments::note(std::string text) {
  notes_.push_back(std::move(text));
  return *this;
}

Arguments& Arguments::formats(std::vector<std::string> words) {
  formats_ = std::move(words);
  return *this;
}

void Arguments::declare_common() {
  if (declared_) return;
  declared_ = true;
  own_options_ = option_lines_.size();
  choice("--format", format_, formats_, "output format (cellar help formats)");
  choice("--color", color_, {"auto", "always", "never"}, "use colours; auto: at a terminal without NO_COLOR");
  flag("--no-pager", no_pager_, "do not start CELLAR_PAGER, PAGER or less");
  flag("-q,--quiet", quiet_, "only errors on standard error");
  flag("-h,--help", help_wanted_, "print this help");
}

Status Arguments::usage_error(std::string text, std::string hint) const {
  const std::string more = command_ + " --help";
  return Status::invalid_argument(std::move(text)).hinting(hint.empty() ? more : hint + "   (" + more + ")");
}

// Unknown names first: what CLI11 would say about the operands after a mistyped option misleads.
Status Arguments::check_names(const std::vector<std::string>& words) const {
  for (const std::string& word : words) {
    if (word == "--") break;
    if (!word.starts_with("--")) continue;
    const std::string name = word.substr(0, word.find('='));
    if (std::ranges::find(option_names_, name) != option_names_.end()) continue;
    const std::string nearest = nearest_name(name, option_names_);
    return usage_error("unknown option " + escaped(name),
                       nearest.empty() ? "" : "did you mean " + nearest + "?");
  }
  return {};
}

// Returns how the help shows an option, e.g. "-o,--output PATH"; empty if the command has no such option.
std::string Arguments::option_line(std::string_view name) const {
  for (const Line& line : option_lines_) {
    const std::vector<std::string> names =
        words_of(std::string_view(line.left).substr(0, line.left.find(' ')));
    if (std::ranges::find(names, name) != names.end()) return line.left;
  }
  return {};
}

// Returns the words with each "--name=" as two words, the second one empty: CLI11 would take the next word as
// the value.
std::vector<std::string> Arguments::with_empty_values(const std::vector<std::string>& words) const {
  std::vector<std::string> all;
  bool operands_only = false;
  for (const std::string& word : words) {
    operands_only = operands_only || word == "--";
    const std::string name = word.ends_with('=') ? word.substr(0, word.size() - 1) : "";
    const bool empty = !operands_only && name.starts_with("--") && option_line(name).find(' ') != name.npos;
    all.push_back(empty ? name : word);
    if (empty) all.emplace_back();
  }
  return all;
}

// Returns our sentence for an error of CLI11 about an option.
Status Arguments::refusal_of(std::string_view text, const std::vector<std::string>& words) const {
  std::string name;
  for (const std::string& each : option_names_) {
    const size_t at = text.find(each);
    const size_t end = at + each.size();
    const bool whole = at != text.npos && (end == text.size() || text.find_first_of(": ,", end) == end);
    if (whole && each.size() > name.size()) name = each;
  }
  if (name.empty()) return usage_error("the arguments do not fit the command", "usage: " + command_ + usage_);
  const std::string line = option_line(name);
  const std::vector<std::string> names = words_of(std::string_view(line).substr(0, line.find(' ')));
  const auto times = std::ranges::count_if(words, [&](const std::string& word) {
    return std::ranges::find(names, word.substr(0, word.find('='))) != names.end();
  });
  if (line.find(' ') == line.npos) return usage_error(name + " takes no value", "write " + line + " alone");
  if (times > 1) return usage_error(name + " is given more than once", "give it once: " + line);
  return usage_error(name + " needs a value", "write " + line);
}

Status Arguments::missing_operand(std::string_view text) const {
  constexpr std::string_view kInner = "OPERAND";  // "OPERAND1 is required"
  size_t at = SIZE_MAX;
  if (text.starts_with(kInner))
    at = std::strtoul(std::string(text.substr(kInner.size())).c_str(), nullptr, 10);
  const std::string name = at < operand_lines_.size() ? operand_lines_[at].left : "an argument";
  return usage_error(name + " is missing", "usage: " + command_ + usage_);
}

Status Arguments::unexpected(const std::string& word) const {
  const bool option = word.starts_with('-');
  return usage_error(
      (option ? "unknown option " : "unexpected argument: ") + escaped(word),
      option ? "write -- before an operand that begins with a dash" : "usage: " + command_ + usage_);
}

Status Arguments::parse(const std::vector<std::string>& words) {
  declare_common();
  const auto end = std::ranges::find(words, "--");
  if (std::any_of(words.begin(), end, [](const std::string& w) { return w == "--help" || w == "-h"; })) {
    help_wanted_ = true;
    return {};
  }
  CELLAR_TRY(check_names(words));
  try {
    std::vector<std::string> backwards = with_empty_values(words);
    std::ranges::reverse(backwards);
    parser_->app.parse(std::move(backwards));
    for (const CLI::Option* option : std::as_const(parser_->app).get_options())
      if (option->get_positional()) std::ranges::copy(option->results(), std::back_inserter(operand_values_));
    const auto after = static_cast<size_t>(end == words.end() ? 0 : words.end() - end - 1);
    operand_values_.resize(operand_values_.size() - std::min(after, operand_values_.size()));
    return {};
  } catch (const CLI::ExtrasError&) {
    const std::vector<std::string> extras = parser_->app.remaining();
    return unexpected(extras.empty() ? "" : extras.front());
  } catch (const CLI::RequiredError& error) {
    return missing_operand(error.what());
  } catch (const CLI::ValidationError& error) {
    return usage_error(error.what());  // "--limit: " and the text of a check of ours
  } catch (const CLI::ParseError& error) {
    return refusal_of(error.what(), words);
  }
}

std::string Arguments::help() const {
  std::string text = "usage: " + command_ + usage_ + " [options]\n";
  if (!other_usage_.empty()) text += "       " + command_ + " " + other_usage_ + " [options]\n";
  text += "\n" + summary_ + ".\n\n";
  size_t width = 0;
  constexpr size_t kWidthMax = 35;
  for (const std::vector<Line>* lines : {&operand_lines_, &option_lines_}) {
    for (const Line& line : *lines) width = std::max(width, std::min(text_width(line.left) + 2, kWidthMax));
  }
  for (const Line& line : operand_lines_) append_lines(text, width, line.left, line.help);
  if (!operand_lines_.empty()) text += "\n";
  for (const Line& line : option_lines_) append_lines(text, width, line.left, line.help);
  if (!notes_.empty()) text += "\n";
  for (const std::string& note : notes_) text += note + "\n";
  for (const auto& [title, some] : {std::pair{"examples", &examples_}, {"more examples", &more_examples_}}) {
    if (!some->empty()) text += fmt::format("\n{}\n", title);
    for (const Example& example : *some) text += fmt::format("  # {}\n  {}\n", example.purpose, example.line);
  }
  return text;
}

}  // namespace cellar
