// FaultFileSystem: each call is announced to the rules, which decide whether it fails, is swallowed, or is
// done.
#include "tests/support/fault_file_system.h"

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "tests/support/status_text.h"

namespace cellar::testing {

namespace {

bool glob(std::string_view pattern, std::string_view text) {
  while (!pattern.empty() && pattern.front() != '*') {
    if (text.empty() || (pattern.front() != '?' && pattern.front() != text.front())) return false;
    pattern.remove_prefix(1);
    text.remove_prefix(1);
  }
  if (pattern.empty()) return text.empty();
  pattern.remove_prefix(1);
  for (size_t skip = 0; skip <= text.size(); ++skip) {
    if (glob(pattern, text.substr(skip))) return true;
  }
  return false;
}

std::string below(const std::string& directory, std::string_view name) {
  return directory == "." ? std::string(name) : directory + "/" + std::string(name);
}

}  // namespace

bool name_matches(std::string_view pattern, std::string_view name) {
  return glob(pattern, name) || glob(pattern, name.substr(name.rfind('/') + 1));
}

std::string_view operation_name(FileOperation operation) {
  switch (operation) {
    case FileOperation::kCreate:
      return "create";
    case FileOperation::kAppend:
      return "append";
    case FileOperation::kMakeReady:
      return "make_ready";
    case FileOperation::kSync:
      return "sync";
    case FileOperation::kClose:
      return "close";
    case FileOperation::kOpen:
      return "open";
    case FileOperation::kRead:
      return "read";
    case FileOperation::kList:
      return "list";
    case FileOperation::kRename:
      return "rename";
    case FileOperation::kUnlink:
      return "unlink";
    case FileOperation::kLink:
      return "link";
    case FileOperation::kDirectory:
      return "directory";
    case FileOperation::kRemoveDirectory:
      return "remove_directory";
    case FileOperation::kDirectorySync:
      return "dir_sync";
    case FileOperation::kLock:
      return "lock";
  }
  return "";
}

struct FaultFileSystem::Impl {
  struct Rule {
    Fault fault;
    uint64_t matched = 0;
  };
  struct Entry {
    FileCall call;
    std::string outcome;
  };

  // The fate of a call: success (neither set), failure, or pretence.
  struct Verdict {
    Status failure;
    bool swallowed = false;
    bool flipped = false;
    std::optional<size_t> short_append;
  };

  Verdict announce(FileOperation operation, const std::string& name, std::string detail = "") {
    FileCall call{operation, name, std::move(detail), 0};
    std::function<void(const FileCall&)> told;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      call.number = ++calls;
      told = hook;
    }
    if (told) told(call);
    const std::lock_guard<std::mutex> lock(mutex);
    Verdict verdict = judge(call);
    std::string outcome;
    if (!verdict.failure.ok()) outcome = "  failed: " + std::string(code_name(verdict.failure.code()));
    if (verdict.swallowed) outcome = "  swallowed";
    if (verdict.flipped) outcome = "  a bit flipped";
    if (!outcome.empty()) ++struck;
    entries.push_back({std::move(call), std::move(outcome)});
    return verdict;
  }

  Verdict judge(const FileCall& call) {
    Verdict verdict;
    for (Rule& rule : rules) {
      const Fault& fault = rule.fault;
      if (!fault.on.has(call.operation) || !name_matches(fault.name, call.name)) continue;
      if (fault.kind == Fault::Kind::kFlipBit && call.operation != FileOperation::kRead) continue;
      ++rule.matched;
      const bool strikes =
          fault.nth == 0 || rule.matched == fault.nth || (fault.sticky && rule.matched > fault.nth);
      if (!strikes || !verdict.failure.ok() || verdict.swallowed || verdict.flipped) continue;
      if (fault.kind == Fault::Kind::kFlipBit) {
        verdict.flipped = true;
      } else if (fault.kind == Fault::Kind::kSwallow && can_swallow(call.operation)) {
        verdict.swallowed = true;
      } else {
        verdict.failure =
            Status::with_code(fault.code, "injected failure of " +
                                              std::string(operation_name(call.operation)) + " " + call.name);
        if (call.operation == FileOperation::kAppend) verdict.short_append = fault.short_append;
      }
    }
    return verdict;
  }

  static bool can_swallow(FileOperation operation) {
    return operation == FileOperation::kSync || operation == FileOperation::kDirectorySync ||
           operation == FileOperation::kUnlink || operation == FileOperation::kClose;
  }

  mutable std::mutex mutex;
  std::vector<Rule> rules;
  std::vector<Entry> entries;
  std::function<void(const FileCall&)> hook;
  uint64_t calls = 0;
  uint64_t struck = 0;
  std::atomic<size_t> open_readers{0};
};

class FaultReadable final : public ReadableFile {
 public:
  FaultReadable(std::shared_ptr<FaultFileSystem::Impl> rules, std::unique_ptr<ReadableFile> inner,
                std::string name)
      : rules_(std::move(rules)), inner_(std::move(inner)), name_(std::move(name)) {
    rules_->open_readers += 1;
  }
  ~FaultReadable() override { rules_->open_readers -= 1; }

  uint64_t size() const override { return inner_->size(); }
  Result<uint64_t> present_size() const override { return inner_->present_size(); }

  Status read(uint64_t offset, size_t bytes, char* into) const override {
    const auto verdict =
        rules_->announce(FileOperation::kRead, name_, byte_count(bytes) + " at " + std::to_string(offset));
    CELLAR_TRY(verdict.failure);
    CELLAR_TRY(inner_->read(offset, bytes, into));
    // Which bit depends on the place alone, so that the same run damages the same bytes.
    if (verdict.flipped && bytes > 0)
      into[(offset * 7 + bytes / 2) % bytes] ^= static_cast<char>(1 << (offset + bytes) % 8);
    return {};
  }

  void will_need(uint64_t offset, uint64_t bytes) const override { inner_->will_need(offset, bytes); }

  Result<std::shared_ptr<const char>> map() const override { return inner_->map(); }

 private:
  const std::shared_ptr<FaultFileSystem::Impl> rules_;
  const std::unique_ptr<ReadableFile> inner_;
  const std::string name_;
};

class FaultWritable final : public WritableFile {
 public:
  FaultWritable(std::shared_ptr<FaultFileSystem::Impl> rules, std::unique_ptr<WritableFile> inner,
                std::string name, bool mapped)
      : rules_(std::move(rules)), inner_(std::move(inner)), name_(std::move(name)), mapped_(mapped) {}

  Status append(std::string_view bytes) override {
    CELLAR_TRY(dead());
    const auto verdict = rules_->announce(FileOperation::kAppend, name_, byte_count(bytes.size()));
    if (verdict.failure.ok()) return remember(inner_->append(bytes));
    // size() keeps what it was: the caller was told that the append failed.
    size_when_dead_ = inner_->size();
    if (verdict.short_append && !mapped_) (void)inner_->append(bytes.substr(0, *verdict.short_append));
    return remember(verdict.failure);
  }

  Status make_ready(uint64_t until) override {
    CELLAR_TRY(dead());
    const auto verdict = rules_->announce(FileOperation::kMakeReady, name_, "up to " + std::to_string(until));
    CELLAR_TRY(verdict.failure);
    return inner_->make_ready(until);
  }

  Status sync() override {
    CELLAR_TRY(dead());
    const auto verdict = rules_->announce(FileOperation::kSync, name_);
    if (verdict.swallowed) return {};
    return remember(verdict.failure.ok() ? inner_->sync() : verdict.failure);
  }

  uint64_t size() const override { return size_when_dead_ ? *size_when_dead_ : inner_->size(); }

  Status close() override {
    CELLAR_TRY(dead());
    if (closed_) return {};
    const auto verdict = rules_->announce(FileOperation::kClose, name_);
    closed_ = true;
    if (verdict.swallowed) return {};
    return remember(verdict.failure.ok() ? inner_->close() : verdict.failure);
  }

 private:
  Status dead() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return failure_;
  }
  Status remember(const Status& status) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failure_.ok()) failure_ = status;
    return failure_;
  }

  const std::shared_ptr<FaultFileSystem::Impl> rules_;
  const std::unique_ptr<WritableFile> inner_;
  const std::string name_;
  const bool mapped_;
  std::optional<uint64_t> size_when_dead_;
  bool closed_ = false;
  mutable std::mutex mutex_;
  Status failure_;
};

class FaultDirectory final : public Directory {
 public:
  FaultDirectory(std::shared_ptr<FaultFileSystem::Impl> rules, std::unique_ptr<Directory> inner,
                 std::string name)
      : rules_(std::move(rules)), inner_(std::move(inner)), name_(std::move(name)) {}

  Result<std::unique_ptr<WritableFile>> create(std::string_view name, uint64_t mapped_bytes) override {
    const std::string full = below(name_, name);
    CELLAR_TRY(ask(FileOperation::kCreate, full,
                   mapped_bytes > 0 ? "mapped " + byte_count(mapped_bytes) : std::string()));
    CELLAR_TRY_ASSIGN(auto file, inner_->create(name, mapped_bytes));
    return std::unique_ptr<WritableFile>(
        std::make_unique<FaultWritable>(rules_, std::move(file), full, mapped_bytes > 0));
  }

  Result<std::unique_ptr<ReadableFile>> open(std::string_view name) override {
    const std::string full = below(name_, name);
    CELLAR_TRY(ask(FileOperation::kOpen, full));
    CELLAR_TRY_ASSIGN(auto file, inner_->open(name));
    return std::unique_ptr<ReadableFile>(std::make_unique<FaultReadable>(rules_, std::move(file), full));
  }

  Result<std::vector<DirectoryEntry>> list() override {
    CELLAR_TRY(ask(FileOperation::kList, name_));
    return inner_->list();
  }

  Status rename(std::string_view from, std::string_view to) override {
    CELLAR_TRY(ask(FileOperation::kRename, below(name_, from), "-> " + below(name_, to)));
    return inner_->rename(from, to);
  }

  Status unlink(std::string_view name) override {
    const auto verdict = rules_->announce(FileOperation::kUnlink, below(name_, name));
    if (verdict.swallowed) return {};
    CELLAR_TRY(verdict.failure);
    return inner_->unlink(name);
  }

  Status link(std::string_view name, Directory& target, std::string_view target_name) override {
    auto* other = dynamic_cast<FaultDirectory*>(&target);
    const std::string to = other != nullptr ? below(other->name_, target_name) : std::string(target_name);
    CELLAR_TRY(ask(FileOperation::kLink, below(name_, name), "-> " + to));
    return inner_->link(name, other != nullptr ? *other->inner_ : target, target_name);
  }

  Status sync_file(std::string_view name) override {
    const auto verdict = rules_->announce(FileOperation::kSync, below(name_, name));
    if (verdict.swallowed) return {};
    CELLAR_TRY(verdict.failure);
    return inner_->sync_file(name);
  }

  Result<std::unique_ptr<Directory>> directory(std::string_view name, bool create) override {
    const std::string full = below(name_, name);
    CELLAR_TRY(ask(FileOperation::kDirectory, full, create ? "make" : ""));
    CELLAR_TRY_ASSIGN(auto opened, inner_->directory(name, create));
    return std::unique_ptr<Directory>(std::make_unique<FaultDirectory>(rules_, std::move(opened), full));
  }

  Status remove_directory(std::string_view name) override {
    CELLAR_TRY(ask(FileOperation::kRemoveDirectory, below(name_, name)));
    return inner_->remove_directory(name);
  }

  Status sync() override {
    const auto verdict = rules_->announce(FileOperation::kDirectorySync, name_);
    if (verdict.swallowed) return {};
    CELLAR_TRY(verdict.failure);
    return inner_->sync();
  }

  Result<std::unique_ptr<FileLock>> lock(std::string_view name) override {
    CELLAR_TRY(ask(FileOperation::kLock, below(name_, name)));
    return inner_->lock(name);
  }

  Result<std::unique_ptr<FileLock>> lock_shared(std::string_view name) override {
    CELLAR_TRY(ask(FileOperation::kLock, below(name_, name)));
    return inner_->lock_shared(name);
  }

  Result<uint64_t> free_bytes() override { return inner_->free_bytes(); }
  std::string path() const override { return inner_->path(); }

 private:
  Status ask(FileOperation operation, const std::string& name, std::string detail = "") {
    return rules_->announce(operation, name, std::move(detail)).failure;
  }

  const std::shared_ptr<FaultFileSystem::Impl> rules_;
  const std::unique_ptr<Directory> inner_;
  const std::string name_;
};

FaultFileSystem::FaultFileSystem(FileSystem& inner) : inner_(inner), impl_(std::make_shared<Impl>()) {}
FaultFileSystem::~FaultFileSystem() = default;

void FaultFileSystem::inject(Fault fault) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->rules.push_back({std::move(fault), 0});
}

void FaultFileSystem::fail(FileOperations on, std::string name, uint64_t nth, Code code) {
  inject({.on = on, .name = std::move(name), .nth = nth, .code = code});
}

void FaultFileSystem::swallow(FileOperations on, std::string name, uint64_t nth) {
  inject({.on = on, .name = std::move(name), .nth = nth, .kind = Fault::Kind::kSwallow});
}

void FaultFileSystem::clear() {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->rules.clear();
}

void FaultFileSystem::before_each(std::function<void(const FileCall&)> hook) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->hook = std::move(hook);
}

uint64_t FaultFileSystem::count(FileOperations on, std::string_view name) const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  uint64_t found = 0;
  for (const Impl::Entry& entry : impl_->entries) {
    if (on.has(entry.call.operation) && name_matches(name, entry.call.name)) ++found;
  }
  return found;
}

uint64_t FaultFileSystem::struck() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->struck;
}

size_t FaultFileSystem::open_readers() const { return impl_->open_readers; }

std::string FaultFileSystem::log(FileOperations on, std::string_view name) const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  std::string text;
  for (const Impl::Entry& entry : impl_->entries) {
    if (!on.has(entry.call.operation) || !name_matches(name, entry.call.name)) continue;
    text += std::string(operation_name(entry.call.operation)) + " " + entry.call.name;
    if (!entry.call.detail.empty()) text += " " + entry.call.detail;
    text += entry.outcome + "\n";
  }
  return text;
}

void FaultFileSystem::clear_log() {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->entries.clear();
}

Result<std::unique_ptr<Directory>> FaultFileSystem::open_directory(const std::string& path, bool create) {
  CELLAR_TRY(impl_->announce(FileOperation::kDirectory, ".", create ? "make" : "").failure);
  CELLAR_TRY_ASSIGN(auto opened, inner_.open_directory(path, create));
  return std::unique_ptr<Directory>(std::make_unique<FaultDirectory>(impl_, std::move(opened), "."));
}

Result<std::unique_ptr<ReadableFile>> FaultFileSystem::open_file(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  CELLAR_TRY(impl_->announce(FileOperation::kOpen, name).failure);
  CELLAR_TRY_ASSIGN(auto opened, inner_.open_file(path));
  return std::unique_ptr<ReadableFile>(std::make_unique<FaultReadable>(impl_, std::move(opened), name));
}

}  // namespace cellar::testing
