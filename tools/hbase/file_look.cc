// Recognises files by their magics.
#include "tools/hbase/file_look.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>

#include "cellar/file_system.h"
#include "hfile/format/format.h"
#include "hfile/format/trailer.h"
#include "tools/hbase/hbase_names.h"
#include "tools/hbase/hbase_places.h"

namespace cellar {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kRemains = "the file is a truncated HFile: it has no trailer";

}  // namespace

FileLook look_at_file(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  constexpr size_t kNameDigits = 32;
  const size_t digits = std::min(name.find_first_not_of(kHexDigits), name.size());
  const bool named = is_hbase_file_name(name) && digits >= kNameDigits;
  const FileLook otherwise = named ? FileLook::kRemains : FileLook::kOther;
  const Result<std::unique_ptr<ReadableFile>> file = posix_file_system().open_file(path);
  if (!file.ok()) return otherwise;
  char magic[8] = {};
  const auto magic_at = [&](uint64_t offset) {
    const bool read = (*file)->read(offset, sizeof magic, magic).ok();
    return read ? std::string_view(magic, sizeof magic) : std::string_view();
  };
  for (const size_t trailer : {kTrailerBytesV3, kTrailerBytesV2, kTrailerBytesV1})
    if ((*file)->size() >= trailer && magic_at((*file)->size() - trailer) == kTrailerMagic)
      return FileLook::kHFile;
  return std::ranges::find(kBlockMagics, magic_at(0)) != std::end(kBlockMagics) ? FileLook::kRemains
                                                                                : otherwise;
}

Status remains_refusal(const std::string& path) {
  return Status::corruption(std::string(kRemains))
      .at(path)
      .hinting("cellar salvage copies the readable cells; cellar verify DIRECTORY lists all such files");
}

bool is_remains_refusal(const Status& status) {
  return status.is(Code::kCorruption) && status.message().find(kRemains) != std::string_view::npos;
}

bool is_store(const std::string& path) { return is_plain_file(path + "/CURRENT"); }

}  // namespace cellar
