// cellar status: what a store consists of and what opening it found.
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/store/status_watch.h"
#include "tools/store/store.h"
#include "tools/store/store_reports.h"

namespace cellar {
namespace {

class StatusCommand final : public Command {
 public:
  explicit StatusCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override {
    return "Print the sizes of a store, and what recovery found at open";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .option_if("--watch", watch_, "SECONDS",
                   "print it again for each period (2, 2s, 500ms), with rates, until Ctrl-C")
        .option_count("--count", count_, "with --watch: end after N times")
        .formats({"table", "json", "jsonl"})
        .example("cellar status shop", "sizes, and whether the store was closed cleanly")
        .example("cellar status shop --format json", "the same, for a program")
        .more_example("cellar status shop --watch 1s --count 2", "how fast it grows: a line for each second")
        .note("A watch works while a program writes the store. Each period reads what is new.");
  }

  Status run(Session& session) override {
    if (watch_.has_value()) return watch(session);
    if (count_ != 0) return usage(session, Status::invalid_argument("--count needs --watch"));
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_store(session, store_, OpenFor::kLooking));
    print_status(session, *engine);
    return engine->close();
  }

 private:
  static Status usage(Session& session, Status status) {
    return session.name_failure("CEL-USAGE", Exit::kUsage, std::move(status));
  }
  Status watch(Session& session) const {
    if (session.format() == Format::kJson)
      return usage(session, Status::invalid_argument("a watch is many documents, --format json a single one")
                                .hinting("--format jsonl prints a line for each period"));
    const Result<int64_t> period = for_argument("--watch", parse_period_ms(*watch_));
    if (!period.ok()) return usage(session, period.status());
    return watch_store(session, store_, *period, count_);
  }

  std::string store_;
  std::optional<std::string> watch_;
  uint64_t count_ = 0;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_status, "status", StatusCommand)

}  // namespace cellar
