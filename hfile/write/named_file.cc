// NamedFile: writes under a temporary name, syncs, renames, and syncs the rename.
#include "hfile/write/named_file.h"

#include <tuple>
#include <utility>

#include "base/assert.h"

namespace cellar {
namespace {

// "a/b" to the directory "a" and the name "b".
std::pair<std::string, std::string> split_path(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

Result<std::unique_ptr<NamedFile>> NamedFile::create(FileSystem& files, const std::string& path,
                                                     bool replace) {
  std::unique_ptr<NamedFile> made(new NamedFile);
  std::string directory;
  std::tie(directory, made->name_) = split_path(path);
  made->path_ = path;
  made->replace_ = replace;
  CELLAR_TRY(check_file_name(made->name_).at(path));
  made->partial_name_ = "_" + made->name_ + ".partial";
  CELLAR_TRY(check_file_name(made->partial_name_).at(path));
  CELLAR_TRY_ASSIGN(made->directory_, files.open_directory(directory, false));
  if (!replace) CELLAR_TRY(made->check_free());

  // Remove the file of an interrupted attempt.
  const Status removed = made->directory_->unlink(made->partial_name_);
  if (!removed.ok() && !removed.is(Code::kNotFound)) return removed;
  CELLAR_TRY_ASSIGN(made->file_, made->directory_->create(made->partial_name_, {}));
  return made;
}

NamedFile::~NamedFile() {
  if (finished_ || file_ == nullptr) return;
  file_.reset();
  // A file that cannot be removed stays under a name that nobody takes for a whole one.
  [[maybe_unused]] const Status removed = directory_->unlink(partial_name_);
}

// The order that makes the file whole before it has its name, and the name durable before anybody relies on
// it.
Status NamedFile::publish() {
  CELLAR_ASSERT(!finished_ && file_ != nullptr);
  CELLAR_TRY(file_->sync());
  CELLAR_TRY(file_->close());
  if (!replace_) CELLAR_TRY(check_free());
  CELLAR_TRY(directory_->rename(partial_name_, name_));
  finished_ = true;
  return directory_->sync();
}

Status NamedFile::check_free() const {
  CELLAR_ASSERT(directory_ != nullptr && !name_.empty());
  const Result<std::unique_ptr<ReadableFile>> existing = directory_->open(name_);
  if (!existing.ok() && existing.status().is(Code::kNotFound)) return {};
  return Status::invalid_argument("a file with this name already exists")
      .at(path_)
      .hinting("set the option replace, or choose another name");
}

}  // namespace cellar
