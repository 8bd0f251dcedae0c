// Goal: the rules of the house hold in every file: layers, banned calls, form, lengths, dead files, plug-ins.
// Method: each rule is a function from sources to complaints, "file:line: what to do". It runs over the tree,
// and over tests/data/tidy/faults.txt, where every rule meets a file that breaks it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/tidy_rules.h"
#include "tests/tidy_source.h"

namespace cellar::testing {
namespace {

struct Include {
  size_t line;
  std::string target;
  bool quoted;
};

std::vector<Include> includes_of(const Source& source) {
  std::vector<Include> includes;
  for (size_t i = 0; i < source.lines.size(); ++i) {
    std::string_view line = source.lines[i];
    if (!source.cpp() || !line.starts_with("#include ") || source.code[i].empty()) continue;
    line.remove_prefix(9);
    const size_t end = line.find(line[0] == '<' ? '>' : '"', 1);
    if (end != std::string_view::npos)
      includes.push_back({i + 1, std::string(line.substr(1, end - 1)), line[0] == '"'});
  }
  return includes;
}

// ---- The rules, as functions ----

const Layer* find_layer(std::string_view name) {
  const auto found = std::ranges::find(kLayers, name, &Layer::name);
  return found == kLayers.end() ? nullptr : &*found;
}

bool is_house_folder(std::string_view folder) {
  return folder == "cellar" || folder == "examples" || kAboveLayers.contains(folder) ||
         find_layer(folder) != nullptr;
}

// The sentence against this include, or nothing.
std::string complaint_about_include(const Source& source, const Include& include) {
  std::string to(layer_of(include.target));
  if (include.quoted && to == include.target)
    return "write the path from the root, such as \"cell/cursor.h\"";
  if (!is_house_folder(to)) {
    return include.quoted && !source.path.starts_with("tests/")
               ? "\"...\" is for our files; others stand in <...>"
               : "";
  }
  if (to == "cellar") to = "include";
  const std::string from = source.layer();
  if (from == to)
    return to == "tests" && source.path.starts_with("tests/support/") &&
                   (include.target.starts_with("tests/cell_support/") ||
                    include.target.starts_with("tests/hfile_support/"))
               ? "tests/support stands below the support of layers; move the shared part down"
               : "";
  if (from == "examples") {
    return to == "include" ? "" : "examples show what the public surface can do: include only cellar/...";
  }
  if (source.path.starts_with("tests/support/") && to != "base" && to != "platform" && to != "include") {
    return "tests/support may not include " + to +
           "; put it in tests/cell_support or in the folder that needs it";
  }
  const Layer* layer = find_layer(from);
  const bool upward = layer != nullptr ? !layer->below.contains(to) : (to == "tests" || to == "examples");
  return upward ? from + " may not include " + to + "; move the shared part down or pass it in" : "";
}

Strings check_layers(const Sources& sources) {
  Strings complaints;
  for (const Source& source : sources) {
    for (const Include& include : includes_of(source)) {
      const std::string complaint = complaint_about_include(source, include);
      if (!complaint.empty()) complaints.push_back(source.at(include.line) + complaint);
    }
  }
  return complaints;
}

Strings check_fences(const Sources& sources) {
  Strings complaints;
  for (const Source& source : sources) {
    for (const Include& include : includes_of(source)) {
      const std::string& to = include.target;
      const bool house = to.starts_with("cellar/");
      if (source.public_header() && !house &&
          (to.find('/') != std::string::npos || to.find(".h") != std::string::npos)) {
        complaints.push_back(source.at(include.line) +
                             "public headers need <standard> and \"cellar/...\" only, not " + to);
      }
      const bool of_hbase = to.starts_with("hbase/") &&
                            std::ranges::any_of(kUsersOfHBaseMessages, [&](const std::string& user) {
                              return source.path.starts_with(user);
                            });
      const bool shown = source.header() && !source.path.starts_with("tests/");
      if (to.ends_with(".pb.h") && (shown || (source.layer() != layer_of(to) && !of_hbase))) {
        complaints.push_back(source.at(include.line) +
                             "generated messages stay inside .cc files of their folder");
      }
      for (const Fence& fence : kFences) {
        if (!to.starts_with(fence.prefix) || source.folder() == "tests") continue;
        const bool home = fence.allowed.empty() || allowed_in(source, fence.allowed);
        if (!home || (source.header() && !fence.headers_too && find_layer(source.folder()) != nullptr)) {
          complaints.push_back(source.at(include.line) + std::string(fence.advice));
        }
      }
    }
  }
  return complaints;
}

Strings check_bans(const Sources& sources) {
  Strings complaints;
  for (const Source& source : sources) {
    if (!source.cpp()) continue;
    for (const Ban& ban : kBans) {
      if (allowed_in(source, ban.allowed)) continue;
      for (size_t i = 0; i < source.code.size(); ++i) {
        const auto token = std::ranges::find_if(
            ban.tokens, [&](const std::string& each) { return has_token(source.code[i], each); });
        if (token == ban.tokens.end()) continue;
        complaints.push_back(source.at(i + 1) + *token + (token->back() == '(' ? ")" : "") + " is not for " +
                             source.folder() + "; " + std::string(ban.advice));
      }
    }
  }
  return complaints;
}

size_t columns(std::string_view line) {
  return static_cast<size_t>(std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }));
}

void check_line(const Source& source, size_t i, Strings& complaints) {
  const std::string& line = source.lines[i];
  const auto complain = [&](const std::string& what) { complaints.push_back(source.at(i + 1) + what); };
  if (line.find('\t') != std::string::npos) complain("a tab; indent with spaces, and write \\t in literals");
  const bool markdown_break = source.path.ends_with(".md") && line.ends_with("  ");
  if (!line.empty() && (line.back() == ' ' || line.back() == '\r') && !markdown_break) {
    complain("blanks at the end of the line; remove them");
  }
  for (const std::string& word : kUnfinished) {
    if (has_token(line, word))
      complain(word + " promises work; do it now, or say in plain words what is not supported");
  }
  for (const std::string& path : kMachinePaths) {
    if (line.find(path) != std::string::npos)
      complain("a path of one machine; take it as an argument or an option");
  }
}

// for (… : store.view()->files): what view() returns may be the last that keeps the files alive, and C++20
// lets go of it before the loop begins.
void check_loops(const Source& source, Strings& complaints) {
  for (size_t i = 0; i < source.code.size(); ++i) {
    const std::string& line = source.code[i];
    const size_t loop = line.find("for (");
    const size_t colon = loop == std::string::npos ? loop : line.find(" : ", loop);
    if (colon == std::string::npos || line.find(';', loop) < colon) continue;
    const size_t arrow = line.find("()->", colon);
    if (arrow == std::string::npos) continue;
    size_t end = arrow + 4;
    while (end < line.size() && is_word(line[end])) ++end;
    if (end < line.size() && line[end] == ')')  // a member, not what a call returns
      complaints.push_back(source.at(i + 1) +
                           "a loop over what a temporary pointer points at; give the pointer a name first");
  }
}

// Returns whether the function that begins in the line gives a pointer or a reference to what is constant.
bool declares_a_place(std::string_view line) {
  const size_t open = line.find('(');
  if (line.find("const ") > open) return false;
  if (open == std::string_view::npos) return false;
  const size_t blank = line.rfind(' ', open);
  if (blank == std::string_view::npos || blank == 0) return false;
  const char before = line[blank - 1];
  return before == '*' || (before == '&' && line[blank - 2] != '&');
}

// const Record* find() { return state()->record(); }: what state() returns may be the last that keeps the
// record alive, and it is gone when the caller looks.
void check_returns(const Source& source, Strings& complaints) {
  std::string_view function;  // the line in which the function begins
  for (size_t i = 0; i < source.code.size(); ++i) {
    const std::string& line = source.code[i];
    const size_t returns = line.find("return ");
    const bool member = line.ends_with(") const {") || line.find(") const { return ") != std::string::npos;
    if (member || (!line.empty() && is_word(line[0]))) function = line;
    if (returns == std::string::npos || line.find("()->", returns) == std::string::npos) continue;
    if (declares_a_place(function) && line.find("[") > returns)
      complaints.push_back(source.at(i + 1) +
                           "a place within what a temporary pointer points at; return what keeps it alive");
  }
}

// One complaint for a whole file: ./dev format mends all its lines at once.
void check_columns(const Source& source, Strings& complaints) {
  const auto wide = [](const std::string& line) { return columns(line) > kColumns; };
  const auto first = std::ranges::find_if(source.lines, wide);
  if (first == source.lines.end()) return;
  complaints.push_back(source.at(static_cast<size_t>(first - source.lines.begin()) + 1) + "line of " +
                       std::to_string(columns(*first)) + " columns (limit 110; lines like it: " +
                       std::to_string(std::ranges::count_if(source.lines, wide)) +
                       "): run ./dev format, or split the thought");
}

// The first line says why the file exists; headers are guarded; lines fit and are clean.
Strings check_form(const Sources& sources) {
  Strings complaints;
  for (const Source& source : sources) {
    for (size_t i = 0; i < source.lines.size(); ++i) check_line(source, i, complaints);
    if (!source.cpp()) continue;
    check_columns(source, complaints);
    check_loops(source, complaints);
    check_returns(source, complaints);
    if (source.lines.empty() || !source.lines[0].starts_with("// ") || source.lines[0].size() < 12) {
      complaints.push_back(source.at(1) +
                           "begin with a line that says why the file exists: // Name: a sentence.");
    }
    if (source.header() && std::ranges::find(source.lines, "#pragma once") == source.lines.end()) {
      complaints.push_back(source.at(1) + "a header without #pragma once; add it below the purpose");
    }
    const std::string name = source.name();
    if (std::ranges::any_of(name, [](char c) { return !is_word(c) && c != '.'; }) ||
        std::ranges::any_of(name, [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; })) {
      complaints.push_back(source.at(1) + "file names are snake_case");
    }
  }
  return complaints;
}

// Is there a glob in the build that finds this .cc?
bool is_built(const Source& source) {
  const auto slashes = std::ranges::count(source.path, '/');
  const std::string folder = source.folder();
  if (slashes == 2 && (source.path.starts_with("bench/") || source.path.starts_with("examples/")))
    return true;
  if (slashes == 2 && source.layer() != folder) return true;
  if (folder != "tests") return slashes == 1 && (is_house_folder(folder) || folder == "examples");
  if (source.path.starts_with("tests/consumer/")) return true;  // a project of its own
  const size_t second = source.path.find('/') + 1;
  return slashes == 1 ||
         (slashes == 2 && kTestFolders.contains(source.path.substr(second, source.path.rfind('/') - second)));
}

Strings check_dead_files(const Sources& sources) {
  std::set<std::string> included;
  for (const Source& source : sources) {
    for (const Include& include : includes_of(source)) {
      if (include.target != source.path) included.insert(include.target);
    }
  }
  Strings complaints;
  for (const Source& source : sources) {
    if (!source.cpp()) continue;
    if (source.header() && !source.public_header() && !included.contains(source.path)) {
      complaints.push_back(source.at(1) + "no file includes this header; use it or remove it");
    }
    if (!source.header() && !is_built(source)) {
      complaints.push_back(source.at(1) +
                           "no glob of the build finds this file; move it to a folder that is built");
    }
  }
  return complaints;
}

// A plug-in file defines the function that the build calls, and only files named as plug-ins do.
Strings check_plugins(const Sources& sources) {
  Strings complaints;
  for (const Source& source : sources) {
    if (!source.path.ends_with(".cc") || find_layer(source.layer()) == nullptr) continue;
    size_t line = 0;
    while (line < source.code.size() && source.code[line].find("CELLAR_PLUGIN(") == std::string::npos) ++line;
    const bool defines = line < source.code.size();
    const bool named =
        kPluginLayers.contains(source.layer()) &&
        std::ranges::any_of(kPluginKinds, [&](const auto& kind) { return source.name().starts_with(kind); });
    std::string function = source.layer() + "_" + source.stem();
    std::ranges::replace(function, '/', '_');
    if (named && !defines) {
      complaints.push_back(source.at(1) + "named as a plug-in, but has no CELLAR_PLUGIN(Kind, " + function +
                           ", \"name\", Class); add it or rename the file");
    } else if (named && !has_token(source.code[line], function)) {
      complaints.push_back(source.at(line + 1) + "the second argument of CELLAR_PLUGIN is " + function +
                           " here");
    } else if (defines && !named) {
      complaints.push_back(source.at(line + 1) +
                           "the build calls plug-ins by file name: policy_, encoding_, "
                           "compressor_, type_, filter_, ordered_ or cmd_ first");
    }
  }
  return complaints;
}

// "engine/store/core" of engine/store/core.h and engine/store/core.cc: what is read together.
std::string unit_of(const std::string& path) { return path.substr(0, path.rfind('.')); }

// A unit that includes another may not be included by it, however far round.
Strings check_cycles(const Sources& sources) {
  std::map<std::string, std::set<std::string>> uses;
  for (const Source& source : sources) {
    if (!source.cpp() || find_layer(source.layer()) == nullptr) continue;
    std::set<std::string>& of = uses[unit_of(source.path)];
    for (const Include& include : includes_of(source))
      if (include.quoted && unit_of(include.target) != unit_of(source.path))
        of.insert(unit_of(include.target));
  }
  // A unit that uses only units that are done is done. The remaining units are in a cycle or use one that is.
  for (bool more = true; more;) {
    more = std::erase_if(uses, [&](const auto& unit) {
             return std::ranges::none_of(unit.second, [&](const auto& used) { return uses.contains(used); });
           }) > 0;
  }
  Strings complaints;
  for (const auto& [unit, used] : uses)
    complaints.push_back(unit +
                         ".h:1: is in a cycle of includes, or includes one; move the shared part down");
  return complaints;
}

// ---- Lengths: limits, and a ratchet for what is over them ----

struct Length {
  std::string what;  // "file" or "function"
  std::string path;
  std::string name;  // of a function; "-" for a file
  size_t line = 1;
  size_t lines = 0;

  std::string key() const { return what + " " + path + " " + name; }
};

// The ratchet: "function engine/store/store.cc Store::read 78" allows exactly that, and only until it
// shrinks.
std::map<std::string, size_t> parse_ratchet(const Strings& lines) {
  std::map<std::string, size_t> ratchet;
  for (const std::string& line : lines) {
    const size_t space = line.rfind(' ');
    if (line.empty() || line[0] == '#' || space == std::string::npos) continue;
    ratchet[line.substr(0, space)] = static_cast<size_t>(std::strtoul(line.c_str() + space, nullptr, 10));
  }
  return ratchet;
}

Strings check_lengths(const std::vector<Length>& lengths, std::map<std::string, size_t> ratchet) {
  Strings complaints;
  std::map<std::string, Length> longest;
  for (const Length& length : lengths) {
    Length& kept = longest[length.key()];
    if (length.lines > kept.lines) kept = length;
  }
  for (const auto& [key, length] : longest) {
    const size_t limit = length.what == "file" ? kFileLines : kFunctionLines;
    const std::string at = length.path + ":" + std::to_string(length.line) + ": " + length.what + " of " +
                           std::to_string(length.lines) + " lines (limit " + std::to_string(limit);
    const auto was = ratchet.find(key);
    if (was == ratchet.end()) {
      if (length.lines > limit)
        complaints.push_back(at + "): split by step, not by size; which noun is missing?");
      continue;
    }
    const std::string entry = ", ratchet " + std::to_string(was->second) + "): ";
    if (length.lines <= limit) {
      complaints.push_back(at + entry + "within the limit now; remove \"" + key + "\" from the ratchet");
    } else if (length.lines > was->second) {
      complaints.push_back(at + entry + "may only shrink; split by step");
    } else if (length.lines < was->second) {
      complaints.push_back(at + entry + "shorter now; write the new figure into the ratchet");
    }
    ratchet.erase(was);
  }
  for (const auto& [key, lines] : ratchet)
    complaints.push_back("tests/data/tidy/ratchet.txt:1: nothing is called \"" + key +
                         "\" any more; remove the line");
  return complaints;
}

std::vector<Length> file_lengths(const Sources& sources) {
  std::vector<Length> lengths;
  for (const Source& source : sources) {
    if (source.cpp()) lengths.push_back({"file", source.path, "-", 1, source.lines.size()});
  }
  return lengths;
}

// Asks universal-ctags where functions begin and end. A string that is not empty says why that failed.
std::string function_lengths(const Sources& sources, std::vector<Length>& lengths) {
  std::string command = "cd '" CELLAR_SOURCE_DIR
                        "' && ctags --options=NONE --language-force=C++ --kinds-C++=f --fields=+neZ -x "
                        "--_xformat='%F\t%n\t%{end}\t%Z::%N' -L - 2>&-";
  std::string files;
  for (const Source& source : sources) {
    if (source.cpp()) files += source.path + "\n";
  }
  command = "printf '" + files + "' | ( " + command + " )";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "the shell could not be started";
  std::string output;
  std::array<char, 4096> buffer;
  for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) output.append(buffer.data(), n);
  if (pclose(pipe) != 0) return "ctags failed; install the package universal-ctags (./dev test does)";

  std::istringstream lines(output);
  std::string path, line, end, name;
  while (std::getline(lines, path, '\t') && std::getline(lines, line, '\t') &&
         std::getline(lines, end, '\t') && std::getline(lines, name)) {
    const size_t first = std::strtoul(line.c_str(), nullptr, 10);
    const size_t last = std::strtoul(end.c_str(), nullptr, 10);
    std::ranges::replace(name, ' ', '_');
    if (last >= first) lengths.push_back({"function", path, name, first, last - first + 1});
  }
  return "";
}

// ---- Promises: how many assertions a folder has, for how many functions ----

struct Promises {
  size_t functions = 0;
  size_t assertions = 0;         // CELLAR_ASSERT and CELLAR_DCHECK
  size_t static_assertions = 0;  // static_assert, which counts apart

  double per_function() const {
    return static_cast<double>(assertions) / static_cast<double>(std::max<size_t>(functions, 1));
  }
};

size_t count_of(std::string_view code, std::string_view call) {
  size_t count = 0;
  for (size_t at = code.find(call); at != std::string_view::npos; at = code.find(call, at + call.size()))
    count += at == 0 || !is_word(code[at - 1]) ? 1 : 0;
  return count;
}

Promises promises_of(const std::string& folder, const Sources& sources, const std::vector<Length>& lengths) {
  const std::string begin = folder + "/";
  Promises found;
  for (const Length& length : lengths)
    if (length.what == "function" && length.path.starts_with(begin)) ++found.functions;
  for (const Source& source : sources) {
    if (!source.cpp() || !source.path.starts_with(begin)) continue;
    for (const std::string& line : source.code) {
      found.assertions += count_of(line, "CELLAR_ASSERT(") + count_of(line, "CELLAR_DCHECK(");
      found.static_assertions += count_of(line, "static_assert(");
    }
  }
  return found;
}

Strings check_promises(const std::string& folder, const Promises& found) {
  if (found.functions != 0 && found.per_function() >= kAssertionsPerFunction) return {};
  std::array<char, 256> text;
  std::snprintf(
      text.data(), text.size(),
      ":1: %zu assertions in %zu functions, %.3f per function (at least %.2f): assert what must hold; "
      "docs/decisions/what-is-asserted.md says what that is",
      found.assertions, found.functions, found.per_function(), kAssertionsPerFunction);
  return {folder + text.data()};
}

// ---- The tests ----

void expect_none(const Strings& complaints) {
  std::string all;
  for (const std::string& complaint : complaints) all += "\n" + complaint;
  EXPECT_TRUE(complaints.empty()) << all;
}

TEST(StyleGuard, FindsTheTree) {
  EXPECT_TRUE(std::ranges::any_of(tree(), [](const Source& s) { return s.path == "tests/tidy_test.cc"; }));
  EXPECT_TRUE(std::ranges::any_of(tree(), [](const Source& s) { return s.public_header(); }));
}

TEST(StyleGuard, IncludesGoDown) { expect_none(check_layers(tree())); }
TEST(StyleGuard, LibrariesStayBehindTheirFences) { expect_none(check_fences(tree())); }
TEST(StyleGuard, TheWorldIsPassedIn) { expect_none(check_bans(tree())); }
TEST(StyleGuard, FilesHaveTheirForm) { expect_none(check_form(tree())); }
TEST(StyleGuard, UnitsHaveNoCycles) {
  expect_none(check_cycles(tree()));
  const Sources round = {make_source("cell/a.h", {"#include \"cell/b.h\""}),
                         make_source("cell/b.cc", {"#include \"cell/c.h\""}),
                         make_source("cell/c.h", {"#include \"cell/a.h\""}),
                         make_source("cell/d.h", {"#include \"base/bytes.h\""})};
  EXPECT_EQ(check_cycles(round).size(), 3u);
}
TEST(StyleGuard, NoFileIsDead) { expect_none(check_dead_files(tree())); }
TEST(StyleGuard, PluginsAreWhatTheirNamesSay) { expect_none(check_plugins(tree())); }

TEST(StyleGuard, FunctionsAndFilesStayShort) {
  std::vector<Length> lengths = file_lengths(tree());
  const std::string failure = function_lengths(tree(), lengths);
  ASSERT_EQ(failure, "");
  ASSERT_TRUE(
      std::ranges::any_of(lengths, [](const Length& l) { return l.name.ends_with("::function_lengths"); }));
  expect_none(check_lengths(lengths, parse_ratchet(read_lines(CELLAR_TEST_DATA_DIR "/tidy/ratchet.txt"))));
}

TEST(StyleGuard, FunctionsStateWhatTheyPromise) {
  std::vector<Length> lengths;
  ASSERT_EQ(function_lengths(tree(), lengths), "");
  for (const std::string& folder : kAssertingFolders) {
    const Promises found = promises_of(folder, tree(), lengths);
    std::printf("%s: %zu assertions in %zu functions, %.3f per function; %zu static_assert\n", folder.c_str(),
                found.assertions, found.functions, found.per_function(), found.static_assertions);
    expect_none(check_promises(folder, found));
  }
}

TEST(StyleGuard, NoticesMissingPromises) {
  const std::vector<Length> functions(10, {"function", "cell/probe.cc", "f", 1, 1});
  const auto complaints = [&](Strings lines) {
    return check_promises("cell",
                          promises_of("cell", {make_source("cell/probe.cc", std::move(lines))}, functions));
  };
  EXPECT_EQ(complaints({"CELLAR_ASSERT(a); CELLAR_DCHECK(b);", "  CELLAR_ASSERT(c == 1);"}), Strings{});
  EXPECT_EQ(
      complaints({"CELLAR_ASSERT(a); CELLAR_DCHECK(b);"}),
      Strings{"cell:1: 2 assertions in 10 functions, 0.200 per function (at least 0.30): assert what must "
              "hold; docs/decisions/what-is-asserted.md says what that is"});
  // Prose, texts, other names and static_assert do not count.
  EXPECT_EQ(complaints({"CELLAR_ASSERT(a); CELLAR_DCHECK(b);  // CELLAR_ASSERT(c)",
                        "f(\"CELLAR_ASSERT(c)\"); MY_CELLAR_ASSERT(c); static_assert(c);"})
                .size(),
            1u);
  // Other folders do not count, and a folder without functions is a fault of the rule.
  EXPECT_EQ(promises_of("cell", {make_source("cellar/probe.cc", {"CELLAR_ASSERT(a);"})}, {}).assertions, 0u);
  EXPECT_EQ(check_promises("cell", {}).size(), 1u);
}

// Returns how many types a line of code defines: 1 for "struct Tile {", 0 for a declaration, an alias or
// anything else.
size_t types_defined(std::string_view code) {
  while (code.starts_with(' ')) code.remove_prefix(1);
  const std::array<std::string_view, 4> kinds = {"class ", "struct ", "union ", "enum "};
  const bool is_type =
      std::ranges::any_of(kinds, [&](std::string_view kind) { return code.starts_with(kind); });
  return is_type && code.find('{') != code.npos && code.find('(') > code.find('{') ? 1 : 0;
}

TEST(StyleGuard, ThePublicSurfaceOnlyShrinks) {
  EXPECT_EQ(types_defined("  enum class Stamps : uint8_t { kClock };"), 1u);
  EXPECT_EQ(types_defined("class RowBatch::Iterator {"), 1u);
  EXPECT_EQ(types_defined("class [[nodiscard]] Status {"), 1u);
  EXPECT_EQ(types_defined("class Table;"), 0u);
  EXPECT_EQ(types_defined("  friend class RowBatchBuilder;"), 0u);
  EXPECT_EQ(types_defined("template <class T>"), 0u);
  size_t types = 0;
  for (const Source& source : tree())
    if (source.public_header())
      for (const std::string& line : source.code) types += types_defined(line);
  std::printf("include/cellar defines %zu types\n", types);
  EXPECT_LE(types, kPublicTypes) << "a user must learn each: put new ones behind the engine";
  EXPECT_GE(types, kPublicTypes) << "write the smaller figure into kPublicTypes in tests/tidy_rules.h";
}

// The linker's table in CMakeLists.txt and cmake/CellarTools.cmake gives each layer at least what the table
// above lets it include.
TEST(StyleGuard, TheBuildHasTheSameLayers) {
  std::map<std::string, std::set<std::string>> linked;
  Strings lines = read_lines(CELLAR_SOURCE_DIR "/CMakeLists.txt");
  for (std::string& line : read_lines(CELLAR_SOURCE_DIR "/cmake/CellarTools.cmake"))
    lines.push_back(std::move(line));
  for (const std::string& line : lines) {
    const size_t begin = std::min(line.find_first_not_of(' '), line.size());
    if (!std::string_view(line).substr(begin).starts_with("cellar_layer(")) continue;
    std::istringstream words(line.substr(begin + 13));
    std::string name, word;
    words >> name;
    std::set<std::string>& below = linked[name];
    while (words >> word && word != "LIBS") {
      if (word == "DEPENDS") continue;
      below.insert(word);
      below.insert(linked[word].begin(), linked[word].end());
    }
  }
  for (const Layer& layer : kLayers) {
    if (layer.name == "include") continue;
    ASSERT_TRUE(linked.contains(std::string(layer.name)))
        << "CMakeLists.txt:1: no cellar_layer for " << layer.name;
    const std::set<std::string>& below = linked[std::string(layer.name)];
    for (const std::string_view each : layer.below) {
      EXPECT_TRUE(each == "include" || below.contains(std::string(each)))
          << "CMakeLists.txt:1: " << layer.name << " may include " << each
          << " but does not link it; add it to DEPENDS";
    }
    for (const std::string& each : below) {
      const Layer* under = find_layer(each);
      ASSERT_NE(under, nullptr) << "CMakeLists.txt:1: " << each << " is no layer of the table";
      EXPECT_FALSE(under->below.contains(layer.name))
          << "CMakeLists.txt:1: " << layer.name << " links upward to " << each;
    }
  }
}

TEST(StyleGuard, TheRatchetOnlyShrinks) {
  const auto complaints = [](size_t lines, const Strings& ratchet) {
    return check_lengths({{"function", "engine/store/store.cc", "Store::read", 212, lines}},
                         parse_ratchet(ratchet));
  };
  EXPECT_EQ(complaints(70, {}), Strings{});
  EXPECT_EQ(complaints(71, {}).size(), 1u);
  const Strings ratchet = {"# comment", "function engine/store/store.cc Store::read 78"};
  EXPECT_EQ(complaints(78, ratchet), Strings{});
  EXPECT_EQ(complaints(81, ratchet),
            Strings{"engine/store/store.cc:212: function of 81 lines (limit 70, ratchet "
                    "78): may only shrink; split by step"});
  EXPECT_NE(complaints(75, ratchet).at(0).find("write the new figure"), std::string::npos);
  EXPECT_NE(complaints(60, ratchet).at(0).find("remove"), std::string::npos);
  EXPECT_NE(check_lengths({}, parse_ratchet(ratchet)).at(0).find("nothing is called"), std::string::npos);
  EXPECT_EQ(check_lengths({{"file", "engine/store/store.cc", "-", 1, 701}}, {}).size(), 1u);
}

void expand(std::string& line) {
  for (const auto& [mark, meaning] :
       {std::pair("{tab}", "\t"), std::pair("{blank}", " "), std::pair("{join}", "")}) {
    const size_t at = line.find(mark);
    if (at != std::string::npos) line.replace(at, std::string_view(mark).size(), meaning);
  }
}

// Every rule meets a file that breaks it. A case is "== path", the file, "--", and the complaints.
// The words {tab}, {blank} and {join} stand for a tab, a blank, and an empty text. The data file keeps the
// rules itself.
TEST(StyleGuard, NoticesEachKindOfFault) {
  const Strings text = read_lines(CELLAR_TEST_DATA_DIR "/tidy/faults.txt");
  size_t cases = 0;
  for (size_t i = 0; i < text.size();) {
    if (!text[i].starts_with("== ")) {
      ++i;
      continue;
    }
    const std::string path = text[i++].substr(3);
    Strings lines, expected;
    for (; i < text.size() && text[i] != "--"; ++i) lines.push_back(text[i]);
    for (++i; i < text.size() && !text[i].empty(); ++i) expected.push_back(text[i]);
    for (Strings* part : {&lines, &expected}) {
      for (std::string& line : *part) expand(line);
    }
    const Sources sources = {make_source(path, lines)};
    Strings complaints;
    for (const auto check :
         {check_layers, check_fences, check_bans, check_form, check_dead_files, check_plugins}) {
      std::ranges::move(check(sources), std::back_inserter(complaints));
    }
    EXPECT_EQ(complaints, expected) << "case of " << path;
    ++cases;
  }
  EXPECT_GE(cases, 20u);
}

}  // namespace
}  // namespace cellar::testing
