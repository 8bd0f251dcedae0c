// Answers bulk loads: finished HFiles of a directory of this machine, which a table adopts.
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "cellar/environment.h"
#include "cellar/hfile.h"
#include "cellar/ingest.h"
#include "hbase/proto/hbase.pb.h"
#include "hbase/serve/region_service.h"
#include "hbase/wire/client.pb.h"

namespace cellar::hbase::serve {
namespace {

// Returns the path of "file:///x", "file:/x" or "/x", or nothing for a place on another file system.
std::string_view local_path(std::string_view uri) {
  constexpr std::string_view kScheme = "file:";
  if (uri.starts_with(kScheme)) uri.remove_prefix(kScheme.size());
  if (uri.starts_with("//")) uri.remove_prefix(uri.find('/', 2) == 2 ? 2 : 0);
  return uri.starts_with('/') && !uri.starts_with("//") ? uri : std::string_view();
}

Result<std::string> admitted_path(const ServiceLimits& limits, std::string_view uri) {
  if (!limits.admit_load)
    return Status::read_only("this server takes no bulk loads")
        .hinting("cellar serve --load-from DIR lets clients load the files below DIR");
  const std::string_view path = local_path(uri);
  if (!path.empty()) return limits.admit_load(std::string(path));
  return Status::not_supported(
             fmt::format("\"{}\" is on another file system: a store reads files of its machine",
                         escaped(uri)))
      .hinting("name the file as file:///PATH");
}

bool holds(const ServedRegion& region, const HFileFacts& file) {
  return file.cells == 0 ||
         (file.first_row >= region.start && (region.end.empty() || file.last_row < region.end));
}

}  // namespace

// The files stay where they are until a region adopts them. So the token names no directory.
Status RegionService::prepare_load(Call& call) {
  wire::PrepareBulkLoadRequest request;
  CELLAR_TRY(call.read(request));
  wire::PrepareBulkLoadResponse response;
  response.set_bulk_token(fmt::format("{:016x}{:016x}", system_random(), system_random()));
  return call.answer(response);
}

Status RegionService::clean_up_load(Call& call) {
  wire::CleanupBulkLoadRequest request;
  CELLAR_TRY(call.read(request));
  return call.answer(wire::CleanupBulkLoadResponse());
}

Status RegionService::load_files(Call& call) {
  wire::BulkLoadRequest request;
  CELLAR_TRY(call.read(request));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<const ServedRegion> region,
                    catalog_.region(call, request.region()));
  if (region->meta)
    return Status::read_only("hbase:meta follows the tables of the store and takes no bulk loads");
  wire::BulkLoadResponse response;
  response.set_loaded(true);
  IngestRequest asked;
  asked.copy = request.copy_file();
  asked.move = !request.copy_file();
  asked.verify = HFileCheckLevel::kCells;
  for (const wire::BulkLoadRequest::FamilyPath& each : request.paths()) {
    CELLAR_TRY_ASSIGN(std::string path, admitted_path(limits_, each.path()));
    CELLAR_TRY_ASSIGN(const HFile file, HFile::open(path));
    // HBase answers so, too: the client looks for the regions that have the rows now.
    if (!holds(*region, file.facts())) response.set_loaded(false);
    asked.files.push_back({each.family(), std::move(path)});
  }
  if (response.loaded()) {
    const Status loaded = region->table->ingest(asked).status();
    if (!loaded.ok()) return name_failure(call, *region->table, loaded);
  }
  return call.answer(response);
}

}  // namespace cellar::hbase::serve
