// Links that change all the time: a serialised list, its changes, and a job that rolls them up.
//
//   example_link_changes [STORE]
//
// - Table rollup: row = node. s:links is the list of its links. Family d has a cell for each change that is
//   not in the list yet. Its qualifier is the time of the change and the link. Its value is + or -.
#include <atomic>
#include <thread>

#include "examples/links/graph.h"

namespace {

using namespace example;

// A change of a link is one small cell: its time, its name, and + or -.
Status change(Engine& engine, Table& table, std::string_view node, std::string_view link, bool add) {
  CELLAR_TRY_ASSIGN(const int64_t time, engine.unique_time_us());
  return table.put(Put(node).add("d", plain_int64(time) + std::string(link), add ? "+" : "-"));
}

// Returns the links of a node: the list, then all changes in the order of their times.
Result<Links> merged(const Row& row) {
  CELLAR_TRY_ASSIGN(Links links, links_of(row.value("s", "links").value_or("")));
  for (const Cell& cell : row.cells) {
    if (cell.family != "d") continue;
    const std::string link = cell.qualifier.substr(8);
    if (cell.value == "+") links.insert(link);
    if (cell.value == "-") links.erase(link);
  }
  return links;
}

// Writes the merged list and removes the changes that are in it, unless another job did so meanwhile.
Status roll_up(Table& table, const std::string& node) {
  CELLAR_TRY_ASSIGN(const Row row, table.get_row(Get(node)));
  CELLAR_TRY_ASSIGN(const Links links, merged(row));
  Delete changes(node);
  for (const Cell& cell : row.cells) {
    if (cell.family == "d") changes.column("d", cell.qualifier);
  }
  if (changes.empty()) return {};
  const RowMutations both =
      RowMutations(node).add(Put(node).add("s", "links", serialised(links))).add(changes);
  CheckAndMutate check(node);
  check.if_equals("s", "links", row.value("s", "links").value_or(""));
  return Status(table.check_and_mutate(check.then(both)).status());
}

// Two threads change the links of eight nodes, each its own names, while two jobs roll up.
Status ask_roll_up(Engine& engine, Questions& questions) {
  questions.chapter("A list and its changes");
  const FamilyOptions list = {.name = "s", .delete_order = MarkerOrder::kSequence},
                      changes = {.name = "d", .delete_order = MarkerOrder::kSequence};
  CELLAR_TRY_ASSIGN(const auto table, engine.create_table("rollup", {.families = {changes, list}}));
  constexpr int kWriters = 2, kNodes = 8, kChanges = 4000;
  std::vector<Graph> expected(kWriters);
  std::vector<Status> outcomes(kWriters + 2);
  std::atomic<int> writing = kWriters, rounds = 0;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kWriters; ++t) {
    threads.emplace_back([&, t] {
      uint64_t random = t + 5;
      for (int n = 0; n < kChanges && outcomes[t].ok(); ++n) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const std::string node = "node-" + std::to_string((random >> 40) % kNodes);
        const std::string link = std::to_string(t) + "-" + std::to_string((random >> 45) % 100);
        const bool add = (random >> 60) % 3 != 0;
        outcomes[t] = change(engine, *table, node, link, add);
        if (add) expected[t][node].insert(link);
        if (!add) expected[t][node].erase(link);
      }
      --writing;
    });
  }
  for (size_t t = kWriters; t < outcomes.size(); ++t) {
    threads.emplace_back([&, t] {
      for (; writing > 0 && outcomes[t].ok(); ++rounds)
        outcomes[t] = roll_up(*table, "node-" + std::to_string(rounds % kNodes));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& outcome : outcomes) CELLAR_TRY(outcome);
  CELLAR_TRY(questions.holds("the jobs rolled up meanwhile", rounds > 0));
  size_t links = 0;
  for (int n = 0; n < kNodes; ++n) {
    const std::string node = "node-" + std::to_string(n);
    Links all = expected[0][node];
    all.insert(expected[1][node].begin(), expected[1][node].end());
    for (int rolled = 0; rolled < 2; ++rolled) {
      CELLAR_TRY_ASSIGN(const Row row, table->get_row(Get(node)));
      CELLAR_TRY_ASSIGN(const Links found, merged(row));
      CELLAR_TRY(questions.holds(node + " has the links of both threads", found == all));
      CELLAR_TRY(questions.holds("a list alone is left in the end", rolled == 0 || row.cells.size() == 1));
      CELLAR_TRY(roll_up(*table, node));
    }
    links += all.size();
  }
  questions.say("Two jobs rolled up while two threads made 8,000 changes: no change was lost, " +
                std::to_string(links) + " links are left.");
  return {};
}

// One more link: a change writes one small cell, a list is written anew.
Status ask_cost(Engine& engine, Questions& questions) {
  CELLAR_TRY_ASSIGN(const auto table, engine.open_table("rollup"));
  const auto bytes = [&] {
    uint64_t put = 0;
    for (const FamilyInfo& family : table->info().families) put += family.bytes_put;
    return put;
  };
  Links links;
  for (int n = 0; n < 1000; ++n) links.insert("link-" + std::to_string(n));
  CELLAR_TRY(table->put(Put("big").add("s", "links", serialised(links))));
  const uint64_t start = bytes();
  CELLAR_TRY(change(engine, *table, "big", "one more", true));
  const uint64_t small = bytes() - start;
  CELLAR_TRY(roll_up(*table, "big"));
  questions.say("One more link of a node with 1,000: a change takes " + std::to_string(small) +
                " bytes, a roll-up " + std::to_string(bytes() - start - small) + " bytes.");
  return questions.holds("a change is smaller than a list", small * 10 < bytes() - start - small);
}

Status run(const std::string& path, const std::vector<std::string>&, Questions& questions) {
  CELLAR_TRY_ASSIGN(const auto engine, new_store(path));
  CELLAR_TRY(ask_roll_up(*engine, questions));
  CELLAR_TRY(ask_cost(*engine, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "link_changes_store", run); }
