// ModelStore: for every cell, look at all the others.
#include "tests/cell_support/model_store.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/assert.h"
#include "base/coding.h"

namespace cellar::testing {
namespace {

// All cells of the given sources (youngest first), in order; equal cells of a younger source first.
Cells merged(const std::vector<Cells>& sources) {
  Cells all;
  for (const Cells& source : sources) all.insert(all.end(), source.begin(), source.end());
  return sorted(std::move(all));
}

bool is_put(const Cell& cell) { return cell.type == CellType::kPut; }
bool same_column(const Cell& a, const Cell& b) { return a.row == b.row && a.qualifier == b.qualifier; }

// Older than the family's time to live, which is exclusive: a cell exactly that old is alive.
bool too_old(const FamilyRules& rules, const Cell& cell, int64_t now) {
  return rules.ttl_ms != kTtlForeverMs && cell.timestamp < now - rules.ttl_ms;
}

// Gone for everybody: the family's time to live is over and nothing is kept beyond it, or the cell's own.
bool cell_ttl_passed(const Cell& cell, int64_t now) {
  std::string_view tags = cell.tags;
  while (!tags.empty()) {
    const size_t size = load_be16(tags.data());
    if (tags[2] == kTtlTag) return cell.timestamp + static_cast<int64_t>(load_be64(tags.data() + 3)) < now;
    tags.remove_prefix(size + 2);
  }
  return false;
}
bool is_gone(const FamilyRules& rules, const Cell& cell, int64_t now) {
  return (rules.min_versions == 0 && too_old(rules, cell, now)) || cell_ttl_passed(cell, now);
}

// Returns true if the marker covers this put, by place and time (semantics table of the five deletes).
bool is_about(const Cell& marker, const Cell& put) {
  if (marker.row != put.row) return false;
  switch (marker.type) {
    case CellType::kDelete:
      return marker.qualifier == put.qualifier && put.timestamp == marker.timestamp;
    case CellType::kDeleteColumn:
      return marker.qualifier == put.qualifier && put.timestamp <= marker.timestamp;
    case CellType::kDeleteFamily:
      return put.timestamp <= marker.timestamp;
    case CellType::kDeleteFamilyVersion:
      return put.timestamp == marker.timestamp;
    default:
      return false;
  }
}

// Returns the puts of one column that sequence-ordered deletes leave, played write by write. Each write first
// removes the cells that its markers cover. It then adds its puts, which replace those of equal timestamps.
// Puts beyond the newest `versions` are dropped and never come back. `cells` are those that count; of two
// equal ones the first was written later.
std::vector<const Cell*> played(const std::vector<const Cell*>& cells, const Cell& column,
                                uint32_t versions) {
  std::map<uint64_t, std::vector<const Cell*>> writes;
  for (const Cell* cell : cells)
    if (cell->row == column.row && (same_column(*cell, column) || covers_family(cell->type)))
      writes[cell->sequence].push_back(cell);
  std::map<int64_t, const Cell*, std::greater<>> alive;
  for (const auto& [sequence, written] : writes) {
    for (const Cell* marker : written)
      std::erase_if(alive, [&](const auto& put) { return is_about(*marker, *put.second); });
    std::map<int64_t, const Cell*> puts;
    for (const Cell* cell : written)
      if (is_put(*cell)) puts.emplace(cell->timestamp, cell);
    for (const auto& [timestamp, put] : puts) alive[timestamp] = put;
    while (alive.size() > versions) alive.erase(std::prev(alive.end()));
  }
  std::vector<const Cell*> left;
  for (const auto& [timestamp, put] : alive) left.push_back(put);
  return left;
}

// ---- reading ----

class Reading {
 public:
  Reading(const FamilyRules& rules, const ModelQuery& query, const Cells& all)
      : rules_(rules), query_(query), all_(all) {}

  Cells cells() const {
    Cells result;
    for (size_t i = 0; i < all_.size(); ++i) {
      const Cell& cell = all_[i];
      if (cell.row < query_.start || (!query_.stop.empty() && cell.row >= query_.stop)) continue;
      if (query_.raw ? shows_raw(i) : wants(cell) && shows(i)) result.push_back(cell);
    }
    return result;
  }

 private:
  bool wants(const Cell& cell) const {
    return query_.columns.empty() || query_.columns.contains(cell.qualifier);
  }
  bool exists(const Cell& cell) const { return cell.sequence <= query_.read_point; }
  bool in_range(const Cell& cell) const {
    return cell.timestamp >= query_.time_from &&
           (cell.timestamp < query_.time_until || query_.time_until == kLatestTimestamp);
  }
  bool counts(const Cell& marker) const {
    if (is_put(marker) || !exists(marker) || is_gone(rules_, marker, query_.now_ms)) return false;
    return rules_.keep_deleted_cells == KeepDeleted::kFalse ? marker.timestamp >= query_.time_from
                                                            : in_range(marker);
  }
  // By a marker of more than this one version.
  bool is_masked_with_older(const Cell& put) const {
    return std::ranges::any_of(all_, [&](const Cell& marker) {
      const bool of_version =
          marker.type == CellType::kDelete || marker.type == CellType::kDeleteFamilyVersion;
      return !of_version && counts(marker) && is_about(marker, put);
    });
  }
  bool masked(const Cell& put) const {
    return std::ranges::any_of(all_,
                               [&](const Cell& marker) { return counts(marker) && is_about(marker, put); });
  }
  // A put that could be a version: the newest write of its timestamp that lives.
  bool is_version(size_t i) const {
    const Cell& put = all_[i];
    if (!is_put(put) || !exists(put) || is_gone(rules_, put, query_.now_ms) || !in_range(put) || masked(put))
      return false;
    for (size_t j = 0; j < i; ++j) {
      const Cell& later = all_[j];
      if (is_put(later) && same_column(later, put) && later.timestamp == put.timestamp && exists(later) &&
          !is_gone(rules_, later, query_.now_ms))
        return false;
    }
    return true;
  }
  // Its rank among the versions of its column, from 1.
  bool within_limits(const Cell& put, size_t rank) const {
    return rank <= std::min(query_.versions, rules_.max_versions) &&
           (rank <= rules_.min_versions || !too_old(rules_, put, query_.now_ms));
  }
  // Versions of its column, newer than it, that do not show and count all the same where reads are strict.
  size_t unseen_before(size_t i) const {
    std::set<int64_t> unseen;
    for (size_t j = 0; query_.strict_versions && j < i; ++j) {
      const Cell& newer = all_[j];
      if (!same_column(newer, all_[i]) || !is_put(newer) || !exists(newer) ||
          is_gone(rules_, newer, query_.now_ms) || is_masked_with_older(newer))
        continue;
      if (!in_range(newer) || masked(newer)) unseen.insert(newer.timestamp);
    }
    return unseen.size();
  }
  bool shows(size_t i) const {
    if (rules_.delete_order == MarkerOrder::kSequence) return shows_by_sequence(i);
    if (!is_version(i)) return false;
    size_t rank = 1;
    for (size_t j = 0; j < i; ++j)
      if (same_column(all_[j], all_[i]) && is_version(j)) ++rank;
    const size_t kept = rank + unseen_before(i);
    return rank <= query_.versions && kept <= rules_.max_versions &&
           (kept <= rules_.min_versions || !too_old(rules_, all_[i], query_.now_ms));
  }
  bool shows_by_sequence(size_t i) const {
    const Cell& put = all_[i];
    if (!is_put(put) || !in_range(put)) return false;
    std::vector<const Cell*> playing;
    for (const Cell& cell : all_)
      if (exists(cell) && !is_gone(rules_, cell, query_.now_ms) && (is_put(cell) || counts(cell)))
        playing.push_back(&cell);
    size_t rank = 0;
    for (const Cell* left : played(playing, put, rules_.max_versions)) {
      if (!in_range(*left)) continue;
      ++rank;
      if (left == &put) return within_limits(put, rank);
    }
    return false;
  }

  // Raw: whatever is stored, markers too, one of each timestamp and type, until a put is beyond the limit.
  bool eligible_raw(size_t i) const {
    const Cell& cell = all_[i];
    if (!exists(cell) || cell_ttl_passed(cell, query_.now_ms) || !in_range(cell)) return false;
    for (size_t j = 0; j < i; ++j) {
      const Cell& later = all_[j];
      if (same_column(later, cell) && later.timestamp == cell.timestamp && later.type == cell.type &&
          exists(later) && !cell_ttl_passed(later, query_.now_ms))
        return false;
    }
    return true;
  }
  bool shows_raw(size_t i) const {
    if (!eligible_raw(i)) return false;
    if (covers_family(all_[i].type)) return true;  // stands with the empty column, belongs to the row
    size_t puts = 0;
    for (size_t j = 0; j <= i; ++j)
      if (same_column(all_[j], all_[i]) && is_put(all_[j]) && eligible_raw(j)) ++puts;
    return puts <= query_.versions;
  }

  const FamilyRules& rules_;
  const ModelQuery& query_;
  const Cells& all_;
};

// ---- rewriting ----

class Rewriting {
 public:
  Rewriting(const FamilyRules& rules, bool all_files, const ModelRewrite& how, const Cells& all)
      : rules_(rules), all_files_(all_files), how_(how), all_(all), points_(how.snapshots) {
    points_.push_back(how.read_point);
    for (const Cell& cell : all)
      if (is_put(cell)) oldest_put_ = std::min(oldest_put_, cell.timestamp);
    if (!how.oldest_put_known) oldest_put_ = kOldestTimestamp;
  }

  Cells cells() const {
    Cells result;
    for (size_t i = 0; i < all_.size(); ++i)
      if (keeps(i)) result.push_back(all_[i]);
    return result;
  }

 private:
  bool keeps(size_t i) const {
    const Cell& cell = all_[i];
    const bool by_sequence = rules_.delete_order == MarkerOrder::kSequence;
    if (by_sequence && (!all_files_ || !how_.snapshots.empty())) return true;
    if (is_gone(rules_, cell, how_.now_ms)) return false;
    if (cell.sequence > how_.read_point)
      return by_sequence || !is_put(cell) || !masked(cell, how_.read_point);
    if (by_sequence)
      return is_put(cell) ? keeps_put_by_sequence(cell) : !all_files_ || keeps_marker_by_sequence(cell);
    if (!is_put(cell)) return !all_files_ || keeps_marker(i);
    return keeps_put(i);
  }

  // The open read point whose readers are the first to see the cell.
  uint64_t point_of(const Cell& cell) const { return *std::ranges::lower_bound(points_, cell.sequence); }

  bool removes_puts(const Cell& marker) const {
    return rules_.keep_deleted_cells == KeepDeleted::kFalse ||
           (rules_.keep_deleted_cells == KeepDeleted::kTtl && too_old(rules_, marker, how_.now_ms));
  }
  bool masked(const Cell& put, uint64_t point) const {
    return std::ranges::any_of(all_, [&](const Cell& marker) {
      return !is_put(marker) && marker.sequence <= point && !is_gone(rules_, marker, how_.now_ms) &&
             removes_puts(marker) && is_about(marker, put);
    });
  }
  bool is_overwritten(size_t i, uint64_t point) const {
    for (size_t j = 0; j < i; ++j) {
      const Cell& later = all_[j];
      if (same_column(later, all_[i]) && later.timestamp == all_[i].timestamp && later.type == all_[i].type &&
          later.sequence <= point && !is_gone(rules_, later, how_.now_ms))
        return true;
    }
    return false;
  }
  bool is_version(size_t i, uint64_t point) const {
    const Cell& put = all_[i];
    return is_put(put) && put.sequence <= point && !is_gone(rules_, put, how_.now_ms) &&
           !masked(put, point) && !is_overwritten(i, point);
  }
  // Versions before the cell in its column, as the readers at the point see it.
  size_t versions_before(size_t i, uint64_t point) const {
    size_t count = 0;
    for (size_t j = 0; j < i; ++j)
      if (same_column(all_[j], all_[i]) && is_version(j, point)) ++count;
    return count;
  }
  bool within_limits(const Cell& cell, size_t rank) const {
    return rank <= rules_.max_versions &&
           (rules_.min_versions == 0 || rank <= rules_.min_versions || !too_old(rules_, cell, how_.now_ms));
  }
  // Within the limits at any point from the first on that may see it.
  bool shown_to_some(size_t i) const {
    const uint64_t first = point_of(all_[i]);
    return std::ranges::any_of(points_, [&](uint64_t point) {
      return point >= first && (!is_put(all_[i]) || is_version(i, point)) &&
             within_limits(all_[i], versions_before(i, point) + (is_put(all_[i]) ? 1 : 0));
    });
  }
  bool keeps_put(size_t i) const {
    return is_version(i, point_of(all_[i])) && (how_.keep_versions || shown_to_some(i));
  }
  bool is_recent(const Cell& marker) const {
    return how_.purge_deletes_ms > 0 && how_.now_ms - marker.timestamp <= how_.purge_deletes_ms;
  }
  bool keeps_marker(size_t i) const {
    const Cell& marker = all_[i];
    if (is_recent(marker) || point_of(marker) != points_.front()) return true;
    if (marker.timestamp >= how_.earliest_outside) return true;
    if (removes_puts(marker) || marker.timestamp < oldest_put_) return false;
    return !is_overwritten(i, points_.front()) && (how_.keep_versions || shown_to_some(i));
  }

  bool keeps_marker_by_sequence(const Cell& marker) const {
    return is_recent(marker) || (!removes_puts(marker) && marker.timestamp >= oldest_put_);
  }
  bool keeps_put_by_sequence(const Cell& put) const {
    std::vector<const Cell*> playing;
    for (const Cell& cell : all_)
      if (cell.sequence <= how_.read_point && !is_gone(rules_, cell, how_.now_ms) &&
          (is_put(cell) || removes_puts(cell)))
        playing.push_back(&cell);
    const std::vector<const Cell*> left = played(playing, put, rules_.max_versions);
    const auto found = std::ranges::find(left, &put);
    return found != left.end() && within_limits(put, static_cast<size_t>(found - left.begin()) + 1);
  }

  const FamilyRules& rules_;
  bool all_files_;
  const ModelRewrite& how_;
  const Cells& all_;
  std::vector<uint64_t> points_;
  int64_t oldest_put_ = kLatestTimestamp;
};

}  // namespace

void ModelStore::write(const Cells& cells, uint64_t sequence) {
  for (const Cell& cell : cells) {
    Cell written = cell;
    written.sequence = sequence;
    std::erase_if(memory_, [&](const Cell& other) { return compare(other, written) == 0; });
    memory_.push_back(std::move(written));
  }
  memory_ = sorted(std::move(memory_));
}

void ModelStore::flush(const ModelRewrite& how) {
  if (memory_.empty()) return;
  Cells run = rewritten({memory_}, rules_, false, how);
  memory_.clear();
  if (!run.empty()) runs_.push_back(std::move(run));
}

void ModelStore::compact(const std::vector<size_t>& places, bool all_files, const ModelRewrite& how) {
  CELLAR_ASSERT(!places.empty() && places.back() < runs_.size() &&
                places.back() - places.front() + 1 == places.size());
  std::vector<Cells> inputs;
  for (size_t i = places.size(); i-- > 0;) inputs.push_back(runs_[places[i]]);
  Cells run = rewritten(inputs, rules_, all_files, how);
  const auto first = runs_.begin() + static_cast<ptrdiff_t>(places.front());
  const auto after = runs_.erase(first, first + static_cast<ptrdiff_t>(places.size()));
  if (!run.empty()) runs_.insert(after, std::move(run));
}

std::vector<Cells> ModelStore::sources() const {
  std::vector<Cells> result = {memory_};
  result.insert(result.end(), runs_.rbegin(), runs_.rend());
  return result;
}

Cells ModelStore::read(const ModelQuery& query) const { return visible(sources(), rules_, query); }

Cells ModelStore::visible(const std::vector<Cells>& sources, const FamilyRules& rules,
                          const ModelQuery& query) {
  const Cells all = merged(sources);
  return Reading(rules, query, all).cells();
}

Cells ModelStore::rewritten(const std::vector<Cells>& sources, const FamilyRules& rules, bool all_files,
                            const ModelRewrite& how) {
  const Cells all = merged(sources);
  Cells result = Rewriting(rules, all_files, how, all).cells();
  if (!how.zero_sequences || !all_files || rules.delete_order == MarkerOrder::kSequence) return result;
  const uint64_t oldest = how.snapshots.empty() ? how.read_point : how.snapshots.front();
  for (Cell& cell : result)
    if (cell.sequence <= oldest) cell.sequence = 0;
  return sorted(std::move(result));
}

}  // namespace cellar::testing
