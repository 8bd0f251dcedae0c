// The writes, and the state that they leave.
#include "tests/kill/kill_plan.h"

#include <fmt/format.h>

#include <charconv>

#include "base/random.h"

namespace cellar::testing {
namespace {

constexpr uint64_t kSlots = 24;  // rows of a writer, written again and again
constexpr const char* kCounterRow = "counter";
constexpr const char* kUnloggedRow = "unlogged";

std::string row_of(uint32_t writer, std::string_view name) { return fmt::format("w{}/{}", writer, name); }

FamilyOptions family_of(const std::string& name) {
  FamilyOptions family;
  family.name = name;
  family.block_bytes = 1024;
  family.compaction = "exploring(ratio=1.2, files_min=2, files_max=4)";
  return family;
}

const char* table_name(uint32_t table) { return table == 0 ? "t" : "u"; }

// The number that stands before the padding.
std::optional<uint64_t> number_of(std::string_view value) {
  uint64_t number = 0;
  const auto end = std::from_chars(value.data(), value.data() + value.size(), number);
  if (end.ec != std::errc() || end.ptr == value.data() + value.size() || *end.ptr != ':') return std::nullopt;
  return number;
}

void draw_places(Random& random, uint32_t writer, KillWrite& write) {
  for (uint64_t rows = 1 + random.below(3); rows > 0; --rows) {
    const std::string row = row_of(writer, fmt::format("{:02}", random.below(kSlots)));
    uint64_t chosen = 0;
    while (chosen == 0) chosen = random.below(16);
    for (uint64_t i = 0; i < 4; ++i)
      if ((chosen >> i & 1) != 0)
        write.places.push_back({i == 3 ? 1u : 0u, std::string(1, static_cast<char>('a' + i)), row});
  }
}

Status write_puts(Engine& engine, const std::vector<std::shared_ptr<Table>>& tables, const KillWrite& write) {
  const std::string value = fmt::format("{}:", write.number) + std::string(write.padding, 'x');
  Batch batch;
  for (const KillWrite::Place& place : write.places) {
    Put put(place.row);
    put.add_at(place.family, "q", static_cast<int64_t>(write.number), value);
    batch.put(tables[place.table], put);
  }
  return engine.write(batch, {.durability = write.durability});
}

Status add_found(std::string_view place, const CellView& cell, std::vector<KillState>& states) {
  const std::string row(cell.row());
  const auto strange = [&] { return Status::corruption(fmt::format("{}/{} was never written", place, row)); };
  if (row.size() < 4 || row[0] != 'w' || row[2] != '/') return strange();
  const auto writer = static_cast<uint32_t>(row[1] - '0');
  if (writer >= kKillWriters) return strange();
  if (row.ends_with(kUnloggedRow)) return {};
  uint64_t number = 0;
  const std::string_view value = cell.value_bytes();
  if (row.ends_with(kCounterRow)) {
    if (value.size() != 8) return strange();
    for (const char c : value) number = number << 8 | static_cast<unsigned char>(c);
  } else {
    const auto parsed = number_of(value);
    if (!parsed) return strange();
    number = *parsed;
  }
  states[writer][fmt::format("{}/{}", place, row)] = number;
  return {};
}

}  // namespace

KillWrite kill_write(uint64_t seed, uint32_t writer, uint64_t number) {
  Random random(seed * 1'000'003 + writer * 7'919 + number * 104'729);
  KillWrite write;
  write.number = number;
  const uint64_t kind = random.below(20);
  write.kind = kind < 14   ? KillWrite::Kind::kPuts
               : kind < 16 ? KillWrite::Kind::kDeleteRow
               : kind < 19 ? KillWrite::Kind::kIncrement
                           : KillWrite::Kind::kUnlogged;
  const uint64_t durability = random.below(20);
  write.durability = durability < 9    ? Durability::kAsyncWal
                     : durability < 18 ? Durability::kSyncWal
                                       : Durability::kFsyncWal;
  write.padding = random.one_in(40) ? random.below(20'000) : random.below(1500);
  const uint64_t before = random.below(400);
  if (before < 3) write.before = KillWrite::Before::kFlush;
  if (before == 3) write.before = KillWrite::Before::kCompact;
  if (before == 4) write.before = KillWrite::Before::kCompactAll;
  switch (write.kind) {
    case KillWrite::Kind::kPuts:
      draw_places(random, writer, write);
      break;
    case KillWrite::Kind::kDeleteRow:
      write.row = row_of(writer, fmt::format("{:02}", random.below(kSlots)));
      break;
    case KillWrite::Kind::kIncrement:
      write.row = row_of(writer, kCounterRow);
      break;
    case KillWrite::Kind::kUnlogged:
      write.durability = Durability::kSkipWal;
      write.places = {{0, "b", row_of(writer, kUnloggedRow)}};
      break;
  }
  return write;
}

// Tiny limits make flushes, compactions and rolls of the log common.
EngineOptions kill_engine_options() {
  EngineOptions options;
  options.create_if_missing = true;
  options.memtable_bytes = 48 << 10;
  options.log_segment_bytes = 64 << 10;
  options.cache_bytes = 64 << 10;
  return options;
}

Result<std::vector<std::shared_ptr<Table>>> open_kill_tables(Engine& engine) {
  std::vector<std::shared_ptr<Table>> tables;
  CELLAR_TRY_ASSIGN(auto t, engine.open_or_create_table(
                                "t", {.families = {family_of("a"), family_of("b"), family_of("c")}}));
  CELLAR_TRY_ASSIGN(auto u, engine.open_or_create_table("u", {.families = {family_of("d")}}));
  tables = {std::move(t), std::move(u)};
  return tables;
}

Status perform(Engine& engine, const std::vector<std::shared_ptr<Table>>& tables, const KillWrite& write) {
  const WriteOptions options{.durability = write.durability};
  switch (write.before) {
    case KillWrite::Before::kNothing:
      break;
    case KillWrite::Before::kFlush:
      CELLAR_TRY(engine.flush());
      break;
    case KillWrite::Before::kCompact:
    case KillWrite::Before::kCompactAll:
      CELLAR_TRY(write.before == KillWrite::Before::kCompactAll ? tables[0]->major_compact()
                                                                : tables[0]->compact());
      break;
  }
  switch (write.kind) {
    case KillWrite::Kind::kDeleteRow: {
      Batch batch;
      const Delete row(write.row, static_cast<int64_t>(write.number));
      batch.erase(tables[0], row).erase(tables[1], row);
      return engine.write(batch, options);
    }
    case KillWrite::Kind::kIncrement:
      return tables[0]->increment(Increment(write.row).add("c", "n", 1), options).status();
    default:
      return write_puts(engine, tables, write);
  }
}

void advance(KillState& state, const KillWrite& write) {
  switch (write.kind) {
    case KillWrite::Kind::kPuts:
      for (const KillWrite::Place& place : write.places)
        state[fmt::format("{}/{}/{}", table_name(place.table), place.family, place.row)] = write.number;
      break;
    case KillWrite::Kind::kDeleteRow:
      std::erase_if(state, [&](const auto& cell) { return cell.first.ends_with("/" + write.row); });
      break;
    case KillWrite::Kind::kIncrement:
      ++state["t/c/" + write.row];
      break;
    case KillWrite::Kind::kUnlogged:
      break;
  }
}

Result<std::vector<KillState>> found_states(Engine& engine) {
  std::vector<KillState> states(kKillWriters);
  for (const std::string& name : engine.list_tables()) {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, engine.open_table(name));
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, table->scan(Scan()));
    while (scanner->next())
      for (const CellView& cell : scanner->row())
        CELLAR_TRY(add_found(fmt::format("{}/{}", name, cell.family()), cell, states));
    CELLAR_TRY(scanner->status());
  }
  return states;
}

}  // namespace cellar::testing
