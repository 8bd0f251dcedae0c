// RecordedHistory: chunks of several threads become one order, and rows become numbers.
#include "tools/simulate/recorded_writes.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "engine/trace/trace_format.h"
#include "engine/trace/trace_reader.h"

namespace cellar {
namespace {

constexpr uint64_t kTimestampBytes = 8;
constexpr size_t kEventsMax = size_t{1} << 30;

bool reads(const TraceEntry& entry) {
  return entry.kind == TraceEntryKind::kGet || entry.kind == TraceEntryKind::kCheck;
}

// Returns whether the entry deletes all that a row has in a family.
bool deletes_row(const TraceEntry& entry) {
  if (entry.kind == TraceEntryKind::kErase && entry.columns.empty()) return true;
  return !entry.columns.empty() && std::ranges::all_of(entry.columns, [](const TraceColumn& column) {
    return column.type == CellType::kDeleteFamily;
  });
}

uint64_t bytes_of(const TraceEntry& entry) {
  uint64_t bytes = entry.columns.empty() ? entry.row.size + kTimestampBytes : 0;
  for (const TraceColumn& column : entry.columns)
    bytes +=
        entry.row.size + column.family.size() + column.qualifier.size + column.value_bytes + kTimestampBytes;
  return bytes;
}

// Collects events with their times.
class Collector {
 public:
  explicit Collector(std::string table) : table_(std::move(table)) {}

  Status add(const TraceOperation& operation) {
    if (operation.code != Code::kOk) return {};
    for (const TraceEntry& entry : operation.entries) {
      if (table_.empty()) table_ = entry.table;
      if (entry.table != table_) {
        if (named_) continue;
        return Status::invalid_argument(
                   fmt::format("the trace has operations on \"{}\" and on \"{}\"", table_, entry.table))
            .hinting("choose a table: --table NAME");
      }
      if (history_.events.size() >= kEventsMax)
        return Status::invalid_argument(
            fmt::format("the trace has more than {} reads and writes of rows", kEventsMax));
      add(entry, operation.start_ns);
    }
    return {};
  }

  void choose() { named_ = !table_.empty(); }
  const std::string& table() const { return table_; }

  RecordedHistory finish() {
    std::vector<uint32_t> order(history_.events.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, {}, [&](uint32_t at) { return times_[at]; });
    std::vector<RecordedHistory::Event> events;
    events.reserve(order.size());
    for (const uint32_t at : order) events.push_back(history_.events[at]);
    history_.events = std::move(events);
    std::vector<std::pair<std::string_view, uint32_t>> rows;
    for (const auto& [row, number] : numbers_) rows.emplace_back(row, number);
    std::ranges::sort(rows);
    history_.places.resize(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) history_.places[rows[i].second] = static_cast<uint32_t>(i);
    return std::move(history_);
  }

 private:
  void add(const TraceEntry& entry, int64_t start_ns) {
    const auto next = static_cast<uint32_t>(numbers_.size());
    const auto [row, added] = numbers_.try_emplace(entry.row.bytes, next);
    const bool read = reads(entry);
    history_.events.push_back({row->second, read, !read && deletes_row(entry)});
    times_.push_back(start_ns);
    if (read) return;
    ++history_.writes;
    history_.bytes += bytes_of(entry);
  }

  std::string table_;
  bool named_ = false;
  std::unordered_map<std::string, uint32_t> numbers_;
  RecordedHistory history_;
  std::vector<int64_t> times_;
};

class RecordedWrites final : public SimulatedWrites {
 public:
  explicit RecordedWrites(const RecordedHistory& history) : history_(history) {
    CELLAR_ASSERT(history.writes > 0);
    while (history_.events[write_].read) ++write_;
    read_ = write_;
  }

  SimulatedWrite next() override {
    SimulatedWrite result = of(history_.events[write_]);
    read_ = write_ + 1;
    for (advance(write_); history_.events[write_].read; advance(write_)) ++result.reads;
    return result;
  }

  // The reads that follow the last write.
  SimulatedWrite next_read() override {
    if (read_ >= history_.events.size()) read_ = 0;
    return of(history_.events[read_++]);
  }

 private:
  void advance(size_t& at) const { at = at + 1 < history_.events.size() ? at + 1 : 0; }
  SimulatedWrite of(const RecordedHistory::Event& event) const {
    return {.number = event.number, .row = history_.places[event.number], .marker = event.marker};
  }

  const RecordedHistory& history_;
  size_t write_ = 0;  // the next event that is a write
  size_t read_ = 0;   // the next event that is a read
};

}  // namespace

Result<RecordedHistory> read_recorded_history(FileSystem& files, const std::string& path,
                                              const std::string& table) {
  CELLAR_TRY_ASSIGN(TraceReader reader, TraceReader::open(files, path));
  Collector collector(table);
  collector.choose();
  TraceChunk chunk;
  TraceOperation operation;
  for (;;) {
    CELLAR_TRY_ASSIGN(const bool more, reader.next(chunk));
    if (!more) break;
    TraceRecords records(reader.header(), chunk);
    for (;;) {
      CELLAR_TRY_ASSIGN(const bool any, records.next(operation));
      if (!any) break;
      CELLAR_TRY(collector.add(operation));
    }
  }
  RecordedHistory history = collector.finish();
  history.sample = std::max<uint32_t>(1, reader.header().sample);
  if (history.writes == 0)
    return Status::invalid_argument(
               collector.table().empty()
                   ? std::string("the trace has no writes")
                   : fmt::format("the trace has no writes to the table \"{}\"", collector.table()))
        .hinting("cellar trace info says what a trace has");
  CELLAR_ASSERT(!history.places.empty());
  return history;
}

std::unique_ptr<SimulatedWrites> make_recorded_writes(const RecordedHistory& history) {
  return std::make_unique<RecordedWrites>(history);
}

}  // namespace cellar
