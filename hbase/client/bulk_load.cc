// Bulk load: HBase's calls PrepareBulkLoad, BulkLoadHFile and CleanupBulkLoad. The servers gather the files
// of a load in a directory of their own, the token. Each region takes its files from there.
#include "hbase/client/bulk_load.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "cell/cell_codec.h"
#include "cellar/environment.h"
#include "hbase/client/requests.h"
#include "hbase/client/web_hdfs.h"
#include "hbase/wire/client.pb.h"
#include "hbase/wire/common.pb.h"
#include "hbase/wire/frames.h"
#include "hbase/wire/schema.h"
#include "hfile/check/cell_census.h"
#include "hfile/check/verify.h"

namespace cellar::hbase {
namespace {

using Effect = Cluster::Effect;

constexpr std::string_view kFileScheme = "file://";
constexpr size_t kRowsOfHint = 20;
constexpr int kRefusalsMax = 9;  // the pauses in between are some seconds

// A file that was verified.
struct Source {
  IngestFile file;        // of the request, with its figures
  std::string path;       // on this machine
  std::string to_server;  // where the servers find it
  std::string first_row;
  std::string last_row;
};

// The files of one region.
struct Group {
  PlacePtr region;
  std::vector<const Source*> files;
};

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string row_of_key(const std::string& flat_key) {
  CellView key;
  return parse_flat_key(flat_key.data(), flat_key.size(), key) ? std::string(key.row()) : std::string();
}

// Sets the path on this machine, and `to_server` to the file's place below `directory`, if there is one.
Status set_paths(std::string_view directory, Source& source) {
  std::string_view path = source.file.path;
  if (path.starts_with(kFileScheme)) path.remove_prefix(kFileScheme.size());
  if (!path.starts_with('/'))
    return Status::invalid_argument(
               fmt::format("\"{}\" is no absolute path of this machine", escaped(source.file.path)))
        .hinting(
            "files are read here before a cluster loads them; IngestRequest::servers_directory tells "
            "where its servers find them");
  source.path = path;
  while (directory.ends_with('/')) directory.remove_suffix(1);
  source.to_server = directory.empty()
                         ? fmt::format("{}{}", kFileScheme, path)
                         : fmt::format("{}/{}/{}", directory, source.file.family, name_of(path));
  return {};
}

Status fault_of(const VerifyReport& report, const CellCensus& census, const Source& source) {
  if (report.verdict == VerifyVerdict::kUnsound) {
    const auto error = std::ranges::find(report.findings, VerifySeverity::kError, &VerifyFinding::severity);
    if (error != report.findings.end())
      return Status::corruption(fmt::format("it is damaged, {}: {}", error->code, error->text))
          .hinting("cellar verify lists all faults; cellar salvage keeps the readable cells");
  }
  if (report.verdict != VerifyVerdict::kSound) return report.status;
  for (const std::string& family : census.families)
    if (family != source.file.family)
      return Status::invalid_argument(fmt::format("it has cells of family \"{}\", not \"{}\"",
                                                  escaped(family), escaped(source.file.family)));
  return {};
}

Status examine(VerifyLevel level, Source& source) {
  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> file, posix_file_system().open_file(source.path));
  CellCensus census;
  VerifyOptions options;
  options.name = source.path;
  options.level = level;
  options.on_cell = [&census](const CellView& cell) { census.add(cell); };
  const VerifyReport report = verify(std::move(file), options);
  CELLAR_TRY(fault_of(report, census, source).at(source.path));
  source.file.bytes = report.file_bytes;
  source.file.cells = census.cells;
  source.first_row = row_of_key(census.first_key);
  source.last_row = row_of_key(census.last_key);
  return {};
}

// UploadedFiles: the files of one load in a directory of their own in HDFS, which is removed with the object.
class UploadedFiles {
 public:
  static Result<std::unique_ptr<UploadedFiles>> begin(const std::string& place, Cluster& cluster) {
    CELLAR_TRY_ASSIGN(const WebHdfsPlace parsed, parse_web_hdfs(place));
    CELLAR_TRY_ASSIGN(std::unique_ptr<WebHdfs> hdfs,
                      WebHdfs::open(parsed, cluster.user(), cluster.timeout_us()));
    std::unique_ptr<UploadedFiles> made(new UploadedFiles(cluster, std::move(hdfs), parsed.path));
    CELLAR_TRY(made->until_it_succeeds([&] { return made->hdfs_->make_directories(made->name_); }));
    return made;
  }
  ~UploadedFiles() { static_cast<void>(hdfs_->remove(name_, /*recursive=*/true).ok()); }
  UploadedFiles(const UploadedFiles&) = delete;
  UploadedFiles& operator=(const UploadedFiles&) = delete;

  // Writes the file, and tells the server's path of it. `go_on` is asked between parts of the file.
  Status put(Source& source, const std::function<bool()>& go_on) {
    const std::string directory = name_ + "/" + source.file.family;
    const std::string file = fmt::format("{}/{}", source.file.family, ++files_);
    if (made_.insert(directory).second)
      CELLAR_TRY(until_it_succeeds([&] { return hdfs_->make_directories(directory); }));
    source.to_server = path_ + "/" + file;
    return until_it_succeeds([&] {
      return hdfs_->write_file(name_ + "/" + file, source.path, [&](uint64_t) { return go_on(); });
    });
  }

 private:
  UploadedFiles(Cluster& cluster, std::unique_ptr<WebHdfs> hdfs, const std::string& place)
      : cluster_(cluster),
        hdfs_(std::move(hdfs)),
        name_(fmt::format("load-{:016x}", system_random())),
        path_(place + "/" + name_) {}

  // A server of HDFS may be lost in the middle of a file, or be busy. Written again, the file is replaced.
  template <class Work>
  Status until_it_succeeds(const Work& work) {
    std::optional<Cluster::Retry> retry;
    while (true) {
      const Status status = work();
      if (!status.is(Code::kIoError) && !status.is(Code::kBusy)) return status;
      if (!retry) retry.emplace(cluster_, cluster_.deadline_us());
      CELLAR_TRY(retry->wait({.status = status, .doubtful = status.is(Code::kIoError)}));
    }
  }

  Cluster& cluster_;
  const std::unique_ptr<WebHdfs> hdfs_;
  const std::string name_;      // of the directory, below the place
  const std::string path_;      // for the servers, whose file system is this one
  std::set<std::string> made_;  // directories of families
  uint64_t files_ = 0;
};

// BulkLoad: one load; used once, by one thread.
class BulkLoad {
 public:
  BulkLoad(Cluster& cluster, const std::string& table, const IngestRequest& request)
      : cluster_(cluster), table_(table), request_(request) {}

  Result<IngestInfo> run() {
    const int64_t begun_us = cluster_.now_us();
    info_.table = table_;
    // Before the files are read, so that a mistake in the name shows at once.
    if (is_web_hdfs(request_.servers_directory)) {
      CELLAR_TRY_ASSIGN(uploaded_, UploadedFiles::begin(request_.servers_directory, cluster_));
    }
    CELLAR_TRY(examine_all());
    if (!sources_.empty()) {
      CELLAR_TRY_ASSIGN(std::vector<Group> groups, group(sources_));
      CELLAR_TRY(upload());
      CELLAR_TRY(prepare());
      const Status loaded = load_all(std::move(groups));
      clean_up();
      CELLAR_TRY(loaded);
    }
    if (request_.move) remove_sources();
    for (Source& each : sources_) {
      info_.cells += each.file.cells;
      info_.bytes += each.file.bytes;
      info_.files.push_back(std::move(each.file));
    }
    info_.micros = cluster_.now_us() - begun_us;
    return std::move(info_);
  }

 private:
  Status examine_all() {
    if (request_.verify < HFileCheckLevel::kCells)
      return Status::invalid_argument("a file must be verified at least cell by cell")
          .hinting("set IngestRequest::verify to kCells or kDeep");
    uint64_t files = 0;
    uint64_t bytes = 0;
    for (const IngestFile& file : request_.files) {
      Source source;
      source.file.family = file.family;
      source.file.path = file.path;
      source.file.table = table_;
      CELLAR_TRY(set_paths(request_.servers_directory, source));
      CELLAR_TRY(examine(static_cast<VerifyLevel>(request_.verify), source));
      bytes += source.file.bytes;
      if (source.file.cells == 0)
        info_.empty.push_back(file.path);
      else
        sources_.push_back(std::move(source));
      if (request_.progress && !request_.progress(++files, bytes))
        return Status::aborted("the load was cancelled: nothing was loaded");
    }
    return {};
  }

  // Writes the files into HDFS, if the request names a directory there.
  Status upload() {
    if (uploaded_ == nullptr) return {};
    const uint64_t bytes =
        std::accumulate(sources_.begin(), sources_.end(), uint64_t{0},
                        [](uint64_t sum, const Source& each) { return sum + each.file.bytes; });
    const auto go_on = [&] { return !request_.progress || request_.progress(sources_.size(), bytes); };
    for (Source& each : sources_) {
      const Status put = uploaded_->put(each, go_on);
      if (put.is(Code::kAborted)) return Status::aborted("the load was cancelled: nothing was loaded");
      CELLAR_TRY(put.with_context("nothing was loaded"));
    }
    return {};
  }

  // The servers take files away from their place, in place of copying them.
  bool moves() const { return request_.move || uploaded_ != nullptr; }

  // Distributes files over the regions that the table has now.
  template <class Sources>
  Result<std::vector<Group>> group(const Sources& sources) {
    CELLAR_TRY_ASSIGN(const std::vector<PlacePtr> regions, cluster_.regions(table_, cluster_.deadline_us()));
    std::vector<Group> groups;
    for (const PlacePtr& region : regions) groups.push_back({region, {}});
    for (const auto& each : sources) {
      const Source& source = source_of(each);
      const auto fits = [&source](const Group& group) { return group.region->holds(source.first_row); };
      const auto found = std::ranges::find_if(groups, fits);
      if (found == groups.end())
        return Status::busy(fmt::format("no region has row \"{}\" now", escaped(source.first_row)));
      if (!found->region->holds(source.last_row)) return over_a_border(source, regions);
      found->files.push_back(&source);
    }
    std::erase_if(groups, [](const Group& each) { return each.files.empty(); });
    return groups;
  }
  static const Source& source_of(const Source& source) { return source; }
  static const Source& source_of(const Source* source) { return *source; }

  Status over_a_border(const Source& source, const std::vector<PlacePtr>& regions) const {
    std::string rows;
    size_t borders = 0;
    for (const PlacePtr& each : regions) {
      if (each->start <= source.first_row || each->start > source.last_row) continue;
      if (++borders <= kRowsOfHint) rows += fmt::format(" --at '{}'", escaped(each->start));
    }
    return Status::invalid_argument(fmt::format("{}: its rows are in {} regions of table {}{}", source.path,
                                                borders + 1, table_, said_loaded()))
        .hinting(
            fmt::format("export again with --splits, the first rows of the regions; or cut it: cellar split "
                        "{} -o DIRECTORY{}{}, and put the parts in its place, under names without a dot",
                        source.path, rows, borders > kRowsOfHint ? " …" : ""));
  }

  std::string said_loaded() const {
    return loaded_ == 0 ? std::string("; nothing was loaded")
                        : fmt::format("; {} regions have loaded their files before", loaded_);
  }

  // It makes a directory, and a second one harms nobody.
  Status prepare() {
    wire::PrepareBulkLoadRequest request;
    wire::to_wire_name(table_, *request.mutable_table_name());
    wire::PrepareBulkLoadResponse response;
    CELLAR_TRY(call_region(cluster_, table_, sources_.front().first_row, Effect::kRead,
                           cluster_.deadline_us(), wire::kClientService, "PrepareBulkLoad", request, {},
                           response)
                   .status()
                   .with_context("the load cannot begin"));
    token_ = response.bulk_token();
    return {};
  }

  // It removes the servers' directory. A failure leaves an empty one and decides nothing.
  void clean_up() {
    wire::CleanupBulkLoadRequest request;
    request.set_bulk_token(token_);
    wire::CleanupBulkLoadResponse response;
    static_cast<void>(call_region(cluster_, table_, sources_.front().first_row, Effect::kRead,
                                  cluster_.deadline_us(), wire::kClientService, "CleanupBulkLoad", request,
                                  {}, response)
                          .ok());
  }

  Status load_all(std::vector<Group> groups) {
    while (!groups.empty()) {
      Group group = std::move(groups.back());
      groups.pop_back();
      CELLAR_TRY(load(group, groups).with_context("table " + table_));
    }
    return {};
  }

  // Lets one region load its files. If the region is not there any longer, the files are distributed anew. A
  // server refuses the files of a region that it is closing, too. So it is asked again for a while.
  Status load(const Group& group, std::vector<Group>& rest) {
    const int64_t deadline = cluster_.deadline_us();
    Cluster::Retry retry(cluster_, deadline);
    PlacePtr place = group.region;
    int refusals = 0;
    while (true) {
      bool loaded = false;
      const CallOutcome outcome = call(*place, group, deadline, loaded);
      if (outcome.ok() && loaded) {
        ++loaded_;
        return {};
      }
      if (!outcome.ok()) CELLAR_TRY(check_failure(*outcome.error));
      cluster_.forget(*place, outcome.ok() ? std::nullopt : outcome.error->moved_to);
      CELLAR_TRY_ASSIGN(place, cluster_.locate(table_, group.region->start, Side::kHolds, deadline));
      if (place->start != group.region->start || place->end != group.region->end)
        return distribute(group, rest);
      if (outcome.ok()) {
        const Status refusal = refused(group);
        if (++refusals == kRefusalsMax || !retry.wait({.status = refusal}).ok()) return refusal;
        continue;
      }
      CELLAR_TRY(retry.wait(*outcome.error).with_context(said_of(group)));
    }
  }

  CallOutcome call(const RegionPlace& place, const Group& group, int64_t deadline, bool& loaded) {
    wire::BulkLoadRequest request;
    set_region(place, *request.mutable_region());
    for (const Source* each : group.files) {
      wire::BulkLoadRequest::FamilyPath& path = *request.add_paths();
      path.set_family(each->file.family);
      path.set_path(each->to_server);
    }
    request.set_assign_sequence(true);
    request.set_bulk_token(token_);
    request.set_copy_file(!moves());
    wire::BulkLoadResponse response;
    CallOutcome outcome = cluster_.rpc().call({.server = place.server,
                                               .service = wire::kClientService,
                                               .method = "BulkLoadHFile",
                                               .request = &request,
                                               .response = &response},
                                              deadline);
    loaded = outcome.ok() && response.loaded();
    return outcome;
  }

  // A copy may be loaded twice: equal cells count once. A file that was moved cannot be found again.
  Status check_failure(const CallError& error) const {
    if (error.may_have_happened && moves())
      return Status::durability_unknown(
                 fmt::format("a region was asked to load its files, and may have done so "
                             "or not: {}{}",
                             error.status.message(), said_loaded()))
          .hinting(uploaded_ != nullptr
                       ? "repeat the load: cells that were loaded already count once"
                       : "look at the table, and at which files are still there, before you repeat the load");
    if (error.remedy != Remedy::kNone) return {};
    return error.status.with_context("a region cannot load its files" + said_loaded());
  }

  // The region has been split or merged since its files were chosen.
  Status distribute(const Group& group, std::vector<Group>& rest) {
    CELLAR_TRY_ASSIGN(std::vector<Group> again, this->group(group.files));
    std::ranges::move(again, std::back_inserter(rest));
    return {};
  }

  std::string said_of(const Group& group) const {
    return fmt::format("{} of the region from row \"{}\"{}", group.files.front()->to_server,
                       escaped(group.region->start), said_loaded());
  }

  // A server answers so for any reason, and writes the reason into its log.
  Status refused(const Group& group) const {
    const Status status = Status::io_error(
        fmt::format("server {} does not load {}", group.region->server.text(), said_of(group)));
    if (uploaded_ != nullptr)
      return status.hinting(
          "its log says why; HBase must keep its own files in the same HDFS, and the user of the client "
          "(?user=NAME) must own what it wrote there");
    return status.hinting(
        fmt::format("its log says why; the servers must find each file there, and the user of the client "
                    "(?user=NAME) must be allowed to read and write it: chmod -R a+rwX{}",
                    request_.move ? ". To move files within HDFS, that user must also own them: hdfs dfs "
                                    "-chown -R NAME. Put them there again first: a refusal can lose them"
                                  : ""));
  }

  void remove_sources() {
    for (const Source& each : sources_) {
      const std::string_view name = name_of(each.path);
      const std::string directory = each.path.substr(0, each.path.size() - name.size());
      const auto opened = posix_file_system().open_directory(directory, false);
      const Status removed = opened.ok() ? (*opened)->unlink(name) : opened.status();
      // The servers have moved it already, where they could.
      if (!removed.ok() && !removed.is(Code::kNotFound)) info_.remained.push_back(each.file.path);
    }
  }

  Cluster& cluster_;
  const std::string& table_;
  const IngestRequest& request_;
  std::vector<Source> sources_;
  std::unique_ptr<UploadedFiles> uploaded_;
  std::string token_;
  size_t loaded_ = 0;  // regions
  IngestInfo info_;
};

}  // namespace

Result<IngestInfo> bulk_load(Cluster& cluster, const std::string& table, const IngestRequest& request) {
  return BulkLoad(cluster, table, request).run();
}

}  // namespace cellar::hbase
