// ReplayPlan: loads a trace and sorts it by time.
#include "tools/trace/replay_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/hash.h"

namespace cellar {
namespace {

uint32_t row_hash_of(const TraceOperation& operation) {
  const TraceKey* row = nullptr;
  if (operation.kind == TraceKind::kScan) row = &operation.scan.start;
  if (!operation.entries.empty()) row = &operation.entries.front().row;
  return row == nullptr ? 0 : static_cast<uint32_t>(hash64(row->bytes));
}

// Returns a put that lets this get find what it found.
TraceOperation put_for(const TraceOperation& operation, const TraceEntry& get,
                       const std::pair<const std::string, std::set<std::string>>& table) {
  TraceOperation put;
  put.kind = TraceKind::kPut;
  put.durability = Durability::kSkipWal;
  TraceEntry entry{
      .kind = TraceEntryKind::kPut, .table = get.table, .row = get.row, .columns = {}, .query = {}};
  for (const TraceColumn& column : get.columns)
    entry.columns.push_back({.family = column.family, .qualifier = column.qualifier});
  if (entry.columns.empty())
    entry.columns.push_back({.family = table.second.empty() ? "f" : *table.second.begin(), .qualifier = {}});
  const uint64_t all = operation.entries.size() * entry.columns.size();
  const uint64_t keys = operation.cells * (get.row.bytes.size() + 12);  // with the lengths and the timestamp
  for (TraceColumn& column : entry.columns)
    column.value_bytes = operation.bytes > keys ? (operation.bytes - keys) / all : 0;
  put.entries.push_back(std::move(entry));
  return put;
}

}  // namespace

Result<ReplayPlan> ReplayPlan::load(FileSystem& files, const std::string& path, uint64_t limit) {
  CELLAR_TRY_ASSIGN(TraceReader reader, TraceReader::open(files, path));
  ReplayPlan plan;
  plan.header_ = reader.header();
  while (true) {
    TraceChunk chunk;
    CELLAR_TRY_ASSIGN(const bool more, reader.next(chunk));
    if (!more) break;
    plan.chunks_.push_back(std::move(chunk));
    CELLAR_TRY(plan.add_chunk(limit).with_context("trace " + path));
    if (limit != 0 && plan.items_.size() >= limit) break;
  }
  plan.ending_ = reader.ending();
  std::ranges::stable_sort(plan.items_, {}, &Item::start_ns);
  return Result<ReplayPlan>(std::move(plan));
}

Status ReplayPlan::add_chunk(uint64_t limit) {
  const TraceChunk& chunk = chunks_.back();
  TraceRecords records(header_, chunk);
  TraceOperation operation;
  while (limit == 0 || items_.size() < limit) {
    const auto position = static_cast<uint32_t>(records.position());
    CELLAR_TRY_ASSIGN(const bool more, records.next(operation));
    if (!more) break;
    if (operation.code != Code::kOk) {
      ++failed_;
      continue;
    }
    note_names(operation);
    threads_.insert(operation.thread);
    items_.push_back({operation.start_ns, static_cast<uint32_t>(chunks_.size() - 1), position,
                      operation.thread, row_hash_of(operation)});
  }
  return {};
}

Result<std::vector<TraceOperation>> ReplayPlan::rows_to_load() const {
  std::vector<TraceOperation> puts;
  std::set<std::pair<std::string, std::string>> known;
  TraceOperation operation;
  for (const Item& item : items_) {
    CELLAR_TRY(read(item, operation));
    const bool found_all = reads_only(operation.kind) && operation.rows == operation.entries.size();
    for (TraceEntry& entry : operation.entries) {
      const bool reads = entry.kind == TraceEntryKind::kGet || entry.kind == TraceEntryKind::kCheck;
      if (reads && !found_all) continue;
      if (!known.emplace(entry.table, entry.row.bytes).second || !reads) continue;
      puts.push_back(put_for(operation, entry, *tables_.find(entry.table)));
    }
  }
  return puts;
}

void ReplayPlan::note_names(const TraceOperation& operation) {
  const auto note = [&](const std::string& table, const std::vector<TraceColumn>& columns) {
    if (table.empty()) return;
    std::set<std::string>& families = tables_[table];
    for (const TraceColumn& column : columns) families.insert(column.family);
  };
  for (const TraceEntry& entry : operation.entries) note(entry.table, entry.columns);
  if (operation.kind == TraceKind::kScan) note(operation.scan.table, operation.scan.columns);
  if (!operation.table.empty()) {
    std::set<std::string>& families = tables_[operation.table];
    if (!operation.family.empty()) families.insert(operation.family);
  }
}

}  // namespace cellar
