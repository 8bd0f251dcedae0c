// cellar metrics: sizes, totals and amplification of a store, for people, programs and Prometheus.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/text_printer.h"
#include "cellar/metrics.h"
#include "tools/frame/command.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

std::string families_text(const Metrics& metrics) {
  std::vector<std::vector<std::string>> rows = {
      {"  family", "files", "runs", "size", "in memory", "put", "flushed", "compacted", "written/put"}};
  for (const TableInfo& table : metrics.tables)
    for (const FamilyInfo& family : table.families) {
      uint64_t bytes = 0;
      for (const StoreFileInfo& file : family.files) bytes += file.bytes;
      rows.push_back({"  " + shown_name(table.name) + ":" + shown_name(family.options.name),
                      human_count(family.files.size()), human_count(sorted_runs(family)), human_bytes(bytes),
                      human_bytes(family.memtable_bytes), human_bytes(family.bytes_put),
                      human_bytes(family.bytes_flushed), human_bytes(family.bytes_compacted),
                      fmt::format("{:.1f}", family.write_amplification())});
    }
  return rows.size() == 1 ? std::string() : "\n" + aligned_table(rows);
}

std::string text_of(const Metrics& metrics) {
  std::string text = fmt::format("store {}\n", metrics.status.path);
  const auto line = [&](std::string_view name, double value, std::string_view meaning) {
    text += fmt::format("  {:<20} {:.2f}  {}\n", name, value, meaning);
  };
  line("write amplification", metrics.write_amplification(),
       "bytes to the log, by flushes and compactions, for each byte put");
  line("read amplification", metrics.read_amplification(),
       "sorted runs and memtables of the family that has most");
  line("space amplification", metrics.space_amplification(),
       "bytes of all files for each byte in the largest runs");
  return text + families_text(metrics);
}

class MetricsCommand final : public Command {
 public:
  explicit MetricsCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override {
    return "Print totals and amplification of a store, also as OpenMetrics text";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store; a program may have it open")
        .flag("--openmetrics", openmetrics_, "print OpenMetrics text, which Prometheus reads")
        .flag("--prometheus", prometheus_, "print Prometheus' older text format, 0.0.4")
        .formats({"table", "json", "jsonl"})
        .note(
            "Totals of a family count since it was created. Latencies, stalls and the cache are known to the")
        .note(
            "program alone that has the store open: set its option metrics_file, or call Engine::metrics().")
        .example("cellar metrics shop", "amplification, and totals of each family")
        .example("cellar metrics shop --openmetrics", "the same for Prometheus")
        .more_example("cellar metrics shop --prometheus", "the same in the older format of Prometheus")
        .more_example("cellar metrics shop --format json", "the same for a program");
  }

  Status run(Session& session) override {
    const bool text = openmetrics_ || prometheus_;
    if (openmetrics_ && prometheus_)
      return session.name_failure(
          "CEL-USAGE", Exit::kUsage,
          Status::invalid_argument("--openmetrics and --prometheus exclude each other"));
    if (text && session.format() != Format::kTable) {
      const std::string flag = openmetrics_ ? "--openmetrics" : "--prometheus";
      return session.name_failure("CEL-USAGE", Exit::kUsage,
                                  Status::invalid_argument(flag + " is a format of its own")
                                      .hinting("leave out --format, or " + flag));
    }
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_store(session, store_, OpenFor::kLooking));
    const Metrics metrics = engine->metrics();
    Output& out = session.out();
    // Counters of this reader would be taken for those of the program that writes.
    constexpr bool kOfEngine = false;
    if (text) {
      out.set_for_people(false);
      out.write(openmetrics_ ? to_openmetrics(metrics, kOfEngine) : to_prometheus(metrics, kOfEngine));
    } else if (session.format() == Format::kTable) {
      out.write(text_of(metrics));
    } else {
      out.write(
          nlohmann::ordered_json::parse(to_json(metrics, kOfEngine)).dump(json_indent(session.format())) +
          "\n");
    }
    return engine->close();
  }

 private:
  std::string store_;
  bool openmetrics_ = false;
  bool prometheus_ = false;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_metrics, "metrics", MetricsCommand)

}  // namespace cellar
