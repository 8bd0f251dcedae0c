// Shared by all file systems: the rule for file names and the default forms of reading.
#include "cellar/file_system.h"

#include <algorithm>

#include "base/bytes.h"

namespace cellar {

Result<uint64_t> ReadableFile::present_size() const { return size(); }

Status ReadableFile::read_many(std::span<const ReadRequest> requests) const {
  for (const ReadRequest& request : requests) {
    CELLAR_TRY(read(request.offset, request.bytes, request.into));
  }
  return {};
}

Result<uint64_t> ReadableFile::next_data(uint64_t offset, uint64_t& end) const {
  end = size();
  return std::min(offset, end);
}

void ReadableFile::will_need(uint64_t /*offset*/, uint64_t /*bytes*/) const {}

Result<std::shared_ptr<const char>> ReadableFile::map() const { return std::shared_ptr<const char>(); }

Status WritableFile::make_ready(uint64_t /*until*/) { return {}; }

Status Directory::sync_file(std::string_view name) {
  return Status::not_supported("the file system of " + path() +
                               " cannot sync a file written by others: " + std::string(name));
}

Status check_file_name(std::string_view name) {
  constexpr size_t kNameBytesMax = 255;
  if (name.empty()) return Status::invalid_argument("a file name is empty");
  if (name.size() > kNameBytesMax) {
    return Status::invalid_argument("file name of " + std::to_string(name.size()) +
                                    " bytes (at most 255): " + escaped(name.substr(0, 32)) + "…");
  }
  if (name == "." || name == "..") {
    return Status::invalid_argument("file name \"" + std::string(name) + "\" is reserved");
  }
  if (name.find('/') != name.npos) {
    return Status::invalid_argument("file name \"" + escaped(name) + "\" contains a slash");
  }
  if (name.find('\0') != name.npos) {
    return Status::invalid_argument("file name \"" + escaped(name) + "\" contains a zero byte");
  }
  return {};
}

}  // namespace cellar
