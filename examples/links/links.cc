// A graph of links in three layouts: a row for each link, a row for each node, and a cell for each node.
//
//   example_links STORE FILE      the file has lines "Package: NAME" and "Depends: LIST"
//
// - Table edges: row = from, into. It has a Bloom filter of rows.
// - Table adjacency: row = from, a column for each into. It has a Bloom filter of rows and columns.
// - Table cells: row = from, s:links = all of them.
#include "examples/links/graph.h"

namespace {

using namespace example;

struct Tables {
  std::shared_ptr<Table> edges, adjacency, cells;
};

std::string edge_key(std::string_view from, std::string_view into) {
  return KeyBuilder().text(from).text(into).key().value();
}

Result<Tables> create(Engine& engine) {
  Tables all;
  const FamilyOptions columns = {.name = "a", .bloom = "rowcol"};
  CELLAR_TRY_ASSIGN(all.edges,
                    engine.create_table("edges", {.families = {{.name = "e"}},
                                                  .metadata = {{"KEY_FIELDS", "from text, into text"}}}));
  CELLAR_TRY_ASSIGN(all.adjacency, engine.create_table("adjacency", {.families = {columns}}));
  CELLAR_TRY_ASSIGN(all.cells, engine.create_table("cells", {.families = {{.name = "s"}}}));
  return all;
}

Status load(Engine& engine, const Tables& tables, const Graph& graph) {
  Batch batch;
  for (const auto& [from, links] : graph) {
    for (const std::string& into : links) {
      batch.put(tables.edges, Put(edge_key(from, into)).add("e", "", ""));
      batch.put(tables.adjacency, Put(from).add("a", into, ""));
    }
    batch.put(tables.cells, Put(from).add("s", "links", serialised(links)));
    if (batch.mutations() < 2000) continue;
    CELLAR_TRY(engine.write(batch));
    batch.clear();
  }
  CELLAR_TRY(engine.write(batch));
  return engine.flush();
}

// The links of one node from each layout.
Result<Links> by_edges(const Tables& tables, const std::string& from, ReadStats* cost) {
  const std::string prefix = KeyBuilder().text(from).key().value();
  CELLAR_TRY_ASSIGN(const auto scanner, tables.edges->scan(Scan(keys_with_prefix(prefix)).stats(cost)));
  Links links;
  for (const RowView row : *scanner) {
    CELLAR_TRY_ASSIGN(const std::string into, KeyReader(row.row().substr(prefix.size())).text());
    links.insert(into);
  }
  CELLAR_TRY(scanner->status());
  return links;
}

Links columns_of(const RowView& row) {
  Links links;
  for (const CellView& cell : row) links.emplace(cell.qualifier());
  return links;
}

Result<Links> by_adjacency(const Tables& tables, const std::string& from, ReadStats* cost) {
  CELLAR_TRY_ASSIGN(const RowBatch row, tables.adjacency->get(Get(from).stats(cost)));
  return columns_of(row.row());
}

Result<Links> by_cell(const Tables& tables, const std::string& from, ReadStats* cost) {
  CELLAR_TRY_ASSIGN(const RowBatch row, tables.cells->get(Get(from).stats(cost)));
  return links_of(row.value("s", "links").value_or(""));
}

Status ask_links(const Tables& tables, const Graph& graph, Questions& questions) {
  questions.chapter("The same graph from three layouts");
  ReadStats edges, adjacency, cells;
  size_t count = 0;
  for (const auto& [from, expected] : graph) {
    CELLAR_TRY_ASSIGN(const Links a, by_edges(tables, from, &edges));
    CELLAR_TRY_ASSIGN(const Links b, by_adjacency(tables, from, &adjacency));
    CELLAR_TRY_ASSIGN(const Links c, by_cell(tables, from, &cells));
    CELLAR_TRY(questions.holds("the links of " + from, a == expected && b == expected && c == expected));
    count += expected.size();
  }
  questions.say(std::to_string(graph.size()) + " nodes, " + std::to_string(count) +
                " links; the cost of asking for all links of each node:");
  const auto say = [](const Table& table, const ReadStats& cost) {
    const StoreFileInfo file = table.info().families[0].files[0];
    std::printf("  %s: %" PRIu64 " cells, %" PRIu64 " bytes\n", table.name().c_str(), file.cells, file.bytes);
    Questions::print(cost);
  };
  say(*tables.edges, edges);
  say(*tables.adjacency, adjacency);
  say(*tables.cells, cells);
  CELLAR_TRY_ASSIGN(const RangeCount all, tables.edges->count());
  return questions.answer("How many rows has the list of edges?", std::to_string(all.rows),
                          std::to_string(count));
}

// Pairs of nodes that are not linked: each node with the node that is 7 later, if there is no such link.
std::vector<std::pair<std::string, std::string>> strangers(const Graph& graph) {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::vector<std::string> names;
  for (const auto& [name, links] : graph) names.push_back(name);
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& other = names[(i + 7) % names.size()];
    if (!graph.at(names[i]).contains(other)) pairs.emplace_back(names[i], other);
  }
  return pairs;
}

Status ask_connected(const Tables& tables, const Graph& graph, Questions& questions) {
  questions.chapter("Are two nodes linked?");
  for (const auto& [from, links] : graph) {
    for (const std::string& into : links) {
      CELLAR_TRY_ASSIGN(const bool edge, tables.edges->exists(Get(edge_key(from, into))));
      CELLAR_TRY(questions.holds(from + " depends on " + into, edge));
    }
  }
  const auto pairs = strangers(graph);
  ReadStats edges, adjacency, cells;
  for (const auto& [from, into] : pairs) {
    CELLAR_TRY_ASSIGN(const bool edge, tables.edges->exists(Get(edge_key(from, into)).stats(&edges)));
    CELLAR_TRY_ASSIGN(const bool column,
                      tables.adjacency->exists(Get(from).column("a", into).stats(&adjacency)));
    CELLAR_TRY_ASSIGN(const Links all, by_cell(tables, from, &cells));
    CELLAR_TRY(
        questions.holds(from + " does not depend on " + into, !edge && !column && !all.contains(into)));
  }
  questions.say(std::to_string(pairs.size()) +
                " pairs that are not linked, by edges, by adjacency, by cells:");
  for (const ReadStats& cost : {edges, adjacency, cells}) Questions::print(cost);
  // One in a hundred may pass the filter by chance; three are allowed here. No other look-up reads data.
  for (const ReadStats& cost : {edges, adjacency}) {
    const uint64_t passed = cost.files_considered - cost.files_skipped_bloom - cost.files_skipped_range;
    CELLAR_TRY(questions.holds("the Bloom filter answers at least 97 % of the misses",
                               passed * 100 <= pairs.size() * 3));
    CELLAR_TRY(questions.holds("a miss that the filter answers examines no cell",
                               cost.cells_examined <= passed * 2));
  }
  return {};
}

// All that a package needs, level by level: one get_many for each level.
Status ask_steps(const Tables& tables, const Graph& graph, const std::string& start, Questions& questions) {
  questions.chapter("Neighbours of neighbours");
  Links seen = {start}, level = {start}, expected = seen, expected_level = seen;
  for (int step = 1; !level.empty(); ++step) {
    ReadStats many, single;
    std::vector<Get> gets;
    for (const std::string& name : level) gets.push_back(Get(name).stats(&many));
    CELLAR_TRY_ASSIGN(const std::vector<RowBatch> rows, tables.adjacency->get_many(gets));
    for (const std::string& name : level) CELLAR_TRY(by_adjacency(tables, name, &single));
    Links next, expected_next;
    for (const RowBatch& row : rows) {
      for (const CellView& cell : row.row()) {
        if (seen.emplace(cell.qualifier()).second) next.emplace(cell.qualifier());
      }
    }
    for (const std::string& name : expected_level) {
      const auto links = graph.find(name);
      for (const std::string& link : links == graph.end() ? Links() : links->second) {
        if (expected.insert(link).second) expected_next.insert(link);
      }
    }
    level = next, expected_level = expected_next;
    CELLAR_TRY(questions.holds("the packages of this step", level == expected_level));
    const std::string question =
        "How many packages does " + start + " reach in step " + std::to_string(step) + "?";
    if (step > 3) continue;
    CELLAR_TRY(questions.answer(question, std::to_string(level.size()), std::to_string(expected_level.size()),
                                &many));
    CELLAR_TRY(questions.holds("get_many reads no more blocks than single gets",
                               many.blocks_from_cache + many.blocks_from_disk <=
                                   single.blocks_from_cache + single.blocks_from_disk));
  }
  return questions.answer("How many in all steps?", std::to_string(seen.size() - 1),
                          std::to_string(expected.size() - 1));
}

Status run(const std::string& path, const std::vector<std::string>& files, Questions& questions) {
  if (files.size() != 1)
    return Status::invalid_argument("name one file with lines \"Package: \" and \"Depends: \"");
  CELLAR_TRY_ASSIGN(const Graph graph, read_graph(files[0]));
  CELLAR_TRY_ASSIGN(const auto engine, new_store(path));
  CELLAR_TRY_ASSIGN(const Tables tables, create(*engine));
  CELLAR_TRY(load(*engine, tables, graph));
  CELLAR_TRY(ask_links(tables, graph, questions));
  CELLAR_TRY(ask_connected(tables, graph, questions));
  CELLAR_TRY(ask_steps(tables, graph, "inkscape", questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "links_store", run); }
