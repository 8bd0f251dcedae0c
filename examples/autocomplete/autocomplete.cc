// Autocompletion: a table of prefixes answers each keystroke with one get of one row.
//
//   example_autocomplete [STORE [FILE]]
//
// FILE holds titles with a rank, or Debian's list of packages. The rank of a package is the number of
// packages that depend on it. The table is filled twice: by puts, and by one sorted file that it adopts.
// titles.h describes the table.
#include "cellar/hfile_builder.h"
#include "examples/autocomplete/titles.h"

namespace {

using namespace example;

struct Data {
  std::vector<Title> titles;
  std::map<std::string, std::string> rows;  // prefix → JSON
};

// Writes a finished file next to the store. The table then adopts it: no log, no memtable, no flush.
Status load_file(Table& prefixes, const Data& data, const std::string& path) {
  CELLAR_TRY_ASSIGN(
      HFileBuilder file,
      HFileBuilder::create(
          posix_file_system(), path,
          {.compression = "snappy", .block_bytes = 16384, .replace = true, .created_ms = kWritten}));
  for (const auto& [prefix, json] : data.rows)
    CELLAR_TRY(file.add(Cell(prefix, "j", "", kWritten, CellType::kPut, json)));
  CELLAR_TRY(file.finish());
  return prefixes.ingest({.files = {{.family = "j", .path = path}}, .move = true}).status();
}

Status ask_size(Table& prefixes, Table& by_puts, const Data& data, Questions& questions) {
  questions.chapter("The table of prefixes");
  size_t characters = 0;
  for (const Title& title : data.titles) characters += character_ends(title.text).value_or({}).size();
  const auto per_title = [&](size_t n) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f",
                  static_cast<double>(n) / static_cast<double>(data.titles.size()));
    return std::string(text);
  };
  CELLAR_TRY_ASSIGN(const RangeCount count, prefixes.count());
  CELLAR_TRY(questions.answer("How many rows have " + std::to_string(data.titles.size()) + " titles of " +
                                  per_title(characters) + " characters on average?",
                              std::to_string(count.rows), std::to_string(data.rows.size())));
  questions.say(per_title(data.rows.size()) + " rows and " + per_title(bytes_of(prefixes)) +
                " bytes for each title; 10 rows at most, so 100 million titles have at most a billion");
  CELLAR_TRY_ASSIGN(const auto adopted, prefixes.scan({}));
  CELLAR_TRY_ASSIGN(const auto written, by_puts.scan({}));
  while (adopted->next() && written->next()) {
    CELLAR_TRY(questions.same("the rows of both tables", adopted->row().row(), written->row().row()));
    CELLAR_TRY(questions.same("their values", or_none(adopted->row().value("j", "")),
                              or_none(written->row().value("j", ""))));
  }
  CELLAR_TRY(questions.holds("both end together", !written->next() && adopted->status().ok()));
  const FamilyInfo file = prefixes.info().families.front();
  const FamilyInfo puts = by_puts.info().families.front();
  questions.say("adopted file: " + std::to_string(file.bytes_put) + " bytes through the log, " +
                std::to_string(file.bytes_flushed + file.bytes_compacted) +
                " written by flush and compaction");
  questions.say("puts: " + std::to_string(puts.bytes_put) + " bytes through the log, " +
                std::to_string(puts.bytes_flushed + puts.bytes_compacted) +
                " written by flush and compaction");
  return {};
}

// The reads of a store that was just opened, whose cache is empty.
Status ask_keystrokes(Table& prefixes, Questions& questions) {
  questions.chapter("A person types");
  ReadStats cost;
  CELLAR_TRY_ASSIGN(std::string answer, suggest(prefixes, "hdaoop", &cost));
  CELLAR_TRY(questions.answer("hdaoop, the first read after the store was opened", answer, "[]", &cost));
  CELLAR_TRY(questions.holds("the Bloom filter excludes it, and no data block is read",
                             cost.files_skipped_bloom == cost.files_considered && cost.data_blocks == 0));
  cost = {};
  CELLAR_TRY_ASSIGN(answer, suggest(prefixes, "chim", &cost));
  CELLAR_TRY(
      questions.holds("chim finds chime first", answer.starts_with("[\"chime\",\"chimney\",\"chimera\"")));
  questions.say("chim: " + answer);
  Questions::print(cost);
  CELLAR_TRY(questions.holds("its data block comes from disk", cost.blocks_from_disk > 0));
  cost = {};
  CELLAR_TRY_ASSIGN(answer, suggest(prefixes, "chime", &cost));
  CELLAR_TRY(questions.holds("chime finds fewer", answer.starts_with("[\"chime\",\"chimera\"")));
  questions.say("chime, the next keystroke: " + answer);
  Questions::print(cost);
  return questions.holds("the next keystroke finds its block in the cache", cost.blocks_from_disk == 0);
}

Status ask_edges(Table& prefixes, const Data& data, Questions& questions) {
  questions.chapter("Edges");
  const auto ask = [&](std::string_view question, std::string_view typed,
                       std::string_view expected) -> Status {
    CELLAR_TRY_ASSIGN(const std::string answer, suggest(prefixes, typed));
    return questions.answer(question, answer, expected);
  };
  CELLAR_TRY(ask("zü: two characters, although three bytes", "zü", "[]"));
  CELLAR_TRY(ask("zür", "zür", R"(["zürich","zürich-west"])"));
  CELLAR_TRY(ask("東京国: three characters, nine bytes", "東京国", R"(["東京国際空港","東京国立博物館"])"));
  CELLAR_TRY(ask("ZüRI: ASCII letters in any case", "ZüRI", R"(["zürich","zürich-west"])"));
  CELLAR_TRY(ask("rs, a title of two characters, has no row", "rs", "[]"));
  CELLAR_TRY(
      ask("</s: nothing in the JSON can end an element of a page", "</s", R"(["\u003c/script\u003e"])"));
  CELLAR_TRY(ask("chime and a zero byte", std::string_view("chime\0", 6), "[]"));
  CELLAR_TRY(questions.answer("\\xe6\\x9d\\xb1\\xe4: half a character",
                              suggest(prefixes, "\xe6\x9d\xb1\xe4").status().to_text(),
                              "invalid_argument: byte 3 is not UTF-8"));
  size_t broken = 0;
  for (const auto& [prefix, json] : data.rows) broken += character_ends(prefix).ok() ? 0 : 1;
  CELLAR_TRY(questions.holds("no row ends within a character", broken == 0));
  size_t n = 0;
  for (const auto& [prefix, json] : data.rows) {
    if (n++ % (data.rows.size() / 300 + 1) != 0) continue;
    CELLAR_TRY_ASSIGN(const std::string answer, suggest(prefixes, prefix));
    CELLAR_TRY(questions.same(prefix, answer, best_by_looking(data.titles, prefix)));
  }
  return {};
}

Status run(const std::string& store, const std::vector<std::string>& files, Questions& questions) {
  if (files.size() != 1) return Status::invalid_argument("usage: example_autocomplete STORE FILE");
  Data data;
  CELLAR_TRY_ASSIGN(data.titles, read_titles(files[0]));
  data.rows = prefix_rows(data.titles);
  {
    CELLAR_TRY_ASSIGN(const auto engine, new_store(store));
    CELLAR_TRY_ASSIGN(const auto prefixes, engine->create_table("prefixes", table_of_titles()));
    CELLAR_TRY_ASSIGN(const auto by_puts, engine->create_table("by_puts", table_of_titles()));
    CELLAR_TRY(load_file(*prefixes, data, store + ".prefixes.hfile"));
    CELLAR_TRY(load_rows(*by_puts, data.rows));
    CELLAR_TRY(ask_size(*prefixes, *by_puts, data, questions));
    CELLAR_TRY(engine->close());
  }
  CELLAR_TRY_ASSIGN(const auto engine, Engine::open(store));
  CELLAR_TRY_ASSIGN(const auto prefixes, engine->open_table("prefixes"));
  CELLAR_TRY(ask_keystrokes(*prefixes, questions));
  CELLAR_TRY(ask_edges(*prefixes, data, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "autocomplete_store", run); }
