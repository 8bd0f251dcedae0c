// The protocol of a replacement: the content is durable before it gets the name.
#include "tools/frame/replace_file.h"

#include <memory>

namespace cellar {

Status replace_file(Directory& directory, std::string_view name, std::string_view temporary,
                    const std::function<Status(WritableFile&)>& write) {
  const Status gone = directory.unlink(temporary);
  if (!gone.ok() && !gone.is(Code::kNotFound)) return gone;
  CELLAR_TRY_ASSIGN(const std::unique_ptr<WritableFile> file, directory.create(temporary));
  CELLAR_TRY(write(*file));
  CELLAR_TRY(file->sync());
  CELLAR_TRY(file->close());
  CELLAR_TRY(directory.rename(temporary, name));
  return directory.sync();
}

}  // namespace cellar
