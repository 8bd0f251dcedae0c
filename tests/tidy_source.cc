// Source: reads the tree for the style guard, and separates code from comments and literals.
#include "tests/tidy_source.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;

// Separates each line into code, comment and the insides of literals: a rule about code does not read prose.
class LineParts {
 public:
  std::string line(const std::string& text) {
    std::string out;
    comment_.clear();
    literals_.clear();
    for (size_t i = 0; i < text.size();) i += step(text, i, out);
    if (state_ != State::kComment && state_ != State::kRaw) state_ = State::kCode;
    return out;
  }

  // The comment and the literals of the line that was separated last.
  const std::string& comment() const { return comment_; }
  const Strings& literals() const { return literals_; }

 private:
  enum class State { kCode, kComment, kRaw };

  size_t step(const std::string& text, size_t i, std::string& out) {
    const std::string_view rest = std::string_view(text).substr(i);
    if (state_ == State::kComment) {
      comment_ += rest.substr(0, rest.find("*/"));
      return skip_to(rest, "*/");
    }
    if (state_ == State::kRaw) {
      literals_.emplace_back(rest.substr(0, rest.find(raw_end_)));
      return skip_to(rest, raw_end_);
    }
    if (rest.starts_with("//")) {
      comment_ = rest.substr(2);
      return rest.size();
    }
    if (rest.starts_with("/*")) {
      state_ = State::kComment;
      return 2;
    }
    if (rest.starts_with("R\"") && rest.find('(') != std::string_view::npos &&
        (out.empty() || !is_word(out.back()))) {
      state_ = State::kRaw;
      raw_end_ = ")" + std::string(rest.substr(2, rest.find('(') - 2)) + "\"";
      return rest.find('(') + 1;
    }
    const bool digit_separator = rest[0] == '\'' && !out.empty() && is_word(out.back());
    if (rest[0] == '"' || (rest[0] == '\'' && !digit_separator)) return literal(rest, out);
    out += rest[0];
    return 1;
  }

  size_t skip_to(std::string_view rest, std::string_view end) {
    const size_t found = rest.find(end);
    if (found == std::string_view::npos) return rest.size();
    state_ = State::kCode;
    return found + end.size();
  }

  size_t literal(std::string_view rest, std::string& out) {
    size_t i = 1;
    while (i < rest.size() && rest[i] != rest[0]) i += rest[i] == '\\' ? 2 : 1;
    out += std::string(2, rest[0]);
    if (rest[0] == '"') literals_.emplace_back(rest.substr(1, std::min(i, rest.size()) - 1));
    return std::min(i + 1, rest.size());
  }

  State state_ = State::kCode;
  std::string raw_end_;
  std::string comment_;
  Strings literals_;
};

}  // namespace

Source make_source(std::string path, Strings lines) {
  Source source{std::move(path), std::move(lines), {}, {}, {}};
  LineParts parts;
  for (const std::string& line : source.lines) {
    source.code.push_back(parts.line(line));
    source.comments.push_back(parts.comment());
    source.literals.push_back(parts.literals());
  }
  return source;
}

Strings read_lines(const fs::path& path) {
  std::ifstream file(path);
  Strings lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

namespace {

Sources load_tree() {
  const fs::path root = CELLAR_SOURCE_DIR;
  Sources sources;
  const auto take = [&](const fs::path& path) {
    sources.push_back(make_source(fs::relative(path, root).generic_string(), read_lines(path)));
  };
  Strings folders = {"include", "tools", "bench", "tests", "examples", "docs", "cmake"};
  for (const Layer& layer : kLayers) folders.emplace_back(layer.name.substr(0, layer.name.find('/')));
  std::ranges::sort(folders);
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  const std::set<std::string> suffixes = {".h", ".cc", ".md", ".cmake", ".py", ".sh", ".proto"};
  for (const std::string& folder : folders) {
    if (!fs::is_directory(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.is_regular_file() && suffixes.contains(entry.path().extension().string())) take(entry.path());
    }
  }
  for (const char* file : {"CMakeLists.txt", "CMakePresets.json", "dev", ".ci/run", "README.md",
                           "CONTRIBUTING.md", "CHANGELOG.md"}) {
    if (fs::exists(root / file)) take(root / file);
  }
  std::ranges::sort(sources, {}, &Source::path);
  return sources;
}

}  // namespace

const Sources& tree() {
  static const Sources sources = load_tree();
  return sources;
}

// Does `text` hold `token` as a word of its own? Members and longer names that merely contain it do not
// count.
bool has_token(std::string_view text, std::string_view token) {
  for (size_t at = text.find(token); at != std::string_view::npos; at = text.find(token, at + 1)) {
    const size_t end = at + token.size();
    const std::string_view before = text.substr(0, at);
    const bool starts =
        at == 0 ||
        !(is_word(token[0]) && (is_word(text[at - 1]) || text[at - 1] == '.' || before.ends_with("->")));
    // Another class's function of that name: "Store::exit(".
    const bool other_scope = token.back() == '(' && before.ends_with("::") && !before.ends_with("std::") &&
                             at >= 3 && is_word(text[at - 3]);
    const bool member = token.starts_with("::") && at > 0 && is_word(text[at - 1]);
    // "void random(" and "Status sleep(" declare something of ours.
    const bool declares = token.back() == '(' && at >= 2 && text[at - 1] == ' ' &&
                          (is_word(text[at - 2]) || text[at - 2] == '>' || text[at - 2] == '&') &&
                          !before.ends_with("return ") && !before.ends_with("else ");
    const bool ends = !is_word(token.back()) || end == text.size() || !is_word(text[end]);
    if (starts && ends && !member && !other_scope && !declares) return true;
  }
  return false;
}

bool allowed_in(const Source& source, const std::set<std::string_view>& allowed) {
  return allowed.contains(source.folder()) || allowed.contains(layer_of(source.path)) ||
         allowed.contains(source.path);
}

}  // namespace cellar::testing
