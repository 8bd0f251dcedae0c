// Goal: what people type wrongly is refused in the program's own words: which argument, why, and what to do.
// Method: the real program with one mistake each; texts of libraries, long echoes and misleading hints are
// looked for in what it says.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "cellar/status.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;

std::string gzipped(const std::string& text) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  std::string input = text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string cell_line(const std::string& row) {
  return R"({"row":")" + row + R"(","family":"d","qualifier":"q","ts":1,"type":"Put","value":"v"})" + "\n";
}

class Input : public ToolTest {
 protected:
  struct Case {
    std::vector<std::string> arguments;
    int exit;
    std::string message;  // part of it
    std::string hint;     // part of it
  };
  void expect_errors(const std::vector<Case>& cases) const {
    for (const Case& each : cases) {
      std::string line;
      for (const std::string& word : each.arguments) line += " " + word.substr(0, 60);
      SCOPED_TRACE(line);
      const ToolResult result = run(each.arguments);
      EXPECT_EQ(result.exit, each.exit) << result.err;
      const size_t hint_at = std::min(result.err.find("       hint"), result.err.size());
      EXPECT_NE(result.err.substr(0, hint_at).find(each.message), std::string::npos) << result.err;
      EXPECT_NE(result.err.substr(hint_at).find(each.hint), std::string::npos) << result.err;
    }
  }
};

TEST_F(Input, TimesThatCouldBeSomethingElseAreRefused) {
  make_shop();
  expect_errors({
      {{"put", "shop", "orders", "r", "d:x", "1", "--ts", "2026"},
       2,
       "--ts: \"2026\" is ambiguous",
       "write 2026-01-01 for a year, or 2026ms"},
      {{"put", "shop", "orders", "r", "d:x", "1", "--ts", "20261120"}, 2, "could be a date", "2026-11-20"},
      {{"scan", "shop", "orders", "--time", "2026..2027"},
       2,
       "--time: \"2026\" is ambiguous",
       "cellar help times"},
      {{"get", "shop", "orders", "user41", "--time", "..1763748251"},
       2,
       "seconds since 1970",
       "2025-11-21T18:04:11.000Z"},
      {{"dump", example_file("versions.hfile"), "--time", "..20200920"},
       2,
       "--time: \"20200920\"",
       "2020-09-20"},
  });
  EXPECT_EQ(run({"put", "shop", "orders", "r", "d:x", "1", "--ts", "2026ms"}).exit, 0);
  EXPECT_EQ(run({"put", "shop", "orders", "r", "d:x", "1", "--ts", "1763748251203"}).exit, 0);
  const std::string cells = out_of({"get", "shop", "orders", "r", "--versions", "all", "--format", "csv"});
  EXPECT_NE(cells.find("r,d,x,2026,Put"), std::string::npos) << cells;
  EXPECT_NE(cells.find("r,d,x,1763748251203,Put"), std::string::npos) << cells;
  // Times that a program wrote are exact: the numbers of the shell, and the cells that export prints.
  out_of({"shell", "shop", "-c", "put 'orders', 's', 'd:x', 'v', 2026"});
  const std::string exported = out_of({"export", "shop", "orders", "--to", "csv", "--prefix", "s"});
  EXPECT_NE(exported.find("s,d,x,2026,Put,v"), std::string::npos) << exported;
  write_file("back.csv", exported);
  EXPECT_EQ(run({"load", "shop", "orders", "back.csv"}).exit, 0);
}

TEST_F(Input, TheParsersErrorsAreOurSentences) {
  make_shop();
  expect_errors({
      {{"scan", "shop", "orders", "--limit", "x"},
       2,
       "--limit: \"x\" is not a whole number",
       "cellar scan --help"},
      {{"scan", "shop", "orders", "--limit"}, 2, "--limit needs a value", "write --limit N"},
      {{"scan", "shop", "orders", "--limit="}, 2, "--limit: \"\" is not a whole number", ""},
      {{"scan", "shop", "orders", "--limit", "1", "--limit", "2"},
       2,
       "--limit is given more than once",
       "--limit N"},
      {{"scan", "shop", "orders", "--reverse=maybe"}, 2, "--reverse takes no value", "write --reverse"},
      {{"scan", "shop", "orders", "--format", "jsn"},
       2,
       "\"jsn\" is invalid; expected one of table, json",
       ""},
      {{"scan", "shop", "orders", "--format"}, 2, "--format needs a value", "table|json"},
      {{"scan", "shop", "orders", "-x"}, 2, "unknown option -x", "write -- before an operand"},
      {{"filter", example_file("versions.hfile"), "-o"}, 2, "--output needs a value", "-o,--output PATH"},
      {{"filter", example_file("versions.hfile"), "-o", "a", "--output", "b"}, 2, "given more than once", ""},
      {{"list", "shop", "more"}, 2, "unexpected argument: more", "usage: cellar list STORE"},
      {{"list"}, 2, "STORE is missing", "usage: cellar list STORE"},
      {{"estimate", "shop", "orders", "--parts", "0"},
       2,
       "--parts: a range has at least 1 part",
       "--parts 4"},
      {{"estimate", "shop", "orders", "--parts", "x"}, 2, "--parts: \"x\" is not a whole number", ""},
      {{"load", "shop", "orders", "x", "--batch", "0"}, 2, "--batch: a batch has at least 1 cell", ""},
      {{"load", "shop", "orders", "x", "--null", "NULL"}, 2, "--null needs --map", ""},
      {{"load", "shop", "orders", "x", "--map", "row=a,d:b=b", "--from", "jsonl"},
       2,
       "--map is for CSV and TSV",
       ""},
  });
}

// Every option of every command with a value that it cannot take, or without a value.
TEST_F(Input, NoTextOfTheParsingLibraryIsPrinted) {
  static const std::regex kOption("^  (?:-[a-z],)?(--[-a-z]+)( \\S+)?");
  static const std::regex kForeign(
      "Could not convert|required TEXT|At Most [0-9]|Expected (exactly|at least)|OPERAND[0-9]|TEXT missing");
  size_t tried = 0;
  for (const auto& [command, option] : options_like(kOption)) {
    if (option == "--help") continue;
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{command, option},
          std::vector<std::string>{command, option + "=?", option + "=?", "a", "b", "c", "d"}}) {
      const ToolResult result = run(words);
      EXPECT_FALSE(std::regex_search(result.err, kForeign)) << command << " " << option << "\n" << result.err;
      ++tried;
    }
  }
  EXPECT_GE(tried, 200u);
}

TEST_F(Input, LongKeysAreCutInErrors) {
  make_shop();
  const std::string key(40000, 'k');
  const std::string bytes = "\\xZZ" + key;
  for (const std::vector<std::string>& line : std::vector<std::vector<std::string>>{
           {"get", "shop", "orders", key},
           {"get", "shop", "orders", bytes},
           {"get", "shop", "orders", "r", key + ":q"},
           {"get", "shop", key, "r"},
           {"put", "shop", "orders", key, "d:x", "1"},
           {"put", "shop", "orders", key, key, "1"},
           {"put", "shop", "orders", "r", "d:x", key, "--as", "long"},
           {"put", "shop", "orders", "r", "d:x", "1", "--ts", key},
           {"put", "shop", "orders", "r", "d:x", "1", "--if", key},
           {"scan", "shop", "orders", key},
           {"scan", "shop", "orders", "--limit", key},
           {"scan", "shop", "orders", "--filter", key},
           {"scan", "shop", "orders", "--" + key},
           {"scan", "shop", "orders", "--format", key},
           {"create", "shop", "t", key},
           {"create", "shop", "t", "d:compression=" + key},
           {"create", "shop", "t", "d:encoding=" + key},
           {"create", "shop", "t", "d:" + key + "=1"},
           {"create", "shop", key, "d"},
           {"delete", "shop", "orders", key, "d:x"},
           {"incr", "shop", "orders", "r", "c:n", key},
           {"incr", "shop", "orders", key, "c:n"},
           {"find", key, "shop"},
           {"find", "r", "shop", "--table", key},
           {"dump", example_file("versions.hfile"), "--types", key},
           {"dump", example_file("versions.hfile"), "--decode", key},
           {"feed", "read", "shop", key},
           {"snapshot", "drop", "shop", key},
           {"help", key},
           {key},
           {"shell", "shop", "-c", "get 'orders', '" + key + "', 'e:x'"},
           {"shell", "shop", "-c", key},
       }) {
    SCOPED_TRACE(line[0] + " " + line.back().substr(0, 20));
    const ToolResult result = run(line);
    EXPECT_LT(result.err.size(), 6000u) << result.err.substr(0, 300);
    EXPECT_EQ(result.err.find(std::string(1000, 'k')), std::string::npos);
  }
  const ToolResult missing = run({"get", "shop", "orders", std::string(30000, 'k')});
  EXPECT_EQ(missing.exit, 1);
  EXPECT_NE(missing.err.find("kkk…(30,000 characters)…kkk"), std::string::npos) << missing.err.substr(0, 500);
  const Json error = error_of({"get", "shop", std::string(500, 't'), "r"}, 3);
  EXPECT_LT(error.value("message", "").size(), 400u);
}

TEST_F(Input, NamesHaveTheNearestOne) {
  make_shop();
  expect_errors({
      {{"help", "exit-code"}, 2, "unknown command or topic \"exit-code\"", "did you mean exit-codes?"},
      {{"help", "filter-s"}, 2, "unknown command or topic", "did you mean filters?"},
      {{"help", "CEL-LOKED"}, 2, "unknown command or topic", "did you mean CEL-LOCKED?"},
      {{"help", "nonsense"}, 2, "unknown command or topic", "topics: formats"},
      {{"formats"}, 2, "unknown command \"formats\"", "cellar help formats"},
      {{"./shop"}, 2, "unknown command", "cellar inspect ./shop"},
      {{"create", "shop", "t", "d:compression=snapy"},
       2,
       "unknown compression \"snapy\"",
       "did you mean snappy?"},
      {{"create", "shop", "t", "d:encoding=fastdiff"}, 2, "encoding \"fastdiff\"", "did you mean fast_diff?"},
      {{"create", "shop", "t", "d:compaction=explorin"}, 2, "compaction", "did you mean exploring?"},
      {{"create", "shop", "t", "d:bloom=rowcoll"}, 2, "rowcoll", "did you mean rowcol?"},
      {{"create", "shop", "t", "d:max_version=3"}, 2, "max_version", "did you mean max_versions?"},
      {{"rewrite", example_file("versions.hfile"), "-o", "x", "--compression", "snapy"},
       2,
       "snapy",
       "did you mean snappy?"},
      {{"rewrite", example_file("versions.hfile"), "-o", "x", "--encoding", "fastdiff"},
       4,
       "fastdiff",
       "did you mean fast_diff?"},
      {{"get", "shop", "people", "r", "dd:x"}, 3, "no family \"dd\"", "did you mean d?"},
      {{"get", "shop", "people", "r", "notes:x"}, 3, "no family \"notes\"", "families: c, d"},
      {{"scan", "shop", "zebra"}, 3, "no table \"zebra\"", "tables: orders, people"},
      {{"snapshot", "creat", "shop", "x"}, 2, "unknown action \"creat\"", "did you mean create?"},
      {{"dump", example_file("versions.hfile"), "--types", "puts"},
       2,
       "unknown type \"puts\"",
       "delete_column"},
  });
}

TEST_F(Input, CodecsThatTheBuildLacksAreNotListed) {
  make_shop();
  const ToolResult result = run({"create", "shop", "t", "d:compression=rar"});
  EXPECT_EQ(result.exit, 2);
  const Json version = json_of({"version"});
  const size_t list = result.err.find("this build has: ");
  ASSERT_NE(list, std::string::npos) << result.err;
  std::string names = result.err.substr(list + 16, result.err.find('\n', list) - list - 16);
  names.erase(0, names.find_first_not_of(' '));
  std::set<std::string> listed;
  std::istringstream words(names);
  for (std::string word; std::getline(words, word, ',');)
    listed.insert(word.substr(word.find_first_not_of(' ')));
  std::set<std::string> built;
  for (const Json& name : version["compression"]) {
    const std::string text = name.get<std::string>();
    built.insert(text == "gzip" ? "gz" : text);
  }
  EXPECT_EQ(listed, built) << result.err;
}

TEST_F(Input, TheEncodingOfRowsHasOneName) {
  make_shop();
  out_of({"create", "shop", "t", "a:encoding=row_index", "b:DATA_BLOCK_ENCODING=ROW_INDEX_V1"});
  const std::string text = out_of({"describe", "shop", "t"});
  EXPECT_NE(text.find("encoding=row_index_v1"), std::string::npos) << text;
  EXPECT_EQ(text.find("encoding=row_index\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("encoding=row_index "), std::string::npos) << text;
  const std::vector<std::string> names = json_of({"version"})["encoding"].get<std::vector<std::string>>();
  EXPECT_NE(std::ranges::find(names, "row_index_v1"), names.end());
  EXPECT_EQ(std::ranges::find(names, "row_index"), names.end());
}

TEST_F(Input, PathsThatAreNoStoreAreNamed) {
  make_shop();
  std::filesystem::create_directory(path("folder"));
  write_file("folder/note", "text");
  write_file("note", "text");
  std::filesystem::create_directory(path("above"));
  out_of({"create", "above/inner", "t", "d"});
  std::filesystem::copy(example_file("versions.hfile"), path("versions.hfile"));
  expect_errors({
      {{"scan", "nothing"},
       2,
       "TABLE is missing, and the store nothing does not exist",
       "usage: cellar scan STORE TABLE"},
      {{"scan", "folder"},
       2,
       "TABLE is missing, and folder is a directory, but not a store",
       "usage: cellar scan"},
      {{"scan", "above"}, 2, "but not a store", "did you mean above/inner?"},
      {{"scan", "folder", "t"}, 3, "folder is a directory, but not a store", "CURRENT"},
      {{"scan", "shop/tables", "orders"}, 3, "not a store", "did you mean shop?"},
      {{"scan", "nothing", "t"}, 3, "the store nothing does not exist", "cellar create nothing TABLE FAMILY"},
      {{"get", "versions.hfile", "row-003"},
       3,
       "versions.hfile is an HFile, not a store",
       "cellar dump versions.hfile --row row-003"},
      {{"scan", "note", "t"}, 3, "note is a file, not a store", ""},
      {{"put", "versions.hfile", "t", "r", "d:x", "1"},
       3,
       "versions.hfile is a file, not a store",
       "cellar inspect"},
      {{"put", "nothing", "t", "r", "d:x", "1"},
       3,
       "the store nothing does not exist",
       "cellar create nothing"},
      {{"put", "folder", "t", "r", "d:x", "1"}, 3, "folder is a directory, but not a store", ""},
      {{"create", "deep/er/store", "t", "d"}, 3, "the directory deep/er does not exist", "mkdir -p deep/er"},
      {{"create", "note", "t", "d"}, 3, "cannot make the store note: it is a file", ""},
      {{"create", "folder", "t", "d"}, 3, "cannot make the store folder", "empty directory"},
      {{"list", "folder"}, 3, "folder is a directory, but not a store", ""},
      {{"list", ""}, 3, "the path of the store is empty", ""},
  });
}

TEST_F(Input, TheArgumentThatIsWrongIsNamed) {
  make_shop();
  const std::string file = example_file("versions.hfile");
  expect_errors({
      {{"put", "shop", "orders", "\\xZZ", "d:x", "1"}, 2, "ROW: ", "\\x5C"},
      {{"put", "shop", "orders", "r", "d", "1"}, 2, "COLUMN: \"d\" is not a column", "family:qualifier"},
      {{"put", "shop", "orders", "r", "d:x", "z", "--as", "int"}, 2, "VALUE: \"z\"", ""},
      {{"put", "shop", "orders", "r", "d:x", "1", "--ttl", "soon"},
       2,
       "--ttl: \"soon\" is not a duration",
       "7d"},
      {{"scan", "shop", "orders", "--start", "\\x"}, 2, "--start: ", ""},
      {{"scan", "shop", "orders", "--filter", "Nope("}, 2, "--filter: ", ""},
      {{"get", "shop", "orders", "r", "--versions", "0"}, 2, "--versions: \"0\"", "all"},
      {{"incr", "shop", "orders", "r", "c:n", "many"}, 2, "N: \"many\" is not a whole number", "42"},
      {{"dump", file, "--time", "x.."}, 2, "--time: \"x\" is not a time", ""},
      {{"stats", file, "--now", "x"}, 2, "--now: \"x\" is not a time", ""},
      {{"merge", file, "-o", "x", "--ttl", "x"}, 2, "--ttl: \"x\" is not a duration", ""},
      {{"rewrite", file, "-o", "x", "--block-size", "x"}, 2, "--block-size: \"x\" is not a size", ""},
      {{"feed", "create", "shop", "f", "--retain", "x"}, 2, "--retain: \"x\" is not a size", ""},
  });
}

TEST_F(Input, ATruncatedHFileIsNoFileOfAnotherKind) {
  write_file("short.hfile", read_file(example_file("versions.hfile")).substr(0, 5000));
  for (const char* command : {"inspect", "dump", "stats"})
    expect_errors({{{command, "short.hfile"}, 3, "not an HFile", "cellar salvage short.hfile -o NEW"}});
  write_file("note", "no HFile");
  EXPECT_EQ(run({"inspect", "note"}).err.find("salvage"), std::string::npos);
}

TEST_F(Input, HintsNameOptionsOfTheCommand) {
  make_shop();
  expect_errors(
      {{{"scan", "shop", "orders", "--prefix", "a", "--stop", "a0"}, 2, "", "leave out --stop or --prefix"},
       {{"count", "shop", "orders", "--prefix", "a", "--stop", "a0"},
        2,
        "",
        "leave out --stop or --prefix"}});
}

TEST_F(Input, ExistingOutputsHintAtTheOptionThatExists) {
  const std::string file = example_file("versions.hfile");
  write_file("out.hfile", "x");
  for (const char* command : {"filter", "merge", "rewrite", "salvage"}) {
    SCOPED_TRACE(command);
    const ToolResult result = run({command, file, "-o", "out.hfile"});
    EXPECT_EQ(result.exit, 2);
    EXPECT_NE(result.err.find("already exists"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("add --replace"), std::string::npos) << result.err;
  }
}

class LoadInput : public Input {
 protected:
  LoadInput() { make_shop(); }
  uint64_t rows() const { return json_of({"count", "shop", "people"})["counts"][0]["rows"].get<uint64_t>(); }
};

TEST_F(LoadInput, AByteOrderMarkIsSkipped) {
  write_file("mark.jsonl", "\xef\xbb\xbf" + cell_line("r1"));
  write_file("mark.csv", "\xef\xbb\xbfid,name\nr2,Ada\n");
  out_of({"load", "shop", "people", "mark.jsonl"});
  out_of({"load", "shop", "people", "mark.csv", "--map", "row=id,d:n=name"});
  EXPECT_EQ(rows(), 2u);
}

TEST_F(LoadInput, GzipIsReadDirectly) {
  std::string lines;
  for (int i = 0; i < 20000; ++i) lines += cell_line("r" + std::to_string(i));
  // Two members, one after the other, as `cat a.gz b.gz` makes them.
  write_file("cells.jsonl.gz", gzipped(lines.substr(0, 700)) + gzipped(lines.substr(700)));
  out_of({"load", "shop", "people", "cells.jsonl.gz"});
  EXPECT_EQ(rows(), 20000u);
  write_file("people.csv.gz", gzipped("row,family,qualifier,ts,type,value\nx,d,q,1,Put,v\n"));
  out_of({"load", "shop", "people", "people.csv.gz"});
  out_of({"load", "shop", "people", "-"}, gzipped(cell_line("y")));
  EXPECT_EQ(rows(), 20002u);
  const std::string whole = gzipped(lines);
  write_file("short.gz", whole.substr(0, whole.size() - 100));
  expect_errors({{{"load", "shop", "people", "short.gz"}, 3, "the gzip data ends too early", ""}});
  std::string damaged = whole;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
  write_file("damaged.gz", damaged);
  EXPECT_EQ(run({"load", "shop", "people", "damaged.gz"}).exit, 3);
}

TEST_F(LoadInput, FilesOfOtherKindsAreRecognised) {
  std::filesystem::copy(example_file("versions.hfile"), path("versions.hfile"));
  write_file("document.json", out_of({"dump", "versions.hfile", "--format", "json", "--limit", "2"}));
  write_file("pretty.json", "[\n  {\n    \"row\": \"r\"\n  }\n]\n");
  write_file("array.json", "[{\"row\":\"r\",\"family\":\"d\"},{\"row\":\"s\"}]\n");
  write_file("cells", "row,family,qualifier,ts,type,value\nx,d,q,1,Put,v\n");
  write_file("cells.csv", cell_line("r"));
  write_file("wide.txt", std::string("\xff\xfe{\0\"\0", 6));
  write_file("cells.zst", "\x28\xb5\x2f\xfd....");
  std::filesystem::create_directory(path("folder"));
  expect_errors({
      {{"load", "shop", "people", "versions.hfile"},
       3,
       "versions.hfile is an HFile",
       "cellar bulkload ingest"},
      {{"load", "shop", "people", "versions.hfile", "--on-error", "skip"},
       3,
       "versions.hfile is an HFile",
       "cellar dump versions.hfile --format jsonl"},
      {{"load", "shop", "people", "document.json"}, 3, "one JSON document", "--format jsonl"},
      {{"load", "shop", "people", "pretty.json"}, 3, "one JSON document", "jq -c '.[]'"},
      {{"load", "shop", "people", "array.json"}, 3, "one JSON document", "jq -c '.[]'"},
      {{"load", "shop", "people", "cells"}, 3, "cells is CSV", "--from csv"},
      {{"load", "shop", "people", "cells.csv"}, 3, "cells.csv is JSON Lines", "--from jsonl"},
      {{"load", "shop", "people", "wide.txt"}, 3, "wide.txt is UTF-16 text", "iconv"},
      {{"load", "shop", "people", "cells.zst"}, 3, "compressed by zstd", "zstd -dc cells.zst"},
      {{"load", "shop", "people", "folder"}, 3, "folder is a directory", "bulkload ingest"},
      {{"load", "shop", "people", "shop"}, 3, "shop is a store", "cellar export shop"},
  });
}

TEST_F(LoadInput, AnErrorFollowsNoReportOfNothing) {
  write_file("bad.jsonl", "{\"row\":\n");
  const ToolResult nothing = run({"load", "shop", "people", "bad.jsonl"});
  EXPECT_EQ(nothing.exit, 3);
  EXPECT_EQ(nothing.err.find("loaded"), std::string::npos) << nothing.err;
  EXPECT_NE(nothing.err.find("--on-error skip"), std::string::npos) << nothing.err;
  EXPECT_EQ(run({"load", "shop", "people", "missing.jsonl"}).err.find("loaded"), std::string::npos);
  write_file("late.jsonl", cell_line("r1") + cell_line("r2") + "nonsense\n");
  const ToolResult some = run({"load", "shop", "people", "late.jsonl", "--batch", "2"});
  EXPECT_EQ(some.exit, 3);
  EXPECT_NE(some.err.find("loaded 2 cells in 1 batch"), std::string::npos) << some.err;
}

TEST_F(LoadInput, AHeaderNamesEachColumnOnce) {
  write_file("twice.csv", "id,name,name\nr,a,b\n");
  expect_errors({{{"load", "shop", "people", "twice.csv", "--map", "row=id,d:n=name"},
                  2,
                  "names the column \"name\" twice",
                  ""}});
}

// The codes are those that the sources name, and those of enum Code.
TEST_F(Input, EveryErrorCodeHasAPage) {
  std::set<std::string> codes;
  static const std::regex kCode("\"(CEL-[A-Z-]*[A-Z])\"");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(CELLAR_SOURCE_DIR "/tools")) {
    if (entry.path().extension() != ".cc" || entry.path().filename() == "error_pages.cc") continue;
    std::ifstream in(entry.path());
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    for (auto at = std::sregex_iterator(text.begin(), text.end(), kCode); at != std::sregex_iterator(); ++at)
      codes.insert((*at)[1]);
  }
  for (int code = 1; code < 256 && code_name(static_cast<Code>(code)) != "unknown"; ++code) {
    std::string text = "CEL-";
    for (const char c : code_name(static_cast<Code>(code)))
      text += c == '_' ? '-' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    codes.insert(text);
  }
  EXPECT_GE(codes.size(), 25u);
  const std::string list = out_of({"help", "errors"});
  for (const std::string& code : codes) {
    SCOPED_TRACE(code);
    const ToolResult page = run({"help", code});
    EXPECT_EQ(page.exit, 0) << page.err;
    EXPECT_EQ(page.out.rfind(code + ": ", 0), 0u) << page.out;
    for (const char* part : {"\nexit status\n", "\ncauses\n", "\nwhat to do\n"})
      EXPECT_NE(page.out.find(part), std::string::npos) << page.out;
    EXPECT_NE(list.find("\n  " + code + " "), std::string::npos);
    std::istringstream lines(page.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110u) << line;
  }
  size_t pages = 0;
  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("  CEL-")) {
      EXPECT_TRUE(codes.contains(line.substr(2, line.find(' ', 2) - 2))) << "no source names " << line;
      ++pages;
    }
  EXPECT_EQ(pages, codes.size());
  EXPECT_EQ(out_of({"help", "cel-locked"}), out_of({"help", "CEL-LOCKED"}));
}

TEST_F(Input, VerifySaysWhatToDo) {
  std::filesystem::copy(example_file("versions.hfile"), path("sound.hfile"));
  std::string bytes = read_file("sound.hfile");
  bytes[5000] = static_cast<char>(bytes[5000] ^ 1);
  write_file("damaged.hfile", bytes);
  std::string newer = read_file("sound.hfile");
  newer[newer.size() - 1] = 9;  // the major version
  write_file("newer.hfile", newer);
  const ToolResult damaged = run({"verify", "damaged.hfile"});
  EXPECT_EQ(damaged.exit, 1);
  EXPECT_NE(damaged.out.find("cellar salvage damaged.hfile -o NEW"), std::string::npos) << damaged.out;
  EXPECT_EQ(out_of({"verify", "sound.hfile"}).find("salvage"), std::string::npos);
  const ToolResult both = run({"verify", "sound.hfile", "damaged.hfile"});
  EXPECT_NE(both.err.find("1 file sound, 1 damaged"), std::string::npos) << both.err;
  const ToolResult unsupported = run({"verify", "newer.hfile"});
  EXPECT_EQ(unsupported.exit, 4) << unsupported.out << unsupported.err;
  EXPECT_EQ(unsupported.out.find("FAIL"), std::string::npos) << unsupported.out;
  EXPECT_EQ(unsupported.out.rfind("unsupported  newer.hfile", 0), 0u) << unsupported.out;
  EXPECT_NE(unsupported.err.find("1 not supported by this build"), std::string::npos) << unsupported.err;
}

}  // namespace
}  // namespace cellar::testing
