// Goal: comments, messages and documents become plain English and stay so. Method: forbidden words, forbidden
// openings and long sentences are counted in each folder. tests/data/tidy/words.txt allows the number that is
// left. A higher number is a complaint. CELLAR_REWRITE=1 lowers the numbers in the file and never raises one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/test_scale.h"
#include "tests/tidy_rules.h"
#include "tests/tidy_source.h"

namespace cellar::testing {
namespace {

// Adjoining comment lines, a paragraph of a document, or one string literal.
struct Paragraph {
  ProseKind kind;
  size_t line;  // of its first line
  std::string text;
};
using Paragraphs = std::vector<Paragraph>;

std::string_view name_of(ProseKind kind) {
  switch (kind) {
    case ProseKind::kComments:
      return "comments";
    case ProseKind::kMessages:
      return "messages";
    case ProseKind::kDocs:
      return "docs";
  }
  return "";
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '/')) text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Appends a line to the paragraph that is open, or opens one.
void append(Paragraphs& paragraphs, bool& open, Paragraph line) {
  if (open) {
    paragraphs.back().text += " " + line.text;
  } else {
    paragraphs.push_back(std::move(line));
  }
  open = true;
}

bool is_list_item(std::string_view line) {
  line = trimmed(line);
  if (line.starts_with("- ") || line.starts_with("* ")) return true;
  const size_t digits = line.find_first_not_of("0123456789");
  return digits != std::string_view::npos && digits > 0 && line.substr(digits).starts_with(". ");
}

Paragraphs prose_of_code(const Source& source) {
  Paragraphs paragraphs;
  bool open = false;
  for (size_t i = 0; i < source.lines.size(); ++i) {
    const std::string_view comment = trimmed(source.comments[i]);
    const bool alone = trimmed(source.code[i]).empty();
    if (comment.empty() || !alone || is_list_item(source.comments[i])) open = false;
    if (!comment.empty()) append(paragraphs, open, {ProseKind::kComments, i + 1, std::string(comment)});
    if (!alone) open = false;
  }
  // The literals of tests quote the program, whose own literals are counted.
  if (source.folder() == "tests") return paragraphs;
  for (size_t i = 0; i < source.lines.size(); ++i)
    for (const std::string& literal : source.literals[i])
      if (!source.lines[i].starts_with("#include"))
        paragraphs.push_back({ProseKind::kMessages, i + 1, literal});
  return paragraphs;
}

// The cells of a row of a table are paragraphs of their own.
void append_row(Paragraphs& paragraphs, size_t line, const std::string& row) {
  std::istringstream cells(row);
  for (std::string cell; std::getline(cells, cell, '|');)
    if (!trimmed(cell).empty()) paragraphs.push_back({ProseKind::kDocs, line, std::string(trimmed(cell))});
}

// Paragraphs, list items, headings and cells of tables; blocks of code are left out.
Paragraphs prose_of_document(const Source& source) {
  Paragraphs paragraphs;
  bool open = false, fenced = false;
  for (size_t i = 0; i < source.lines.size(); ++i) {
    const std::string& line = source.lines[i];
    if (line.starts_with("```")) fenced = !fenced;
    const bool code = fenced || line.starts_with("```") || (!open && line.starts_with("    "));
    const bool heading = line.starts_with("#");
    if (code || heading || line.starts_with("|") || trimmed(line).empty() || is_list_item(line)) open = false;
    if (code || trimmed(line).empty()) continue;
    if (line.starts_with("|")) {
      append_row(paragraphs, i + 1, line);
      continue;
    }
    append(paragraphs, open, {ProseKind::kDocs, i + 1, std::string(trimmed(line))});
    if (heading) open = false;
  }
  return paragraphs;
}

// These pages are generated; their sentences stand in the sources of the program.
bool is_generated(std::string_view path) {
  return path == "docs/commands.md" || path == "docs/options.md" || path == "docs/claims.md";
}

Paragraphs prose_of(const Source& source) {
  if (source.path == "tests/tidy_rules.h") return {};  // quotes the words
  if (source.cpp()) return prose_of_code(source);
  return source.path.ends_with(".md") && !is_generated(source.path) ? prose_of_document(source)
                                                                    : Paragraphs();
}

// A sentence ends with . ! or ?, a blank, and the beginning of another.
std::vector<std::string_view> sentences_of(std::string_view text) {
  std::vector<std::string_view> sentences;
  size_t begin = 0;
  for (size_t i = 0; i + 2 < text.size(); ++i) {
    const bool ends = (text[i] == '.' || text[i] == '!' || text[i] == '?') && text[i + 1] == ' ';
    const char next = text[i + 2];
    const bool begins = std::isupper(static_cast<unsigned char>(next)) != 0 || next == '`' || next == '[' ||
                        next == '(' || next == '"' || next == '.' || (next & 0x80) != 0;
    if (!ends || !begins) continue;
    sentences.push_back(text.substr(begin, i + 1 - begin));
    begin = i + 2;
  }
  sentences.push_back(text.substr(begin));
  return sentences;
}

size_t words_in(std::string_view sentence) {
  std::istringstream words{std::string(sentence)};
  size_t count = 0;
  for (std::string word; words >> word;)
    count += std::ranges::any_of(word, [](char c) { return is_word(c); }) ? 1 : 0;
  return count;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Returns how often the words are in the text, as whole words. Both are in lower case. "One of them"
// is plain.
size_t occurrences(std::string_view text, std::string_view words) {
  size_t count = 0;
  for (size_t at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1)) {
    const size_t end = at + words.size();
    const bool starts = at == 0 || !is_word(text[at - 1]);
    const bool of = words.ends_with(" one") && text.substr(end).starts_with(" of ");
    count += starts && !of && (end == text.size() || !is_word(text[end])) ? 1 : 0;
  }
  return count;
}

bool opens_with(std::string_view sentence, std::string_view words) {
  return sentence.starts_with(words) && !sentence.ends_with("?") &&
         (!is_word(words.back()) || sentence.size() == words.size() || sentence[words.size()] == ' ');
}

std::string name_of(const Wording& wording) {
  return (wording.opening ? "^" : "") + std::string(wording.text);
}

constexpr std::string_view kLongSentence = "long sentence";

// Maps a folder, a kind and a wording, as in a line of words.txt, to the places, each as often as it has the
// wording.
using Findings = std::map<std::string, Strings>;

void count_paragraph(const std::string& path, std::string_view area, const Paragraph& paragraph,
                     Findings& findings) {
  const std::string key = std::string(area) + " " + std::string(name_of(paragraph.kind)) + " ";
  const std::string place = path + ":" + std::to_string(paragraph.line);
  const std::string text = lower(paragraph.text);
  for (const Wording& wording : kWordings)
    for (size_t n = wording.opening ? 0 : occurrences(text, wording.text); n > 0; --n)
      findings[key + name_of(wording)].push_back(place);
  if (paragraph.kind == ProseKind::kMessages) return;  // a literal is often a part of a sentence
  for (const std::string_view sentence : sentences_of(paragraph.text)) {
    for (const Wording& wording : kWordings)
      if (wording.opening && opens_with(sentence, wording.text))
        findings[key + name_of(wording)].push_back(place);
    if (words_in(sentence) > kSentenceWords) findings[key + std::string(kLongSentence)].push_back(place);
  }
}

Findings count_words(const Sources& sources) {
  Findings findings;
  for (const Source& source : sources) {
    const std::string area = source.path.find('/') == std::string::npos ? "root" : source.folder();
    for (const Paragraph& paragraph : prose_of(source))
      count_paragraph(source.path, area, paragraph, findings);
  }
  return findings;
}

// ---- The ratchet ----

using Allowed = std::map<std::string, size_t>;

Allowed parse_allowed(const Strings& lines) {
  Allowed allowed;
  for (const std::string& line : lines) {
    const size_t space = line.rfind(' ');
    if (line.empty() || line[0] == '#' || space == std::string::npos) continue;
    allowed[line.substr(0, space)] = static_cast<size_t>(std::strtoul(line.c_str() + space, nullptr, 10));
  }
  return allowed;
}

std::string advice_for(std::string_view key) {
  if (key.ends_with(kLongSentence))
    return "one fact a sentence, at most " + std::to_string(kSentenceWords) + " words";
  for (const Wording& wording : kWordings)
    if (key.ends_with(" " + name_of(wording))) return std::string(wording.instead);
  return "";
}

Strings check_words(const Findings& findings, const Allowed& allowed) {
  Strings complaints;
  for (const auto& [key, places] : findings) {
    const auto found = allowed.find(key);
    const size_t limit = found == allowed.end() ? 0 : found->second;
    if (places.size() <= limit) continue;
    std::string all;
    for (const std::string& place : places) all += (all.empty() ? "" : ", ") + place;
    complaints.push_back(key + ": " + std::to_string(places.size()) + " (tests/data/tidy/words.txt allows " +
                         std::to_string(limit) + "); " + advice_for(key) + ": " + all);
  }
  return complaints;
}

// Returns the lines of the file after a rewrite. Each figure is the lower one of what is and what was
// allowed.
Strings lowered(const Findings& findings, const Allowed& allowed) {
  Strings lines;
  for (const auto& [key, limit] : allowed) {
    const auto found = findings.find(key);
    const size_t now = found == findings.end() ? 0 : std::min(limit, found->second.size());
    if (now > 0) lines.push_back(key + " " + std::to_string(now));
  }
  return lines;
}

constexpr const char* kFile = CELLAR_TEST_DATA_DIR "/tidy/words.txt";

void rewrite(const Findings& findings, const Strings& before) {
  std::ofstream file(kFile, std::ios::trunc);
  for (const std::string& line : before)
    if (line.starts_with("#")) file << line << "\n";
  for (const std::string& line : lowered(findings, parse_allowed(before))) file << line << "\n";
}

TEST(PlainEnglish, TheCountsOfForbiddenWordsOnlyFall) {
  const Findings findings = count_words(tree());
  const Strings before = read_lines(kFile);
  const Allowed allowed = parse_allowed(before);
  ASSERT_FALSE(before.empty()) << kFile;
  for (const std::string& complaint : check_words(findings, allowed)) ADD_FAILURE() << complaint;
  std::map<std::string, size_t> sums;
  for (const auto& [key, places] : findings) sums[key.substr(key.find(' ') + 1)] += places.size();
  size_t all = 0, limit = 0;
  for (const auto& [rule, sum] : sums) {
    count(sum, rule);
    all += sum;
  }
  for (const auto& [key, figure] : allowed) limit += figure;
  count(all, "places against plain English in all");
  count(limit, "of them allowed; CELLAR_REWRITE=1 lowers the figures to those found");
  const char* wish = std::getenv("CELLAR_REWRITE");
  if (wish != nullptr && std::string_view(wish) == "1") rewrite(findings, before);
}

// One file of each kind, and each complaint that it must bring.
TEST(PlainEnglish, NoticesEachKindOfFault) {
  const std::string many = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";
  const Sources sources = {
      make_source("cell/a.cc",
                  {"// A: first. What is left.", "// Of the rest, but for",
                   "// the last. Which is not what was meant.", "int a;  // \u2026 and beside it",
                   "auto b = \"3 bytes behind // the end\"; // Is it so?", "#include \"behind.h\"",
                   "// Whether it is. What is it?", "auto c = R\"(is", "none behind)\";", "// " + many,
                   "// " + many + ".", "// behindhand, as one of them, is not one of them"}),
      make_source("docs/a.md",
                  {"# Behind", "", "| what is behind | beside |", "", "    behind", "```", "behind", "```",
                   "A sentence", "that is said. Those that", "- Whoever wants it"}),
      make_source("tests/a_test.cc", {"// A: as one.", "auto a = \"behind\";"}),
      make_source("docs/options.md", {"behind"})};
  Strings found;
  for (const auto& [key, places] : count_words(sources))
    for (const std::string& place : places) found.push_back(key + " " + place);
  EXPECT_EQ(found, (Strings{"cell comments ^Of cell/a.cc:1", "cell comments ^What cell/a.cc:1",
                            "cell comments ^Whether cell/a.cc:7", "cell comments ^\u2026 cell/a.cc:4",
                            "cell comments beside cell/a.cc:4", "cell comments but for cell/a.cc:1",
                            "cell comments long sentence cell/a.cc:10", "cell messages behind cell/a.cc:5",
                            "cell messages behind cell/a.cc:9", "docs docs ^Those docs/a.md:9",
                            "docs docs behind docs/a.md:1", "docs docs behind docs/a.md:3",
                            "docs docs beside docs/a.md:3", "docs docs said docs/a.md:9",
                            "docs docs wants docs/a.md:11", "docs docs whoever docs/a.md:11",
                            "tests comments as one tests/a_test.cc:1"}));
}

TEST(PlainEnglish, TheRatchetRefusesMoreAndNeverRises) {
  const Findings findings = {{"cell comments behind", {"cell/a.cc:1", "cell/b.cc:7"}}};
  EXPECT_EQ(check_words(findings, {{"cell comments behind", 2}}), Strings{});
  EXPECT_EQ(check_words(findings, {{"cell comments behind", 1}}),
            Strings{"cell comments behind: 2 (tests/data/tidy/words.txt allows 1); write after, or name the "
                    "interface or layer: cell/a.cc:1, cell/b.cc:7"});
  EXPECT_EQ(check_words(findings, {}).size(), 1u);
  EXPECT_EQ(lowered(findings, parse_allowed({"# behind 9", "cell comments behind 3", "cell docs said 1"})),
            Strings{"cell comments behind 2"});
  EXPECT_EQ(lowered(findings, {{"cell comments behind", 1}}), Strings{"cell comments behind 1"});
  EXPECT_EQ(lowered(findings, {}), Strings{});
}

}  // namespace
}  // namespace cellar::testing
