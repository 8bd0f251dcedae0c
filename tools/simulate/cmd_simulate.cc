// cellar simulate: what policies and caches would do, without files.
#include <optional>
#include <string>

#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/simulate/simulate_cache.h"
#include "tools/simulate/simulate_compaction.h"

namespace cellar {
namespace {

class SimulateCommand final : public Command {
 public:
  explicit SimulateCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kOther; }
  std::string_view summary() const override {
    return "Compare compaction policies, or cache policies by a trace, without files";
  }

  void declare(Arguments& arguments) override {
    arguments.optional_operand("KIND", kind_, "compaction (default) or cache")
        .optional_operand("TRACE", trace_, "a trace of operations (compaction) or of blocks (cache)");
    compaction_.declare(arguments);
    cache_.declare(arguments);
    arguments
        .note(
            "compaction: write is bytes written to log and files over bytes put, space is bytes of files "
            "over\n"
            "live bytes, runs are those that a get looks at without Bloom filters; all after the load.\n"
            "With a TRACE, the history is what it wrote to its table, from an empty store on.\n"
            "cache: the part of the lookups that would have missed, by policy and size, in one shard "
            "without\n"
            "indexes and filters. CELLAR_ENGINE=block_trace=FILE in the environment records a trace.")
        .example("cellar simulate --policy leveled --policy 'tiered(runs=4)' --data 10GiB",
                 "two policies under random overwrites")
        .example("cellar simulate cache shop.trace", "all policies, from 1% of all blocks to all of them")
        .more_example("cellar simulate --writes 'zipf(skew=1.1)' --device 'disk(write=200MiB)' --times 20",
                      "all policies under skewed overwrites, with stalls on a slow disk")
        .more_example(
            "cellar simulate cache shop.trace --policies 'slru(single=10%,multi=65%),belady' --sizes 8m..1g",
            "one policy and the optimum, at sizes that double")
        .more_example("cellar simulate cache shop.trace --format json > misses.json",
                      "for cellar plot misses.json --x capacity_bytes --series policy --log-x")
        .more_example("cellar simulate cache shop.trace --export shop.csv", "lookups for libCacheSim")
        .more_example("cellar simulate --policy leveled --data 1GiB --times 4 --series leveled.jsonl",
                      "the store over time, for cellar plot")
        .more_example(
            "cellar simulate compaction --writes 'append(deletes=0.1, seed=7)' --ttl 1m --versions 3 \\\n"
            "      --files-stop 32 --memtable-bytes 1MiB --cell-bytes 100 --data 64MiB --resolution 64",
            "other writes, rules and sizes")
        .more_example("cellar simulate compaction ops.trace --table people --times 20 --memtable-bytes 64k",
                      "what was recorded, twenty times over");
  }

  Status run(Session& session) override {
    if (kind_ == "cache") {
      if (trace_.empty()) return usage(session, "simulate cache needs a block trace");
      if (!compaction_.is_default()) return usage(session, "an option of compactions with simulate cache");
      return cache_.run(session, trace_);
    }
    if (!kind_.empty() && kind_ != "compaction") return unknown_action(kind_, {"compaction", "cache"});
    if (!cache_.is_default()) return usage(session, "an option of caches with simulate compaction");
    return compaction_.run(session, trace_);
  }

 private:
  static Status usage(Session& session, const char* message) {
    return session.name_failure("CEL-USAGE", Exit::kUsage,
                                Status::invalid_argument(message).hinting("cellar simulate --help"));
  }

  std::string kind_;
  std::string trace_;
  CompactionSimulationCommand compaction_;
  CacheSimulationCommand cache_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_simulate_cmd_simulate, "simulate", SimulateCommand)

}  // namespace cellar
