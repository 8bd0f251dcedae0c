// cellar repair: makes a damaged store open again, and says exactly what is lost.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/plugins.h"
#include "cellar/environment.h"
#include "engine/log/directory.h"
#include "tools/files/store_check.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/repair/plan_repair.h"
#include "tools/repair/repair_run.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;

class RepairCommand final : public Command {
 public:
  explicit RepairCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override {
    return "Repair a store that does not open; --dry-run only tells what it would do";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .flag("--dry-run", dry_run_, "print what is damaged, what would be done and what is at risk")
        .option("--to", to_, "NEW", "leave STORE as it is, and repair a copy in the new directory NEW")
        .choice("--level", level_, {"deep", "cells", "blocks", "quick"},
                "how thoroughly to check each store file, as cellar verify does")
        .formats({"table", "json", "jsonl"})
        .note(
            "It rebuilds CURRENT and the manifest from the newest edit that is whole, cuts the log at its\n"
            "damage, and leaves out store files that are missing or damaged. Everything that it replaces is\n"
            "kept in STORE/quarantine. The store must not be open elsewhere.\n"
            "Make a copy of the store first, if you can. cellar salvage reads what is left of a file in the\n"
            "quarantine; cellar wal dump reads its segments.")
        .example("cellar repair shop --dry-run", "what is damaged, and what would be lost?")
        .example("cellar repair broken", "make a store open again")
        .more_example("cellar repair broken --to repaired --level quick", "repair a copy, with few checks");
  }

  Status run(Session& session) override {
    VerifyLevel level = VerifyLevel::kDeep;
    parse_verify_level(level_, level);
    const Result<std::unique_ptr<Directory>> opened = posix_file_system().open_directory(store_, false);
    if (!opened.ok())
      return opened.status().is(Code::kNotFound)
                 ? session.name_failure("CEL-NOT-STORE", Exit::kCannot, no_store_at(store_))
                 : opened.status();
    Directory& source = **opened;
    CELLAR_TRY_ASSIGN(const std::unique_ptr<FileLock> lock, take_lock(source, dry_run_ || !to_.empty()));
    if (to_.empty() || dry_run_) return repair(session, source, store_, level);
    CELLAR_TRY(copy_store(store_, to_));
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> copy, posix_file_system().open_directory(to_, false));
    CELLAR_TRY_ASSIGN(const std::unique_ptr<FileLock> own, take_lock(*copy, false));
    return repair(session, *copy, to_, level);
  }

 private:
  // A look writes nothing: a lock file that is missing is not made.
  static Result<std::unique_ptr<FileLock>> take_lock(Directory& root, bool for_looking) {
    Result<std::unique_ptr<FileLock>> lock = for_looking ? root.lock_shared(kLockName) : root.lock(kLockName);
    if (for_looking && lock.status().is(Code::kNotFound)) return std::unique_ptr<FileLock>();
    if (lock.status().is(Code::kLocked))
      return lock.status().hinting("close the program that has the store open, then repair");
    return lock;
  }

  Status repair(Session& session, Directory& root, const std::string& path, VerifyLevel level) {
    const Result<RepairPlan> plan = plan_repair(root, path, level);
    if (plan.status().is(Code::kNotFound))
      return session.name_failure("CEL-NOT-STORE", Exit::kCannot, no_store_at(path));
    if (plan.status().is(Code::kCorruption))
      return session.name_failure("CEL-CORRUPTION", Exit::kNegative,
                                  plan.status().with_context("store " + path));
    CELLAR_TRY(plan.status().with_context("store " + path));
    std::string quarantine;
    if (plan->is_needed() && !dry_run_) {
      // The log is looked at again afterwards: a plan may be made of several kinds of damage.
      CELLAR_TRY_ASSIGN(quarantine, carry_out(root, path, *plan));
    }
    print(session, *plan, quarantine, path);
    if (!plan->is_needed()) {
      session.talk("nothing to repair: the store is sound");
      return {};
    }
    if (dry_run_) {
      session.talk("nothing was changed");
      session.answer_negative();
      return {};
    }
    return conclude(session, path, quarantine);
  }

  // The check of the store that `cellar verify` makes.
  static Status conclude(Session& session, const std::string& path, const std::string& quarantine) {
    CELLAR_TRY_ASSIGN(const StoreCheck check, check_store(session, path));
    for (const StoreFault& fault : check.faults)
      session.talk(fmt::format("BAD    {}: {}", fault.place, fault.text));
    if (!check.sound()) {
      session.answer_negative();
      session.talk("the store is not sound yet: repair what is named above, then run the repair again");
      return {};
    }
    if (!quarantine.empty())
      session.talk(fmt::format("what was replaced is kept in {}/{}", path, quarantine));
    session.talk(fmt::format("repaired {}: {}, {}", path, counted(check.tables, "table"),
                             counted(check.files, "file")));
    return {};
  }

  void print(Session& session, const RepairPlan& plan, const std::string& quarantine,
             const std::string& path) const {
    if (session.format() == Format::kTable) {
      session.out().write(text_of(plan));
      return;
    }
    Json document = {{"schema", "cellar.repair/1"}, {"store", path}, {"dry_run", dry_run_}};
    document["needed"] = plan.is_needed();
    document["quarantine"] = quarantine;
    Json& damage = document["damage"] = Json::array();
    for (const StoreDamage& each : plan.damage)
      damage.push_back({{"part", each.part}, {"place", each.place}, {"text", each.text}});
    Json& steps = document["steps"] = Json::array();
    for (const RepairStep& each : plan.steps)
      steps.push_back({{"action", each.action}, {"place", each.place}, {"text", each.text}});
    Json& risks = document["at_risk"] = Json::array();
    for (const RiskOfLoss& each : plan.at_risk)
      risks.push_back({{"family", escaped(each.family)},
                       {"place", each.place},
                       {"first_row", escaped(each.first_row)},
                       {"last_row", escaped(each.last_row)},
                       {"first_sequence", each.first_sequence},
                       {"last_sequence", each.last_sequence},
                       {"cells", each.cells},
                       {"text", each.text}});
    document["notes"] = plan.notes;
    session.out().write(
        document.dump(json_indent(session.format()), ' ', false, Json::error_handler_t::replace) + "\n");
  }

  static std::string text_of(const RepairPlan& plan) {
    std::string text;
    for (const StoreDamage& each : plan.damage)
      text += fmt::format("damaged   {}: {}\n", shown_name(each.place), shown_name(each.text));
    for (const RepairStep& each : plan.steps)
      text += fmt::format("{:<9} {}: {}\n", each.action, shown_name(each.place), shown_name(each.text));
    for (const RiskOfLoss& each : plan.at_risk) text += "at risk   " + risk_text(each) + "\n";
    for (const std::string& each : plan.notes) text += "note      " + each + "\n";
    return text;
  }

  static std::string risk_text(const RiskOfLoss& risk) {
    std::string text = risk.family.empty() ? shown_name(risk.place) : shown_name(risk.family);
    if (risk.cells != 0) text += ", " + counted(risk.cells, "cell");
    if (!risk.family.empty() && risk.cells != 0)
      text += fmt::format(", rows {} to {}", escaped(risk.first_row), escaped(risk.last_row));
    if (risk.last_sequence != 0)
      text += fmt::format(", sequences {} to {}", risk.first_sequence, risk.last_sequence);
    return text + ": " + risk.text;
  }

  std::string store_;
  bool dry_run_ = false;
  std::string to_;
  std::string level_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_repair_cmd_repair, "repair", RepairCommand)

}  // namespace cellar
