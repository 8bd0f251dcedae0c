// The state file of a copy, as JSON.
#include "tools/transfer/copy_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/bytes.h"
#include "tools/frame/operands.h"
#include "tools/frame/replace_file.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::string_view kFormat = "cellar.copy-state/1";
constexpr uint64_t kBytesMax = 64u << 20;

Status not_a_state(const std::string& path, std::string_view why) {
  return Status::corruption(fmt::format("the file does not tell how far a copy is: {}", why))
      .at(path)
      .hinting("name another file with --state, or remove this one to begin the copy again");
}

Json json_of(const CopyProgress& table) {
  return Json{{"table", escaped(table.table)},
              {"as", escaped(table.as)},
              {"from_id", table.from_id},
              {"to_id", table.to_id},
              {"creates", table.creates},
              {"created", table.created},
              {"done", table.done},
              {"next", escaped(table.next)},
              {"last", escaped(table.last)},
              {"rows", table.rows},
              {"cells", table.cells},
              {"bytes", table.bytes},
              {"tags_left_out", table.tags_left_out}};
}

// Throws an exception of the JSON library if a member is missing or of another type.
Result<CopyProgress> progress_of(const Json& json) {
  CopyProgress table;
  CELLAR_TRY_ASSIGN(table.table, unescaped(json.at("table").get<std::string>()));
  CELLAR_TRY_ASSIGN(table.as, unescaped(json.at("as").get<std::string>()));
  CELLAR_TRY_ASSIGN(table.next, unescaped(json.at("next").get<std::string>()));
  CELLAR_TRY_ASSIGN(table.last, unescaped(json.at("last").get<std::string>()));
  table.from_id = json.at("from_id").get<uint32_t>();
  table.to_id = json.at("to_id").get<uint32_t>();
  table.creates = json.at("creates").get<bool>();
  table.created = json.at("created").get<bool>();
  table.done = json.at("done").get<bool>();
  table.rows = json.at("rows").get<uint64_t>();
  table.cells = json.at("cells").get<uint64_t>();
  table.bytes = json.at("bytes").get<uint64_t>();
  table.tags_left_out = json.at("tags_left_out").get<uint64_t>();
  return table;
}

std::pair<std::string, std::string> directory_and_name(const std::string& path) {
  const fs::path file(path);
  return {file.has_parent_path() ? file.parent_path().string() : ".", file.filename().string()};
}

}  // namespace

// A held lock, whose file is removed with it.
class CopyLock {
 public:
  CopyLock(Directory& directory, std::string name, std::unique_ptr<FileLock> lock)
      : directory_(directory), name_(std::move(name)), lock_(std::move(lock)) {}
  ~CopyLock() { static_cast<void>(directory_.unlink(name_).ok()); }
  CopyLock(const CopyLock&) = delete;
  CopyLock& operator=(const CopyLock&) = delete;

 private:
  Directory& directory_;
  const std::string name_;
  const std::unique_ptr<FileLock> lock_;
};

CopyState::CopyState(std::string path, CopyRequest request)
    : path_(std::move(path)), request_(std::move(request)) {}
CopyState::CopyState(CopyState&&) noexcept = default;
CopyState::~CopyState() = default;

Result<CopyState> CopyState::open(std::string path, CopyRequest request) {
  CopyState state(std::move(path), std::move(request));
  if (!state.is_kept()) return state;
  CELLAR_TRY(state.lock());
  Result<std::unique_ptr<ReadableFile>> opened =
      state.directory_->open(directory_and_name(state.path_).second);
  if (opened.status().is(Code::kNotFound)) return state;
  CELLAR_TRY_ASSIGN(const std::unique_ptr<ReadableFile> file, std::move(opened));
  if (file->size() > kBytesMax) return not_a_state(state.path_, "it has more than 64 MiB");
  std::string text(file->size(), '\0');
  CELLAR_TRY(file->read(0, text.size(), text.data()));
  CELLAR_TRY(state.read(text));
  return state;
}

// The holder may have removed the file between its opening and the lock: check() finds that.
Status CopyState::lock() {
  const auto [directory, name] = directory_and_name(path_);
  CELLAR_TRY_ASSIGN(directory_, posix_file_system().open_directory(directory, false));
  const std::string lock_name = name + ".lock";
  Result<std::unique_ptr<FileLock>> lock = directory_->lock(lock_name);
  const Status held = lock.ok() ? (*lock)->check() : lock.status();
  if (held.is(Code::kLocked))
    return Status::locked(fmt::format("another copy uses {}: {}", path_, held.message()))
        .hinting("wait until it ends, or name another file: --state FILE");
  CELLAR_TRY(held);
  lock_ = std::make_unique<CopyLock>(*directory_, lock_name, std::move(lock).value());
  return {};
}

Status CopyState::compare(const std::string& name, const std::string& value) const {
  if (!kept_request_) return {};
  const auto other = kept_request_->find(name);
  if (other == kept_request_->end()) return not_a_state(path_, fmt::format("\"{}\" is missing", name));
  if (other->second == escaped(value)) return {};
  const auto shown = [](const std::string& text) { return text.empty() ? "nothing" : text; };
  return Status::invalid_argument(
             fmt::format("the file belongs to another copy: \"{}\" is {} there, and {} here", name,
                         shown(other->second), shown(escaped(value))))
      .at(path_)
      .hinting(
          "end that copy first, or name another file: --state FILE. Remove the file if that copy is not "
          "needed any more");
}

Status CopyState::add_to_request(const std::string& name, const std::string& value) {
  request_.emplace_back(name, value);
  return compare(name, value);
}

Status CopyState::read(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return not_a_state(path_, "it is no JSON object");
  try {
    const auto format = json.at("schema").get<std::string>();
    if (format != kFormat)
      return Status::not_supported(fmt::format("the state is of format {}, known is {}", format, kFormat))
          .at(path_);
    kept_request_.emplace(json.at("request").get<std::map<std::string, std::string>>());
    for (const auto& [name, value] : request_) CELLAR_TRY(compare(name, value));
    for (const Json& each : json.at("tables")) {
      CELLAR_TRY_ASSIGN(CopyProgress table, progress_of(each));
      tables_.push_back(std::move(table));
    }
  } catch (const Json::exception& fault) {
    return not_a_state(path_, fault.what());
  }
  return {};
}

CopyProgress& CopyState::of(const std::string& table, const std::string& as) {
  const auto same = [&](const CopyProgress& each) { return each.table == table && each.as == as; };
  const auto at = std::ranges::find_if(tables_, same);
  if (at != tables_.end()) return *at;
  CopyProgress& added = tables_.emplace_back();
  added.table = table;
  added.as = as;
  return added;
}

Status CopyState::save() {
  if (!is_kept()) return {};
  Json json = {{"schema", kFormat}, {"request", Json::object()}};
  for (const auto& [request, value] : request_) json["request"][request] = escaped(value);
  json["tables"] = Json::array();
  for (const CopyProgress& each : tables_) json["tables"].push_back(json_of(each));
  const std::string name = directory_and_name(path_).second;
  return replace_file(*directory_, name, name + ".new",
                      [&](WritableFile& file) { return file.append(json.dump(2) + "\n"); });
}

Status CopyState::remove() {
  if (!is_kept()) return {};
  const Status gone = directory_->unlink(directory_and_name(path_).second);
  if (gone.is(Code::kNotFound)) return {};
  CELLAR_TRY(gone);
  return directory_->sync();
}

}  // namespace cellar
