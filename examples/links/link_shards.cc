// Nodes with very many links: one row for all of them, or rows that share them.
//
//   example_link_shards STORE FILE      the file has lines "Package: NAME" and "Depends: LIST"
//
// - Table into_one: row = the package that is needed, a column for each package that needs it.
// - Table into_shards: row = the same name, one byte of hash. The byte is a hash of the package that needs
//   it, so that 16 rows share the links.
#include "examples/links/graph.h"

namespace {

using namespace example;
constexpr uint32_t kShards = 16;

std::string shard_key(std::string_view into, std::string_view from) {
  return KeyBuilder().text(into).raw(std::string(1, static_cast<char>(salt_of(from, kShards)))).key().value();
}

// Writes each link to both tables: who needs whom, found from the package that is needed.
Status load(Engine& engine, const std::shared_ptr<Table>& one, const std::shared_ptr<Table>& shards,
            const Graph& into) {
  Batch batch;
  for (const auto& [name, links] : into) {
    for (const std::string& from : links) {
      batch.put(one, Put(name).add("i", from, ""));
      batch.put(shards, Put(shard_key(name, from)).add("i", from, ""));
      if (batch.mutations() < 2000) continue;
      CELLAR_TRY(engine.write(batch));
      batch.clear();
    }
  }
  CELLAR_TRY(engine.write(batch));
  CELLAR_TRY(engine.flush());
  CELLAR_TRY(one->major_compact());
  return shards->major_compact();
}

// Returns the links of all shards; at most 1,000 cells are in memory at a time.
Result<Links> links_into(Table& shards, const std::string& name, ReadStats* cost) {
  const std::string prefix = KeyBuilder().text(name).key().value();
  CELLAR_TRY_ASSIGN(const auto scanner, shards.scan(Scan(keys_with_prefix(prefix)).batch(1000).stats(cost)));
  Links links;
  for (const RowView part : *scanner) {
    for (const CellView& cell : part) links.emplace(cell.qualifier());
  }
  CELLAR_TRY(scanner->status());
  return links;
}

Status ask_shards(Engine& engine, const Graph& graph, Questions& questions) {
  questions.chapter("Who needs a package? Links in one row, or in 16");
  Graph into;
  for (const auto& [from, links] : graph) {
    for (const std::string& link : links) into[link].insert(from);
  }
  // A node that everything links to, as large as all the rest together.
  size_t all = 0;
  for (const auto& [name, links] : into) all += links.size();
  for (size_t n = 0; n < std::max<size_t>(4 * all, 20'000); ++n)
    into["everything"].insert("page-" + std::to_string(n));
  const TableOptions families = {.families = {{.name = "i"}}};
  CELLAR_TRY_ASSIGN(const auto one, engine.create_table("into_one", families));
  CELLAR_TRY_ASSIGN(const auto shards, engine.create_table("into_shards", families));
  CELLAR_TRY(load(engine, one, shards, into));
  size_t largest = 0;
  for (const auto& [name, expected] : into) {
    ReadStats cost;
    CELLAR_TRY_ASSIGN(const Links links, links_into(*shards, name, &cost));
    CELLAR_TRY(questions.holds("the packages that need " + name, links == expected));
    if (name == "everything" || name == "libc6")
      CELLAR_TRY(questions.answer("How many link to " + name + "?", std::to_string(links.size()),
                                  std::to_string(expected.size()), &cost));
    largest = std::max(largest, expected.size());
  }
  ReadStats cost;
  CELLAR_TRY_ASSIGN(
      bool found,
      shards->exists(Get(shard_key("everything", "page-17")).column("i", "page-17").stats(&cost)));
  CELLAR_TRY(questions.answer("Does page-17 link to everything? Its shard is known", found ? "yes" : "no",
                              "yes", &cost));
  CELLAR_TRY_ASSIGN(found, shards->exists(Get(shard_key("everything", "page--1")).column("i", "page--1")));
  CELLAR_TRY(questions.holds("page--1 does not", !found));

  // Work is divided between rows: a single row of this size cannot be cut, its shards can.
  const KeyRange row = {"everything", std::string("everything") + '\0'};
  CELLAR_TRY_ASSIGN(const RangeSplits uncut, one->split_points(8, row));
  CELLAR_TRY_ASSIGN(const RangeSplits cut,
                    shards->split_points(8, keys_with_prefix(KeyBuilder().text("everything").key().value())));
  CELLAR_TRY(
      questions.answer("In how many parts can the row of " + std::to_string(largest) + " links be cut?",
                       std::to_string(uncut.rows.size() + 1), "1"));
  return questions.answer("And its 16 shards, if 8 parts are wanted?", std::to_string(cut.rows.size() + 1),
                          "8");
}

Status run(const std::string& path, const std::vector<std::string>& files, Questions& questions) {
  if (files.size() != 1)
    return Status::invalid_argument("name one file with lines \"Package: \" and \"Depends: \"");
  CELLAR_TRY_ASSIGN(const Graph graph, read_graph(files[0]));
  CELLAR_TRY_ASSIGN(const auto engine, new_store(path));
  CELLAR_TRY(ask_shards(*engine, graph, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "link_shards_store", run); }
