// cellar simulate: what other choices would have done with a load that was recorded.
#include <string>

#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/simulate/simulate_cache.h"

namespace cellar {
namespace {

class SimulateCommand final : public Command {
 public:
  explicit SimulateCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kOther; }
  std::string_view summary() const override {
    return "Compare cache policies and cache sizes by a trace that was recorded";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("KIND", kind_, "cache")
        .operand("TRACE", trace_, "block trace, which the engine option block_trace records");
    cache_.declare(arguments);
    arguments
        .note(
            "Prints the part of the lookups that would have missed, by policy and size. Indexes and filters\n"
            "take no room in a simulated cache, and it has one shard. CELLAR_ENGINE=block_trace=FILE in the\n"
            "environment of a command records its trace.")
        .example("cellar simulate cache shop.trace", "all policies, from 1% of all blocks to all of them")
        .example(
            "cellar simulate cache shop.trace --policies 'slru(single=10%,multi=65%),belady' --sizes 8m..1g",
            "one policy and the optimum, at sizes that double")
        .more_example("cellar simulate cache shop.trace --format json > misses.json",
                      "for cellar plot misses.json --x capacity_bytes --series policy --log-x")
        .more_example("cellar simulate cache shop.trace --export shop.csv", "lookups for libCacheSim");
  }

  Status run(Session& session) override {
    if (kind_ != "cache") return unknown_action(kind_, {"cache"});
    return cache_.run(session, trace_);
  }

 private:
  std::string kind_;
  std::string trace_;
  CacheSimulationCommand cache_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_simulate_cmd_simulate, "simulate", SimulateCommand)

}  // namespace cellar
