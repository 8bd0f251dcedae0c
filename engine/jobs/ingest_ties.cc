// IngestTies: a merge of the files in doubt, in which each cell's sequence is the number of its file.
#include "engine/jobs/ingest_ties.h"

#include <algorithm>
#include <set>

#include "base/assert.h"
#include "cell/cell_codec.h"
#include "cell/cell_key.h"
#include "cell/cell_order.h"
#include "cell/merging_cursor.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {
namespace {

constexpr uint64_t kCellsBetweenCheckpoints = 4096;

CellView view_of(const std::string& flat_key) {
  CellView view;
  const bool parsed = parse_flat_key(flat_key.data(), flat_key.size(), view);
  CELLAR_ASSERT(parsed);  // the census has taken it from a cell
  return view;
}

bool overlap(const FileRecord& a, const FileRecord& b) {
  return compare_keys(view_of(a.first_key), view_of(b.last_key)) <= 0 &&
         compare_keys(view_of(b.first_key), view_of(a.last_key)) <= 0;
}

bool same_content(const CellView& a, const CellView& b) {
  return a.value_bytes() == b.value_bytes() && a.tags_bytes() == b.tags_bytes();
}

}  // namespace

// Returns true if both files record when they were written, and the records differ.
bool IngestTies::ordered(size_t older, size_t newer) const {
  CELLAR_ASSERT(older < files_.size() && newer < files_.size());
  const std::optional<int64_t>& first = files_[older].sequence;
  const std::optional<int64_t>& second = files_[newer].sequence;
  return first && second && *first != *second;
}

std::vector<size_t> IngestTies::doubtful() const {
  std::set<size_t> found;
  for (size_t newer = 1; newer < files_.size(); ++newer)
    for (size_t older = 0; older < newer; ++older)
      if (!ordered(older, newer) && overlap(files_[older].record, files_[newer].record))
        found.insert({older, newer});
  CELLAR_ASSERT(found.size() != 1);  // it takes two to disagree
  return {found.begin(), found.end()};
}

Status IngestTies::find(std::vector<IngestTie>& ties) {
  const std::vector<size_t> files = doubtful();
  return files.empty() ? Status() : walk(files, ties);
}

Status IngestTies::walk(const std::vector<size_t>& files, std::vector<IngestTie>& ties) {
  CELLAR_ASSERT(files.size() > 1 && files.back() < files_.size());
  std::vector<std::shared_ptr<HFileReader>> readers;
  std::vector<MergeSource> sources;
  for (const size_t number : files) {
    CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> file,
                      opener_.open_handle(files_[number].directory, files_[number].record.name));
    HFileReaderOptions options;
    options.name = files_[number].source;
    options.sequence_override = number;
    options.block_payload_bytes_max = opener_.block_payload_bytes_max();
    CELLAR_TRY_ASSIGN(std::shared_ptr<HFileReader> reader,
                      HFileReader::open(std::move(file), std::move(options)));
    sources.push_back({reader->cursor({.fill_cache = false, .sequential = true}),
                       static_cast<uint32_t>(files_.size() - number)});
    readers.push_back(std::move(reader));
  }
  const std::unique_ptr<CellCursor> merged = make_merging_cursor(std::move(sources));
  std::set<std::pair<size_t, size_t>> told;
  OwnedCell winner;  // the newest of its coordinates
  OwnedCell first;
  first_of_row(first, {});
  uint64_t cells = 0;
  for (const CellView* cell = merged->seek(first.view()); cell != nullptr; cell = merged->next()) {
    if (++cells % kCellsBetweenCheckpoints == 0) executor_.checkpoint();
    if (cells == 1 || compare_keys(winner.view(), *cell) != 0) {
      winner.assign(*cell);
      continue;
    }
    const size_t newer = winner.view().sequence;
    const size_t older = cell->sequence;
    CELLAR_ASSERT(newer >= older && newer < files_.size());
    if (older == newer || ordered(older, newer) || same_content(winner.view(), *cell)) continue;
    if (!told.emplace(older, newer).second) continue;
    ties.push_back({store_.family(), files_[newer].source, files_[older].source, key_text(*cell)});
    if (told.size() == kTiesMax) break;
  }
  return merged->status();
}

}  // namespace cellar
