// cellar trace: records what a command does to a store, describes a trace, and replays it.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <optional>

#include "base/bytes.h"
#include "cellar/plugin.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/frame/run_command.h"
#include "tools/store/store.h"
#include "tools/trace/cellar_target.h"
#include "tools/trace/trace_text.h"

namespace cellar {
namespace {

constexpr uint64_t kTopMax = 1000;

class TraceCommand final : public Command {
 public:
  explicit TraceCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override {
    return "Record what is done to a store, describe such a trace, and replay it";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("ACTION", action_, "record, info or replay")
        .operand("TRACE", trace_, "the file of the trace")
        .operands(
            "WORD", words_,
            "replay: directory of the store, which is made if it is missing; record: -- and the command "
            "with its words",
            false)
        .choice("--keys", keys_, {"plain", "hashed"},
                "record: rows and qualifiers as they are, or as hashes that cannot be undone")
        .option_count("--sample", sample_, "record: one row in N (1)")
        .option_if("--bytes-max", bytes_max_, "SIZE", "record: end the recording at this size (1g)")
        .option_count("--top", top_, "info: list the N rows that were asked for most (10)")
        .option("--speed", speed_, "SPEED", "replay: max, recorded, or a factor such as 2x or 0.5x (max)")
        .option("--threads", threads_, "COUNT", "replay: number of threads, or recorded (recorded)")
        .option_if("--seed", seed_, "N", "replay: values are made from this number (1)")
        .option_if("--compressible", compressible_, "PERCENT",
                   "replay: share of each value that compresses (50)")
        .option_count("--limit", limit_, "replay: only the first N operations of the file")
        .flag("--load", load_, "replay: first write the rows that the trace found and did not write itself")
        .formats({"table", "json", "jsonl"})
        .note(
            "replay  writes to STORE: replay on a copy of a store whose data you need (cellar checkpoint).\n"
            "        Tables and families that it does not have are made, with default options. Values have\n"
            "        the recorded sizes. Operations that failed when they were recorded are left out.")
        .example("cellar trace record get.trace -- get shop orders user42",
                 "record what a command does to the store that it opens")
        .example("cellar trace info get.trace", "kinds of operations, latencies, tables, popular rows")
        .example("cellar trace replay get.trace copy --speed 2x", "the same operations, twice as fast")
        .more_example(
            "cellar trace record scan.trace --keys hashed --sample 10 --bytes-max 16m -- scan shop orders",
            "a trace without names; one row in ten")
        .more_example("cellar trace info get.trace --top 3 --format json", "the same figures, for a program")
        .more_example(
            "cellar trace replay get.trace copy --load --threads 4 --seed 7 --compressible 30 \\\n      "
            "--limit 1000",
            "the first 1,000 operations, with other values, on four threads");
  }

  Status run(Session& session) override {
    if (action_ == "info") return usage_or(session, check_info(), &TraceCommand::info);
    if (action_ == "replay") return usage_or(session, check_replay(), &TraceCommand::replay_trace);
    if (action_ == "record") return usage_or(session, check_record(), &TraceCommand::record);
    return unknown_action(action_, {"record", "info", "replay"});
  }

 private:
  Status usage_or(Session& session, const Status& usage, Status (TraceCommand::*work)(Session&)) {
    return usage.ok() ? (this->*work)(session) : usage_failure(session, usage);
  }

  // Returns kInvalidArgument if an option of another action was given.
  Status only(std::initializer_list<std::pair<const char*, bool>> unfit) const {
    for (const auto& [name, given] : unfit)
      if (given) return Status::invalid_argument(fmt::format("trace {} does not take {}", action_, name));
    return {};
  }
  Status no_record_options() const {
    return only(
        {{"--keys", keys_ != "plain"}, {"--sample", sample_ != 1}, {"--bytes-max", bytes_max_.has_value()}});
  }
  Status no_replay_options() const {
    return only({{"--speed", speed_ != "max"},
                 {"--threads", threads_ != "recorded"},
                 {"--seed", seed_.has_value()},
                 {"--compressible", compressible_.has_value()},
                 {"--limit", limit_ != 0},
                 {"--load", load_}});
  }
  Status no_info_options() const { return only({{"--top", top_ != kTop}}); }

  Status check_info() const {
    CELLAR_TRY(no_record_options());
    CELLAR_TRY(no_replay_options());
    if (!words_.empty()) return Status::invalid_argument("trace info takes one TRACE");
    if (top_ > kTopMax) return Status::invalid_argument(fmt::format("--top: at most {}", kTopMax));
    return {};
  }

  Status info(Session& session) {
    CELLAR_TRY_ASSIGN(TraceReader reader, TraceReader::open(posix_file_system(), trace_));
    TraceInfo info;
    info.path = trace_;
    info.top = top_;
    info.file_bytes = reader.file_bytes();
    info.header = reader.header();
    TraceChunk chunk;
    TraceOperation operation;
    while (!session.stopping()) {
      CELLAR_TRY_ASSIGN(const bool more, reader.next(chunk));
      if (!more) break;
      TraceRecords records(reader.header(), chunk);
      while (true) {
        const Result<bool> any = records.next(operation);
        if (!any.ok()) return any.status().with_context("trace " + trace_);
        if (!*any) break;
        info.summary.add(operation);
      }
    }
    if (interrupted()) return interrupted_status(counted(info.summary.operations, "operation") + " counted");
    info.ending = reader.ending();
    print_trace_info(session.out(), session.format(), info);
    return {};
  }

  Status check_replay() {
    CELLAR_TRY(no_record_options());
    CELLAR_TRY(no_info_options());
    if (words_.size() != 1) return Status::invalid_argument("trace replay takes a TRACE and a STORE");
    if (speed_ != "max" && speed_ != "recorded") {
      char* end = nullptr;
      options_.speed = std::strtod(speed_.c_str(), &end);
      if (std::string_view(end) != "x" || !(options_.speed >= 0.001 && options_.speed <= 1000))
        return Status::invalid_argument("--speed: \"" + escaped(speed_) + "\" is not a speed")
            .hinting("max, recorded, or a factor from 0.001x to 1000x, such as 2x");
    } else if (speed_ == "recorded") {
      options_.speed = 1;
    }
    if (threads_ != "recorded") {
      const Result<uint64_t> threads = parse_count(threads_);
      if (!threads.ok() || *threads < 1 || *threads > kReplayThreadsMax)
        return Status::invalid_argument("--threads: \"" + escaped(threads_) + "\" is not a number of threads")
            .hinting(fmt::format("recorded, or 1 to {}", kReplayThreadsMax));
      options_.threads = static_cast<uint32_t>(*threads);
    }
    if (seed_) {
      CELLAR_TRY_ASSIGN(options_.seed, for_argument("--seed", parse_count(*seed_)));
    }
    if (compressible_) {
      CELLAR_TRY_ASSIGN(const uint64_t percent, for_argument("--compressible", parse_count(*compressible_)));
      if (percent > 100) return Status::invalid_argument("--compressible: at most 100 percent");
      options_.noise = 1 - static_cast<double>(percent) / 100;
    }
    return {};
  }

  Status replay_trace(Session& session) {
    CELLAR_TRY_ASSIGN(const ReplayPlan plan, ReplayPlan::load(posix_file_system(), trace_, limit_));
    const std::string& store = words_.front();
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_store(session, store, OpenFor::kCreating));
    ReplayReport report;
    {
      CELLAR_TRY_ASSIGN(const ReplayTables tables,
                        open_replay_tables(*engine, plan, [&](const std::string& name) {
                          session.talk("made table " + name);
                        }));
      if (load_) CELLAR_TRY(load(session, plan, *engine, tables));
      options_.stopping = [] { return interrupted(); };
      CELLAR_TRY_ASSIGN(report, replay(
                                    plan, [&] { return make_cellar_target(*engine, tables); }, options_,
                                    machine_replay_clock()));
    }
    CELLAR_TRY(engine->close());
    print_replay(session.out(), session.format(), store, report);
    if (session.format() == Format::kTable) {
      session.out().flush();
      session.talk(replay_text(store, report));
      if (plan.failed() != 0)
        session.talk(fmt::format("{} had failed when recorded, and were left out",
                                 counted(plan.failed(), "operation")));
      if (limit_ == 0 && !plan.ending().end) session.talk(ending_text(plan.ending()));
    }
    if (report.stopped)
      return interrupted_status(counted(report.operations, "operation") + " replayed; the store is sound");
    return {};
  }

  Status load(Session& session, const ReplayPlan& plan, Engine& engine, const ReplayTables& tables) const {
    CELLAR_TRY_ASSIGN(const std::vector<TraceOperation> puts, plan.rows_to_load());
    const std::unique_ptr<ReplayTarget> target = make_cellar_target(engine, tables);
    ReplayValues values(options_.seed, options_.noise);
    ReplayFound ignored;
    for (const TraceOperation& each : puts) CELLAR_TRY(target->write(each, values, ignored));
    CELLAR_TRY(engine.flush());
    session.talk(fmt::format("loaded {}", counted(puts.size(), "row")));
    return {};
  }

  Status check_record() const {
    CELLAR_TRY(no_replay_options());
    CELLAR_TRY(no_info_options());
    if (words_.empty())
      return Status::invalid_argument("trace record: the command is missing")
          .hinting("cellar trace record TRACE -- get STORE TABLE ROW");
    if (words_.front() == "trace") return Status::invalid_argument("a trace command cannot be recorded");
    std::error_code error;
    if (std::filesystem::exists(trace_, error))
      return Status::invalid_argument(fmt::format("the file {} exists", trace_))
          .hinting("choose another name");
    return {};
  }

  Status record(Session& session) {
    std::string options = "keys=" + keys_;
    if (sample_ != 1) options += ", sample=" + std::to_string(sample_);
    if (bytes_max_) options += ", bytes_max=" + *bytes_max_;
    trace_next_store(trace_, options);
    CELLAR_TRY(run_command(session, words_.front(), {words_.begin() + 1, words_.end()}));
    std::error_code error;
    if (!std::filesystem::exists(trace_, error))
      return usage_failure(session, Status::invalid_argument(fmt::format(
                                        "nothing was recorded: cellar {} opens no store", words_.front())));
    session.out().flush();
    session.talk(
        fmt::format("recorded to {}, {}", trace_, exact_bytes(std::filesystem::file_size(trace_, error))));
    return {};
  }

  static constexpr uint64_t kTop = 10;

  std::string action_;
  std::string trace_;
  std::vector<std::string> words_;
  std::string keys_ = "plain";
  uint64_t sample_ = 1;
  std::optional<std::string> bytes_max_;
  uint64_t top_ = kTop;
  std::string speed_ = "max";
  std::string threads_ = "recorded";
  std::optional<std::string> seed_;
  std::optional<std::string> compressible_;
  uint64_t limit_ = 0;
  bool load_ = false;
  ReplayOptions options_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_trace_cmd_trace, "trace", TraceCommand)

}  // namespace cellar
