// cellar manifest: what the manifest of a store says, whether the store is as it says, and its history.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/bytes.h"
#include "base/plugins.h"
#include "cellar/environment.h"
#include "engine/log/directory.h"
#include "tools/files/store_check.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/repair/log_place.h"
#include "tools/repair/manifest_json.h"
#include "tools/repair/manifest_look.h"
#include "tools/store/store.h"
#include "tools/store/store_state.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;

class ManifestCommand final : public Command {
 public:
  explicit ManifestCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override {
    return "Show the manifest of a store, compare the store with it, list its edits";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("ACTION", action_, "dump, check or history")
        .operand("STORE", store_, "directory of the store")
        .option_if("--edit", edit_, "EDIT", "dump: the state after this edit; default: the newest")
        .note(
            "dump     prints tables, families, files, feeds and the start of the log\n"
            "check    compares the store with it: every file with its size, its end and its counts; the "
            "log\n"
            "         from its start; files that the manifest does not name. Exit status 1: a fault\n"
            "history  prints each edit of the generations that are there. It reads as far as they are "
            "whole.\n"
            "The store is read without its lock: another process may have it open. Nothing is written.")
        .example("cellar manifest dump shop", "the newest state")
        .example("cellar manifest check shop", "is the store as its manifest says?")
        .example("cellar manifest history shop", "what changed, edit by edit")
        .more_example("cellar manifest dump new --edit 3 --format json",
                      "the state of an earlier edit, for a program");
  }

  Status run(Session& session) override {
    if (action_ != "dump" && action_ != "check" && action_ != "history")
      return unknown_action(action_, {"dump", "check", "history"});
    if (edit_ && action_ != "dump")
      return Status::invalid_argument(fmt::format("manifest {} does not take --edit", action_));
    if (edit_) {
      CELLAR_TRY_ASSIGN(wanted_, for_argument("--edit", parse_count(*edit_)));
    }
    CELLAR_TRY_ASSIGN(root_, posix_file_system().open_directory(store_, false));
    CELLAR_TRY_ASSIGN(const StoreProbe probe, probe_store(*root_));
    if (probe.kind == StoreKind::kEmpty || probe.kind == StoreKind::kInterrupted)
      return session.name_failure("CEL-NOT-STORE", Exit::kCannot, no_store_at(store_));
    if (action_ == "check") return check(session);
    return action_ == "dump" ? dump(session) : history(session);
  }

 private:
  Status damaged(Session& session, const Status& status) const {
    if (!status.is(Code::kCorruption)) return status.with_context("store " + store_);
    return session.name_failure("CEL-CORRUPTION", Exit::kNegative,
                                with_hint_at_repair(store_, status.with_context("store " + store_)));
  }

  Status dump(Session& session) {
    std::optional<ManifestState> state;
    if (!edit_) {
      Result<ManifestState> newest = load_newest();
      if (!newest.ok()) return damaged(session, newest.status());
      state = std::move(newest).value();
    } else {
      CELLAR_TRY(find_edit(state));
      if (!state)
        return session.name_failure(
            "CEL-NOT-FOUND", Exit::kCannot,
            Status::not_found(fmt::format("the manifest of {} has no edit {}", store_, wanted_))
                .hinting(fmt::format("cellar manifest history {} lists the edits that are there",
                                     shell_word(store_))));
    }
    if (session.format() == Format::kTable) {
      session.out().write(manifest_text(*state));
      return {};
    }
    if (session.format() == Format::kCsv) {
      print_files(session, *state);
      return {};
    }
    Json document = {{"schema", "cellar.manifest/1"}};
    document.update(manifest_json(*state));
    session.out().write(
        document.dump(json_indent(session.format()), ' ', false, Json::error_handler_t::replace) + "\n");
    return {};
  }

  // CSV has a line for each file.
  static void print_files(Session& session, const ManifestState& state) {
    Records records(session.out(), session.format(), "cellar.manifest/1", "files");
    for (const TableRecord& table : state.tables)
      for (const FamilyRecord& family : table.families)
        for (const FileRecord& file : family.files)
          records.bytes("table", table.name)
              .bytes("family", family.name)
              .text("name", file.name)
              .size("bytes", file.bytes)
              .count("cells", file.cells)
              .count("first_sequence", file.sequence_min)
              .count("last_sequence", file.sequence_max)
              .add();
    records.finish();
  }

  Result<ManifestState> load_newest() const { return load_store_state(*root_); }

  // Looks in all generations; an edit may stand at the end of one and in the first state of the next.
  Status find_edit(std::optional<ManifestState>& state) {
    CELLAR_TRY_ASSIGN(const std::vector<uint64_t> generations, list_generations(*root_));
    for (const uint64_t generation : generations) {
      const auto visit = [&](const SeenEdit& seen) {
        if (seen.number == wanted_) state = seen.after;
        return seen.number < wanted_ && !interrupted();
      };
      const Result<GenerationLook> look = look_at_generation(*root_, generation, {}, visit);
      if (look.status().is(Code::kNotFound)) continue;  // a writer has removed it meanwhile
      CELLAR_TRY(look.status());
    }
    return interrupted() ? interrupted_status("the manifest was not read to its end") : Status();
  }

  Status history(Session& session) {
    CELLAR_TRY_ASSIGN(const std::vector<uint64_t> generations, list_generations(*root_));
    const Result<Current> current = read_current_file(*root_);
    Records records(session.out(), session.format(), "cellar.manifest/1", "edits");
    bool sound = true;
    uint64_t newest = 0;
    std::optional<ManifestState> last;  // of the generation before
    for (const uint64_t generation : generations) {
      const auto visit = [&](const SeenEdit& seen) {
        std::vector<std::string> changes = changes_of(seen);
        if (seen.whole_state && last && last->edit < seen.number)
          std::ranges::move(changes_between(*last, seen.after), std::back_inserter(changes));
        records.count("generation", seen.generation).count("edit", seen.number);
        records.count("offset", seen.offset).count("bytes", seen.bytes);
        records.list("changes", changes, "; ").add();
        newest = std::max(newest, seen.number);
        return !session.stopping();
      };
      const Result<GenerationLook> look = look_at_generation(*root_, generation, {}, visit);
      if (look.status().is(Code::kNotFound)) continue;
      CELLAR_TRY(look.status());
      last = look->state;
      if (look->sound() || session.stopping()) continue;
      sound = false;
      session.talk(fmt::format("note   {}: {} at offset {}", manifest_name(generation),
                               look->damage.message(), look->end));
    }
    records.count("generation", current.ok() ? current->generation : 0).count("newest_edit", newest);
    records.flag("sound", sound && current.ok()).finish();
    if (!current.ok()) session.talk(fmt::format("note   CURRENT: {}", current.status().message()));
    if (!sound || !current.ok()) session.answer_negative();
    return interrupted() ? interrupted_status("the manifest was not read to its end") : Status();
  }

  Status check(Session& session) {
    const Result<StoreCheck> check = check_store(session, store_);
    if (!check.ok()) return check.status();
    CELLAR_TRY_ASSIGN(const std::vector<std::string> orphans, find_orphans(check->sound()));
    Records records(session.out(), session.format(), "cellar.manifest/1", "findings");
    for (const StoreFault& each : check->faults)
      records.text("code", each.code).text("place", each.place).text("text", each.text).add();
    for (const std::string& each : orphans)
      records.text("code", "orphan")
          .text("place", each)
          .text("text", "the manifest does not name it: the next opening for writing removes it")
          .add();
    records.flag("sound", check->sound()).count("table_count", check->tables);
    records.count("family_count", check->families).count("file_count", check->files);
    records.count("orphans", orphans.size());
    records.count("log_segments", check->log_segments).count("log_records", check->log_records);
    records.finish();
    session.talk(fmt::format(
        "{}, {}; {}; {}", counted(check->tables, "table"), counted(check->files, "file"),
        counted(orphans.size(), "orphan"),
        check->sound() ? "the store is as its manifest says" : counted(check->faults.size(), "fault")));
    if (!check->sound()) {
      session.talk(
          fmt::format("hint   cellar repair {} --dry-run tells what can be rebuilt", shell_word(store_)));
      session.answer_negative();
    }
    return {};
  }

  // Files below tables/ that the manifest neither names nor remembers as replaced.
  Result<std::vector<std::string>> find_orphans(bool sound) const {
    std::vector<std::string> orphans;
    const Result<ManifestState> state = load_newest();
    if (!state.ok()) return sound ? Result<std::vector<std::string>>(state.status()) : orphans;
    std::set<std::string> named;
    for (const TableRecord& table : state->tables)
      for (const FamilyRecord& family : table.families)
        for (const FileRecord& file : family.files)
          named.insert(to_text(StoredFile{table.id, family.name, file.name, 0}));
    for (const StoredFile& file : state->obsolete) named.insert(to_text(file));
    const Result<std::vector<StoredFile>> stored = list_store_files(*root_, nullptr);
    if (!stored.ok()) return orphans;  // reported as a fault, or a table was dropped meanwhile
    for (const StoredFile& file : *stored)
      if (!named.contains(to_text(file))) orphans.push_back(shown_name(to_text(file)));
    return orphans;
  }

  std::string action_;
  std::string store_;
  std::optional<std::string> edit_;
  uint64_t wanted_ = 0;
  std::unique_ptr<Directory> root_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_repair_cmd_manifest, "manifest", ManifestCommand)

}  // namespace cellar
