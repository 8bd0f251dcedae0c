// Rows: states and values of rows, and what is wrong about an answer.
#include "bench/endurance/rows.h"

#include <charconv>
#include <cstring>

namespace cellar::bench::endurance {
namespace {

Status wrong(uint64_t row, const std::string& what) {
  return Status::corruption("row " + std::string(RowKey().present(row).view()) + ": " + what);
}

}  // namespace

Rows::Rows(uint64_t count, uint32_t value_bytes)
    : acknowledged_(count), begun_(count), value_bytes_(std::max<uint32_t>(value_bytes, sizeof(RowState))) {
  for (auto& state : acknowledged_) state.store(kNeverWritten, std::memory_order_relaxed);
  for (auto& state : begun_) state.store(kNeverWritten, std::memory_order_relaxed);
}

uint64_t Rows::row_bytes() const {
  return RowKey().view().size() + kQualifier.size() + sizeof(int64_t) + value_bytes_;
}

void Rows::acknowledge(uint64_t row, RowState state) {
  const RowState before = acknowledged_[row].exchange(state, std::memory_order_acq_rel);
  if (is_deleted(before) && !is_deleted(state)) alive_.fetch_add(1, std::memory_order_relaxed);
  if (!is_deleted(before) && is_deleted(state)) alive_.fetch_sub(1, std::memory_order_relaxed);
}

void Rows::fill(uint64_t row, RowState state, std::string& to) const {
  to.resize(value_bytes_);
  std::memcpy(to.data(), &state, sizeof state);
  uint64_t word = mix(row * 0x9e3779b97f4a7c15 + state);
  for (size_t at = sizeof state; at < to.size(); at += sizeof word) {
    word = mix(word + 0x9e3779b97f4a7c15);
    std::memcpy(to.data() + at, &word, std::min(sizeof word, to.size() - at));
  }
}

Status Rows::check(uint64_t row, std::string_view value, RowState from, RowState until,
                   std::string& room) const {
  RowState found = 0;
  if (value.size() != value_bytes_)
    return wrong(row, "a value of " + std::to_string(value.size()) + " bytes was read");
  std::memcpy(&found, value.data(), sizeof found);
  fill(row, found, room);
  if (value != room) return wrong(row, "a value was read that nobody wrote there");
  if (is_deleted(found) || found < from || found > until)
    return wrong(row, "state " + std::to_string(found) + " was read, but the state lies between " +
                          std::to_string(from) + " and " + std::to_string(until));
  return {};
}

Status Rows::check_missing(uint64_t row, RowState from, RowState until) const {
  if (from != until || is_deleted(from)) return {};
  return wrong(row, "it was not found, but its state is " + std::to_string(from));
}

Result<uint64_t> row_number(std::string_view key) {
  uint64_t number = 0;
  constexpr std::string_view kBegin = "user";
  const char* const end = key.data() + key.size();
  if (key.starts_with(kBegin)) {
    const auto read = std::from_chars(key.data() + kBegin.size(), end, number);
    if (read.ec == std::errc() && read.ptr == end && number % 2 == 0) return number / 2;
  }
  return Status::corruption("the key " + std::string(key) + " was read, which nobody wrote");
}

}  // namespace cellar::bench::endurance
