// A program of somebody else's that links cellar::cellar: a store is made, written, read, and has a policy of
// its own.
#include <cellar/cellar.h>
#include <cellar/compaction_policy.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

namespace {

using namespace cellar;

// Proves two things. The library and the program share a single registry, also when the library is shared.
// The program may be compiled without run-time type information.
class MergeAll final : public CompactionPolicy {
 public:
  explicit MergeAll(const PluginParams& params) : files_(params.count("files", 2)) {}

  std::optional<CompactionPlan> pick(const StoreShape& shape, std::vector<std::string>*) const override {
    if (shape.files.size() < files_) return std::nullopt;
    CompactionPlan plan;
    plan.why = "there are " + std::to_string(shape.files.size()) + " files";
    for (const StoreFileInfo& file : shape.files) plan.inputs.push_back(file.id);
    return plan;
  }

 private:
  uint64_t files_;
};

Status differs(const std::string& what) { return Status::corruption(what + " is not what was expected"); }

Status write_rows(Engine& engine, const std::shared_ptr<Table>& table) {
  for (const char* value : {"first", "second"}) {
    Batch batch;
    for (int i = 100; i < 200; ++i) batch.put(table, Put("row" + std::to_string(i)).add("f", "q", value));
    CELLAR_TRY(engine.write(batch));
    CELLAR_TRY(table->flush());
  }
  return table->compact();
}

Status read_rows(Table& table) {
  CELLAR_TRY_ASSIGN(const RowBatch row, table.get(Get("row142")));
  if (row.value("f", "q") != "second") return differs("row142");
  CELLAR_TRY_ASSIGN(const auto scanner, table.scan(Scan().start("row150").limit(10)));
  int rows = 0;
  for (const RowView each : *scanner) rows += each.value("f", "q") == "second" ? 1 : 100;
  CELLAR_TRY(scanner->status());
  if (rows != 10) return differs("the scan");
  const size_t files = table.info().families[0].files.size();
  return files == 1 ? Status() : differs("the number of files, " + std::to_string(files) + ",");
}

// Templates of the library are made for some types, and a shared library must show them.
Status aggregate_rows(Table& table) {
  CELLAR_TRY(table.increment(Increment("sum").add("g", "n", 7)).status());
  const Scan scan = Scan().family("g");
  CELLAR_TRY_ASSIGN(const auto numbers, aggregate<int64_t>(table, scan));
  if (numbers.values != 1 || numbers.sum != 7) return differs("the sum");
  int groups = 0;
  CELLAR_TRY(aggregate_groups<int64_t>(
      table, scan, [](std::string_view row) -> Result<size_t> { return row.size(); },
      [&](const Aggregate<int64_t>&) { return ++groups, Status(); }));
  return groups == 1 ? Status() : differs("the groups");
}

Status run(const std::string& path) {
  Registry<CompactionPolicy>::instance().add(
      "merge_all", [](const PluginParams& params) { return std::make_unique<MergeAll>(params); });
  EngineOptions options;
  options.create_if_missing = true;
  options.error_if_exists = true;
  options.automatic_compaction = false;
  CELLAR_TRY_ASSIGN(const auto engine, Engine::open(path, options));
  FamilyOptions family = {.name = "f"};
  family.compaction = "merge_all(files=2)";
  CELLAR_TRY_ASSIGN(const auto table, engine->create_table("t", {.families = {family, {.name = "g"}}}));
  CELLAR_TRY(write_rows(*engine, table));
  CELLAR_TRY(read_rows(*table));
  CELLAR_TRY(aggregate_rows(*table));

  // Statements about plug-ins that the library's own build makes must be true of the library that was linked.
  family.compaction = "no_such_policy";
  const Status unknown = engine->alter_family("t", family);
  std::printf("%s\n", unknown.to_text().c_str());
  if (!unknown.is(Code::kInvalidArgument)) return differs("the answer to an unknown policy");
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = run(argc > 1 ? argv[1] : "consumer_store");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return status.ok() ? 0 : 1;
}
