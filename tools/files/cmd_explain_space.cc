// cellar explain-space: what the bytes of a store are used for, and why they stay.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/text_printer.h"
#include "cellar/environment.h"
#include "engine/log/directory.h"
#include "tools/files/space_survey.h"
#include "tools/frame/command.h"
#include "tools/frame/output.h"
#include "tools/store/store.h"
#include "tools/store/store_state.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;

// The bytes of a store besides the files of its families.
struct OtherSpace {
  std::vector<StoredFile> obsolete = {};
  std::vector<CheckpointInfo> snapshots = {};
  std::vector<FeedInfo> feeds = {};
  uint64_t log_bytes = 0;
  uint64_t quarantine_bytes = 0;
};

// Returns the bytes of all files below `name`, or 0 if there is no such directory.
Result<uint64_t> bytes_below(Directory& parent, const std::string& name) {
  auto directory = parent.directory(name, false);
  if (directory.status().is(Code::kNotFound)) return uint64_t{0};
  CELLAR_TRY(directory.status());
  CELLAR_TRY_ASSIGN(const std::vector<DirectoryEntry> entries, (*directory)->list());
  uint64_t bytes = 0;
  for (const DirectoryEntry& entry : entries) {
    if (entry.is_directory) {
      CELLAR_TRY_ASSIGN(const uint64_t below, bytes_below(**directory, entry.name));
      bytes += below;
    } else {
      bytes += entry.bytes;
    }
  }
  return bytes;
}

Json json_of(const FamilySpace& space) {
  Json parts = Json::array();
  for (size_t i = 0; i < kSpaceUses; ++i) {
    const SpacePart& part = space.parts[i];
    parts.push_back({{"use", space_use_name(static_cast<SpaceUse>(i))},
                     {"cells", part.cells},
                     {"cell_bytes", part.cell_bytes},
                     {"bytes", part.bytes}});
  }
  return Json{{"table", space.table},           {"family", space.family},
              {"files", space.files},           {"runs", space.runs},
              {"bytes", space.bytes},           {"cells", space.cells},
              {"cells_read", space.cells_read}, {"reclaimable_bytes", space.reclaimable_bytes()},
              {"parts", std::move(parts)},      {"reasons", space.reasons}};
}

Json json_of(const OtherSpace& other) {
  Json json{{"log_bytes", other.log_bytes}, {"quarantine_bytes", other.quarantine_bytes}};
  Json& obsolete = json["obsolete"] = Json::array();
  for (const StoredFile& file : other.obsolete)
    obsolete.push_back({{"path", to_text(file)}, {"bytes", file.bytes}});
  Json& snapshots = json["snapshots"] = Json::array();
  for (const CheckpointInfo& each : other.snapshots)
    snapshots.push_back({{"snapshot", each.name}, {"files", each.files}, {"bytes", each.bytes}});
  Json& feeds = json["feeds"] = Json::array();
  for (const FeedInfo& each : other.feeds)
    feeds.push_back({{"feed", each.name}, {"retained_bytes", each.retained_bytes}, {"lost", each.lost}});
  return json;
}

std::string text_of(const FamilySpace& space) {
  std::string text = fmt::format("{}:{}  {} in {}, {}\n", space.table, space.family, human_bytes(space.bytes),
                                 counted(space.files, "file"), counted(space.runs, "sorted run"));
  if (space.cells_read < space.cells)
    text += fmt::format("  sampled: {} of {} cells were read, from the first row on\n",
                        human_count(space.cells_read), human_count(space.cells));
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < kSpaceUses; ++i) {
    const SpacePart& part = space.parts[i];
    if (part.cells == 0) continue;
    rows.push_back({"  " + std::string(space_use_name(static_cast<SpaceUse>(i))), human_bytes(part.bytes),
                    human_count(part.cells) + (part.cells == 1 ? " cell" : " cells")});
  }
  if (!rows.empty()) text += aligned_table(rows);
  if (space.cells_read > 0)
    text += fmt::format(
        "  a compaction of all files would free {}\n",
        space.reclaimable_bytes() == 0 ? "nothing" : "about " + human_bytes(space.reclaimable_bytes()));
  for (const std::string& reason : space.reasons) text += "  " + reason + "\n";
  return text;
}

std::string text_of(const OtherSpace& other) {
  std::string text = fmt::format("log  {}\n", human_bytes(other.log_bytes));
  for (const FeedInfo& each : other.feeds)
    text += fmt::format("feed {}  keeps {} of the log{}\n", each.name, human_bytes(each.retained_bytes),
                        each.lost ? "; it is lost" : "");
  for (const CheckpointInfo& each : other.snapshots)
    text += fmt::format("snapshot {}  keeps {} in {}, some of which the tables may use, too\n", each.name,
                        human_bytes(each.bytes), counted(each.files, "file"));
  uint64_t obsolete = 0;
  for (const StoredFile& file : other.obsolete) obsolete += file.bytes;
  if (obsolete > 0)
    text += fmt::format("waiting for removal  {} in {}; a reader may still use them\n", human_bytes(obsolete),
                        counted(other.obsolete.size(), "file"));
  if (other.quarantine_bytes > 0)
    text +=
        fmt::format("quarantine  {}, which repairs have set aside\n", human_bytes(other.quarantine_bytes));
  return text;
}

class ExplainSpaceCommand final : public Command {
 public:
  explicit ExplainSpaceCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override {
    return "Print what the bytes of a store are used for, and why they stay";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .optional_operand("TABLE", table_, "one table; default: all tables")
        .option_count("--cells-max", cells_max_,
                      "cells to read of each family; the rest is estimated; default: all cells")
        .formats({"table", "json", "jsonl"})
        .note(
            "Cells are judged as a compaction of all files would judge them. Snapshots and scanners\n"
            "that a process has open may keep some of them longer. Cells in the log do not count.")
        .example("cellar explain-space shop", "live cells, old versions, deleted and expired cells")
        .example("cellar explain-space shop orders --cells-max 1000000 --format json",
                 "an estimate from a part of the cells, for a program");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const ManifestState state, read_store_state(session, store_));
    if (!table_.empty()) CELLAR_TRY(table_of_state(session, state, store_, table_).status());
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_store(session, store_, OpenFor::kLooking));
    std::vector<FamilySpace> families;
    for (const TableRecord& table : state.tables) {
      if (!table_.empty() && table.name != table_) continue;
      for (const FamilyRecord& family : table.families) {
        CELLAR_TRY_ASSIGN(FamilySpace space,
                          survey_family(store_, table, family, system_clock().wall_ms(), cells_max_));
        CELLAR_TRY(add_policy(*engine, space));
        families.push_back(std::move(space));
      }
    }
    CELLAR_TRY_ASSIGN(const OtherSpace other, other_space(state, *engine));
    print(session, families, other);
    return engine->close();
  }

 private:
  // Adds what the policy would do next.
  static Status add_policy(Engine& engine, FamilySpace& space) {
    if (space.files == 0) return {};
    auto table = engine.open_table(space.table);
    if (table.status().is(Code::kNotFound)) return {};  // dropped since the manifest was read
    CELLAR_TRY(table.status());
    CELLAR_TRY_ASSIGN(const std::optional<CompactionInfo> next,
                      (*table)->next_compaction(space.family, false, nullptr));
    if (next) {
      space.reasons.push_back(
          fmt::format("the next compaction takes {}: {}", counted(next->inputs.size(), "file"), next->why));
    } else if (space.reclaimable_bytes() > 0) {
      space.reasons.push_back(
          "the policy has no compaction due; `cellar compact --major` compacts all files");
    }
    return {};
  }

  Result<OtherSpace> other_space(const ManifestState& state, Engine& engine) const {
    OtherSpace other;
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> root,
                      posix_file_system().open_directory(store_, false));
    // The manifest learns later that a file was removed.
    CELLAR_TRY_ASSIGN(const std::vector<StoredFile> present, list_store_files(*root, nullptr));
    for (const StoredFile& file : state.obsolete) {
      const auto is_it = [&](const StoredFile& each) { return to_text(each) == to_text(file); };
      const TableRecord* const table = state.table(file.table_id);
      if (std::ranges::any_of(present, is_it) &&
          (table_.empty() || (table != nullptr && table->name == table_)))
        other.obsolete.push_back(file);
    }
    CELLAR_TRY_ASSIGN(other.snapshots, engine.named_snapshots().list());
    other.feeds = engine.feeds().list();
    other.log_bytes = engine.status().log_bytes;
    CELLAR_TRY_ASSIGN(other.quarantine_bytes, bytes_below(*root, "quarantine"));
    return other;
  }

  void print(Session& session, const std::vector<FamilySpace>& families, const OtherSpace& other) const {
    if (session.format() != Format::kTable) {
      Json json{{"schema", "cellar.explain-space/1"}, {"path", store_}, {"families", Json::array()}};
      for (const FamilySpace& each : families) json["families"].push_back(json_of(each));
      json.update(json_of(other));
      session.out().write(json.dump(json_indent(session.format())) + "\n");
      return;
    }
    std::string text;
    for (const FamilySpace& each : families) text += text_of(each) + "\n";
    session.out().write(text + text_of(other));
  }

  std::string store_;
  std::string table_;
  uint64_t cells_max_ = 0;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_files_cmd_explain_space, "explain-space", ExplainSpaceCommand)

}  // namespace cellar
