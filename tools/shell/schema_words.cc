// Plain words, put into the braces that HBase's syntax has around them.
#include "tools/shell/schema_words.h"

#include <optional>
#include <string>

#include "base/bytes.h"
#include "engine/schema/carried_attributes.h"
#include "tools/shell/schema_reader.h"
#include "tools/store/hbase_attributes.h"

namespace cellar {
namespace {

using Kind = ShellValue::Kind;

bool is_of_table(const std::string& name) {
  return !table_option(name).empty() || !passing_attribute(name, false).empty() || name == "COPROCESSOR" ||
         name == "DELETE" || find_carried_attribute(AttributeOf::kTable, name) != nullptr;
}

ShellValue pair_of(const ShellValue& word, size_t equals) {
  ShellValue value{.at = word.at + equals + 1, .text = word.text.substr(equals + 1)};
  return {
      .kind = Kind::kPair, .at = word.at, .text = word.text.substr(0, equals), .items = {std::move(value)}};
}

bool has(const ShellValue& map, std::string_view key) {
  for (const ShellValue& pair : map.items)
    if (upper_ascii(pair.text) == key) return true;
  return false;
}

// Grouping: the braces that are being filled, if any, are the last of what was made.
class Grouping {
 public:
  void add(const ShellValue& argument) {
    const size_t equals = argument.kind == Kind::kWord ? argument.text.find('=') : std::string::npos;
    if (equals != std::string::npos) return add_attribute(pair_of(argument, equals));
    open_ = argument.plain();
    if (!open_) {
      made_.push_back(argument);
    } else {
      begin({.kind = Kind::kPair, .at = argument.at, .text = "NAME", .items = {argument}});
    }
  }
  std::vector<ShellValue> take() { return std::move(made_); }

 private:
  void add_attribute(ShellValue pair) {
    const std::string name = upper_ascii(pair.text);
    const bool wants_name = open_ && has(made_.back(), "METHOD") && !has(made_.back(), "NAME");
    if ((name == "NAME" && !wants_name) || (name == "METHOD" && !open_)) {
      open_ = true;
      begin(std::move(pair));
    } else if (open_ && (!is_of_table(name) || has(made_.back(), "METHOD"))) {
      made_.back().items.push_back(std::move(pair));
    } else {  // in front of the braces that are open
      made_.insert(made_.end() - (open_ ? 1 : 0), std::move(pair));
    }
  }
  void begin(ShellValue pair) {
    made_.push_back({.kind = Kind::kMap, .at = pair.at, .items = {std::move(pair)}});
  }

  std::vector<ShellValue> made_;
  bool open_ = false;
};

}  // namespace

std::vector<ShellValue> words_as_braces(std::span<const ShellValue> arguments) {
  Grouping grouping;
  for (const ShellValue& argument : arguments) grouping.add(argument);
  return grouping.take();
}

}  // namespace cellar
