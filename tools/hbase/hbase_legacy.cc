// Recognises directories of HBase before 0.96.
#include "tools/hbase/hbase_legacy.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/coding.h"
#include "tools/hbase/hbase_names.h"
#include "tools/hbase/hbase_places.h"

namespace cellar {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kVersionBytesMax = 4096;

// Takes a length in Hadoop's variable-length form, and then that many bytes.
bool take_array(ByteReader& reader, std::string_view& bytes) {
  int64_t length = 0;
  return reader.take_hadoop_vint(length) && length >= 0 &&
         reader.take_bytes(static_cast<size_t>(length), bytes);
}

bool take_boolean(ByteReader& reader) {
  uint8_t byte = 0;
  return reader.take_u8(byte) && byte <= 1;
}

bool is_catalog(const std::string& name) { return name == "-ROOT-" || name == ".META."; }

}  // namespace

bool is_legacy_region(std::string_view bytes) {
  constexpr uint8_t kVersionMax = 1;  // 0: until 0.90, 1: 0.92 and 0.94
  ByteReader reader(bytes);
  uint8_t version = 0;
  std::string_view id, end, name, start;
  return reader.take_u8(version) && version <= kVersionMax && take_array(reader, end) &&
         take_boolean(reader) && reader.take_bytes(8, id) && take_array(reader, name) &&
         take_boolean(reader) && take_array(reader, start) && name.find(',') != name.npos;
}

bool is_legacy_root(const std::string& path) {
  if (is_plain_directory(path + "/data")) return false;
  if (is_plain_directory(path + "/-ROOT-") || is_plain_directory(path + "/.META.")) return true;
  const Result<std::string> version = is_plain_file(path + "/hbase.version")
                                          ? read_small_file(path + "/hbase.version", kVersionBytesMax)
                                          : Status::not_found("");
  return version.ok() && !version->starts_with("PBUF");
}

std::vector<std::string> legacy_tables(const std::string& root) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator at(root, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool table = !is_catalog(name) && is_hbase_table_name({"default", name});
    if (table && is_plain_directory(at->path().string())) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

Status legacy_refusal(const std::string& what, const std::string& more) {
  return Status::not_supported(
             fmt::format("{} is of HBase 0.92 or 0.94, or older: its descriptions are not protobuf", what))
      .hinting(
          "name the directory of one region, TABLE/REGION, to read its rows; cellar dump and find read all "
          "HFiles below a directory" +
          more);
}

}  // namespace cellar
