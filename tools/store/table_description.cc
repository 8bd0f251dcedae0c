// TableDescription: a reader of braces, arrows and quotes that minds nothing else.
#include "tools/store/table_description.h"

#include <algorithm>

#include "cellar/file_system.h"

namespace cellar {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_name(char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.'; }

// Pieces of one family's text, from after its brace on.
class Attributes {
 public:
  explicit Attributes(std::string_view text) : text_(text) {}

  // Takes "NAME => 'value'" or "NAME => 123". Returns false at the end, or at anything else.
  bool next(std::string& name, std::string& value) {
    skip([](char c) { return is_space(c) || c == ','; });
    name = take([](char c) { return is_name(c); });
    skip(is_space);
    if (name.empty() || !text_.starts_with("=>")) return false;
    text_.remove_prefix(2);
    skip(is_space);
    if (text_.empty()) return false;
    if (text_.front() == '\'' || text_.front() == '"') return take_quoted(value);
    if (text_.front() == '{') return take_braces(value);
    value = take([](char c) { return c != ',' && c != '}' && !is_space(c); });
    return true;
  }
  size_t left() const { return text_.size(); }

 private:
  template <class Fits>
  void skip(const Fits& fits) {
    while (!text_.empty() && fits(text_.front())) text_.remove_prefix(1);
  }
  template <class Fits>
  std::string take(const Fits& fits) {
    std::string taken;
    for (; !text_.empty() && fits(text_.front()); text_.remove_prefix(1)) taken += text_.front();
    return taken;
  }
  bool take_quoted(std::string& value) {
    const char quote = text_.front();
    const size_t end = text_.find(quote, 1);
    if (end == std::string_view::npos) return false;
    value = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return true;
  }
  bool take_braces(std::string& value) {
    const size_t end = text_.find('}');
    if (end == std::string_view::npos) return false;
    value = text_.substr(0, end + 1);
    text_.remove_prefix(end + 1);
    return true;
  }

  std::string_view text_;
};

}  // namespace

Result<TableDescription> parse_description(std::string_view text) {
  TableDescription table;
  for (size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    Attributes attributes(text.substr(at + 1));
    std::map<std::string, std::string> family;
    std::string name, value;
    while (attributes.next(name, value)) family[name] = value;
    const auto named = family.find("NAME");
    if (named == family.end()) continue;
    const std::string family_name = named->second;
    table.families[family_name] = std::move(family);
  }
  if (table.families.empty())
    return Status::invalid_argument("no family is described: {NAME => 'd', …}")
        .hinting("echo \"describe 'orders'\" | hbase shell -n > orders.describe.txt");
  return table;
}

Result<TableDescription> read_description(const std::string& path) {
  constexpr uint64_t kBytesMax = 16u << 20;
  CELLAR_TRY_ASSIGN(const std::unique_ptr<ReadableFile> file, posix_file_system().open_file(path));
  if (file->size() > kBytesMax) return Status::limit("a description of more than 16 MiB").at(path);
  std::string text(file->size(), '\0');
  CELLAR_TRY(file->read(0, text.size(), text.data()));
  auto table = parse_description(text);
  if (!table.ok()) return table.status().at(path);
  return table;
}

}  // namespace cellar
