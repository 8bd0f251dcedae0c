// cellar status: what a store consists of and what opening it found.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "tools/command.h"
#include "tools/store.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const EngineStatus& status, const RecoveryReport& report) {
  return Json{{"schema", "cellar.status/1"},
              {"path", status.path},
              {"identity", status.identity},
              {"health", status.health.ok() ? "ok" : status.health.to_text()},
              {"last_sequence", status.last_sequence},
              {"log_segments", status.log_segments},
              {"log_bytes", status.log_bytes},
              {"memtable_bytes", status.memtable_bytes},
              {"store_files", status.store_files},
              {"store_bytes", status.store_bytes},
              {"recovery",
               {{"clean", report.clean},
                {"segments_read", report.segments_read},
                {"records_replayed", report.records_replayed},
                {"cells_replayed", report.cells_replayed},
                {"cells_skipped", report.cells_skipped},
                {"torn_bytes", report.torn_bytes},
                {"micros", report.micros}}}};
}

std::string text_of(const EngineStatus& status, const RecoveryReport& report, size_t tables) {
  std::string text = fmt::format("store {}\n", status.path);
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<11} {}\n", name, value);
  };
  line("identity", status.identity);
  line("health", status.health.ok() ? "ok" : status.health.to_text());
  line("tables", std::to_string(tables));
  line("files", fmt::format("{}, {}", status.store_files, human_bytes(status.store_bytes)));
  line("in memory", fmt::format("{} of cells that are not in files yet", human_bytes(status.memtable_bytes)));
  line("log", fmt::format("{}, {}", counted(status.log_segments, "segment"), human_bytes(status.log_bytes)));
  line("last write", fmt::format("number {}", human_count(status.last_sequence)));
  line("opening", fmt::format("{}; {} with {} read from the log in {}",
                              report.clean ? "it was closed properly" : "it was not closed properly",
                              counted(report.records_replayed, "record"),
                              counted(report.cells_replayed, "cell"), human_micros(report.micros)));
  if (report.torn_bytes > 0)
    line("torn", human_bytes(report.torn_bytes) + " behind the last whole record of the log");
  return text;
}

class StatusCommand final : public Command {
 public:
  explicit StatusCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override { return "What a store holds, and what opening it found"; }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .formats({"table", "json"})
        .example("cellar status shop")
        .example("cellar status shop --format json");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_store(session, store_, OpenFor::kLooking));
    const EngineStatus status = engine->status();
    const RecoveryReport& report = engine->recovery_report();
    if (session.format() == Format::kJson) {
      Json json = json_of(status, report);
      json["tables"] = engine->list_tables();
      session.out().write(json.dump(2) + "\n");
    } else {
      session.out().write(text_of(status, report, engine->list_tables().size()));
    }
    if (!status.health.ok()) session.answer_negative();
    return engine->close();
  }

 private:
  std::string store_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_cmd_status, "status", StatusCommand)

}  // namespace cellar
