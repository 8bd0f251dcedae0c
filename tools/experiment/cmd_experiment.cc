// cellar experiment: runs the combinations that a text declares, and shows their results.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/bytes.h"
#include "cellar/environment.h"
#include "tools/experiment/experiment_page.h"
#include "tools/experiment/experiment_plan.h"
#include "tools/experiment/experiment_progress.h"
#include "tools/experiment/experiment_summary.h"
#include "tools/experiment/experiment_text.h"
#include "tools/experiment/page_charts.h"
#include "tools/experiment/run_performance.h"
#include "tools/experiment/run_results.h"
#include "tools/frame/command.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;

class ExperimentCommand final : public Command {
 public:
  explicit ExperimentCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kOther; }
  std::string_view summary() const override {
    return "Compare policies, caches, codecs and workloads, as a text declares";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("FILE", file_, "the text of the experiment: JSON with comments; - is standard input")
        .option("--directory", directory_, "DIR",
                "where results are kept (the text's, else FILE's name with .runs)")
        .flag("--dry-run", dry_run_, "print the runs and how many there are; run nothing")
        .option("--page", page_, "PAGE", "write the page of the results that are there; run nothing")
        .note(
            "Each option of docs/options.md may be a list of values; each combination runs with each "
            "workload:\n"
            "  {\"compaction\": [\"exploring\", \"leveled\"], \"memtable_bytes\": \"1m\",\n"
            "   \"workload\": [{\"name\": \"update_zipf\", \"rows\": 100000}, \"ycsb_b\"], "
            "\"repetitions\": 3}\n"
            "Members: name, about, directory, repetitions, seed, workload, options; and of a workload rows,\n"
            "operations or seconds, mix, value_bytes, skew, threads, scan_length, each also a list.\n"
            "Results are lines of DIR/results.jsonl, which `cellar plot` reads. The page is DIR/page.html.\n"
            "Started again, the command continues after the last result. See `cellar help experiments`.")
        .example("cellar experiment policies.json",
                 "all runs that have no result yet, then the medians and the page")
        .example("cellar experiment policies.json --dry-run", "what would run")
        .example("cellar experiment policies.json --directory today --page page.html",
                 "the page of the results so far");
  }

  Status run(Session& session) override {
    CELLAR_TRY(read_text());
    if (dry_run_ && !page_.empty()) {
      return Status::invalid_argument("--dry-run and --page exclude each other")
          .hinting("leave one of them out");
    }
    if (dry_run_ || !page_.empty()) {
      CELLAR_TRY_ASSIGN(const ResultLines lines, read_results(text_.directory));
      const ExperimentSummary summary(plan_, lines.records);
      if (dry_run_) return print_plan(session, summary);
      return write_page(session, summary, page_);
    }
    CELLAR_TRY_ASSIGN(const std::unique_ptr<RunResults> results, RunResults::open(text_.directory));
    for (const std::string& finding : results->findings()) session.talk(finding);
    const Status status = run_all(session, *results);
    const ExperimentSummary summary(plan_, results->records());
    if (summary.done() > 0) {
      const Status written = write_page(session, summary, text_.directory + "/page.html");
      if (status.ok()) CELLAR_TRY(written);
    }
    CELLAR_TRY(status);
    return print_results(session, summary);
  }

 private:
  Status read_text() {
    CELLAR_TRY(read_source());
    CELLAR_TRY_ASSIGN(text_, parse_experiment(source_, file_));
    if (!directory_.empty()) text_.directory = directory_;
    CELLAR_TRY_ASSIGN(plan_, plan_experiment(text_));
    return {};
  }

  Status read_source() {
    if (file_ == "-") {
      source_ = std::string(std::istreambuf_iterator<char>(std::cin), {});
      return {};
    }
    std::ifstream in(file_, std::ios::binary);
    std::ostringstream bytes;
    if (in) bytes << in.rdbuf();
    if (!in || std::filesystem::is_directory(file_)) {
      return Status::not_found(fmt::format("{} cannot be read", file_))
          .hinting("write a text as cellar experiment --help shows it");
    }
    source_ = bytes.str();
    return {};
  }

  std::string name_of(const ExperimentRun& run) const {
    return fmt::format("{}, {}, round {} of {}", plan_.workloads[run.workload].label,
                       plan_.configurations[run.configuration].label, run.round + 1, text_.repetitions);
  }

  // ---- Running

  Status run_all(Session& session, RunResults& results) {
    const ExperimentSummary before(plan_, results.records());
    if (before.done() > 0) {
      session.talk(fmt::format("{} of {} have results already; {} left", before.done(),
                               counted(plan_.runs.size(), "run"), plan_.runs.size() - before.done()));
    }
    if (before.foreign() > 0)
      session.talk(
          fmt::format("{} of an earlier text stay, and are not shown", counted(before.foreign(), "result")));
    ExperimentProgress progress(session, plan_, before.by_run());
    for (size_t i = 0; i < plan_.runs.size(); ++i) {
      if (before.by_run()[i] != nullptr) continue;
      CELLAR_TRY(run_one(session, results, progress, i));
    }
    return {};
  }

  Status run_one(Session& session, RunResults& results, ExperimentProgress& progress, size_t index) {
    const ExperimentRun& run = plan_.runs[index];
    progress.begin(index);
    Result<RunRecord> record =
        perform_run(plan_, run, results.store_path(), [&](double share) { progress.show(share); });
    const Status removed = results.remove_store();
    if (!record.ok()) {
      const std::string name = fmt::format("run {} of {} ({})", index + 1, plan_.runs.size(), name_of(run));
      if (record.status().is(Code::kAborted))
        return interrupted_status(name + " was left and its store removed")
            .hinting("run the command again to continue");
      return record.status().with_context(name);
    }
    CELLAR_TRY(removed);
    record->experiment = text_.name;
    CELLAR_TRY(results.append(*record));
    progress.end(index, *record);
    if (session.format() == Format::kJsonl) {
      session.out().write(json_text(to_json(*record), -1));
      session.out().flush();
    }
    return {};
  }

  // ---- Printing

  static std::string json_text(const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
  }

  Json run_json(const ExperimentSummary& summary, size_t index) const {
    const ExperimentRun& run = plan_.runs[index];
    const ExperimentConfiguration& configuration = plan_.configurations[run.configuration];
    Json json = {{"number", index + 1},
                 {"workload", plan_.workloads[run.workload].label},
                 {"configuration", configuration.label},
                 {"round", run.round},
                 {"seed", run.seed},
                 {"done", summary.by_run()[index] != nullptr}};
    json["options"] = Json::object();
    for (const auto& [name, value] : configuration.options) json["options"][name] = value;
    json["fields"] = Json::object();
    for (const auto& [name, value] : plan_.workloads[run.workload].fields()) json["fields"][name] = value;
    return json;
  }

  Status print_document(Session& session, const ExperimentSummary& summary) const {
    Json document = {{"schema", "cellar.experiment/1"},
                     {"name", text_.name},
                     {"directory", text_.directory},
                     {"results_of_other_texts", summary.foreign()}};
    document["runs"] = Json::array();
    document["results"] = Json::array();
    for (size_t i = 0; i < plan_.runs.size(); ++i) {
      document["runs"].push_back(run_json(summary, i));
      if (summary.by_run()[i] != nullptr) document["results"].push_back(to_json(*summary.by_run()[i]));
    }
    session.out().write(json_text(document, 2));
    return {};
  }

  Status print_plan(Session& session, const ExperimentSummary& summary) const {
    if (session.format() == Format::kJson) return print_document(session, summary);
    if (session.format() == Format::kJsonl) {
      for (size_t i = 0; i < plan_.runs.size(); ++i) session.out().write(json_text(run_json(summary, i), -1));
      return {};
    }
    Records records(session.out(), session.format(), "cellar.experiment/1", "runs");
    for (size_t i = 0; i < plan_.runs.size(); ++i) {
      const ExperimentRun& run = plan_.runs[i];
      records.count("run", i + 1)
          .text("workload", plan_.workloads[run.workload].label)
          .text("configuration", plan_.configurations[run.configuration].label)
          .count("round", run.round + 1)
          .flag("done", summary.by_run()[i] != nullptr)
          .add();
    }
    records.finish();
    session.talk(fmt::format(
        "{}: {} × {} × {}; {} done, {} left", counted(plan_.runs.size(), "run"),
        counted(plan_.configurations.size(), "configuration"), counted(plan_.workloads.size(), "workload"),
        counted(text_.repetitions, "repetition"), summary.done(), plan_.runs.size() - summary.done()));
    return {};
  }

  // A line of each configuration in each workload; in JSON, the runs and their results.
  Status print_results(Session& session, const ExperimentSummary& summary) const {
    if (session.format() == Format::kJsonl) return {};  // each was printed at its end
    if (session.format() == Format::kJson) return print_document(session, summary);
    Records records(session.out(), session.format(), "cellar.experiment/1", "runs");
    for (size_t workload = 0; workload < plan_.workloads.size(); ++workload) {
      for (size_t i = 0; i < plan_.configurations.size(); ++i) {
        const std::vector<const RunRecord*>& of = summary.records(workload, i);
        records.text("workload", plan_.workloads[workload].label)
            .text("configuration", plan_.configurations[i].label)
            .count("runs", of.size());
        for (size_t figure = 0; figure < kPrintedFigures; ++figure) {
          const PageFigure& each = page_figures()[figure];
          const std::optional<Spread> spread = spread_of(of, each.figure);
          records.text(each.shorter, spread ? fmt::format("{:.6g}", spread->median) : "",
                       spread ? fmt::format("{:.4g}", spread->median) : "-");
        }
        records.add();
      }
    }
    records.finish();
    return {};
  }

  Status write_page(Session& session, const ExperimentSummary& summary, const std::string& path) const {
    if (summary.done() == 0) {
      return session.name_failure(
          "CEL-NOTHING-TO-DRAW", Exit::kNegative,
          Status::not_found(fmt::format("{} has no result of this text", text_.directory))
              .hinting("run the experiment first: cellar experiment " + file_));
    }
    std::ofstream to(path, std::ios::binary);
    to << experiment_page(text_, source_, summary);
    to.close();
    if (!to)
      return Status::io_error(fmt::format("{} cannot be written", path)).hinting("does its directory exist?");
    session.talk(
        fmt::format("wrote {}, with {} of {}", path, summary.done(), counted(plan_.runs.size(), "run")));
    return {};
  }

  static constexpr size_t kPrintedFigures = 8;  // of page_figures()

  std::string file_;
  std::string directory_;
  std::string page_;
  bool dry_run_ = false;
  std::string source_;
  ExperimentText text_;
  ExperimentPlan plan_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_experiment_cmd_experiment, "experiment", ExperimentCommand)

}  // namespace cellar
