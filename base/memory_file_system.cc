// MemoryFileSystem: a tree of nodes under one mutex; each file's bytes have their own mutex.
#include "base/memory_file_system.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/copied_mapping.h"
#include "base/mutex.h"
#include "base/sparse_bytes.h"

namespace cellar {

namespace {

constexpr uint64_t kFreeBytes = uint64_t{1} << 40;
constexpr size_t kEntriesMax = 1'000'000;

// MemoryFile: the content of a file, which one or more names refer to. Any thread.
class MemoryFile {
 public:
  void preallocate(uint64_t bytes) {
    const MutexLock lock(mutex_);
    content_.resize(bytes);
  }
  void write(uint64_t offset, std::string_view bytes) {
    const MutexLock lock(mutex_);
    content_.write(offset, bytes);
  }
  // Makes the file immutable, so that readers need no lock afterwards.
  void seal(uint64_t bytes) CELLAR_NO_THREAD_SAFETY_ANALYSIS {
    const MutexLock lock(mutex_);
    content_.resize(bytes);
    sealed_.store(true, std::memory_order_release);
  }
  uint64_t size() const {
    const MutexLock lock(mutex_);
    return content_.size();
  }
  // Returns false if the range lies outside: the file was cut after a reader had opened it.
  bool read(uint64_t offset, size_t bytes, char* into) const CELLAR_NO_THREAD_SAFETY_ANALYSIS {
    if (sealed_.load(std::memory_order_acquire)) return read_content(offset, bytes, into);
    const MutexLock lock(mutex_);
    return read_content(offset, bytes, into);
  }

 private:
  bool read_content(uint64_t offset, size_t bytes, char* into) const CELLAR_NO_THREAD_SAFETY_ANALYSIS {
    if (offset > content_.size() || bytes > content_.size() - offset) return false;
    content_.read(offset, bytes, into);
    return true;
  }

  mutable Mutex mutex_;
  SparseBytes content_ CELLAR_GUARDED_BY(mutex_);
  std::atomic<bool> sealed_{false};
};

// Node: a directory of the tree. Tree::mutex guards all members.
struct Node {
  std::map<std::string, std::shared_ptr<MemoryFile>, std::less<>> files;
  std::map<std::string, std::shared_ptr<Node>, std::less<>> directories;
  std::set<std::string, std::less<>> locked;
  std::multiset<std::string, std::less<>> locked_shared;
  bool removed = false;

  bool has(std::string_view name) const {
    return files.find(name) != files.end() || directories.find(name) != directories.end();
  }
};

struct Tree {
  Mutex mutex;
  std::shared_ptr<Node> root = std::make_shared<Node>();
};

std::string quoted(std::string_view what, const std::string& path, std::string_view name) {
  return std::string(what) + " " + path + "/" + std::string(name);
}

class MemoryReadable final : public ReadableFile {
 public:
  MemoryReadable(std::shared_ptr<const MemoryFile> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)), size_(file_->size()) {}

  uint64_t size() const override { return size_; }
  Result<uint64_t> present_size() const override { return file_->size(); }

  Status read(uint64_t offset, size_t bytes, char* into) const override {
    if (offset <= size_ && bytes <= size_ - offset && file_->read(offset, bytes, into)) return {};
    return Status::corruption("short read: " + std::to_string(bytes) + " bytes of " + path_ + " (" +
                              std::to_string(size_) + " bytes)")
        .at("offset " + std::to_string(offset));
  }

  // A copy, because the content is in pieces.
  Result<std::shared_ptr<const char>> map() const override { return copied_mapping(*this); }

 private:
  const std::shared_ptr<const MemoryFile> file_;
  const std::string path_;
  const uint64_t size_;
};

class MemoryWritable final : public WritableFile {
 public:
  MemoryWritable(std::shared_ptr<MemoryFile> file, std::string path, uint64_t mapped_bytes)
      : file_(std::move(file)), path_(std::move(path)), mapped_bytes_(mapped_bytes) {
    if (mapped_bytes_ > 0) file_->preallocate(mapped_bytes_);
  }
  ~MemoryWritable() override { finish(); }

  Status append(std::string_view bytes) override {
    CELLAR_TRY(failure());
    CELLAR_ASSERT(!closed_);
    const uint64_t at = size();
    if (mapped_bytes_ > 0) {
      CELLAR_ASSERT(bytes.size() >= 8 && at % 8 == 0);
      if (bytes.size() > mapped_bytes_ - at) {
        failure_ = Status::no_space("mapped file " + path_ + " is full").at("offset " + std::to_string(at));
        failed_.store(true, std::memory_order_release);
        return failure_;
      }
    }
    file_->write(at, bytes);
    size_.store(at + bytes.size(), std::memory_order_release);
    return {};
  }

  Status sync() override { return failure(); }  // in memory nothing gets more durable
  uint64_t size() const override { return size_.load(std::memory_order_acquire); }

  Status close() override {
    CELLAR_TRY(failure());
    finish();
    return {};
  }

 private:
  Status failure() const { return failed_.load(std::memory_order_acquire) ? failure_ : Status(); }

  void finish() {
    if (closed_) return;
    closed_ = true;
    file_->seal(size());
  }

  const std::shared_ptr<MemoryFile> file_;
  const std::string path_;
  const uint64_t mapped_bytes_;
  std::atomic<uint64_t> size_{0};
  Status failure_;  // written once, before failed_: sync() may run concurrently with append()
  std::atomic<bool> failed_{false};
  bool closed_ = false;
};

class MemoryLock final : public FileLock {
 public:
  enum class Kind : uint8_t { kExclusive, kShared };
  MemoryLock(std::shared_ptr<Tree> tree, std::shared_ptr<Node> node, std::string name, Kind kind)
      : tree_(std::move(tree)), node_(std::move(node)), name_(std::move(name)), kind_(kind) {}
  ~MemoryLock() override {
    const MutexLock lock(tree_->mutex);
    if (kind_ == Kind::kExclusive) {
      node_->locked.erase(name_);
    } else {
      node_->locked_shared.erase(node_->locked_shared.find(name_));
    }
  }

 private:
  std::shared_ptr<Tree> tree_;
  std::shared_ptr<Node> node_;
  std::string name_;
  Kind kind_;
};

class MemoryDirectory final : public Directory {
 public:
  MemoryDirectory(std::shared_ptr<Tree> tree, std::shared_ptr<Node> node, std::string path)
      : tree_(std::move(tree)), node_(std::move(node)), path_(std::move(path)) {}

  Result<std::unique_ptr<WritableFile>> create(std::string_view name, uint64_t mapped_bytes) override {
    CELLAR_TRY(check_file_name(name));
    const MutexLock lock(tree_->mutex);
    CELLAR_TRY(check_alive());
    if (node_->has(name))
      return Status::invalid_argument(quoted("cannot create", path_, name) + ": it already exists");
    auto file = std::make_shared<MemoryFile>();
    auto writable = std::make_unique<MemoryWritable>(file, path_ + "/" + std::string(name), mapped_bytes);
    node_->files.emplace(name, std::move(file));
    return std::unique_ptr<WritableFile>(std::move(writable));
  }

  Result<std::unique_ptr<ReadableFile>> open(std::string_view name) override {
    CELLAR_TRY(check_file_name(name));
    const MutexLock lock(tree_->mutex);
    CELLAR_TRY_ASSIGN(auto file, find_file("cannot open", name));
    return std::unique_ptr<ReadableFile>(
        std::make_unique<MemoryReadable>(std::move(file), path_ + "/" + std::string(name)));
  }

  Result<std::vector<DirectoryEntry>> list() override {
    const MutexLock lock(tree_->mutex);
    CELLAR_TRY(check_alive());
    if (node_->files.size() + node_->directories.size() > kEntriesMax) {
      return Status::limit("directory " + path_ + " has more than 1,000,000 entries");
    }
    std::map<std::string, DirectoryEntry> sorted;
    for (const auto& [name, file] : node_->files) sorted[name] = {name, false, file->size()};
    for (const auto& [name, node] : node_->directories) sorted[name] = {name, true, 0};
    std::vector<DirectoryEntry> entries;
    for (auto& [name, entry] : sorted) entries.push_back(std::move(entry));
    return entries;
  }

  Status rename(std::string_view from, std::string_view to) override {
    CELLAR_TRY(check_file_name(from));
    CELLAR_TRY(check_file_name(to));
    const MutexLock lock(tree_->mutex);
    CELLAR_TRY(check_alive());
    const bool onto_directory = node_->directories.find(to) != node_->directories.end();
    if (const auto moved = node_->directories.find(from); moved != node_->directories.end()) {
      if (from == to) return {};
      if (node_->has(to))
        return Status::io_error(quoted("cannot rename onto", path_, to) + ": it already exists");
      auto node = std::move(moved->second);
      node_->directories.erase(moved);
      node_->directories.emplace(to, std::move(node));
      return {};
    }
    CELLAR_TRY_ASSIGN(auto file, find_file("cannot rename", from));
    if (onto_directory) {
      return Status::io_error(quoted("cannot rename onto", path_, to) + ": it is a directory");
    }
    node_->files.erase(node_->files.find(from));
    node_->files.insert_or_assign(std::string(to), std::move(file));
    return {};
  }

  Status unlink(std::string_view name) override {
    CELLAR_TRY(check_file_name(name));
    const MutexLock lock(tree_->mutex);
    CELLAR_TRY_ASSIGN(const auto file, find_file("cannot remove", name));
    node_->files.erase(node_->files.find(name));
    return {};
  }

  Status link(std::string_view name, Directory& target, std::string_view target_name) override {
    CELLAR_TRY(check_file_name(name));
    CELLAR_TRY(check_file_name(target_name));
    auto* other = dynamic_cast<MemoryDirectory*>(&target);
    if (other == nullptr || other->tree_ != tree_) {
      return Status::not_supported(quoted("cannot link", path_, name) + " into another file system");
    }
    const MutexLock lock(tree_->mutex);
    CELLAR_TRY_ASSIGN(auto file, find_file("cannot link", name));
    if (other->node_->removed) return Status::not_found("directory " + other->path_ + " was removed");
    if (other->node_->has(target_name)) {
      return Status::invalid_argument(quoted("cannot link to", other->path_, target_name) +
                                      ": it already exists");
    }
    other->node_->files.emplace(target_name, std::move(file));
    return {};
  }

  Status sync_file(std::string_view name) override {
    CELLAR_TRY(check_file_name(name));
    const MutexLock lock(tree_->mutex);
    return find_file("cannot sync", name).status();
  }

  Result<std::unique_ptr<Directory>> directory(std::string_view name, bool create) override {
    CELLAR_TRY(check_file_name(name));
    const MutexLock lock(tree_->mutex);
    CELLAR_TRY(check_alive());
    if (node_->files.find(name) != node_->files.end()) {
      return Status::io_error(quoted("cannot open directory", path_, name) + ": it is a file");
    }
    auto found = node_->directories.find(name);
    if (found == node_->directories.end()) {
      if (!create) return Status::not_found("no directory " + path_ + "/" + std::string(name));
      found = node_->directories.emplace(name, std::make_shared<Node>()).first;
    }
    return std::unique_ptr<Directory>(
        std::make_unique<MemoryDirectory>(tree_, found->second, path_ + "/" + std::string(name)));
  }

  Status remove_directory(std::string_view name) override {
    CELLAR_TRY(check_file_name(name));
    const MutexLock lock(tree_->mutex);
    CELLAR_TRY(check_alive());
    const auto found = node_->directories.find(name);
    if (found == node_->directories.end()) {
      if (!node_->has(name)) return Status::not_found("no directory " + path_ + "/" + std::string(name));
      return Status::io_error(quoted("cannot remove directory", path_, name) + ": it is a file");
    }
    if (!found->second->files.empty() || !found->second->directories.empty()) {
      return Status::io_error(quoted("cannot remove directory", path_, name) + ": it is not empty");
    }
    found->second->removed = true;
    node_->directories.erase(found);
    return {};
  }

  Status sync() override {
    const MutexLock lock(tree_->mutex);
    return check_alive();
  }

  Result<std::unique_ptr<FileLock>> lock(std::string_view name) override {
    CELLAR_TRY(check_file_name(name));
    const MutexLock lock(tree_->mutex);
    CELLAR_TRY(check_alive());
    if (node_->directories.find(name) != node_->directories.end()) {
      return Status::io_error(quoted("cannot lock", path_, name) + ": it is a directory");
    }
    if (node_->locked_shared.find(name) != node_->locked_shared.end() || !node_->locked.emplace(name).second)
      return refused(name);
    if (!node_->has(name)) {
      auto file = std::make_shared<MemoryFile>();
      file->seal(0);
      node_->files.emplace(name, std::move(file));
    }
    return std::unique_ptr<FileLock>(
        std::make_unique<MemoryLock>(tree_, node_, std::string(name), MemoryLock::Kind::kExclusive));
  }

  Result<std::unique_ptr<FileLock>> lock_shared(std::string_view name) override {
    CELLAR_TRY(check_file_name(name));
    const MutexLock lock(tree_->mutex);
    CELLAR_TRY(find_file("cannot lock", name).status());
    if (node_->locked.find(name) != node_->locked.end()) return refused(name);
    node_->locked_shared.emplace(name);
    return std::unique_ptr<FileLock>(
        std::make_unique<MemoryLock>(tree_, node_, std::string(name), MemoryLock::Kind::kShared));
  }

  Result<uint64_t> free_bytes() override { return kFreeBytes; }
  std::string path() const override { return path_; }

 private:
  Status refused(std::string_view name) const {
    return Status::locked(path_ + "/" + std::string(name) + " is locked by this process")
        .hinting("close what has it open first");
  }

  Status check_alive() const CELLAR_REQUIRES(tree_->mutex) {
    return node_->removed ? Status::not_found("directory " + path_ + " was removed") : Status();
  }

  Result<std::shared_ptr<MemoryFile>> find_file(std::string_view what, std::string_view name) const
      CELLAR_REQUIRES(tree_->mutex) {
    CELLAR_TRY(check_alive());
    const auto found = node_->files.find(name);
    if (found != node_->files.end()) return found->second;
    if (!node_->has(name)) return Status::not_found(quoted(what, path_, name) + ": no such file");
    return Status::io_error(quoted(what, path_, name) + ": it is a directory");
  }

  const std::shared_ptr<Tree> tree_;
  const std::shared_ptr<Node> node_;
  const std::string path_;
};

class MemoryFileSystem final : public FileSystem {
 public:
  explicit MemoryFileSystem(std::string boot_identity) : boot_identity_(std::move(boot_identity)) {}

  std::string boot_identity() override { return boot_identity_; }

  Result<std::unique_ptr<Directory>> open_directory(const std::string& path, bool create) override {
    CELLAR_TRY_ASSIGN(const std::vector<std::string> names, split(path));
    std::unique_ptr<Directory> at = std::make_unique<MemoryDirectory>(tree_, tree_->root, "");
    for (size_t i = 0; i < names.size(); ++i) {
      CELLAR_TRY_ASSIGN(at, at->directory(names[i], create && i + 1 == names.size()));
    }
    return at;
  }

  Result<std::unique_ptr<ReadableFile>> open_file(const std::string& path) override {
    const size_t slash = path.rfind('/');
    const std::string name = slash == path.npos ? path : path.substr(slash + 1);
    CELLAR_TRY_ASSIGN(auto parent, open_directory(slash == path.npos ? "" : path.substr(0, slash), false));
    return parent->open(name);
  }

 private:
  // Returns the names in a path. Skips empty names and "."; refuses "..".
  static Result<std::vector<std::string>> split(const std::string& path) {
    std::vector<std::string> names;
    for (size_t at = 0; at <= path.size();) {
      const size_t end = std::min(path.find('/', at), path.size());
      const std::string name = path.substr(at, end - at);
      at = end + 1;
      if (name.empty() || name == ".") continue;
      CELLAR_TRY(check_file_name(name));
      names.push_back(name);
    }
    return names;
  }

  const std::string boot_identity_;
  const std::shared_ptr<Tree> tree_ = std::make_shared<Tree>();
};

}  // namespace

std::unique_ptr<FileSystem> make_memory_file_system(std::string boot_identity) {
  return std::make_unique<MemoryFileSystem>(std::move(boot_identity));
}

}  // namespace cellar
