// Quick start: open a store, make a table, load rows, flush, compact, get, scan, and see what a read cost.
#include <cstdio>
#include <string>
#include <vector>

#include "cellar/cellar.h"

namespace {

using namespace cellar;

Status run(const std::string& path) {
  CELLAR_TRY_ASSIGN(const auto engine, Engine::open(path, {.create_if_missing = true}));
  const TableOptions options = {
      .families = {{.name = "d", .max_versions = 3}, {.name = "c", .ttl_s = 7 * 86400}}};
  CELLAR_TRY_ASSIGN(const auto orders, engine->open_or_create_table("orders", options));

  std::vector<Action> puts;  // each row is atomic; Engine::write(Batch) is atomic over rows and tables
  for (int i = 0; i < 10000; ++i) {
    const std::string row = "user" + std::to_string(100000 + i);
    puts.emplace_back(Put(row).add("d", "name", "Ada " + std::to_string(i)).add("c", "page", "/start"));
  }
  for (const Result<ActionResult>& put : orders->batch(puts)) CELLAR_TRY(put.status());

  CELLAR_TRY(orders->flush());  // writes the memtables into HFiles, one for each family
  CELLAR_TRY(orders->put(Put("user104242").add("d", "name", "Grace")));
  CELLAR_TRY(orders->flush());
  CELLAR_TRY(orders->major_compact());  // now each family has a single file

  ReadStats cost;
  CELLAR_TRY_ASSIGN(const RowBatch row, orders->get(Get("user104242").versions(3).stats(&cost)));
  for (const CellView& cell : row.row()) {
    std::printf("%.*s:%.*s = %.*s\n", static_cast<int>(cell.family().size()), cell.family().data(),
                static_cast<int>(cell.qualifier().size()), cell.qualifier().data(),
                static_cast<int>(cell.value_bytes().size()), cell.value_bytes().data());
  }
  std::printf("get: %s\n", to_text(cost).c_str());

  ReadStats scan_cost;
  const Scan scan = Scan().prefix("user1042").column("d", "name").limit(5).stats(&scan_cost);
  CELLAR_TRY_ASSIGN(const auto scanner, orders->scan(scan));
  for (const RowView each : *scanner) {
    const std::string_view name = each.value("d", "name").value_or("");
    std::printf("%s  %s\n", std::string(each.row()).c_str(), std::string(name).c_str());
  }
  CELLAR_TRY(scanner->status());
  std::printf("scan: %s\n", to_text(scan_cost).c_str());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = run(argc > 1 ? argv[1] : "quick_start_store");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return status.ok() ? 0 : 1;
}
