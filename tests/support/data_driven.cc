// Reading, running and rewriting files of cases.
#include "tests/support/data_driven.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace cellar::testing {

namespace {

constexpr std::string_view kRule = "----";

// A case with the text around it, so that a rewrite changes nothing but answers.
struct Block {
  std::string before;  // comments and empty lines
  std::string head;    // the command's line
  Case given;
  std::string expected;
};

struct CaseFile {
  std::vector<Block> blocks;
  std::string after;
};

bool is_blank(const std::string& line) { return line.find_first_not_of(" \t") == std::string::npos; }

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string joined(const std::vector<std::string>& lines, size_t begin, size_t end) {
  std::string text;
  for (size_t i = begin; i < end; ++i) text += lines[i] + "\n";
  return text;
}

// Takes the expected text that begins at lines[at]; `at` ends after it and its empty line.
std::string take_expected(const std::vector<std::string>& lines, size_t& at) {
  const bool doubled = at < lines.size() && lines[at] == kRule;
  if (doubled) ++at;
  const size_t begin = at;
  while (at < lines.size()) {
    if (doubled && lines[at] == kRule && at + 1 < lines.size() && lines[at + 1] == kRule) break;
    if (!doubled && lines[at].empty()) break;
    ++at;
  }
  std::string expected = joined(lines, begin, at);
  if (doubled) at += 2;
  if (at < lines.size() && lines[at].empty()) ++at;
  return expected;
}

CaseFile parse(const std::string& name, const std::string& text) {
  const std::vector<std::string> lines = split_lines(text);
  CaseFile file;
  size_t at = 0;
  while (true) {
    const size_t begin = at;
    while (at < lines.size() && (is_blank(lines[at]) || lines[at].starts_with('#'))) ++at;
    const std::string before = joined(lines, begin, at);
    if (at == lines.size()) {
      file.after = before;
      return file;
    }
    Block block;
    block.before = before;
    block.head = lines[at];
    block.given.file = name;
    block.given.line = static_cast<int>(at) + 1;
    const std::string head = trimmed(lines[at++]);
    const size_t space = head.find(' ');
    block.given.command = head.substr(0, space);
    if (space != std::string::npos) block.given.args = trimmed(head.substr(space));
    const size_t input = at;
    while (at < lines.size() && lines[at] != kRule) ++at;
    block.given.input = joined(lines, input, at);
    if (at == lines.size()) {
      ADD_FAILURE_AT(name.c_str(), block.given.line) << "this case has no ----";
      return file;
    }
    ++at;
    block.expected = take_expected(lines, at);
    file.blocks.push_back(std::move(block));
  }
}

bool has_blank_line(const std::string& text) {
  return text.starts_with("\n") || text.find("\n\n") != std::string::npos || text.starts_with("----\n");
}

std::string print(const CaseFile& file) {
  std::string text;
  for (const Block& block : file.blocks) {
    text += block.before + block.head + "\n" + block.given.input + "----\n";
    text += has_blank_line(block.expected) ? "----\n" + block.expected + "----\n----\n" : block.expected;
    text += "\n";
  }
  text += file.after;
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

std::optional<std::string> read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    ADD_FAILURE() << "cannot read " << path;
    return std::nullopt;
  }
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

bool rewriting() {
  const char* wish = std::getenv("CELLAR_REWRITE");
  return wish != nullptr && *wish != '\0' && std::string_view(wish) != "0";
}

}  // namespace

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string> Case::words() const {
  std::istringstream stream(args);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::optional<std::string> Case::value(std::string_view key) const {
  for (const std::string& word : words()) {
    const size_t equals = word.find('=');
    if (equals != std::string::npos && std::string_view(word).substr(0, equals) == key)
      return word.substr(equals + 1);
  }
  return std::nullopt;
}

uint64_t Case::count(std::string_view key, uint64_t otherwise) const {
  const std::optional<std::string> text = value(key);
  return text ? std::strtoull(text->c_str(), nullptr, 10) : otherwise;
}

bool Case::has(std::string_view word) const {
  for (const std::string& each : words()) {
    if (each == word) return true;
  }
  return false;
}

std::vector<std::string> Case::lines() const { return split_lines(input); }

std::vector<Case> read_cases(const std::string& file) {
  const std::string path = std::string(CELLAR_TEST_DATA_DIR) + "/" + file;
  const std::optional<std::string> text = read(path);
  if (!text) return {};
  std::vector<Case> cases;
  for (Block& block : parse(path, *text).blocks) cases.push_back(std::move(block.given));
  if (cases.empty()) ADD_FAILURE() << path << " has no cases";
  return cases;
}

void run_cases(const std::string& file, const std::function<std::string(const Case&)>& answer) {
  const std::string path = std::string(CELLAR_TEST_DATA_DIR) + "/" + file;
  const std::optional<std::string> text = read(path);
  if (!text) return;
  CaseFile cases = parse(path, *text);
  if (cases.blocks.empty()) ADD_FAILURE() << path << " has no cases";
  for (Block& block : cases.blocks) {
    const std::string where = file + ":" + std::to_string(block.given.line);
    const ::testing::ScopedTrace trace(path.c_str(), block.given.line, block.head);
    std::string answered = answer(block.given);
    if (!answered.empty() && !answered.ends_with('\n')) answered += '\n';
    if (answered == block.expected) continue;
    if (rewriting()) {
      block.expected = answered;
    } else {
      ADD_FAILURE_AT(path.c_str(), block.given.line)
          << where << ": " << block.head << "\n"
          << block.given.input << "expected:\n"
          << block.expected << "answered:\n"
          << answered << "(CELLAR_REWRITE=1 takes the answers over)";
    }
  }
  if (rewriting() && print(cases) != *text) std::ofstream(path, std::ios::binary) << print(cases);
}

std::string unknown(const Case& c) { return "unknown command: " + c.command; }

}  // namespace cellar::testing
