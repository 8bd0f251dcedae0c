// A compaction policy of one's own, in a program of one's own: registered first thing, then chosen by name in
// a family.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "cellar/cellar.h"
#include "cellar/compaction_policy.h"

namespace {

using namespace cellar;

// Merges the oldest files once there are `files` of them. The whole interface is one pure function.
class OldestFirst final : public CompactionPolicy {
 public:
  explicit OldestFirst(const PluginParams& params) : files_(params.count("files", 4)) {}

  std::optional<CompactionPlan> pick(const StoreShape& shape,
                                     std::vector<std::string>* trace) const override {
    if (trace != nullptr) trace->push_back(std::to_string(shape.files.size()) + " files");
    if (shape.files.size() < files_) return std::nullopt;
    CompactionPlan plan;
    plan.why = "there were " + std::to_string(shape.files.size()) + " files";
    for (const StoreFileInfo& file : shape.files.first(files_)) {
      if (file.busy) return std::nullopt;
      plan.inputs.push_back(file.id);
    }
    return plan;
  }

 private:
  size_t files_;
};

// Says what the engine does, on the thread that does it.
class Narrator final : public EventListener {
 public:
  void on_compaction_end(const CompactionInfo& info) override {
    std::printf("compacted %zu files: %s\n", info.inputs.size(), info.why.c_str());
  }
};

Status run(const std::string& path) {
  Registry<CompactionPolicy>::instance().add(
      "oldest_first", [](const PluginParams& params) { return std::make_unique<OldestFirst>(params); });
  std::filesystem::remove_all(path);
  Narrator narrator;
  EngineOptions options;
  options.create_if_missing = true;
  options.automatic_compaction = false;  // only when asked, so that this program prints the same each time
  options.environment.events = &narrator;
  CELLAR_TRY_ASSIGN(const auto engine, Engine::open(path, options));
  const TableOptions table_options = {.families = {{.name = "f", .compaction = "oldest_first(files=3)"}}};
  CELLAR_TRY_ASSIGN(const auto table, engine->create_table("numbers", table_options));
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 100; ++i)
      CELLAR_TRY(table->put(Put("row" + std::to_string(i)).add("f", "round", std::to_string(round))));
    CELLAR_TRY(table->flush());
  }
  const size_t before = table->info().families[0].files.size();
  CELLAR_TRY(table->compact());
  const size_t after = table->info().families[0].files.size();
  std::printf("%zu files before, %zu after\n", before, after);
  if (before != 5 || after >= 3) return Status::corruption("the policy was not followed");
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = run(argc > 1 ? argv[1] : "my_policy_store");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return status.ok() ? 0 : 1;
}
