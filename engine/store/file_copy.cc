// Copies go piece by piece, so that other jobs get their turn.
#include "engine/store/file_copy.h"

#include <algorithm>

#include "base/assert.h"
#include "engine/store/early_sync.h"

namespace cellar {
namespace {

constexpr size_t kCopyBytes = 1 << 20;
constexpr int kLevelsMax = 16;

Status remove_level(Directory& parent, std::string_view name, int levels) {
  CELLAR_ASSERT(levels >= 0 && levels <= kLevelsMax);
  if (levels == 0) return Status::limit("directories are nested too deeply").at(parent.path());
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> directory, parent.directory(name, false));
  CELLAR_TRY_ASSIGN(const std::vector<DirectoryEntry> entries, directory->list());
  for (const DirectoryEntry& entry : entries) {
    if (entry.is_directory) {
      CELLAR_TRY(remove_level(*directory, entry.name, levels - 1));
    } else {
      CELLAR_TRY(directory->unlink(entry.name));
    }
  }
  return parent.remove_directory(name);
}

Status copy_bytes(Executor& executor, const ReadableFile& source, WritableFile& file) {
  std::string piece;
  for (uint64_t at = 0; at < source.size(); at += piece.size()) {
    executor.checkpoint();
    piece.resize(std::min<uint64_t>(kCopyBytes, source.size() - at));
    CELLAR_TRY(source.read(at, piece.size(), piece.data()));
    CELLAR_TRY(file.append(piece));
  }
  CELLAR_TRY(file.sync());
  return file.close();
}

}  // namespace

std::pair<std::string, std::string> split_path(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

Status copy_file(Executor& executor, Directory& from, std::string_view name, Directory& into,
                 std::string_view target) {
  CELLAR_ASSERT(!name.empty());
  CELLAR_TRY_ASSIGN(const std::unique_ptr<ReadableFile> source, from.open(name));
  return copy_open_file(executor, *source, into, target);
}

Status copy_open_file(Executor& executor, const ReadableFile& source, Directory& into,
                      std::string_view target) {
  CELLAR_ASSERT(!target.empty());
  CELLAR_TRY_ASSIGN(std::unique_ptr<WritableFile> created, into.create(target, {}));
  auto file = std::make_unique<EarlySync>(std::move(created), executor);
  const Status copied = copy_bytes(executor, source, *file);
  if (copied.ok()) return {};
  file.reset();
  static_cast<void>(into.unlink(target).ok());  // else an orphan
  return copied;
}

Status rewrite_file(Executor& executor, Directory& directory, std::string_view name, std::string_view copy) {
  CELLAR_ASSERT(name != copy);
  const Status gone = directory.unlink(copy);
  if (!gone.ok() && !gone.is(Code::kNotFound)) return gone;
  CELLAR_TRY(copy_file(executor, directory, name, directory, copy));
  return directory.rename(copy, name);
}

Result<bool> link_or_copy(Executor& executor, Directory& from, std::string_view name, Directory& into,
                          std::string_view target) {
  const Status linked = from.link(name, into, target);
  if (linked.ok()) return true;
  if (!linked.is(Code::kNotSupported)) return linked;
  CELLAR_TRY(copy_file(executor, from, name, into, target));
  return false;
}

Status remove_tree(Directory& parent, std::string_view name) {
  return remove_level(parent, name, kLevelsMax);
}

}  // namespace cellar
