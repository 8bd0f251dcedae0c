// Traced operations: the entries of each operation, for the rows that are sampled.
#include "engine/trace/traced_operations.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/recycled.h"
#include "cellar/table.h"
#include "engine/values/batch_reader.h"

namespace cellar {
namespace {

// 0: not given.
uint8_t durability_byte(const std::optional<Durability>& durability) {
  return durability ? static_cast<uint8_t>(1 + static_cast<uint8_t>(*durability)) : 0;
}

TraceEntryKind entry_kind(TraceKind kind) {
  switch (kind) {
    case TraceKind::kPut:
      return TraceEntryKind::kPut;
    case TraceKind::kErase:
      return TraceEntryKind::kErase;
    case TraceKind::kIncrement:
      return TraceEntryKind::kIncrement;
    default:
      CELLAR_ASSERT(kind == TraceKind::kAppend);
      return TraceEntryKind::kAppend;
  }
}

// The kind of a change that is a Put, Delete, Increment or Append.
template <class Change>
constexpr TraceEntryKind kEntryKind = std::is_same_v<Change, Put>         ? TraceEntryKind::kPut
                                      : std::is_same_v<Change, Delete>    ? TraceEntryKind::kErase
                                      : std::is_same_v<Change, Increment> ? TraceEntryKind::kIncrement
                                                                          : TraceEntryKind::kAppend;
template <class Change>
constexpr bool kIsMutation = std::is_same_v<Change, Put> || std::is_same_v<Change, Delete> ||
                             std::is_same_v<Change, Increment> || std::is_same_v<Change, Append>;

std::string_view row_of(const BatchEntry& entry) {
  return std::visit(
      [](const auto& each) -> std::string_view {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(each)>, Cell>)
          return each.row;
        else
          return each.row();
      },
      entry.change);
}

void add_entry(TraceEncoder& out, const BatchEntry& entry) {
  const std::string& table = entry.table->name();
  std::visit(
      [&](const auto& each) {
        using Each = std::remove_cvref_t<decltype(each)>;
        if constexpr (std::is_same_v<Each, Cell>) {
          out.cell(table, each);
        } else {
          static_assert(kIsMutation<Each>);
          out.mutation(kEntryKind<Each>, table, each);
        }
      },
      entry.change);
}

// Returns the number of entries of an action.
size_t entries_of(const Action& action, bool matched) {
  if (const auto* check = std::get_if<CheckAndMutate>(&action))
    return TraceEncoder::entries_of(*check, matched);
  if (const auto* several = std::get_if<RowMutations>(&action)) return several->mutations().size();
  return 1;
}

void add_action(TraceEncoder& out, std::string_view table, const Action& action, bool matched) {
  std::visit(
      [&](const auto& each) {
        using Each = std::remove_cvref_t<decltype(each)>;
        if constexpr (std::is_same_v<Each, Get>) {
          out.get(table, each);
        } else if constexpr (kIsMutation<Each>) {
          out.mutation(kEntryKind<Each>, table, each);
        } else if constexpr (std::is_same_v<Each, RowMutations>) {
          out.mutations(table, each);
        } else {
          out.check(table, each, matched);
        }
      },
      action);
}

class TracedScanner final : public Scanner, public Recycled<TracedScanner> {
 public:
  TracedScanner(OperationRecorder& recorder, TraceSlot& slot, uint64_t start, uint8_t flags,
                std::unique_ptr<Scanner> inner)
      : recorder_(recorder),
        session_(slot.session),
        body_bytes_(slot.out.bytes().size()),
        body_(static_cast<char*>(RecycledBytes::take(body_bytes_))),
        start_(start),
        flags_(flags),
        inner_(std::move(inner)) {
    CELLAR_ASSERT(inner_ != nullptr && body_bytes_ > 0);
    std::memcpy(body_, slot.out.bytes().data(), body_bytes_);
  }
  ~TracedScanner() override {
    record();
    RecycledBytes::give_back(body_, body_bytes_);
  }

  bool next() override {
    const bool more = inner_->next();
    if (more) {
      results_.add(inner_->row());
    } else {
      record();
    }
    return more;
  }
  RowView row() const override { return inner_->row(); }
  Status status() const override { return inner_->status(); }
  bool next_batch(RowBatch& batch, size_t rows) override {
    const bool any = inner_->next_batch(batch, rows);
    for (const RowView row : batch) results_.add(row);
    if (!any) record();
    return any;
  }

 private:
  // A scan is recorded once, by the recording under which it began.
  void record() {
    const std::shared_ptr<TraceSession> session = std::move(session_);
    session_ = nullptr;
    if (session == nullptr) return;
    TraceSlot* slot = recorder_.slot();
    if (slot == nullptr || slot->session != session || slot->inside) return;
    slot->out.clear();
    slot->out.raw({body_, body_bytes_});
    slot->out.results(results_);
    slot->commit(TraceKind::kScan, flags_, inner_->status().code(), start_, session->ticks());
  }

  OperationRecorder& recorder_;
  std::shared_ptr<TraceSession> session_;
  const size_t body_bytes_;
  char* const body_;
  const uint64_t start_;
  const uint8_t flags_;
  TraceResults results_;
  std::unique_ptr<Scanner> inner_;
};

}  // namespace

void trace_get(TraceScope& scope, TraceKind kind, std::string_view table, const Get& get,
               const TraceResults& results, Code code, uint8_t flags) {
  CELLAR_DCHECK(static_cast<bool>(scope) && scope.takes(get.row()));
  scope.begin(0, 1).get(table, get);
  scope.commit(kind, code, results, flags);
}

void trace_gets(TraceScope& scope, TraceKind kind, std::string_view table, std::span<const Get> gets,
                const TraceResults& results, Code code) {
  const auto sampled = [&](const Get& get) { return scope.takes(get.row()); };
  const auto count = static_cast<size_t>(std::ranges::count_if(gets, sampled));
  if (count == 0 && !gets.empty()) return;
  TraceEncoder& out = scope.begin(0, count);
  for (const Get& each : gets)
    if (sampled(each)) out.get(table, each);
  scope.commit(kind, code, results);
}

void trace_mutation(TraceScope& scope, TraceKind kind, std::string_view table, const RowMutation& mutation,
                    const WriteOptions& options, Code code) {
  CELLAR_DCHECK(static_cast<bool>(scope) && scope.takes(mutation.row()));
  scope.begin(durability_byte(options.durability), 1).mutation(entry_kind(kind), table, mutation);
  scope.commit(kind, code);
}

void trace_mutations(TraceScope& scope, std::string_view table, const RowMutations& mutations,
                     const WriteOptions& options, Code code) {
  CELLAR_DCHECK(static_cast<bool>(scope) && scope.takes(mutations.row()));
  scope.begin(durability_byte(options.durability), mutations.mutations().size()).mutations(table, mutations);
  scope.commit(TraceKind::kMutate, code);
}

void trace_check(TraceScope& scope, std::string_view table, const CheckAndMutate& check, bool matched,
                 const WriteOptions& options, Code code) {
  CELLAR_DCHECK(static_cast<bool>(scope) && scope.takes(check.row()));
  scope.begin(durability_byte(options.durability), TraceEncoder::entries_of(check, matched))
      .check(table, check, matched);
  scope.commit(TraceKind::kCheckAndMutate, code);
}

void trace_write(TraceScope& scope, const Batch& batch, const WriteOptions& options, Code code) {
  const auto sampled = [&](const BatchEntry& each) {
    return each.table != nullptr && scope.takes(row_of(each));
  };
  const std::span<const BatchEntry> entries = entries_of(batch);
  const auto count = static_cast<size_t>(std::ranges::count_if(entries, sampled));
  if (count == 0 && !entries.empty()) return;
  TraceEncoder& out = scope.begin(durability_byte(options.durability), count);
  for (const BatchEntry& each : entries)
    if (sampled(each)) add_entry(out, each);
  scope.commit(TraceKind::kWrite, code);
}

void trace_actions(TraceScope& scope, std::string_view table, std::span<const Action> actions,
                   std::span<const Result<ActionResult>> results, const WriteOptions& options) {
  CELLAR_ASSERT(actions.size() == results.size());
  const auto sampled = [&](size_t at) {
    return scope.takes(
        std::visit([](const auto& each) -> std::string_view { return each.row(); }, actions[at]));
  };
  const auto matched = [&](size_t at) { return results[at].ok() && results[at]->matched; };
  size_t count = 0;
  TraceResults read;
  Code code = Code::kOk;
  for (size_t i = 0; i < actions.size(); ++i) {
    if (!sampled(i)) continue;
    count += entries_of(actions[i], matched(i));
    if (code == Code::kOk) code = results[i].status().code();
    if (!results[i].ok() || results[i]->row.empty()) continue;
    ++read.rows;
    read.cells += results[i]->row.cells.size();
    for (const Cell& cell : results[i]->row.cells)
      read.bytes += cell.row.size() + cell.family.size() + cell.qualifier.size() + cell.value.size();
  }
  if (count == 0 && !actions.empty()) return;
  TraceEncoder& out = scope.begin(durability_byte(options.durability), count);
  for (size_t i = 0; i < actions.size(); ++i)
    if (sampled(i)) add_action(out, table, actions[i], matched(i));
  scope.commit(TraceKind::kActions, code, read);
}

std::unique_ptr<Scanner> trace_scan(TraceScope& scope, OperationRecorder& recorder, std::string_view table,
                                    const Scan& scan, std::unique_ptr<Scanner> inner, uint8_t flags) {
  CELLAR_DCHECK(static_cast<bool>(scope));
  const std::string& first = scan.prefix().empty() ? scan.start() : scan.prefix();
  if (!first.empty() && !scope.takes(first)) return inner;
  TraceSlot& slot = scope.slot();
  slot.out.clear();
  slot.out.scan(table, scan);
  return std::make_unique<TracedScanner>(recorder, slot, scope.start(), flags, std::move(inner));
}

void TracedWrites::add(OperationRecorder& recorder, TraceEntryKind kind, std::string_view table,
                       const RowMutation& mutation) {
  TraceSlot* slot = recorder.slot();
  if (slot == nullptr || !slot->out.keys().take(mutation.row())) return;
  if (session_ != slot->session) {
    session_ = slot->session;
    entries_.clear();
    count_ = 0;
  }
  slot->out.clear();
  slot->out.mutation(kind, table, mutation);
  entries_ += slot->out.bytes();
  ++count_;
}

void TracedWrites::commit(TraceScope& scope, const std::optional<Durability>& durability, Code code) {
  CELLAR_ASSERT((count_ == 0) == entries_.empty());
  if (count_ == 0 || session_ != scope.slot().session) return;
  scope.begin(durability_byte(durability), count_).raw(entries_);
  scope.commit(TraceKind::kCommit, code);
}

}  // namespace cellar
