// The state file of a copy, as JSON.
#include "tools/transfer/copy_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/bytes.h"
#include "cellar/file_system.h"
#include "tools/frame/operands.h"

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
  return Json{{"table", escaped(table.table)}, {"as", escaped(table.as)},
              {"creates", table.creates},      {"done", table.done},
              {"next", escaped(table.next)},   {"rows", table.rows},
              {"cells", table.cells},          {"bytes", table.bytes}};
}

// Throws an exception of the JSON library if a member is missing or of another type.
Result<CopyProgress> progress_of(const Json& json) {
  CopyProgress table;
  CELLAR_TRY_ASSIGN(table.table, unescaped(json.at("table").get<std::string>()));
  CELLAR_TRY_ASSIGN(table.as, unescaped(json.at("as").get<std::string>()));
  CELLAR_TRY_ASSIGN(table.next, unescaped(json.at("next").get<std::string>()));
  table.creates = json.at("creates").get<bool>();
  table.done = json.at("done").get<bool>();
  table.rows = json.at("rows").get<uint64_t>();
  table.cells = json.at("cells").get<uint64_t>();
  table.bytes = json.at("bytes").get<uint64_t>();
  return table;
}

// Throws as progress_of().
Status same_request(const Json& kept, const CopyRequest& request) {
  for (const auto& [name, value] : request) {
    const auto other = kept.at(name).get<std::string>();
    if (other == escaped(value)) continue;
    const auto shown = [](const std::string& text) { return text.empty() ? "nothing" : text; };
    return Status::invalid_argument(
               fmt::format("the file belongs to another copy: \"{}\" is {} there, and {} here", name,
                           shown(other), shown(escaped(value))))
        .hinting("end that copy first, or name another file: --state FILE");
  }
  return {};
}

std::pair<std::string, std::string> directory_and_name(const std::string& path) {
  const fs::path file(path);
  return {file.has_parent_path() ? file.parent_path().string() : ".", file.filename().string()};
}

}  // namespace

Result<CopyState> CopyState::open(std::string path, CopyRequest request) {
  CopyState state(std::move(path), std::move(request));
  std::error_code error;
  if (!state.is_kept() || !fs::exists(state.path_, error)) return state;
  CELLAR_TRY_ASSIGN(const std::unique_ptr<ReadableFile> file, posix_file_system().open_file(state.path_));
  if (file->size() > kBytesMax) return not_a_state(state.path_, "it has more than 64 MiB");
  std::string text(file->size(), '\0');
  CELLAR_TRY(file->read(0, text.size(), text.data()));
  CELLAR_TRY(state.read(text));
  return state;
}

Status CopyState::read(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return not_a_state(path_, "it is no JSON object");
  try {
    const auto format = json.at("schema").get<std::string>();
    if (format != kFormat)
      return Status::not_supported(fmt::format("the state is of format {}, known is {}", format, kFormat))
          .at(path_);
    CELLAR_TRY(same_request(json.at("request"), request_).at(path_));
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
  const auto [directory, name] = directory_and_name(path_);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> place,
                    posix_file_system().open_directory(directory, false));
  const std::string temporary = name + ".new";
  static_cast<void>(place->unlink(temporary).ok());  // of a copy that was killed here
  CELLAR_TRY_ASSIGN(const std::unique_ptr<WritableFile> file, place->create(temporary));
  CELLAR_TRY(file->append(json.dump(2) + "\n"));
  CELLAR_TRY(file->sync());
  CELLAR_TRY(file->close());
  CELLAR_TRY(place->rename(temporary, name));
  return place->sync();
}

Status CopyState::remove() {
  std::error_code error;
  if (!is_kept() || !fs::exists(path_, error)) return {};
  const auto [directory, name] = directory_and_name(path_);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> place,
                    posix_file_system().open_directory(directory, false));
  CELLAR_TRY(place->unlink(name));
  return place->sync();
}

}  // namespace cellar
