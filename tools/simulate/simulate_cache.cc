// CacheSimulationCommand: reads the trace once, then runs each policy at each size.
#include "tools/simulate/simulate_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <memory>
#include <utility>

#include "base/bytes.h"
#include "base/plugins.h"
#include "cellar/cache_policy.h"
#include "tools/frame/operands.h"
#include "tools/frame/output.h"
#include "tools/simulate/belady.h"

namespace cellar {
namespace {

constexpr std::string_view kBelady = "belady";

double miss_ratio(uint64_t hits, uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(all - hits) / static_cast<double>(all);
}

std::string percent(double ratio) { return fmt::format("{:.2f}%", ratio * 100); }

// Parses "64m" or "5%".
Result<uint64_t> parse_cache_size(std::string_view text, uint64_t distinct_bytes) {
  if (!text.ends_with('%')) return parse_size(text);
  double value = 0;
  const char* const end = text.data() + text.size() - 1;
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || !(value > 0) || value > 1000)
    return invalid_operand(text, "a part of the trace's blocks", "write 5%");
  return std::max<uint64_t>(1, static_cast<uint64_t>(value / 100 * static_cast<double>(distinct_bytes)));
}

}  // namespace

Result<std::vector<uint64_t>> parse_cache_sizes(std::string_view text, uint64_t distinct_bytes) {
  std::vector<uint64_t> sizes;
  for (const std::string& word : words_of(text)) {
    const size_t dots = word.find("..");
    CELLAR_TRY_ASSIGN(const uint64_t first, parse_cache_size(word.substr(0, dots), distinct_bytes));
    uint64_t last = first;
    if (dots != word.npos) {
      CELLAR_TRY_ASSIGN(last, parse_cache_size(word.substr(dots + 2), distinct_bytes));
      if (first == 0 || first > last)
        return invalid_operand(word, "a range of sizes", "write the smaller size first: 1%..100% or 8m..1g");
    }
    for (uint64_t size = first; size < last && size <= INT64_MAX; size *= 2) sizes.push_back(size);
    sizes.push_back(last);
  }
  if (sizes.empty()) return invalid_operand(text, "a list of sizes", "write 64m,128m or 1%..100%");
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

void CacheSimulationCommand::declare(Arguments& arguments) {
  arguments.option("--policies", policies_, "LIST", "cache policies, or belady, the optimum (all of them)")
      .option("--sizes", sizes_, "LIST", "64m,1g; parts of all blocks 1%,5%; doubling 1%..100% (1%..100%)")
      .option("--export", export_path_, "FILE", "also write the lookups as CSV, which libCacheSim reads");
}

Result<std::vector<std::string>> CacheSimulationCommand::chosen_policies() const {
  register_cache_plugins();
  const Registry<CachePolicy>& registry = Registry<CachePolicy>::instance();
  std::vector<std::string> policies = words_outside_parentheses(policies_);
  if (policies.empty()) {
    policies = registry.names();
    policies.emplace_back(kBelady);
  }
  for (const std::string& each : policies) {
    if (each == kBelady) continue;
    CELLAR_TRY(registry.make(each).status().with_context("--policies"));
  }
  return policies;
}

Status CacheSimulationCommand::run(Session& session, const std::string& trace_path) {
  CELLAR_TRY_ASSIGN(const std::vector<std::string> policies, chosen_policies());
  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> file, posix_file_system().open_file(trace_path));
  const Result<CacheTrace> read = read_cache_trace(std::move(file), trace_path);
  if (read.status().is(Code::kInvalidArgument))
    return session.name_failure("CEL-NOT-TRACE", Exit::kCannot, read.status());
  CELLAR_TRY(read.status());
  const CacheTrace& trace = *read;
  CELLAR_TRY_ASSIGN(const std::vector<uint64_t> sizes,
                    for_argument("--sizes", parse_cache_sizes(sizes_, trace.distinct_bytes)));
  talk_of(session, trace);
  if (!export_path_.empty()) CELLAR_TRY(write_export(trace));
  CELLAR_TRY_ASSIGN(const std::vector<Answer> answers, simulate(trace, policies, sizes));
  if (session.format() == Format::kTable) {
    print_table(session, trace, answers);
  } else {
    print_records(session, trace, answers);
  }
  return {};
}

Result<std::vector<CacheSimulationCommand::Answer>> CacheSimulationCommand::simulate(
    const CacheTrace& trace, const std::vector<std::string>& policies,
    const std::vector<uint64_t>& sizes) const {
  std::vector<Answer> answers;
  for (const uint64_t size : sizes) {
    for (const std::string& policy : policies) {
      if (interrupted()) return interrupted_status("the simulation is not complete");
      Answer answer = {.policy = policy, .capacity_bytes = size, .counts = {}};
      if (policy == kBelady) {
        answer.counts = simulate_belady(trace, size);
      } else {
        CELLAR_TRY_ASSIGN(answer.counts, simulate_policy(trace, policy, size));
      }
      answers.push_back(std::move(answer));
    }
  }
  return answers;
}

// The form that libCacheSim calls csv, with a header: time in seconds, id, bytes.
Status CacheSimulationCommand::write_export(const CacheTrace& trace) const {
  std::ofstream to(export_path_, std::ios::binary);
  to << "time,id,bytes\n";
  for (const CacheTrace::Use& use : trace.uses) {
    if (use.kind == BlockUseKind::kLoaded || use.kind == BlockUseKind::kClosed) continue;
    const CacheTrace::Block& block = trace.blocks[use.number];
    to << use.time_us / 1'000'000 << ',' << block.id << ',' << block.bytes << '\n';
  }
  to.close();
  if (to) return {};
  return Status::io_error(fmt::format("{} cannot be written", export_path_))
      .hinting("does its directory exist?");
}

void CacheSimulationCommand::talk_of(Session& session, const CacheTrace& trace) {
  session.talk(fmt::format("{}: {} of {} ({}) in {:.1f} s", trace.name, counted(trace.lookups, "lookup"),
                           counted(trace.blocks.size(), "block"), human_bytes(trace.distinct_bytes),
                           static_cast<double>(trace.duration_us) / 1e6));
  session.talk(fmt::format("recorded by {} with {} and {}: {} of the lookups missed", trace.start.policy,
                           human_bytes(trace.start.capacity_bytes), counted(trace.start.shards, "shard"),
                           percent(miss_ratio(trace.hits, trace.lookups))));
  if (!trace.whole) {
    session.talk(
        fmt::format("the trace has no end: the process stopped without closing its engine ({} of "
                    "the file ignored)",
                    exact_bytes(trace.torn_bytes)));
  }
  if (trace.lost > 0)
    session.talk(
        fmt::format("{} were not recorded, because the file was too slow", counted(trace.lost, "use")));
  if (!trace.equal_sizes())
    session.talk("blocks have unequal sizes: belady is then close to the optimum, not the optimum");
}

void CacheSimulationCommand::print_table(Session& session, const CacheTrace& trace,
                                         const std::vector<Answer>& answers) {
  Records records(session.out(), session.format(), "cellar.simulate.cache/1", "simulations");
  for (size_t i = 0; i < answers.size();) {
    const uint64_t size = answers[i].capacity_bytes;
    records.size("cache", size);
    for (; i < answers.size() && answers[i].capacity_bytes == size; ++i)
      records.text(answers[i].policy, percent(miss_ratio(answers[i].counts.hits, trace.lookups)));
    records.add();
  }
  records.finish();
}

void CacheSimulationCommand::print_records(Session& session, const CacheTrace& trace,
                                           const std::vector<Answer>& answers) {
  Records records(session.out(), session.format(), "cellar.simulate.cache/1", "simulations");
  for (const Answer& answer : answers) {
    records.text("policy", answer.policy).count("capacity_bytes", answer.capacity_bytes);
    records.count("hits", answer.counts.hits).count("hit_bytes", answer.counts.hit_bytes);
    records.count("evictions", answer.counts.evictions);
    records.fraction("miss_ratio", miss_ratio(answer.counts.hits, trace.lookups));
    records.fraction("byte_miss_ratio", miss_ratio(answer.counts.hit_bytes, trace.used_bytes)).add();
  }
  records.count("lookups", trace.lookups).count("bytes", trace.used_bytes);
  records.count("blocks", trace.blocks.size()).count("distinct_bytes", trace.distinct_bytes);
  records.text("recorded_policy", trace.start.policy);
  records.count("recorded_capacity_bytes", trace.start.capacity_bytes);
  records.count("recorded_hits", trace.hits).count("lost", trace.lost).flag("whole", trace.whole);
  records.finish();
}

}  // namespace cellar
