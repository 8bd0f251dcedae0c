// cellar_endurance: a store under load for hours. It checks all answers and tells what the store takes up.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "bench/driver/meter.h"
#include "bench/endurance/run.h"
#include "bench/endurance/sample.h"

namespace cellar::bench::endurance {
namespace {

struct Settings {
  RunPlan plan;
  double interval = 0;  // seconds between samples
  uint64_t bytes = 5ull << 30;
  std::vector<std::string> options, family_options;
};

Status set_all(Settings& settings) {
  RunPlan& plan = settings.plan;
  plan.family.max_versions = 1;
  plan.engine.cache_bytes = plan.engine.memtable_bytes_total = 256u << 20;
  const auto cut = [](const std::string& text) {
    const size_t at = text.find('=');
    return std::pair(text.substr(0, at), at == std::string::npos ? std::string() : text.substr(at + 1));
  };
  for (const std::string& option : settings.options) {
    const auto [key, value] = cut(option);
    CELLAR_TRY(set_option(plan.engine, key, value));
  }
  for (const std::string& option : settings.family_options) {
    const auto [key, value] = cut(option);
    CELLAR_TRY(set_option(plan.family, key, value));
  }
  plan.rows = std::max<uint64_t>(settings.bytes / plan.value_bytes, plan.writers);
  if (plan.event_ttl_s == 0) plan.event_ttl_s = std::max<int64_t>(static_cast<int64_t>(plan.seconds / 10), 1);
  if (settings.interval == 0) settings.interval = std::min(5.0, plan.seconds / 16);
  if (std::filesystem::exists(plan.directory))
    return Status::invalid_argument(plan.directory + " exists; name a directory that does not");
  return {};
}

void print(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void note(const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }

// Samples while the threads work, until the time is over or one of them fails.
void work(Run& run, Sampler& sampler, double interval) {
  std::vector<std::jthread> threads;
  const auto begin = [&](auto&& body) {
    threads.emplace_back([&run, body] {
      if (const Status status = body(); !status.ok()) run.fail(status);
    });
  };
  for (uint32_t i = 0; i < run.plan.writers; ++i) begin([&run, i] { return write_for_long(run, i); });
  begin([&run] { return scan_for_long(run); });
  const int64_t begun = steady_ns();
  double next = interval;
  for (double passed = 0; !run.stopped() && passed < run.plan.seconds;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    passed = static_cast<double>(steady_ns() - begun) / 1e9;
    if (passed < next) continue;
    print(sampler.sample());
    while (next <= passed) next += interval;
  }
  run.stop();
}

Status run_all(const Settings& settings) {
  print(context_line(settings.plan));
  CELLAR_TRY_ASSIGN(const auto run, Run::create(settings.plan));
  note(fmt::format("loading {} rows of {} bytes", settings.plan.rows, settings.plan.value_bytes));
  CELLAR_TRY(run->load());
  note(fmt::format("working for {:.0f} s", settings.plan.seconds));
  Sampler sampler(*run);
  work(*run, sampler, settings.interval);
  CELLAR_TRY(run->failure());
  print(sampler.sample());
  note("comparing all rows, as the store is and after it was opened again");
  CELLAR_TRY(run->check());
  const int64_t begun = steady_ns();
  CELLAR_TRY(run->reopen());
  const double reopened = static_cast<double>(steady_ns() - begun) / 1e9;
  CELLAR_TRY(run->check());
  print(sampler.end(reopened));
  return run->close();
}

int main_of(int argc, char** argv) {
  Settings settings;
  RunPlan& plan = settings.plan;
  plan.seconds = 60;
  plan.event_ttl_s = 0;
  plan.rate = 10000;
  CLI::App app(
      "Keeps a store under load: puts, deletes, runs of deletes, events that expire, counters, gets and "
      "scans.\n"
      "Every answer is compared with what was written. Prints a line of JSON for each sample.");
  app.add_option("store", plan.directory, "directory of the new store; it stays")->required();
  app.add_option("--seconds", plan.seconds, "how long the load lasts")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--bytes", settings.bytes, "bytes of values of the rows, as 5368709120 or 5gib")
      ->capture_default_str()
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--value-bytes", plan.value_bytes, "bytes of a value")->check(CLI::Range(8u, 1u << 20));
  app.add_option("--rate", plan.rate, "operations a second of all writers; 0: as fast as they can")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--writers", plan.writers, "threads that write and read")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  app.add_option("--event-ttl", plan.event_ttl_s,
                 "seconds after which events expire; 0: a tenth of the load's time");
  app.add_option("--interval", settings.interval,
                 "seconds between samples; 0: 5, or less so that there are 16 samples")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seed", plan.seed, "seed of all choices")->capture_default_str();
  app.add_option("--option", settings.options, "an engine option, KEY=VALUE; several");
  app.add_option("--family-option", settings.family_options,
                 "an option of the rows' family, KEY=VALUE; several");
  CLI11_PARSE(app, argc, argv);
  Status status = set_all(settings);
  if (status.ok()) status = run_all(settings);
  if (status.ok()) return 0;
  note(fmt::format("cellar_endurance: {} (seed {})", status.to_text(), plan.seed));
  return 1;
}

}  // namespace
}  // namespace cellar::bench::endurance

int main(int argc, char** argv) { return cellar::bench::endurance::main_of(argc, argv); }
