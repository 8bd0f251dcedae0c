// file_sequence: the name, then the file info.
#include "hfile/read/file_sequence.h"

#include <charconv>

#include "hfile/format/file_info.h"

namespace cellar {

std::optional<uint64_t> bulk_load_sequence(std::string_view name) {
  constexpr std::string_view kMark = "_SeqId_";
  const size_t mark = name.find(kMark);
  if (mark == std::string_view::npos) return std::nullopt;
  const std::string_view digits = name.substr(mark + kMark.size());
  uint64_t sequence = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), sequence);
  if (error != std::errc() || end == digits.data() + digits.size() || *end != '_') return std::nullopt;
  return sequence;
}

Result<std::optional<int64_t>> file_sequence(const FileInfo& info, std::string_view name) {
  CELLAR_TRY_ASSIGN(const std::optional<int64_t> flushed, info.i64(info_key::kMaxSequence));
  if (const std::optional<uint64_t> named = bulk_load_sequence(name))
    return std::optional(static_cast<int64_t>(*named));
  return flushed;
}

}  // namespace cellar
