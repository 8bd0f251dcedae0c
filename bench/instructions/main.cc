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
constexpr size_t kWideRows = 2000;
constexpr size_t kWideColumns = 20;
constexpr uint32_t kSalts = 16;

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

// A store all of whose blocks fit into the cache. The rows of `table` have four cells and lie in two files
// that overlap. The rows of the other tables lie in one file each, as a compaction leaves them. The rows of
// `tall` and `spread` have one cell, and a row of `spread` has a salt before its key. The rows of `wide` have
// twenty cells. `cold` is a table like `tall` that the cache never takes in.
struct World {
  std::string path;
  std::unique_ptr<Engine> engine;
  std::shared_ptr<Table> table;
  std::shared_ptr<Table> tall;
  std::shared_ptr<Table> wide;
  std::shared_ptr<Table> spread;
  std::shared_ptr<Table> cold;
  std::vector<std::string> rows;
  std::vector<std::string> columns;  // of a row of `wide`

  World();
  ~World();
  void open_tables();
  void close_tables();
  void fill_table();
  void fill_tall(const std::string& name, bool cached);
  void fill_wide();
  void fill_spread();
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
  for (size_t i = 0; i < kWideColumns; ++i) columns.push_back("field" + std::to_string(10 + i));
  fill_table();
  fill_tall("tall", true);
  fill_tall("cold", false);
  fill_wide();
  fill_spread();
  // The operations are those of a store that was reopened.
  table.reset();
  ok_or_give_up(engine->close());
  options.create_if_missing = false;
  engine = value_or_give_up(Engine::open(path, options));
  open_tables();
}

void World::open_tables() {
  table = value_or_give_up(engine->open_table("t"));
  tall = value_or_give_up(engine->open_table("tall"));
  wide = value_or_give_up(engine->open_table("wide"));
  spread = value_or_give_up(engine->open_table("spread"));
  cold = value_or_give_up(engine->open_table("cold"));
}

void World::close_tables() {
  for (std::shared_ptr<Table>* each : {&table, &tall, &wide, &spread, &cold}) each->reset();
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

void World::fill_tall(const std::string& name, bool cached) {
  const auto made =
      value_or_give_up(engine->create_table(name, {.families = {{.name = "f", .cache_blocks = cached}}}));
  Batch batch;
  for (size_t i = 0; i < kRows; ++i) batch.put(made, Put(rows[i]).add("f", "q", value_at(i)));
  ok_or_give_up(engine->write(batch));
  ok_or_give_up(made->flush());
  ok_or_give_up(made->compact());
}

void World::fill_wide() {
  const auto made = value_or_give_up(engine->create_table("wide", {.families = {{.name = "f"}}}));
  Batch batch;
  for (size_t i = 0; i < kWideRows; ++i) {
    Put put(rows[i]);
    for (size_t c = 0; c < kWideColumns; ++c)
      put.add("f", columns[c], value_at(i * kWideColumns + c).substr(0, 50));
    batch.put(made, put);
  }
  ok_or_give_up(engine->write(batch));
  ok_or_give_up(made->flush());
  ok_or_give_up(made->compact());
}

void World::fill_spread() {
  const auto made = value_or_give_up(engine->create_table("spread", {.families = {{.name = "f"}}}));
  Batch batch;
  for (size_t i = 0; i < kRows; ++i) batch.put(made, Put(salted(rows[i], kSalts)).add("f", "q", value_at(i)));
  ok_or_give_up(engine->write(batch));
  ok_or_give_up(made->flush());
  ok_or_give_up(made->compact());
}

World::~World() {
  close_tables();
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

size_t scanned_cells(Result<std::unique_ptr<Scanner>> opened) {
  const std::unique_ptr<Scanner> scanner = value_or_give_up(std::move(opened));
  size_t cells = 0;
  while (scanner->next()) cells += scanner->row().cells().size();
  ok_or_give_up(scanner->status());
  return cells;
}

size_t scan_cells(Table& table, const Scan& scan) { return scanned_cells(table.scan(scan)); }

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

// Names so many columns of a row of the wide table, evenly spread. All: names none.
template <class Q>
Q& name_columns(const World& world, size_t columns, Q& query) {
  if (columns == kWideColumns) return query;
  for (size_t i = 0; i < columns; ++i) query.column("f", world.columns[i * kWideColumns / columns]);
  return query;
}

size_t wide_get_cells(World& world, size_t columns) {
  RowBatch batch;
  size_t cells = 0;
  for (size_t k = 0; k < kOperations; ++k) {
    Get get(world.rows[jump(k) % kWideRows]);
    ok_or_give_up(world.wide->get_into(name_columns(world, columns, get), batch));
    cells += batch.cells();
  }
  return cells;
}

size_t wide_scan_cells(World& world, size_t columns) {
  Scan scan;
  return scan_cells(*world.wide, name_columns(world, columns, scan));
}

// The gets of many_cells(), one by one.
size_t tall_row_cells(World& world) {
  RowBatch batch;
  size_t cells = 0;
  for (size_t k = 0; k < kOperations; ++k) {
    ok_or_give_up(world.tall->get_into(Get(world.rows[jump(k)]), batch));
    cells += batch.cells();
  }
  return cells;
}

// Gets of a hundred rows at once, which lie together or far from each other.
size_t many_cells(World& world, bool together) {
  constexpr size_t kTogether = 100;
  size_t cells = 0;
  std::vector<Get> gets;
  for (size_t k = 0; k < kOperations; k += kTogether) {
    gets.clear();
    for (size_t i = 0; i < kTogether; ++i)
      gets.push_back(Get(world.rows[together ? jump(k) % (kRows - kTogether) + i : jump(k + i)]));
    for (const RowBatch& each : value_or_give_up(world.tall->get_many(gets))) cells += each.cells();
  }
  return cells;
}

void put_values(World& world) {
  for (size_t k = 0; k < kOperations; ++k)
    ok_or_give_up(world.table->put(Put(world.rows[jump(k)]).add("f", "q0", "a value of twenty b.")));
}

// Does the work with a recording of all operations.
template <class Work>
void recorded(World& world, const Work& work) {
  const std::string trace = world.path + ".trace";
  ok_or_give_up(world.engine->start_trace(trace));
  work();
  ok_or_give_up(world.engine->stop_trace());
  std::filesystem::remove(trace);
}

// Fills the cache, and lets each block build what it builds once.
void warm_up(World& world) {
  expect(scan_cells(*world.table, Scan()), kRows * kQualifiers, "the first scan");
  expect(scan_cells(*world.tall, Scan()), kRows, "the first scan of the tall table");
  expect(scan_cells(*world.wide, Scan()), kWideRows * kWideColumns, "the first scan of the wide table");
  expect(scan_cells(*world.spread, Scan()), kRows, "the first scan of the spread table");
  expect(scan_cells(*world.cold, Scan()), kRows, "the first scan of the cold table");
  expect(wide_get_cells(world, 1), kOperations, "the first gets of the wide table");
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
[[gnu::noinline]] void measure_put(World& world) { put_values(world); }
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
[[gnu::noinline]] void measure_wide_get(World& world) {
  expect(wide_get_cells(world, kWideColumns), kOperations * kWideColumns, "wide_get");
}
[[gnu::noinline]] void measure_wide_get1(World& world) {
  expect(wide_get_cells(world, 1), kOperations, "wide_get1");
}
[[gnu::noinline]] void measure_wide_get2(World& world) {
  expect(wide_get_cells(world, 2), kOperations * 2, "wide_get2");
}
[[gnu::noinline]] void measure_wide_get5(World& world) {
  expect(wide_get_cells(world, 5), kOperations * 5, "wide_get5");
}
[[gnu::noinline]] void measure_wide_get10(World& world) {
  expect(wide_get_cells(world, 10), kOperations * 10, "wide_get10");
}
[[gnu::noinline]] void measure_wide_scan(World& world) {
  expect(wide_scan_cells(world, kWideColumns), kWideRows * kWideColumns, "wide_scan");
}
[[gnu::noinline]] void measure_wide_scan1(World& world) {
  expect(wide_scan_cells(world, 1), kWideRows, "wide_scan1");
}
[[gnu::noinline]] void measure_wide_scan5(World& world) {
  expect(wide_scan_cells(world, 5), kWideRows * 5, "wide_scan5");
}
[[gnu::noinline]] void measure_wide_scan10(World& world) {
  expect(wide_scan_cells(world, 10), kWideRows * 10, "wide_scan10");
}
[[gnu::noinline]] void measure_wide_scan_none(World& world) {
  expect(scan_cells(*world.wide, Scan().column("f", "field1x")), 0, "wide_scan_none");
}
[[gnu::noinline]] void measure_wide_filter(World& world) {
  const Scan scan = Scan().filter(value_filter(CompareOp::kEqual, binary_prefix("=")));
  expect(scan_cells(*world.wide, scan), 0, "wide_filter");
}
[[gnu::noinline]] void measure_wide_filter_row(World& world) {
  const Scan scan =
      Scan().filter(single_column_value_filter("f", world.columns[1], CompareOp::kEqual, binary_prefix("=")));
  expect(scan_cells(*world.wide, scan), 0, "wide_filter_row");
}
[[gnu::noinline]] void measure_cold_scan(World& world) {
  expect(scan_cells(*world.cold, Scan()), kRows, "cold_scan");
}
[[gnu::noinline]] void measure_cold_reversed(World& world) {
  expect(scan_cells(*world.cold, Scan().reversed(true)), kRows, "cold_reversed");
}
[[gnu::noinline]] void measure_spread_scan(World& world) {
  expect(scanned_cells(scan_salted(*world.spread, Scan(), kSalts)), kRows, "spread_scan");
}
[[gnu::noinline]] void measure_tall_row(World& world) {
  expect(tall_row_cells(world), kOperations, "tall_row");
}
[[gnu::noinline]] void measure_many_near(World& world) {
  expect(many_cells(world, true), kOperations, "many_near");
}
[[gnu::noinline]] void measure_many_far(World& world) {
  expect(many_cells(world, false), kOperations, "many_far");
}
[[gnu::noinline]] void measure_recorded_get(World& world) {
  recorded(world, [&] { expect(tall_get_cells(world, ""), kOperations, "recorded_get"); });
}
[[gnu::noinline]] void measure_recorded_scan10(World& world) {
  recorded(world, [&] { expect(tall_scan_cells(world, 10), kOperations / 5 * 10, "recorded_scan10"); });
}
[[gnu::noinline]] void measure_recorded_put(World& world) {
  recorded(world, [&] { put_values(world); });
}
}  // extern "C"

}  // namespace cellar::bench

int main() {
  using namespace cellar::bench;
  // The operations in the order in which they run, and the divisor of each figure.
  struct Operation {
    const char* name;
    void (*measure)(World&);
    size_t times;
  };
  constexpr Operation kAll[] = {
      {"get_column", measure_get_column, kOperations},
      {"get_row", measure_get_row, kOperations},
      {"get_missing", measure_get_missing, kOperations},
      {"scan", measure_scan, kRows * kQualifiers},
      {"reversed_scan", measure_reversed_scan, kRows * kQualifiers},
      {"scan10", measure_scan10, kOperations},
      {"put", measure_put, kOperations},
      {"recorded_put", measure_recorded_put, kOperations},
      {"increment", measure_increment, kOperations},
      {"tall_get", measure_tall_get, kOperations},
      {"recorded_get", measure_recorded_get, kOperations},
      {"tall_missing", measure_tall_missing, kOperations},
      {"tall_scan", measure_tall_scan, kRows},
      {"tall_reversed", measure_tall_reversed, kRows},
      {"tall_scan10", measure_tall_scan10, kOperations / 5},
      {"recorded_scan10", measure_recorded_scan10, kOperations / 5},
      {"tall_scan100", measure_tall_scan100, kOperations / 5},
      {"tall_row", measure_tall_row, kOperations},
      {"many_near", measure_many_near, kOperations},
      {"many_far", measure_many_far, kOperations},
      {"ycsb_a", measure_ycsb_a, kOperations},
      {"wide_get", measure_wide_get, kOperations},
      {"wide_get1", measure_wide_get1, kOperations},
      {"wide_get2", measure_wide_get2, kOperations},
      {"wide_get5", measure_wide_get5, kOperations},
      {"wide_get10", measure_wide_get10, kOperations},
      {"wide_scan", measure_wide_scan, kWideRows},
      {"wide_scan1", measure_wide_scan1, kWideRows},
      {"wide_scan5", measure_wide_scan5, kWideRows},
      {"wide_scan10", measure_wide_scan10, kWideRows},
      {"wide_scan_none", measure_wide_scan_none, kWideRows},
      {"wide_filter", measure_wide_filter, kWideRows},
      {"wide_filter_row", measure_wide_filter_row, kWideRows},
      {"cold_scan", measure_cold_scan, kRows},
      {"cold_reversed", measure_cold_reversed, kRows},
      {"spread_scan", measure_spread_scan, kRows},
  };
  World world;
  warm_up(world);
  for (const Operation& each : kAll) each.measure(world);
  for (const Operation& each : kAll) std::printf("%s %zu\n", each.name, each.times);
  return 0;
}
