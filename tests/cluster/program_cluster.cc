// The program `cellar_cluster`: random requests to a cluster and to a store of its own, whose answers must be
// equal.
//
//   cellar_cluster compare NAME DIRECTORY SEED OPERATIONS
//   cellar_cluster upset NAME SEED ROUNDS
//   cellar_cluster bench NAME TABLE ROWS
//   cellar_cluster first NAME TABLE
//
// "compare" prints each difference, and counts. "upset" writes, counts and scans while regions split, move
// and merge and servers die. It asks for that by lines "do …" on its standard output, and reads the answers
// on its standard input (clusters.py, ClientCluster.java). Nothing may be lost, and nothing done twice.
// clients.py measures "bench" and "first".
#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "cellar/cellar.h"
#include "tests/cluster/client_bench.h"
#include "tests/cluster/compare_tables.h"
#include "tests/cluster/draw_requests.h"

namespace cellar::interop {
namespace {

// Asks who runs the cluster for a change of it.
void ask_for(const std::string& change) {
  std::cout << "do " << change << std::endl;
  std::string answer;
  if (!std::getline(std::cin, answer)) answer = "nobody answers";
  if (answer != "done") std::cout << "note " << change << ": " << answer << std::endl;
}

Status compare(const std::string& name, const std::string& directory, uint64_t seed, uint64_t operations) {
  CELLAR_TRY_ASSIGN(const auto cluster, Engine::open(name));
  CELLAR_TRY_ASSIGN(const auto store,
                    Engine::open(directory, {.create_if_missing = true, .error_if_exists = true}));
  const std::string table = fmt::format("compared{}", seed);
  CELLAR_TRY_ASSIGN(const auto there, cluster->create_table(table, DrawRequests::table()));
  CELLAR_TRY_ASSIGN(const auto here, store->create_table(table, DrawRequests::table()));
  uint64_t shown = 0;
  CompareTables comparison(*there, *here, DrawRequests(seed), [&shown](const std::string& difference) {
    if (++shown <= 20) std::printf("%s\n", difference.c_str());
  });
  for (uint64_t i = 0; i < operations; ++i) {
    comparison.step();
    if (i == operations / 4) ask_for("split " + table + " r20");
    if (i == operations / 3) ask_for("split " + table + " r40");
    if (i == operations / 2) ask_for("move " + table + " r25");
    if (i == operations * 3 / 4) ask_for("merge " + table + " r10");
    if (i % 700 == 600) CELLAR_TRY(there->flush());
    if (i % 700 == 650) CELLAR_TRY(here->flush());
  }
  CELLAR_TRY(there->major_compact());
  CELLAR_TRY(here->major_compact());
  for (uint64_t i = 0; i < operations / 10; ++i) comparison.step();
  for (const auto& [kind, count] : comparison.counts())
    std::printf("counted %llu of %s through the library on a cluster and on a store\n",
                static_cast<unsigned long long>(count), kind.c_str());
  std::printf("counted %llu differences\n", static_cast<unsigned long long>(comparison.differences()));
  CELLAR_TRY(cluster->drop_table(table));
  CELLAR_TRY(cluster->close());
  return comparison.differences() == 0 ? Status() : Status::corruption("the answers differ");
}

// Rows that a thread writes, and a counter that it increments, until it is told to stop.
struct Writer {
  uint64_t rows = 0;
  int64_t sum = 0;
  Status status;

  void run(Table& table, int number, const std::atomic<bool>& stop) {
    while (!stop && status.ok()) {
      Put put(fmt::format("w{}{:07}", number, rows));
      status = table.put(put.add("f", "q", std::to_string(rows)));
      if (status.ok()) ++rows;
      const auto counted = table.increment_one(fmt::format("c{}", number), "n", "x", 3);
      if (!counted.ok()) status = counted.status();
      sum += 3;
      if (counted.ok() && *counted != sum)
        status = Status::corruption(fmt::format("a counter is {}, and should be {}", *counted, sum));
    }
  }
};

// Scans the rows that were there before the upsets, again and again: each once, in order, in either
// direction.
struct Reader {
  uint64_t scans = 0;
  Status status;

  void run(Table& table, uint64_t rows, const std::atomic<bool>& stop) {
    while (!stop && status.ok()) {
      const bool reversed = scans % 2 != 0;
      const auto scanner =
          table.scan(Scan().prefix("s").reversed(reversed).max_result_bytes(scans % 3 == 0 ? 500 : 0));
      if (!scanner.ok()) return void(status = scanner.status());
      uint64_t at = reversed ? rows : 0;
      for (const RowView row : **scanner) {
        const std::string expected = fmt::format("s{:07}", reversed ? at - 1 : at);
        if (row.row() != expected)
          return void(status = Status::corruption(fmt::format("row {} came, not {}", row.row(), expected)));
        at += reversed ? -1 : 1;
      }
      status = (*scanner)->status();
      if (status.ok() && at != (reversed ? 0 : rows))
        status = Status::corruption(fmt::format("a scan of {} rows ended at {}", rows, at));
      ++scans;
    }
  }
};

Status upset(const std::string& name, uint64_t seed, uint64_t rounds) {
  constexpr uint64_t kRows = 5000;
  CELLAR_TRY_ASSIGN(const auto cluster, Engine::open(name));
  const std::string table_name = fmt::format("upset{}", seed);
  CELLAR_TRY_ASSIGN(const auto table, cluster->create_table(table_name, DrawRequests::table()));
  std::vector<Action> puts;
  for (uint64_t i = 0; i < kRows; ++i)
    puts.emplace_back(Put(fmt::format("s{:07}", i)).add("f", "q", "value"));
  for (const Result<ActionResult>& each : table->batch(puts)) CELLAR_TRY(each.status());
  std::atomic<bool> stop = false;
  Writer writers[2];
  Reader readers[2];
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] { writers[i].run(*table, i, stop); });
    threads.emplace_back([&, i] { readers[i].run(*table, kRows, stop); });
  }
  Random random(seed);
  for (uint64_t i = 0; i < rounds; ++i) {
    const std::string row = fmt::format("s{:07}", random.below(kRows));
    constexpr const char* kChanges[] = {"split", "move", "merge", "move"};
    ask_for(fmt::format("{} {} {}", i + 1 == rounds ? "kill" : kChanges[i % 4], table_name, row));
  }
  stop = true;
  for (std::thread& each : threads) each.join();
  for (const Reader& reader : readers) CELLAR_TRY(reader.status);
  for (int i = 0; i < 2; ++i) {
    CELLAR_TRY(writers[i].status);
    CELLAR_TRY_ASSIGN(const RangeCount count,
                      table->count(Scan().prefix(fmt::format("w{}", i)).families({"f"})));
    CELLAR_TRY_ASSIGN(const int64_t sum, table->increment_one(fmt::format("c{}", i), "n", "x", 0));
    if (count.rows != writers[i].rows || sum != writers[i].sum)
      return Status::corruption(fmt::format("{} of {} rows are there, the counter is {} of {}", count.rows,
                                            writers[i].rows, sum, writers[i].sum));
    std::printf("counted %llu rows and increments while regions split, moved and merged and a server died\n",
                static_cast<unsigned long long>(2 * writers[i].rows));
    std::printf("counted %llu scans of %llu rows meanwhile\n",
                static_cast<unsigned long long>(readers[i].scans), static_cast<unsigned long long>(kRows));
  }
  std::printf("counted 0 differences\n");
  CELLAR_TRY(cluster->drop_table(table_name));
  return cluster->close();
}

}  // namespace
}  // namespace cellar::interop

int main(int argc, char** argv) {
  using namespace cellar;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // who reads it sees each line at once
  const std::string action = argc > 1 ? argv[1] : "";
  Status status = Status::invalid_argument("cellar_cluster compare NAME DIRECTORY SEED OPERATIONS");
  if (action == "compare" && argc == 6)
    status = interop::compare(argv[2], argv[3], std::strtoull(argv[4], nullptr, 10),
                              std::strtoull(argv[5], nullptr, 10));
  if (action == "upset" && argc == 5)
    status =
        interop::upset(argv[2], std::strtoull(argv[3], nullptr, 10), std::strtoull(argv[4], nullptr, 10));
  if (action == "bench" && argc == 5)
    status = interop::measure_client(argv[2], argv[3], std::strtoull(argv[4], nullptr, 10));
  if (action == "first" && argc == 4) status = interop::read_first(argv[2], argv[3]);
  if (!status.ok()) std::printf("failed: %s\n", status.to_text().c_str());
  return status.ok() ? 0 : 1;
}
