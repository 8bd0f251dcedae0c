// Categories of articles, and redirects from names that are gone.
//
//   example_article_categories [STORE]
//
// - Table categories: row = category, page; c:title. All pages of a category are one scan.
// - Table pages: row = page; c:<category>. All categories of a page are one get. Both change in one batch.
// - Table redirects: row = name, r:to = the name to read instead.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "examples/application.h"

namespace {

using namespace example;
using Categories = std::map<std::string, std::set<int64_t>>;

struct Tables {
  std::shared_ptr<Table> categories, pages, redirects;
};

// The end of a text keeps "Art" apart from "Art history".
std::string category_key(std::string_view category, int64_t page) {
  return KeyBuilder().text(category).int64(page).key().value();
}
// A key with a separator, as the text has it. It cannot tell where the category ends.
std::string joined_key(std::string_view category, int64_t page) {
  return std::string(category) + "-" + std::to_string(page);
}
std::string title_of(int64_t page) { return "Page " + std::to_string(page); }

Status set_category(Engine& engine, const Tables& tables, const std::string& category, int64_t page,
                    bool member) {
  const std::string row = category_key(category, page), of_page = plain_int64(page);
  Batch batch;
  if (member) {
    batch.put(tables.categories, Put(row).add("c", "title", title_of(page)));
    batch.put(tables.pages, Put(of_page).add("c", category, ""));
  } else {
    batch.erase(tables.categories, Delete(row));
    batch.erase(tables.pages, Delete(of_page).column("c", category));
  }
  return engine.write(batch);
}

Result<std::set<int64_t>> members(Table& categories, const std::string& category, ReadStats* cost = nullptr) {
  const std::string prefix = KeyBuilder().text(category).key().value();
  CELLAR_TRY_ASSIGN(const auto scanner, categories.scan(Scan(keys_with_prefix(prefix)).stats(cost)));
  std::set<int64_t> pages;
  for (const RowView row : *scanner) {
    KeyReader key(row.row());
    CELLAR_TRY(key.text());
    CELLAR_TRY_ASSIGN(const int64_t page, key.int64());
    pages.insert(page);
  }
  CELLAR_TRY(scanner->status());
  return pages;
}

std::string text_of(const std::set<int64_t>& pages) {
  std::string list;
  for (const int64_t page : pages) append(list, std::to_string(page));
  return list;
}

// Moves pages between categories, and compares both tables with a map after it.
Status ask_categories(Engine& engine, const Tables& tables, Questions& questions) {
  questions.chapter("Categories");
  const std::vector<std::string> names = {"Art",     "Art history", "Art-house films",
                                          "Bridges", "Rivers",      "Towns"};
  Categories all;
  uint64_t random = 3;
  for (int change = 0; change < 3000; ++change) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const std::string& name = names[(random >> 40) % names.size()];
    const auto page = static_cast<int64_t>((random >> 50) % 200) - 20;  // negative pages are talk pages here
    const bool member = (random >> 33) % 3 != 0;
    CELLAR_TRY(set_category(engine, tables, name, page, member));
    if (member) all[name].insert(page);
    if (!member) all[name].erase(page);
  }
  for (const std::string& name : names) {
    ReadStats cost;
    CELLAR_TRY_ASSIGN(const std::set<int64_t> found, members(*tables.categories, name, &cost));
    CELLAR_TRY(questions.same(name, text_of(found), text_of(all[name])));
    CELLAR_TRY(questions.holds("the scan is in the order of the pages", cost.rows_returned == found.size()));
  }
  for (int64_t page = -20; page < 180; ++page) {
    CELLAR_TRY_ASSIGN(const RowBatch row, tables.pages->get(Get(plain_int64(page))));
    std::string found, expected;
    for (const CellView& cell : row.row()) append(found, cell.qualifier());
    for (const auto& [name, pages] : all) {
      if (pages.contains(page)) append(expected, name);
    }
    CELLAR_TRY(questions.same("categories of " + title_of(page), found, expected));
  }
  ReadStats cost;
  CELLAR_TRY_ASSIGN(const std::set<int64_t> art, members(*tables.categories, "Art", &cost));
  return questions.answer("How many pages are in the category Art?", std::to_string(art.size()),
                          std::to_string(all["Art"].size()), &cost);
}

// The prefix "Art-" of joined keys is also the beginning of "Art-house films".
Status ask_separator(Engine& engine, Questions& questions) {
  questions.chapter("A separator in a name");
  CELLAR_TRY_ASSIGN(const auto joined, engine.create_table("joined", {.families = {{.name = "c"}}}));
  for (const char* category : {"Art", "Art-house films"}) {
    for (int64_t page = 8; page <= 12; ++page)
      CELLAR_TRY(joined->put(Put(joined_key(category, page)).add("c", "title", title_of(page))));
  }
  CELLAR_TRY_ASSIGN(const auto scanner, joined->scan(Scan(keys_with_prefix("Art-"))));
  std::string rows;
  for (const RowView row : *scanner) append(rows, row.row());
  CELLAR_TRY(scanner->status());
  return questions.answer("The five pages of Art by the prefix Art-: digits sort as text, and films come too",
                          rows,
                          "Art-10, Art-11, Art-12, Art-8, Art-9, Art-house films-10, Art-house films-11, "
                          "Art-house films-12, Art-house films-8, Art-house films-9");
}

// Follows redirects to a name that has none. A loop is an error, not an endless read.
Result<std::string> resolve(Table& redirects, std::string name, int* reads = nullptr) {
  std::set<std::string> seen;
  while (seen.insert(name).second) {
    CELLAR_TRY_ASSIGN(const RowBatch row, redirects.get(Get(name)));
    if (reads != nullptr) ++*reads;
    const auto to = row.value("r", "to");
    if (!to) return name;
    name = *to;
  }
  return Status::conflict("the redirects of " + name + " lead back to it");
}

Status ask_redirects(const Tables& tables, Questions& questions) {
  questions.chapter("Redirects");
  for (const auto& [from, to] : {std::pair{"Constantinople", "Istanbul"},
                                 {"Byzantium", "Constantinople"},
                                 {"Miklagard", "Byzantium"},
                                 {"Left", "Right"},
                                 {"Right", "Left"}})
    CELLAR_TRY(tables.redirects->put(Put(from).add("r", "to", to)));
  CELLAR_TRY(tables.redirects->flush());
  int reads = 0;
  CELLAR_TRY_ASSIGN(std::string name, resolve(*tables.redirects, "Miklagard", &reads));
  CELLAR_TRY(questions.answer("Where does Miklagard lead?", name, "Istanbul"));
  questions.say("That took " + std::to_string(reads) +
                " gets. A chain that is found can be shortened at once:");
  CELLAR_TRY(tables.redirects->put(Put("Miklagard").add("r", "to", name)));
  reads = 0;
  CELLAR_TRY_ASSIGN(name, resolve(*tables.redirects, "Miklagard", &reads));
  CELLAR_TRY(questions.answer("The gets after that", std::to_string(reads), "2"));
  ReadStats cost;
  CELLAR_TRY_ASSIGN(const bool exists, tables.redirects->exists(Get("Lisbon").stats(&cost)));
  CELLAR_TRY(questions.answer("A name without a redirect costs no block of data",
                              exists ? "it has one" : "it has none", "it has none", &cost));
  CELLAR_TRY(questions.holds("the Bloom filter excludes the name",
                             cost.files_skipped_bloom + cost.files_skipped_range == cost.files_considered));
  const Result<std::string> loop = resolve(*tables.redirects, "Left");
  return questions.answer("A loop", std::string(loop.status().message()),
                          "the redirects of Left lead back to it");
}

Status run(const std::string& path, const std::vector<std::string>&, Questions& questions) {
  CELLAR_TRY_ASSIGN(const auto engine, new_store(path));
  Tables tables;
  // A page may leave and enter a category in one millisecond. So the order of writes decides what is hidden.
  const FamilyOptions by_write = {.name = "c", .delete_order = MarkerOrder::kSequence};
  CELLAR_TRY_ASSIGN(tables.categories, engine->create_table("categories", {.families = {by_write}}));
  CELLAR_TRY_ASSIGN(tables.pages, engine->create_table("pages", {.families = {by_write}}));
  CELLAR_TRY_ASSIGN(tables.redirects, engine->create_table("redirects", {.families = {{.name = "r"}}}));
  CELLAR_TRY(ask_categories(*engine, tables, questions));
  CELLAR_TRY(ask_separator(*engine, questions));
  CELLAR_TRY(ask_redirects(tables, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "article_categories_store", run); }
