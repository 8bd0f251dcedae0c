// CellarTarget: the entries of a trace as requests of Cellar's public interface.
#include "tools/trace/cellar_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "cellar/options.h"

namespace cellar {
namespace {

using Mutation = RowMutations::Mutation;

template <class Q>
void choose(Q& query, const TraceQuery& asked, const std::vector<TraceColumn>& columns) {
  for (const TraceColumn& column : columns) {
    if (column.whole_family) {
      query.family(column.family);
    } else {
      query.column(column.family, column.qualifier.bytes);
    }
  }
  query.versions(std::max<uint32_t>(asked.versions, 1));
  if ((asked.flags & kTraceTimeRange) != 0) query.time_range(asked.time_from, asked.time_until);
}

Get get_of(const TraceEntry& entry) {
  Get get(entry.row.bytes);
  choose(get, entry.query, entry.columns);
  return get;
}

void count(const RowView& row, ReplayFound& found) {
  if (row.empty()) return;
  ++found.rows;
  found.cells += row.cells().size();
  for (const CellView& cell : row.cells())
    found.bytes += uint64_t{cell.key_size} + cell.value_size + cell.tags_size;
}

Delete delete_of(const TraceEntry& entry) {
  Delete erase(entry.row.bytes);
  for (const TraceColumn& column : entry.columns) {
    const std::string& qualifier = column.qualifier.bytes;
    if (column.latest_version) {
      erase.latest_version(column.family, qualifier);
    } else if (column.type == CellType::kDelete) {
      erase.version(column.family, qualifier, column.timestamp.value_or(0));
    } else if (column.type == CellType::kDeleteFamily) {
      erase.family(column.family, column.timestamp);
    } else if (column.type == CellType::kDeleteFamilyVersion) {
      erase.family_version(column.family, column.timestamp.value_or(0));
    } else {
      erase.column(column.family, qualifier, column.timestamp);
    }
  }
  return erase;
}

Mutation mutation_of(const TraceEntry& entry, ReplayValues& values) {
  const std::string& row = entry.row.bytes;
  const bool deletes = entry.kind == TraceEntryKind::kErase ||
                       (entry.kind == TraceEntryKind::kCell && is_delete(entry.columns.front().type));
  if (deletes) return delete_of(entry);
  if (entry.kind == TraceEntryKind::kIncrement) {
    Increment increment(row);
    increment.wrap_on_overflow(true);  // counters of a replay begin with values of its seed
    for (const TraceColumn& column : entry.columns) increment.add(column.family, column.qualifier.bytes, 1);
    return increment;
  }
  if (entry.kind == TraceEntryKind::kAppend) {
    Append append(row);
    for (const TraceColumn& column : entry.columns)
      append.add(column.family, column.qualifier.bytes, values.next(column.value_bytes));
    return append;
  }
  Put put(row);
  for (const TraceColumn& column : entry.columns)
    put.add_at(column.family, column.qualifier.bytes, column.timestamp.value_or(kNow),
               values.next(column.value_bytes));
  return put;
}

class CellarTarget final : public ReplayTarget {
 public:
  CellarTarget(Engine& engine, const ReplayTables& tables) : engine_(engine), tables_(tables) {}

  Status get(const TraceEntry& get, ReplayFound& found) override {
    CELLAR_TRY(table(get.table)->get_into(get_of(get), batch_));
    count(batch_.row(), found);
    return {};
  }

  Status get_many(std::span<const TraceEntry> gets, ReplayFound& found) override {
    if (gets.empty()) return {};
    std::vector<Get> asked;
    for (const TraceEntry& each : gets) asked.push_back(get_of(each));
    CELLAR_TRY_ASSIGN(const std::vector<RowBatch> rows, table(gets.front().table)->get_many(asked));
    for (const RowBatch& each : rows) count(each.row(), found);
    return {};
  }

  Status scan(const TraceScan& in, uint64_t rows, ReplayFound& found) override {
    Scan scan;
    if ((in.flags & kTraceRanges) != 0) {
      std::vector<KeyRange> ranges;
      // Hashes lose the order of rows, so a stop may come before its start.
      for (const auto& [start, stop] : in.ranges)
        ranges.push_back(stop.bytes.empty() || start.bytes <= stop.bytes ? KeyRange{start.bytes, stop.bytes}
                                                                         : KeyRange{stop.bytes, start.bytes});
      scan.ranges(std::move(ranges));
    }
    if (!in.start.bytes.empty()) scan.start(in.start.bytes, (in.flags & kTraceStartInclusive) != 0);
    if ((in.flags & kTracePrefix) != 0) {
      scan.prefix(in.stop.bytes);
    } else if (!in.stop.bytes.empty()) {
      scan.stop(in.stop.bytes, (in.flags & kTraceStopInclusive) != 0);
    }
    scan.reversed((in.flags & kTraceReversed) != 0).raw((in.flags & kTraceRaw) != 0).limit(in.limit);
    choose(scan, in.query, in.columns);
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, table(in.table)->scan(scan));
    for (uint64_t read = 0; read < rows && scanner->next(); ++read) count(scanner->row(), found);
    return scanner->status();
  }

  Status write(const TraceOperation& operation, ReplayValues& values, ReplayFound& found) override {
    const WriteOptions options{.durability = operation.durability};
    switch (operation.kind) {
      case TraceKind::kWrite:
        return write_batch(operation, values, options);
      case TraceKind::kCommit:
        return commit(operation, values);
      case TraceKind::kActions:
        return actions(operation, values, options, found);
      default:
        return change_row(operation, values, options);
    }
  }

  Status work(const TraceOperation& operation) override {
    if (operation.table.empty()) return engine_.flush();
    const std::shared_ptr<Table> on = table(operation.table);
    if (operation.kind == TraceKind::kFlush) return on->flush(operation.family);
    return operation.kind == TraceKind::kMajorCompact ? on->major_compact(operation.family)
                                                      : on->compact(operation.family);
  }

 private:
  const std::shared_ptr<Table>& table(const std::string& name) const { return tables_.find(name)->second; }

  // One row: a mutation, several at one time, or a check and what followed from it.
  Status change_row(const TraceOperation& operation, ReplayValues& values, const WriteOptions& options) {
    std::span<const TraceEntry> entries = operation.entries;
    if (!entries.empty() && entries.front().kind == TraceEntryKind::kCheck) {
      ReplayFound ignored;  // a check returns no row
      CELLAR_TRY(get(entries.front(), ignored));
      entries = entries.subspan(1);
    }
    if (entries.empty()) return {};
    const std::shared_ptr<Table>& on = table(entries.front().table);
    if (operation.kind == TraceKind::kMutate || entries.size() > 1) {
      RowMutations mutations(entries.front().row.bytes);
      for (const TraceEntry& each : entries) mutations.add(mutation_of(each, values));
      return on->mutate(mutations, options).status();
    }
    return apply(*on, mutation_of(entries.front(), values), options);
  }

  static Status apply(Table& on, const Mutation& mutation, const WriteOptions& options) {
    if (const auto* put = std::get_if<Put>(&mutation)) return on.put(*put, options);
    if (const auto* erase = std::get_if<Delete>(&mutation)) return on.erase(*erase, options);
    if (const auto* increment = std::get_if<Increment>(&mutation))
      return on.increment(*increment, options).status();
    return on.append(std::get<Append>(mutation), options).status();
  }

  Status write_batch(const TraceOperation& operation, ReplayValues& values, const WriteOptions& options) {
    Batch batch;
    for (const TraceEntry& each : operation.entries) {
      const Mutation mutation = mutation_of(each, values);
      const std::shared_ptr<Table>& on = table(each.table);
      if (const auto* put = std::get_if<Put>(&mutation)) batch.put(on, *put);
      if (const auto* erase = std::get_if<Delete>(&mutation)) batch.erase(on, *erase);
      if (const auto* increment = std::get_if<Increment>(&mutation)) batch.increment(on, *increment);
      if (const auto* append = std::get_if<Append>(&mutation)) batch.append(on, *append);
    }
    return engine_.write(batch, options);
  }

  Status commit(const TraceOperation& operation, ReplayValues& values) {
    TransactionOptions options;
    options.durability = operation.durability;
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Transaction> transaction, engine_.begin(options));
    for (const TraceEntry& each : operation.entries) {
      const Mutation mutation = mutation_of(each, values);
      const std::shared_ptr<Table>& on = table(each.table);
      if (const auto* put = std::get_if<Put>(&mutation)) CELLAR_TRY(transaction->put(on, *put));
      if (const auto* erase = std::get_if<Delete>(&mutation)) CELLAR_TRY(transaction->erase(on, *erase));
      if (const auto* increment = std::get_if<Increment>(&mutation))
        CELLAR_TRY(transaction->increment(on, *increment).status());
      if (const auto* append = std::get_if<Append>(&mutation))
        CELLAR_TRY(transaction->append(on, *append).status());
    }
    return transaction->commit();
  }

  Status actions(const TraceOperation& operation, ReplayValues& values, const WriteOptions& options,
                 ReplayFound& found) {
    std::vector<Action> asked;
    for (const TraceEntry& each : operation.entries) {
      if (each.kind == TraceEntryKind::kGet || each.kind == TraceEntryKind::kCheck) {
        asked.emplace_back(get_of(each));
        continue;
      }
      std::visit([&](auto&& one) { asked.emplace_back(std::forward<decltype(one)>(one)); },
                 mutation_of(each, values));
    }
    if (asked.empty()) return {};
    const auto results = table(operation.entries.front().table)->batch(asked, options);
    for (size_t i = 0; i < results.size(); ++i) {
      CELLAR_TRY(results[i].status());
      const Row& row = results[i]->row;
      if (row.empty() || operation.entries[i].kind == TraceEntryKind::kCheck) continue;
      ++found.rows;
      found.cells += row.cells.size();
      for (const Cell& cell : row.cells)
        found.bytes += cell.row.size() + cell.family.size() + cell.qualifier.size() + cell.value.size();
    }
    return {};
  }

  Engine& engine_;
  const ReplayTables& tables_;
  RowBatch batch_;
};

}  // namespace

Result<ReplayTables> open_replay_tables(Engine& engine, const ReplayPlan& plan,
                                        const std::function<void(const std::string&)>& created) {
  ReplayTables tables;
  for (const auto& [name, families] : plan.tables()) {
    Result<std::shared_ptr<Table>> table = engine.open_table(name);
    if (table.status().is(Code::kNotFound)) {
      TableOptions options;
      for (const std::string& family : families) options.families.push_back({.name = family});
      if (options.families.empty()) options.families.push_back({.name = "f"});  // only whole rows were read
      table = engine.create_table(name, options);
      if (table.ok()) created(escaped(name));
    }
    if (!table.ok()) return table.status();
    std::set<std::string> missing = families;
    for (const FamilyInfo& each : (*table)->info().families) missing.erase(each.options.name);
    for (const std::string& family : missing) {
      CELLAR_TRY(engine.alter_family(name, {.name = family}));
      created(fmt::format("{}: family {}", escaped(name), escaped(family)));
    }
    tables.emplace(name, std::move(table).value());
  }
  return tables;
}

std::unique_ptr<ReplayTarget> make_cellar_target(Engine& engine, const ReplayTables& tables) {
  return std::make_unique<CellarTarget>(engine, tables);
}

}  // namespace cellar
