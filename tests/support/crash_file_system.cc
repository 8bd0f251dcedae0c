// CrashFileSystem: a memory file system does the work. Each change is also noted on the medium's two states.
#include "tests/support/crash_file_system.h"

#include <mutex>
#include <utility>

#include "base/checksum.h"
#include "base/memory_file_system.h"
#include "tests/support/crash_medium.h"
#include "tests/support/status_text.h"

namespace cellar::testing {

namespace {

constexpr CrashMode kModes[] = {
    CrashMode::kProcessKilled,  CrashMode::kLoseUnsynced,  CrashMode::kKeepAll,
    CrashMode::kPrefix,         CrashMode::kRandomSectors, CrashMode::kRandomEntries,
    CrashMode::kRandomUnsynced, CrashMode::kZeroTail,      CrashMode::kTornTail,
};

Status crashed_status() { return Status::io_error("crashed"); }

}  // namespace

std::string_view crash_mode_name(CrashMode mode) {
  switch (mode) {
    case CrashMode::kProcessKilled:
      return "process_killed";
    case CrashMode::kLoseUnsynced:
      return "lose_unsynced";
    case CrashMode::kKeepAll:
      return "keep_all";
    case CrashMode::kPrefix:
      return "prefix";
    case CrashMode::kRandomSectors:
      return "random_sectors";
    case CrashMode::kRandomEntries:
      return "random_entries";
    case CrashMode::kRandomUnsynced:
      return "random_unsynced";
    case CrashMode::kZeroTail:
      return "zero_tail";
    case CrashMode::kTornTail:
      return "torn_tail";
  }
  return "";
}

std::span<const CrashMode> all_crash_modes() { return kModes; }
std::span<const CrashMode> power_loss_modes() { return std::span(kModes).subspan(1); }

struct CrashFileSystem::Impl {
  Impl() { root->is_directory = true; }

  // Numbers an operation; not ok when it must not happen.
  Status begin(const char* what, const std::string& path, const std::string& detail = "") {
    if (stopped) return crashed_status();
    texts.push_back(std::string(what) + " " + path + (detail.empty() ? "" : " " + detail));
    if (texts.size() == stop_operation) stopped = true;
    return stopped ? crashed_status() : Status();
  }

  Status check_running() const { return stopped ? crashed_status() : Status(); }

  std::string text(uint64_t operation) const {
    if (operation == 0 || operation > texts.size()) return "no operation " + std::to_string(operation);
    return std::to_string(operation) + ": " + texts[operation - 1];
  }

  mutable std::mutex mutex;  // all below, the nodes included
  const std::unique_ptr<FileSystem> files = make_memory_file_system();
  const std::shared_ptr<CrashNode> root = std::make_shared<CrashNode>();
  LastAppend last;
  std::vector<std::string> texts;
  // Returns the boot identity of the image that a crash of this mode leaves.
  std::string boot_after(CrashMode mode) const {
    return "start " + std::to_string(boot + (mode == CrashMode::kProcessKilled ? 0 : 1));
  }

  uint64_t boot = 1;  // how often the machine was started
  uint64_t stop_operation = 0;
  uint64_t stop_append_bytes = 0;
  bool stopped = false;
};

class CrashReadable final : public ReadableFile {
 public:
  CrashReadable(std::shared_ptr<CrashFileSystem::Impl> world, std::unique_ptr<ReadableFile> inner)
      : world_(std::move(world)), inner_(std::move(inner)) {}

  uint64_t size() const override { return inner_->size(); }
  Result<uint64_t> present_size() const override { return inner_->present_size(); }

  Status read(uint64_t offset, size_t bytes, char* into) const override {
    {
      const std::lock_guard<std::mutex> lock(world_->mutex);
      CELLAR_TRY(world_->check_running());
    }
    return inner_->read(offset, bytes, into);
  }

 private:
  const std::shared_ptr<CrashFileSystem::Impl> world_;
  const std::unique_ptr<ReadableFile> inner_;
};

class CrashWritable final : public WritableFile {
 public:
  CrashWritable(std::shared_ptr<CrashFileSystem::Impl> world, std::shared_ptr<CrashNode> node,
                std::unique_ptr<WritableFile> inner, std::string path)
      : world_(std::move(world)), node_(std::move(node)), inner_(std::move(inner)), path_(std::move(path)) {}
  ~CrashWritable() override {
    const std::lock_guard<std::mutex> lock(world_->mutex);
    if (!closed_) (void)finish();  // a dead file is closed as well
  }

  Status append(std::string_view bytes) override {
    const std::lock_guard<std::mutex> lock(world_->mutex);
    CELLAR_TRY(failure_);
    const bool running = !world_->stopped;
    failure_ = world_->begin("append", path_, byte_count(bytes.size()));
    if (running && !failure_.ok()) {  // it is this one that does not happen
      const uint64_t done = std::min<uint64_t>(world_->stop_append_bytes, bytes.size());
      world_->last = {node_, inner_->size(), std::string(bytes), true, done};
    }
    CELLAR_TRY(failure_);
    const uint64_t at = inner_->size();
    failure_ = inner_->append(bytes);
    CELLAR_TRY(failure_);
    node_->bytes.append(bytes);
    if (!node_->mapped) node_->length = node_->bytes.size();
    world_->last = {node_, at, std::string(bytes), false, 0};
    return {};
  }

  Status sync() override {
    const std::lock_guard<std::mutex> lock(world_->mutex);
    CELLAR_TRY(failure_);
    failure_ = world_->begin("sync", path_);
    if (failure_.ok()) node_->sync();
    return failure_;
  }

  uint64_t size() const override { return inner_->size(); }

  Status close() override {
    const std::lock_guard<std::mutex> lock(world_->mutex);
    if (closed_) return {};
    CELLAR_TRY(failure_);
    failure_ = finish();
    return failure_;
  }

 private:
  Status finish() {
    CELLAR_TRY(world_->begin("close", path_));
    closed_ = true;
    node_->length = node_->bytes.size();
    return inner_->close();
  }

  const std::shared_ptr<CrashFileSystem::Impl> world_;
  const std::shared_ptr<CrashNode> node_;
  const std::unique_ptr<WritableFile> inner_;
  const std::string path_;
  Status failure_;
  bool closed_ = false;
};

class CrashDirectory final : public Directory {
 public:
  using Kind = EntryOperation::Kind;

  CrashDirectory(std::shared_ptr<CrashFileSystem::Impl> world, std::shared_ptr<CrashNode> node,
                 std::unique_ptr<Directory> inner)
      : world_(std::move(world)), node_(std::move(node)), inner_(std::move(inner)) {}

  Result<std::unique_ptr<WritableFile>> create(std::string_view name, uint64_t mapped_bytes) override {
    const std::lock_guard<std::mutex> lock(world_->mutex);
    CELLAR_TRY(world_->begin("create", path_of(name)));
    CELLAR_TRY_ASSIGN(auto file, inner_->create(name, mapped_bytes));
    auto node = std::make_shared<CrashNode>();
    node->mapped = mapped_bytes > 0;
    node->length = mapped_bytes;
    node_->change({Kind::kSet, std::string(name), "", node});
    return std::unique_ptr<WritableFile>(
        std::make_unique<CrashWritable>(world_, std::move(node), std::move(file), path_of(name)));
  }

  Result<std::unique_ptr<ReadableFile>> open(std::string_view name) override {
    const std::lock_guard<std::mutex> lock(world_->mutex);
    CELLAR_TRY(world_->check_running());
    CELLAR_TRY_ASSIGN(auto file, inner_->open(name));
    return std::unique_ptr<ReadableFile>(std::make_unique<CrashReadable>(world_, std::move(file)));
  }

  Result<std::vector<DirectoryEntry>> list() override {
    const std::lock_guard<std::mutex> lock(world_->mutex);
    CELLAR_TRY(world_->check_running());
    return inner_->list();
  }

  Status rename(std::string_view from, std::string_view to) override {
    const std::lock_guard<std::mutex> lock(world_->mutex);
    CELLAR_TRY(world_->begin("rename", path_of(from), "-> " + path_of(to)));
    CELLAR_TRY(inner_->rename(from, to));
    if (from != to) node_->change({Kind::kRename, std::string(from), std::string(to), node_of(from)});
    return {};
  }

  Status unlink(std::string_view name) override {
    const std::lock_guard<std::mutex> lock(world_->mutex);
    CELLAR_TRY(world_->begin("unlink", path_of(name)));
    CELLAR_TRY(inner_->unlink(name));
    node_->change({Kind::kRemove, std::string(name), "", node_of(name)});
    return {};
  }

  Status link(std::string_view name, Directory& target, std::string_view target_name) override {
    const std::lock_guard<std::mutex> lock(world_->mutex);
    auto* other = dynamic_cast<CrashDirectory*>(&target);
    if (other == nullptr || other->world_ != world_) {
      return Status::not_supported("cannot link " + path_of(name) + " into another file system");
    }
    CELLAR_TRY(world_->begin("link", path_of(name), "-> " + other->path_of(target_name)));
    CELLAR_TRY(inner_->link(name, *other->inner_, target_name));
    other->node_->change({Kind::kSet, std::string(target_name), "", node_of(name)});
    return {};
  }

  Status sync_file(std::string_view name) override {
    const std::lock_guard<std::mutex> lock(world_->mutex);
    CELLAR_TRY(world_->begin("sync", path_of(name)));
    CELLAR_TRY(inner_->sync_file(name));
    node_of(name)->sync();
    return {};
  }

  Result<std::unique_ptr<Directory>> directory(std::string_view name, bool create) override {
    const std::lock_guard<std::mutex> lock(world_->mutex);
    CELLAR_TRY(world_->check_running());
    const bool makes = create && node_->entries.find(name) == node_->entries.end();
    if (makes) CELLAR_TRY(world_->begin("make directory", path_of(name)));
    CELLAR_TRY_ASSIGN(auto opened, inner_->directory(name, create));
    if (makes) {
      auto node = std::make_shared<CrashNode>();
      node->is_directory = true;
      node_->change({Kind::kSet, std::string(name), "", std::move(node)});
    }
    return std::unique_ptr<Directory>(
        std::make_unique<CrashDirectory>(world_, node_of(name), std::move(opened)));
  }

  Status remove_directory(std::string_view name) override {
    const std::lock_guard<std::mutex> lock(world_->mutex);
    CELLAR_TRY(world_->begin("remove directory", path_of(name)));
    CELLAR_TRY(inner_->remove_directory(name));
    node_->change({Kind::kRemove, std::string(name), "", node_of(name)});
    return {};
  }

  Status sync() override {
    const std::lock_guard<std::mutex> lock(world_->mutex);
    CELLAR_TRY(world_->begin("sync directory", inner_->path()));
    CELLAR_TRY(inner_->sync());
    node_->sync();
    return {};
  }

  Result<std::unique_ptr<FileLock>> lock(std::string_view name) override {
    const std::lock_guard<std::mutex> lock(world_->mutex);
    CELLAR_TRY(world_->begin("lock", path_of(name)));
    CELLAR_TRY_ASSIGN(auto locked, inner_->lock(name));
    if (node_->entries.find(name) == node_->entries.end()) {
      node_->change({Kind::kSet, std::string(name), "", std::make_shared<CrashNode>()});
    }
    return locked;
  }

  Result<std::unique_ptr<FileLock>> lock_shared(std::string_view name) override {
    const std::lock_guard<std::mutex> lock(world_->mutex);
    CELLAR_TRY(world_->check_running());
    return inner_->lock_shared(name);
  }

  Result<uint64_t> free_bytes() override {
    const std::lock_guard<std::mutex> lock(world_->mutex);
    CELLAR_TRY(world_->check_running());
    return inner_->free_bytes();
  }

  std::string path() const override { return inner_->path(); }

 private:
  std::string path_of(std::string_view name) const { return inner_->path() + "/" + std::string(name); }
  std::shared_ptr<CrashNode> node_of(std::string_view name) const {
    return node_->entries.find(name)->second;
  }

  const std::shared_ptr<CrashFileSystem::Impl> world_;
  const std::shared_ptr<CrashNode> node_;
  const std::unique_ptr<Directory> inner_;
};

CrashFileSystem::CrashFileSystem() : impl_(std::make_shared<Impl>()) {}
CrashFileSystem::~CrashFileSystem() = default;

void CrashFileSystem::stop_at(uint64_t operation, uint64_t append_bytes) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->stop_operation = operation;
  impl_->stop_append_bytes = append_bytes;
}

void CrashFileSystem::crash() {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->stopped = true;
}

bool CrashFileSystem::crashed() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->stopped;
}

uint64_t CrashFileSystem::operations() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->texts.size();
}

std::string CrashFileSystem::operation_text(uint64_t operation) const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->text(operation);
}

std::string CrashFileSystem::operation_texts() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  std::string all;
  for (uint64_t i = 1; i <= impl_->texts.size(); ++i) all += impl_->text(i) + "\n";
  return all;
}

std::unique_ptr<FileSystem> CrashFileSystem::image(CrashMode mode, uint64_t seed) const {
  return image(ImageOptions{.mode = mode, .seed = seed});
}

std::unique_ptr<FileSystem> CrashFileSystem::image(const ImageOptions& options) const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  auto medium = make_memory_file_system(impl_->boot_after(options.mode));
  write_image(*impl_->root, impl_->last, options, *medium);
  return medium;
}

std::unique_ptr<CrashFileSystem> CrashFileSystem::crash_image(const ImageOptions& options) const {
  auto medium = std::make_unique<CrashFileSystem>();
  {
    const std::lock_guard<std::mutex> lock(impl_->mutex);
    write_image(*impl_->root, impl_->last, options, *medium);
    medium->impl_->boot = impl_->boot + (options.mode == CrashMode::kProcessKilled ? 0 : 1);
  }
  const std::lock_guard<std::mutex> lock(medium->impl_->mutex);
  medium->impl_->root->sync_all();
  medium->impl_->last = {};
  medium->impl_->texts.clear();
  return medium;
}

uint64_t CrashFileSystem::last_append_bytes() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->last.piece.size();
}

Result<std::unique_ptr<Directory>> CrashFileSystem::open_directory(const std::string& path, bool create) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  CELLAR_TRY(impl_->check_running());
  auto opened = impl_->files->open_directory(path, false);
  bool made = false;
  if (!opened.ok() && create && opened.status().is(Code::kNotFound)) {
    CELLAR_TRY(impl_->begin("make directory", path));
    opened = impl_->files->open_directory(path, true);
    made = true;
  }
  CELLAR_TRY(opened.status());
  // The opened directory's path is the list of its names, each preceded by a slash.
  std::shared_ptr<CrashNode> node = impl_->root;
  const std::string names = (*opened)->path();
  for (size_t at = 1; at < names.size();) {
    const size_t end = std::min(names.find('/', at), names.size());
    const std::string name = names.substr(at, end - at);
    at = end + 1;
    if (made && at > names.size()) {
      auto last = std::make_shared<CrashNode>();
      last->is_directory = true;
      node->change({EntryOperation::Kind::kSet, name, "", std::move(last)});
      node->sync();
    }
    node = node->entries.find(name)->second;
  }
  return std::unique_ptr<Directory>(
      std::make_unique<CrashDirectory>(impl_, std::move(node), std::move(opened).value()));
}

Result<std::unique_ptr<ReadableFile>> CrashFileSystem::open_file(const std::string& path) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  CELLAR_TRY(impl_->check_running());
  CELLAR_TRY_ASSIGN(auto file, impl_->files->open_file(path));
  return std::unique_ptr<ReadableFile>(std::make_unique<CrashReadable>(impl_, std::move(file)));
}

std::string CrashFileSystem::boot_identity() {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->boot_after(CrashMode::kProcessKilled);
}

std::string list_tree(FileSystem& files, const std::string& path) {
  auto top = files.open_directory(path, false);
  if (!top.ok()) return top.status().to_text() + "\n";
  auto listed = (*top)->list();
  if (!listed.ok()) return listed.status().to_text() + "\n";
  std::string text;
  for (const DirectoryEntry& entry : *listed) {
    const std::string full = (path == "/" ? "" : path) + "/" + entry.name;
    if (entry.is_directory) {
      text += full + "/\n" + list_tree(files, full);
      continue;
    }
    auto file = (*top)->open(entry.name);
    std::string bytes(entry.bytes, '\0');
    const Status read = file.ok() ? (*file)->read(0, bytes.size(), bytes.data()) : file.status();
    text += full + " " + byte_count(entry.bytes) + " ";
    text += read.ok() ? std::to_string(crc32c(bytes)) + "\n" : read.to_text() + "\n";
  }
  return text;
}

}  // namespace cellar::testing
