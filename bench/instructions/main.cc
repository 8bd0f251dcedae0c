// cellar_instructions: single operations, done a fixed number of times, for a tool that counts instructions.
//
// bench/instructions.py runs it under callgrind, which counts what happens inside the functions named
// measure_<operation>. The same sources give the same figures on every run, however busy the machine is.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cellar/cellar.h"

namespace cellar::bench {

struct World;

namespace {

constexpr size_t kRows = 20000;
constexpr size_t kFiles = 2;
constexpr size_t kOperations = 5000;
constexpr size_t kQualifiers = 4;

[[noreturn]] void give_up(const Status& status) {
  std::fprintf(stderr, "cellar_instructions: %s\n", status.to_text().c_str());
  std::exit(1);
}

template <class T>
T value_or_give_up(Result<T> result) {
  if (!result.ok()) give_up(result.status());
  return std::move(result).value();
}

void ok_or_give_up(const Status& status) {
  if (!status.ok()) give_up(status);
}

// Even numbers are rows of the store, odd ones are not.
std::string row_at(size_t index) {
  const std::string number = std::to_string(2 * index);
  return "user" + std::string(12 - number.size(), '0') + number;
}

// Letters that look like chance and are the same on each run.
std::string value_at(size_t index) {
  std::string value(100, 'v');
  uint64_t state = index * 0x9E3779B97F4A7C15u + 1;
  for (size_t i = 0; i < value.size() / 2; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value[i] = static_cast<char>('a' + (state >> 33) % 26);
  }
  return value;
}

// The k-th of a walk through all rows that jumps far at each step.
size_t jump(size_t k) { return k * 7919 % kRows; }

}  // namespace

// A store with two tables, all of whose blocks fit into the cache. The rows of `table` have four cells and
// lie in two files that overlap. The rows of `tall` have one cell and lie in one file, as a compaction leaves
// them.
struct World {
  std::string path;
  std::unique_ptr<Engine> engine;
  std::shared_ptr<Table> table;
  std::shared_ptr<Table> tall;
  std::vector<std::string> rows;

  World();
  ~World();
  void fill_table();
  void fill_tall();
};

World::World()
    : path(std::filesystem::temp_directory_path() /
           ("cellar_instructions." +
            std::to_string(std::filesystem::file_time_type::clock::now().time_since_epoch().count()))) {
  EngineOptions options;
  options.create_if_missing = true;
  options.automatic_compaction = false;
  options.cache_bytes = 64u << 20;
  engine = value_or_give_up(Engine::open(path, options));
  for (size_t i = 0; i < kRows; ++i) rows.push_back(row_at(i));
  fill_table();
  fill_tall();
  // The operations are those of a store that was reopened.
  table.reset();
  tall.reset();
  ok_or_give_up(engine->close());
  options.create_if_missing = false;
  engine = value_or_give_up(Engine::open(path, options));
  table = value_or_give_up(engine->open_table("t"));
  tall = value_or_give_up(engine->open_table("tall"));
}

void World::fill_table() {
  table = value_or_give_up(engine->create_table("t", {.families = {{.name = "f"}}}));
  for (size_t file = 0; file < kFiles; ++file) {
    Batch batch;
    for (size_t i = file; i < kRows; i += kFiles) {
      Put put(rows[i]);
      for (size_t q = 0; q < kQualifiers; ++q) put.add("f", "q" + std::to_string(q), value_at(i + q));
      batch.put(table, put);
    }
    ok_or_give_up(engine->write(batch));
    ok_or_give_up(table->flush());
  }
}

void World::fill_tall() {
  tall = value_or_give_up(engine->create_table("tall", {.families = {{.name = "f"}}}));
  Batch batch;
  for (size_t i = 0; i < kRows; ++i) batch.put(tall, Put(rows[i]).add("f", "q", value_at(i)));
  ok_or_give_up(engine->write(batch));
  ok_or_give_up(tall->flush());
  ok_or_give_up(tall->compact());
}

World::~World() {
  table.reset();
  tall.reset();
  engine.reset();
  std::filesystem::remove_all(path);
}

namespace {

// Fails unless `found` is what the operation must find: a measurement of something else says nothing.
void expect(size_t found, size_t wanted, const char* what) {
  if (found == wanted) return;
  std::fprintf(stderr, "cellar_instructions: %s found %zu, not %zu\n", what, found, wanted);
  std::exit(1);
}

size_t scan_cells(Table& table, const Scan& scan) {
  const std::unique_ptr<Scanner> scanner = value_or_give_up(table.scan(scan));
  size_t cells = 0;
  while (scanner->next()) cells += scanner->row().cells().size();
  ok_or_give_up(scanner->status());
  return cells;
}

size_t get_cells(World& world, const std::string& suffix, const char* qualifier) {
  RowBatch batch;
  size_t cells = 0;
  for (size_t k = 0; k < kOperations; ++k) {
    Get get(world.rows[jump(k)] + suffix);
    if (qualifier != nullptr) get.column("f", qualifier);
    ok_or_give_up(world.table->get_into(get, batch));
    cells += batch.cells();
  }
  return cells;
}

size_t tall_get_cells(World& world, const std::string& suffix) {
  RowBatch batch;
  size_t cells = 0;
  for (size_t k = 0; k < kOperations; ++k) {
    ok_or_give_up(world.tall->get_into(Get(world.rows[jump(k)] + suffix).column("f", "q"), batch));
    cells += batch.cells();
  }
  return cells;
}

size_t tall_scan_cells(World& world, uint64_t limit) {
  size_t cells = 0;
  for (size_t k = 0; k < kOperations / 5; ++k) {
    Scan scan;
    scan.start(world.rows[jump(k) % (kRows - limit)]).limit(limit);
    cells += scan_cells(*world.tall, scan);
  }
  return cells;
}

// Fills the cache, and lets each block build what it builds once.
void warm_up(World& world) {
  expect(scan_cells(*world.table, Scan()), kRows * kQualifiers, "the first scan");
  expect(scan_cells(*world.tall, Scan()), kRows, "the first scan of the tall table");
  RowBatch batch;
  for (const std::string& row : world.rows) {
    ok_or_give_up(world.tall->get_into(Get(row).column("f", "q"), batch));
    ok_or_give_up(world.table->get_into(Get(row), batch));
    ok_or_give_up(world.table->get_into(Get(row).column("f", "q2"), batch));
  }
}

}  // namespace

// The measured functions have C names, so that a tool finds them.
extern "C" {
[[gnu::noinline]] void measure_get_column(World& world) {
  expect(get_cells(world, "", "q2"), kOperations, "get_column");
}
[[gnu::noinline]] void measure_get_row(World& world) {
  expect(get_cells(world, "", nullptr), kOperations * kQualifiers, "get_row");
}
[[gnu::noinline]] void measure_get_missing(World& world) {
  expect(get_cells(world, "x", nullptr), 0, "get_missing");
}
[[gnu::noinline]] void measure_scan(World& world) {
  expect(scan_cells(*world.table, Scan()), kRows * kQualifiers, "scan");
}
[[gnu::noinline]] void measure_reversed_scan(World& world) {
  Scan scan;
  scan.reversed(true);
  expect(scan_cells(*world.table, scan), kRows * kQualifiers, "reversed_scan");
}
[[gnu::noinline]] void measure_scan10(World& world) {
  size_t cells = 0;
  for (size_t k = 0; k < kOperations; ++k) {
    Scan scan;
    scan.start(world.rows[jump(k) % (kRows - 10)]).limit(10);
    cells += scan_cells(*world.table, scan);
  }
  expect(cells, kOperations * 10 * kQualifiers, "scan10");
}
[[gnu::noinline]] void measure_put(World& world) {
  for (size_t k = 0; k < kOperations; ++k)
    ok_or_give_up(world.table->put(Put(world.rows[jump(k)]).add("f", "q0", "a value of twenty b.")));
}
[[gnu::noinline]] void measure_increment(World& world) {
  for (size_t k = 0; k < kOperations; ++k) {
    const auto sums = value_or_give_up(world.table->increment(Increment("counter").add("f", "n", 1)));
    expect(static_cast<size_t>(sums[0]), k + 1, "increment");
  }
}
[[gnu::noinline]] void measure_tall_get(World& world) {
  expect(tall_get_cells(world, ""), kOperations, "tall_get");
}
[[gnu::noinline]] void measure_tall_missing(World& world) {
  expect(tall_get_cells(world, "x"), 0, "tall_missing");
}
[[gnu::noinline]] void measure_tall_scan(World& world) {
  expect(scan_cells(*world.tall, Scan()), kRows, "tall_scan");
}
[[gnu::noinline]] void measure_tall_reversed(World& world) {
  expect(scan_cells(*world.tall, Scan().reversed(true)), kRows, "tall_reversed");
}
[[gnu::noinline]] void measure_tall_scan10(World& world) {
  expect(tall_scan_cells(world, 10), kOperations / 5 * 10, "tall_scan10");
}
[[gnu::noinline]] void measure_tall_scan100(World& world) {
  expect(tall_scan_cells(world, 100), kOperations / 5 * 100, "tall_scan100");
}
// YCSB's workload A: as many reads as updates.
[[gnu::noinline]] void measure_ycsb_a(World& world) {
  RowBatch batch;
  size_t cells = 0;
  for (size_t k = 0; k < kOperations; k += 2) {
    ok_or_give_up(world.tall->get_into(Get(world.rows[jump(k)]).column("f", "q"), batch));
    cells += batch.cells();
    ok_or_give_up(world.tall->put(Put(world.rows[jump(k + 1)]).add("f", "q", "a value of twenty b.")));
  }
  expect(cells, kOperations / 2, "ycsb_a");
}
}  // extern "C"

}  // namespace cellar::bench

int main() {
  using namespace cellar::bench;
  World world;
  warm_up(world);
  measure_get_column(world);
  measure_get_row(world);
  measure_get_missing(world);
  measure_scan(world);
  measure_reversed_scan(world);
  measure_scan10(world);
  measure_put(world);
  measure_increment(world);
  measure_tall_get(world);
  measure_tall_missing(world);
  measure_tall_scan(world);
  measure_tall_reversed(world);
  measure_tall_scan10(world);
  measure_tall_scan100(world);
  measure_ycsb_a(world);
  // Prints the divisor of each figure.
  std::printf("get_column %zu\nget_row %zu\nget_missing %zu\n", kOperations, kOperations, kOperations);
  std::printf("scan %zu\nreversed_scan %zu\n", kRows * kQualifiers, kRows * kQualifiers);
  std::printf("scan10 %zu\nput %zu\nincrement %zu\n", kOperations, kOperations, kOperations);
  std::printf("tall_get %zu\ntall_missing %zu\n", kOperations, kOperations);
  std::printf("tall_scan %zu\ntall_reversed %zu\n", kRows, kRows);
  std::printf("tall_scan10 %zu\ntall_scan100 %zu\nycsb_a %zu\n", kOperations / 5, kOperations / 5,
              kOperations);
  return 0;
}
