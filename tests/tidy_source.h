// Source: a file as the style guard sees it, with and without its prose.
#pragma once

#include <cctype>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy_rules.h"

namespace cellar::testing {

struct Source {
  std::string path;  // from the root of the repository, with '/'
  Strings lines;
  Strings code;                   // the same lines without comments and without the text in quotes
  Strings comments;               // the text of the comment on each line
  std::vector<Strings> literals;  // the string literals on each line, or their parts on it

  std::string layer() const { return std::string(layer_of(path)); }
  // The first part of the path, whatever the layer.
  std::string folder() const { return path.substr(0, path.find('/')); }
  std::string name() const { return path.substr(path.rfind('/') + 1); }
  std::string stem() const { return name().substr(0, name().rfind('.')); }
  bool header() const { return path.ends_with(".h"); }
  bool cpp() const { return header() || path.ends_with(".cc"); }
  bool public_header() const { return path.starts_with("include/cellar/"); }
  std::string at(size_t line) const { return path + ":" + std::to_string(line) + ": "; }
};
using Sources = std::vector<Source>;

inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

Source make_source(std::string path, Strings lines);
Strings read_lines(const std::filesystem::path& path);

// All files the rules apply to: C++ in the folders of the project, and the texts around it. Loaded once.
const Sources& tree();

// Does `text` hold `token` as a word of its own? Members and longer names that merely contain it do not
// count.
bool has_token(std::string_view text, std::string_view token);

// May the file do what `allowed` lists folders and files for?
bool allowed_in(const Source& source, const std::set<std::string_view>& allowed);

}  // namespace cellar::testing
