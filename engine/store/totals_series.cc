// TotalsSeries: a line for each change of files.
#include "engine/store/totals_series.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"

namespace cellar {

Status TotalsSeries::open() {
  const std::string& path = world_.options.totals_series;
  if (path.empty()) return {};
  const std::string context = "totals series " + path;
  if (path.starts_with(world_.path + "/"))
    return Status::invalid_argument(context + " lies in the store's directory")
        .hinting("name a file in another directory: opening a store removes files that it does not know");
  const size_t slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  Result<std::unique_ptr<Directory>> directory = world_.files.open_directory(folder, false);
  if (!directory.ok()) return directory.status().with_context(context);
  Result<std::unique_ptr<WritableFile>> file =
      (*directory)->create(slash == path.npos ? path : path.substr(slash + 1));
  if (!file.ok()) return file.status().with_context(context);
  const MutexLock lock(mutex_);
  CELLAR_ASSERT(file_ == nullptr);
  file_ = std::move(*file);
  begun_us_ = world_.clock.steady_us();
  return {};
}

void TotalsSeries::note(const Store& store) {
  if (world_.options.totals_series.empty()) return;
  const MutexLock lock(mutex_);
  if (file_ == nullptr) return;
  const int64_t passed_us = std::max<int64_t>(0, world_.clock.steady_us() - begun_us_);
  const Status status =
      file_->append(totals_line(store, static_cast<double>(passed_us) / 1e6, world_.clock.wall_ms()) + "\n");
  if (status.ok()) return;
  file_.reset();
  world_.log(LogLevel::kWarning,
             "totals series " + world_.options.totals_series + " ends: " + status.to_text());
}

std::string totals_line(const Store& store, double seconds, int64_t wall_ms) {
  const std::shared_ptr<const StoreView> view = store.view();
  CELLAR_ASSERT(view != nullptr && seconds >= 0);
  const FamilyTotals& totals = view->totals;
  const auto put = static_cast<double>(std::max<uint64_t>(1, totals.bytes_put));
  const auto written = static_cast<double>(totals.bytes_flushed + totals.bytes_compacted);
  return fmt::format(
      R"({{"kind":"result","workload":"totals","peer":{},"seconds":{:.3f},"wall_ms":{},"bytes_put":{},)"
      R"("bytes_flushed":{},"bytes_compacted":{},"bytes_compacted_from":{},"flushes":{},"compactions":{},)"
      R"("write_amplification":{:.3f},"bytes_on_disk":{},"files":{},"sorted_runs":{},"debt_bytes":{}}})",
      json_string(store.table_name() + "/" + store.family()), seconds, wall_ms, totals.bytes_put,
      totals.bytes_flushed, totals.bytes_compacted, totals.bytes_compacted_from, totals.flushes,
      totals.compactions, totals.bytes_put == 0 ? 0 : (put + written) / put, store.bytes(),
      view->files.size(), view->runs.size(), store.debt_bytes());
}

}  // namespace cellar
