// Titles with a rank, and the table of prefixes that answers each keystroke with one get.
//
// Table prefixes: row = the first 3 to 12 characters of a title; family j, with an empty qualifier. The value
// is a JSON list of the ten best titles with this prefix.
#pragma once

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "examples/application.h"
#include "examples/json.h"

namespace example {

constexpr size_t kShortestPrefix = 3;  // characters
constexpr size_t kLongestPrefix = 12;
constexpr size_t kBest = 10;
constexpr int64_t kWritten = 1700000000000;  // of all cells, so that each run writes the same files

struct Title {
  std::string text;
  uint64_t links = 0;  // the rank: how many packages depend on this one
};

// Made-up titles with made-up ranks, which are added to every data set: Debian's names are ASCII.
inline const std::vector<Title> kOtherTitles = {
    {"chime", 40},         {"chimney", 30},    {"chimera", 20},  {"zürich", 9},
    {"zürich-west", 5},    {"zülpich", 4},     {"čapek", 3},     {"東京国際空港", 8},
    {"東京国立博物館", 7}, {"😀😃😄 smileys", 2}, {"</script>", 1}, {"a \"quoted\" \\ title", 1}};

// Returns the number of bytes of the UTF-8 character at the beginning of `text`, or 0 if there is no valid
// one.
inline size_t character_bytes(std::string_view text) {
  if (text.empty()) return 0;
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  const size_t bytes = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 && first < 0xf0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return 0;
  for (size_t i = 1; i < bytes; ++i)
    if ((at(i) & 0xc0) != 0x80) return 0;
  const bool too_long = (first == 0xe0 && at(1) < 0xa0) || (first == 0xf0 && at(1) < 0x90);
  const bool no_character = (first == 0xed && at(1) > 0x9f) || (first == 0xf4 && at(1) > 0x8f);
  return too_long || no_character ? 0 : bytes;
}

// Returns the position after each character of a text. Error: kInvalidArgument if it is not UTF-8.
inline Result<std::vector<size_t>> character_ends(std::string_view text) {
  std::vector<size_t> ends;
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = character_bytes(text.substr(at));
    if (bytes == 0) return Status::invalid_argument("byte " + std::to_string(at) + " is not UTF-8");
    ends.push_back(at += bytes);
  }
  return ends;
}

// Returns a text as the table has it: ASCII letters in lower case.
inline std::string folded(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

inline std::string json_list(const std::vector<std::string_view>& texts) {
  std::string json = "[";
  for (const std::string_view text : texts) json += (json.size() > 1 ? "," : "") + json_text(text);
  return json += "]";
}

// Counts the packages that depend on each one, in lines "Package: NAME" and "Depends: NAME (>= 1) | OTHER,
// NAME".
inline Status count_links(const std::vector<std::string>& lines, std::map<std::string, uint64_t>& links) {
  std::map<std::string, uint64_t> named;
  bool known = true;  // another version of a package that was counted
  for (const std::string& line : lines) {
    if (line.starts_with("Package: ")) {
      known = !links.emplace(line.substr(9), 0).second;
    } else if (!line.starts_with("Depends: ")) {
      return Status::invalid_argument("neither Package nor Depends: " + line.substr(0, 60));
    } else if (!known) {
      std::set<std::string> once;
      for (size_t at = 9; at < line.size();) {
        const size_t end = std::min(line.find_first_of(",|", at), line.size());
        at = line.find_first_not_of(' ', at);
        if (at < end) once.insert(line.substr(at, std::min(line.find_first_of(" :(", at), end) - at));
        at = end + 1;
      }
      for (const std::string& name : once) ++named[name];
    }
  }
  for (auto& [name, count] : links)
    if (const auto found = named.find(name); found != named.end()) count = found->second;
  return {};
}

// Reads titles, the best first: those that most packages depend on, and equal ones by the alphabet. The file
// has Debian's fields Package and Depends, or lines of a title, a tab and its rank.
inline Result<std::vector<Title>> read_titles(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status::not_found("cannot read the titles in " + path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::map<std::string, uint64_t> links;
  if (!lines.empty() && lines.front().starts_with("Package: ")) {
    CELLAR_TRY(count_links(lines, links).with_context(path));
  } else {
    for (size_t i = 0; i < lines.size(); ++i) {
      const size_t tab = lines[i].find('\t');
      const char* const end = lines[i].data() + lines[i].size();
      uint64_t rank = 0;
      if (tab == std::string::npos || tab == 0 || !character_ends(lines[i]).ok() ||
          std::from_chars(lines[i].data() + tab + 1, end, rank).ec != std::errc() ||
          std::to_string(rank) != lines[i].substr(tab + 1))
        return Status::invalid_argument(path + ": line " + std::to_string(i + 1) +
                                        " is not a title in UTF-8, a tab and a number");
      links[folded(lines[i].substr(0, tab))] = rank;
    }
  }
  for (const Title& title : kOtherTitles) links.emplace(title.text, title.links);
  std::vector<Title> titles;
  for (const auto& [text, rank] : links) titles.push_back({text, rank});
  std::ranges::stable_sort(titles, std::greater{}, &Title::links);
  return titles;
}

// Returns the value of each prefix. The titles come in the order of their rank, so the first ten are the
// best.
inline std::map<std::string, std::string> prefix_rows(const std::vector<Title>& titles) {
  std::map<std::string, std::vector<std::string_view>> best;
  for (const Title& title : titles) {
    const std::vector<size_t> ends = character_ends(title.text).value_or({});
    for (size_t n = kShortestPrefix; n <= std::min(kLongestPrefix, ends.size()); ++n) {
      std::vector<std::string_view>& list = best[title.text.substr(0, ends[n - 1])];
      if (list.size() < kBest) list.push_back(title.text);
    }
  }
  std::map<std::string, std::string> rows;
  for (const auto& [prefix, list] : best) rows[prefix] = json_list(list);
  return rows;
}

inline TableOptions table_of_titles() {
  return {.families = {{.name = "j", .max_versions = 1, .compression = "snappy", .bloom = "row"}}};
}

// Writes rows by puts, into one file at last.
inline Status load_rows(Table& table, const std::map<std::string, std::string>& rows) {
  for (const auto& [row, value] : rows) CELLAR_TRY(table.put(Put(row).add_at("j", "", kWritten, value)));
  CELLAR_TRY(table.flush());
  return table.major_compact();
}

inline uint64_t bytes_of(const Table& table) {
  uint64_t bytes = 0;
  for (const FamilyInfo& family : table.info().families)
    for (const StoreFileInfo& file : family.files) bytes += file.bytes;
  return bytes;
}

// Returns the row that answers what a person has typed: its first 12 characters, or nothing below 3
// characters. Error: kInvalidArgument if the text is not UTF-8.
inline Result<std::string> row_of_query(std::string_view typed) {
  CELLAR_TRY_ASSIGN(const std::vector<size_t> ends, character_ends(typed));
  if (ends.size() < kShortestPrefix) return std::string();
  return folded(typed.substr(0, ends[std::min(kLongestPrefix, ends.size()) - 1]));
}

// Returns the JSON list of the best titles. One get at most.
inline Result<std::string> suggest(Table& prefixes, std::string_view typed, ReadStats* cost = nullptr) {
  CELLAR_TRY_ASSIGN(const std::string row, row_of_query(typed));
  if (row.empty()) return std::string("[]");
  CELLAR_TRY_ASSIGN(const RowBatch found, prefixes.get(Get(row).family("j").stats(cost)));
  return or_none(found.value("j", ""), "[]");
}

// The same without Cellar: looks at every title.
inline std::string best_by_looking(const std::vector<Title>& titles, std::string_view prefix) {
  std::vector<std::string_view> best;
  for (const Title& title : titles) {
    if (best.size() < kBest && title.text.starts_with(prefix)) best.push_back(title.text);
  }
  return json_list(best);
}

}  // namespace example
