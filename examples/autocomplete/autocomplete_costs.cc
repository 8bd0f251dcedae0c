// Other designs for autocompletion, and their cost: a scan of the titles, and prefixes under hashed keys.
//
//   example_autocomplete_costs [STORE [FILE]]
//
// Table prefixes is that of titles.h. Table hashed has the same rows under the MD5 of the prefix. Table
// by_title has one row for each title, whose value is its rank.
#include "examples/autocomplete/titles.h"

namespace {

using namespace example;

struct Data {
  std::vector<Title> titles;
  std::map<std::string, std::string> rows;  // prefix → JSON
};
struct Tables {
  std::shared_ptr<Table> prefixes, hashed, by_title;
};

Result<Tables> load(Engine& engine, const Data& data) {
  Tables all;
  CELLAR_TRY_ASSIGN(all.prefixes, engine.create_table("prefixes", table_of_titles()));
  CELLAR_TRY_ASSIGN(all.hashed, engine.create_table("hashed", table_of_titles()));
  CELLAR_TRY_ASSIGN(all.by_title, engine.create_table("by_title", table_of_titles()));
  std::map<std::string, std::string> hashed, by_title;
  for (const auto& [prefix, json] : data.rows) hashed[md5_bytes(prefix)] = json;
  for (const Title& title : data.titles) by_title[title.text] = std::to_string(title.links);
  CELLAR_TRY(load_rows(*all.prefixes, data.rows));
  CELLAR_TRY(load_rows(*all.hashed, hashed));
  CELLAR_TRY(load_rows(*all.by_title, by_title));
  return all;
}

Status ask_sizes(const Tables& tables, Questions& questions) {
  questions.chapter("Bytes on disk, with Snappy");
  questions.say("sorted by prefix: " + std::to_string(bytes_of(*tables.prefixes)));
  questions.say("under hashed keys: " + std::to_string(bytes_of(*tables.hashed)));
  questions.say("one row for each title: " + std::to_string(bytes_of(*tables.by_title)));
  return questions.holds("neighbours compress better", bytes_of(*tables.prefixes) < bytes_of(*tables.hashed));
}

// The same answers without prefixes, from one row for each title: a scan that must see all titles with the
// prefix.
Status ask_alternatives(const Tables& tables, const Data& data, Questions& questions) {
  questions.chapter("A scan of titles instead of a get of a prefix");
  for (const std::string prefix : {"lib", "pyth", "chime"}) {
    ReadStats get_cost, scan_cost;
    CELLAR_TRY_ASSIGN(const std::string by_get, suggest(*tables.prefixes, prefix, &get_cost));
    CELLAR_TRY_ASSIGN(const auto scanner, tables.by_title->scan(Scan().prefix(prefix).stats(&scan_cost)));
    std::vector<Title> found;
    for (const RowView row : *scanner)
      found.push_back({std::string(row.row()), std::stoull(or_none(row.value("j", ""), "0"))});
    CELLAR_TRY(scanner->status());
    std::ranges::stable_sort(found, std::greater{}, &Title::links);
    CELLAR_TRY(questions.same("the ten best of " + prefix, best_by_looking(found, prefix), by_get));
    CELLAR_TRY(questions.same("the ten best of " + prefix, best_by_looking(data.titles, prefix), by_get));
    questions.say(prefix + ": " + by_get);
    Questions::print(get_cost);
    questions.say("the same by a scan of " + std::to_string(found.size()) + " titles and a sort");
    Questions::print(scan_cost);
  }
  return {};
}

// A row of 12 characters cannot tell apart the titles that share them: a scan of titles with the whole text
// can.
Status ask_long_texts(const Tables& tables, const Data& data, Questions& questions) {
  questions.chapter("More than 12 characters");
  std::string missing;
  size_t hidden = 0;
  for (const Title& title : data.titles) {
    CELLAR_TRY_ASSIGN(const std::string row, row_of_query(title.text));
    const auto found = data.rows.find(row);
    if (found == data.rows.end() || found->second.find(json_text(title.text)) != std::string::npos) continue;
    if (hidden++ == 0) missing = title.text;
  }
  questions.say(std::to_string(hidden) + " titles are not among the ten best of their first 12 characters");
  if (hidden == 0) return {};
  ReadStats cost;
  CELLAR_TRY_ASSIGN(const std::string by_get, suggest(*tables.prefixes, missing));
  CELLAR_TRY(
      questions.holds("the row of prefixes lacks it", by_get.find(json_text(missing)) == std::string::npos));
  CELLAR_TRY_ASSIGN(const auto scanner, tables.by_title->scan(Scan().prefix(missing).limit(1).stats(&cost)));
  CELLAR_TRY(questions.answer("The first of them, by a scan of titles that begin with its text",
                              scanner->next() ? scanner->row().row() : "nothing", missing, &cost));
  return scanner->status();
}

// Types whole titles into a store that was just opened, and counts the blocks that come from disk.
Status ask_locality(const std::string& store, const Data& data, Questions& questions) {
  questions.chapter("Blocks from disk while a person types");
  uint64_t blocks[2] = {}, keystrokes = 0;
  for (const bool hash : {false, true}) {
    CELLAR_TRY_ASSIGN(const auto engine, Engine::open(store));
    CELLAR_TRY_ASSIGN(const auto table, engine->open_table(hash ? "hashed" : "prefixes"));
    keystrokes = 0;
    for (size_t i = 0; i < data.titles.size(); i += data.titles.size() / 20 + 1) {
      const std::string_view typed = data.titles[i].text;
      CELLAR_TRY_ASSIGN(const std::vector<size_t> ends, character_ends(typed));
      for (size_t n = kShortestPrefix; n <= std::min(kLongestPrefix, ends.size()); ++n, ++keystrokes) {
        ReadStats cost;
        CELLAR_TRY_ASSIGN(const std::string row, row_of_query(typed.substr(0, ends[n - 1])));
        CELLAR_TRY(table->exists(Get(hash ? md5_bytes(row) : row).stats(&cost)));
        blocks[hash] += cost.blocks_from_disk;
      }
    }
    CELLAR_TRY(engine->close());
  }
  questions.say(std::to_string(keystrokes) + " keystrokes after opening: " + std::to_string(blocks[0]) +
                " blocks from disk, " + std::to_string(blocks[1]) + " under hashed keys");
  return questions.holds("neighbouring prefixes share blocks", blocks[0] <= blocks[1]);
}

Status run(const std::string& store, const std::vector<std::string>& files, Questions& questions) {
  if (files.size() != 1) return Status::invalid_argument("usage: example_autocomplete_costs STORE FILE");
  Data data;
  CELLAR_TRY_ASSIGN(data.titles, read_titles(files[0]));
  data.rows = prefix_rows(data.titles);
  {
    CELLAR_TRY_ASSIGN(const auto engine, new_store(store));
    CELLAR_TRY_ASSIGN(const Tables tables, load(*engine, data));
    CELLAR_TRY(ask_sizes(tables, questions));
    CELLAR_TRY(ask_alternatives(tables, data, questions));
    CELLAR_TRY(ask_long_texts(tables, data, questions));
    CELLAR_TRY(engine->close());
  }
  return ask_locality(store, data, questions);
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "autocomplete_costs_store", run); }
