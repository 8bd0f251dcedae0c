// Arguments of a statement, by position and by name.
#include "tools/shell/shell_call.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "cellar/plugin.h"
#include "tools/frame/operands.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

// Options of HBase that change nothing about the answer of one process.
constexpr std::array kIgnored = {
    IgnoredOption{"ATTRIBUTES", "no coprocessor reads them"},
    IgnoredOption{"AUTHORIZATIONS", "cells have no visibility labels"},
    IgnoredOption{"CONSISTENCY", "a store has no replicas"},
    IgnoredOption{"REGION_REPLICA_ID", "a store has no replicas"},
    IgnoredOption{"ISOLATION_LEVEL", "a row is always read as of one instant"},
    IgnoredOption{"READ_TYPE", "the store chooses how files are read"},
    IgnoredOption{"FORMATTER_CLASS", "values are formatted by FORMATTER alone"},
    IgnoredOption{"CACHE", "rows are not fetched in batches from a server"},
    IgnoredOption{"MAX_RESULT_SIZE", "rows are printed as they are read, and not gathered before"},
    IgnoredOption{"ALLOW_PARTIAL_RESULTS", "rows are printed whole"},
};

const IgnoredOption* find_ignored(std::string_view name) {
  const auto found = std::ranges::find(kIgnored, name, &IgnoredOption::name);
  return found == kIgnored.end() ? nullptr : &*found;
}

bool is_known(std::string_view name, std::span<const std::string_view> known) {
  return std::ranges::find(known, name) != known.end() || find_ignored(name) != nullptr;
}

}  // namespace

Result<Engine*> ShellState::open(Session& session, bool creating) {
  // An opening tells why a refresh has failed, or finds a store that has taken the place of the old one.
  if (engine != nullptr && read_only && !is_current && !engine->refresh().ok()) engine.reset();
  if (engine == nullptr) {
    const OpenFor what = read_only ? OpenFor::kLooking : (creating ? OpenFor::kCreating : OpenFor::kWriting);
    Result<std::unique_ptr<Engine>> opened = open_engine(session, path, what, &activity);
    if (!opened.ok()) return opened.status();
    engine = std::move(*opened);
  }
  is_current = true;
  return engine.get();
}

Status ShellCall::fault(const ShellValue& value, std::string message, std::string_view hint) {
  fault_at_ = value.at;
  return session_.name_failure("CEL-USAGE", Exit::kUsage,
                               Status::invalid_argument(std::move(message)).hinting(hint));
}

Status ShellCall::answers_a_document() {
  const Format format = session_.format();
  if (format != Format::kCsv && format != Format::kRaw) return {};
  fault_at_ = statement_.at;
  return session_.name_failure(
      "CEL-USAGE", Exit::kUsage,
      Status::invalid_argument(fmt::format("{} answers with one document, which has no form in {}",
                                           statement_.name, format == Format::kCsv ? "csv" : "raw"))
          .hinting("table, json and jsonl do: .format jsonl, or --format jsonl"));
}

void ShellCall::explain(const std::string& text) {
  if (session_.format() == Format::kTable) {
    session_.out().write(text);
  } else {
    session_.talk(std::string_view(text).substr(0, text.find_last_not_of('\n') + 1));
  }
}

Result<std::shared_ptr<const re2::RE2>> ShellCall::pattern(size_t i) {
  CELLAR_TRY_ASSIGN(const std::string expression, text(i));
  auto made = std::make_shared<const RE2>(expression, RE2::Quiet);
  if (!made->ok()) return fault(position(i), fmt::format("no regular expression: {}", made->error()));
  return made;
}

Status ShellCall::at(const ShellValue& value, const Status& status) {
  if (!status.ok()) fault_at_ = value.at;
  return status;
}

Status ShellCall::add_option(const ShellValue& pair, std::span<const std::string_view> known) {
  const std::string name = upper_ascii(pair.text);
  if (!is_known(name, known)) {
    const std::vector<std::string> names(known.begin(), known.end());
    const std::string nearest = nearest_name(name, names);
    return fault(pair, fmt::format("{} has no option {}", statement_.name, escaped(pair.text)),
                 !nearest.empty() ? fmt::format("did you mean {}?", nearest)
                 : known.empty()  ? fmt::format("help '{}'", statement_.name)
                                  : fmt::format("options: {}", fmt::join(known, ", ")));
  }
  if (pair.items.front().is_word("nil")) return {};  // Ruby's way not to give it
  const IgnoredOption* const ignored =
      std::ranges::find(known, name) == known.end() ? find_ignored(name) : nullptr;
  if (ignored != nullptr) {
    session_.talk(fmt::format("note   {} has no effect: {}", name, ignored->why));
    return {};
  }
  for (const auto& [given, value] : options_)
    if (given == name && (name != "COLUMN" && name != "COLUMNS"))
      return fault(pair, fmt::format("{} is given twice", name));
  options_.emplace_back(name, pair.items.front());
  return {};
}

Status ShellCall::take(std::span<const std::string_view> known, size_t least, size_t most) {
  for (size_t i = 0; i < arguments().size(); ++i) {
    const ShellValue& argument = arguments()[i];
    const size_t equals = argument.text.find('=');
    if (argument.kind == ShellValue::Kind::kMap) {
      for (const ShellValue& pair : argument.items) CELLAR_TRY(add_option(pair, known));
    } else if (argument.kind == ShellValue::Kind::kPair) {
      CELLAR_TRY(add_option(argument, known));
    } else if (argument.kind == ShellValue::Kind::kWord && i >= least && equals != std::string::npos &&
               is_known(upper_ascii(argument.text.substr(0, equals)), known)) {
      ShellValue value{.at = argument.at + equals + 1, .text = argument.text.substr(equals + 1)};
      const ShellValue pair{.kind = ShellValue::Kind::kPair,
                            .at = argument.at,
                            .text = argument.text.substr(0, equals),
                            .items = {std::move(value)}};
      CELLAR_TRY(add_option(pair, known));
    } else {
      positions_.push_back(&argument);
    }
  }
  const std::string hint = fmt::format("help '{}'", statement_.name);
  if (positions_.size() > most)
    return fault(*positions_[most], fmt::format("{} takes no further argument", statement_.name), hint);
  if (positions_.size() >= least) return {};
  const ShellVerb* const verb = find_shell_verb(statement_.name);
  const std::string_view usage = verb == nullptr ? "" : verb->usage.substr(0, verb->usage.find('\n'));
  return session_.name_failure(
      "CEL-USAGE", Exit::kUsage,
      Status::invalid_argument(fmt::format("{} needs more arguments", statement_.name))
          .hinting(fmt::format("usage: {}", usage)));
}

const ShellValue* ShellCall::option(std::string_view name) const {
  for (const auto& [given, value] : options_)
    if (given == name) return &value;
  return nullptr;
}

std::vector<const ShellValue*> ShellCall::options(std::span<const std::string_view> names) const {
  std::vector<const ShellValue*> values;
  for (const auto& [given, value] : options_)
    if (std::ranges::find(names, given) != names.end()) values.push_back(&value);
  return values;
}

void ShellCall::answer_with(std::string_view sentence, std::string_view name,
                            const std::function<void(Records&)>& add_value) {
  if (session_.format() == Format::kTable) {
    session_.out().write(fmt::format("{}\n", sentence));
    return;
  }
  Records records(session_.out(), session_.format(), "cellar.shell/1", "answers");
  if (session_.format() != Format::kRaw) records.text("name", name);
  add_value(records);
  records.add();
  records.finish();
}

void ShellCall::answer(std::string_view sentence, std::string_view name, std::string_view value) {
  answer_with(sentence, name, [&](Records& records) { records.text("value", value); });
}

void ShellCall::answer_flag(std::string_view sentence, std::string_view name, bool value) {
  answer_with(sentence, name, [&](Records& records) { records.flag("value", value); });
}

void ShellCall::answer_count(std::string_view sentence, std::string_view name, uint64_t value) {
  answer_with(sentence, name, [&](Records& records) { records.count("value", value); });
}

bool ShellCall::confirmed(const std::string& question) {
  if (!state_.asks) return true;
  session_.out().flush();
  const std::string text = question + " y/n > ";
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return false;
  std::string line;
  for (char c = 0; ::read(STDIN_FILENO, &c, 1) == 1 && c != '\n' && line.size() < 16;) line += c;
  const bool yes = lower_ascii(line).starts_with('y');
  if (!yes) session_.talk("nothing was done");
  return yes;
}

Result<std::string> ShellCall::text_of(const ShellValue& value) {
  if (value.is_word("nil"))
    return fault(value, "nil is not a text", "leave it out, or write 'nil' for these three letters");
  if (value.plain()) return value.text;
  return fault(value, "expected a text", "write a text with brackets or => in quotes");
}

Result<std::string> ShellCall::text(size_t i) { return text_of(position(i)); }

Result<std::vector<std::string>> ShellCall::texts_of(const ShellValue& value) {
  std::vector<std::string> texts;
  if (value.kind != ShellValue::Kind::kList) {
    CELLAR_TRY_ASSIGN(texts.emplace_back(), text_of(value));
    return texts;
  }
  for (const ShellValue& item : value.items) {
    CELLAR_TRY_ASSIGN(texts.emplace_back(), text_of(item));
  }
  return texts;
}

// 1_000 is Ruby's 1000.
Result<std::string> ShellCall::digits_of(const ShellValue& value) {
  CELLAR_TRY_ASSIGN(const std::string text, text_of(value));
  if (value.kind != ShellValue::Kind::kWord) return text;
  const auto is_digit = [&](size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] != '_' || i == 0 || !is_digit(i - 1) || !is_digit(i + 1)) digits += text[i];
  return digits;
}

Result<int64_t> ShellCall::number_of(const ShellValue& value, int64_t least) {
  CELLAR_TRY_ASSIGN(const std::string text, digits_of(value));
  const Result<int64_t> number = parse_integer(text);
  if (number.ok() && *number >= least) return *number;
  if (number.ok()) return fault(value, fmt::format("{} is less than {}", *number, least));
  return fault(value, std::string(number.status().message()));
}

Result<int64_t> ShellCall::time_of(const ShellValue& value) {
  CELLAR_TRY_ASSIGN(const std::string text, digits_of(value));
  const Result<int64_t> time = parse_written_time(text);
  if (time.ok()) return *time;
  return fault(value, std::string(time.status().message()), time.status().hint());
}

Result<bool> ShellCall::flag_of(const ShellValue& value) {
  CELLAR_TRY_ASSIGN(const std::string text, text_of(value));
  const std::string word = lower_ascii(text);
  if (word == "true" || word == "false") return word == "true";
  return fault(value, fmt::format("\"{}\" is neither true nor false", escaped(text)));
}

Result<std::string> ShellCall::table_name(const ShellValue& value) {
  constexpr std::string_view kDefault = "default:";
  CELLAR_TRY_ASSIGN(std::string name, text_of(value));
  if (name.starts_with(kDefault) && name.size() > kDefault.size()) name.erase(0, kDefault.size());
  return name;
}

Result<std::shared_ptr<Table>> ShellCall::table(size_t i) {
  CELLAR_TRY_ASSIGN(const std::string name, table_name(position(i)));
  CELLAR_TRY_ASSIGN(Engine* const store, engine());
  Result<std::shared_ptr<Table>> opened = open_table(session_, *store, state_.path, name);
  if (!opened.ok()) return at(position(i), opened.status());
  return opened;
}

bool ShellCall::on_cluster() const { return is_cluster(state_.path); }

std::vector<std::span<const ShellVerb>> all_shell_verbs() {
  return {shell_read_verbs(),     shell_write_verbs(), shell_table_verbs(),  shell_table_set_verbs(),
          shell_snapshot_verbs(), shell_other_verbs(), shell_setting_verbs()};
}

std::vector<std::string> shell_verb_names() {
  std::vector<std::string> names;
  for (const auto& verbs : all_shell_verbs())
    for (const ShellVerb& verb : verbs) names.emplace_back(verb.name);
  return names;
}

const ShellVerb* find_shell_verb(std::string_view name) {
  for (const auto& verbs : all_shell_verbs())
    for (const ShellVerb& verb : verbs)
      if (verb.name == name) return &verb;
  return nullptr;
}

}  // namespace cellar
