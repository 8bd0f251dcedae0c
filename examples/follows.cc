// Who follows whom, and who is followed by whom: an observer keeps the inverse table in step. Both tables
// change in one write, or neither does.
//
//   example_follows [STORE]
//
// Table follows: row = user, column f:<whom>. Table followed_by: row = whom, column f:<user>.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "cellar/cellar.h"

namespace {

using namespace cellar;

// Compares the row before the write with the row after it, so that it need not know what each kind of write
// does.
class Inverse final : public Observer {
 public:
  explicit Inverse(std::shared_ptr<Table> followed_by) : followed_by_(std::move(followed_by)) {}

  Status before_write(const RowView& row, ObserverContext& context) override {
    const std::string user(row.row());
    CELLAR_TRY_ASSIGN(const RowBatch before, context.get(context.observed_table(), Get(user)));
    CELLAR_TRY_ASSIGN(const RowBatch after, context.get_after(context.observed_table(), Get(user)));
    for (const CellView& cell : before.row())
      if (!holds(after.row(), cell.qualifier()))
        CELLAR_TRY(context.erase(followed_by_, Delete(cell.qualifier()).column("f", user)));
    for (const CellView& cell : after.row()) {
      if (holds(before.row(), cell.qualifier())) continue;
      if (cell.qualifier() == user) return Status::invalid_argument("nobody follows himself");
      CELLAR_TRY(context.put(followed_by_, Put(cell.qualifier()).add("f", user, "")));
    }
    return {};
  }

 private:
  static bool holds(const RowView& row, std::string_view qualifier) {
    return std::ranges::any_of(row, [&](const CellView& cell) { return cell.qualifier() == qualifier; });
  }
  const std::shared_ptr<Table> followed_by_;
};

// Creates a table without rows. A deleted cell may be put again at once, because markers use the order of
// writes.
Result<std::shared_ptr<Table>> new_table(Engine& engine, const std::string& name) {
  const std::vector<std::string> names = engine.list_tables();
  if (std::ranges::find(names, name) != names.end()) CELLAR_TRY(engine.drop_table(name));
  return engine.create_table(name, {.families = {{.name = "f", .delete_order = MarkerOrder::kSequence}}});
}

Status print(Table& table) {
  std::printf("  %s:", table.name().c_str());
  CELLAR_TRY_ASSIGN(const auto scanner, table.scan({}));
  for (const RowView row : *scanner) {
    std::printf("  %s", std::string(row.row()).c_str());
    for (const CellView& cell : row)
      std::printf("%c%s", &cell == &row.cells().front() ? '=' : ',', std::string(cell.qualifier()).c_str());
  }
  std::printf("\n");
  return scanner->status();
}

Status run(const std::string& path) {
  CELLAR_TRY_ASSIGN(const auto engine, Engine::open(path, {.create_if_missing = true}));
  CELLAR_TRY_ASSIGN(const auto follows, new_table(*engine, "follows"));
  CELLAR_TRY_ASSIGN(const auto followed_by, new_table(*engine, "followed_by"));
  CELLAR_TRY(engine->add_observer("follows", "inverse", std::make_shared<Inverse>(followed_by)));
  const auto show = [&](const char* what) -> Status {
    std::printf("%s\n", what);
    CELLAR_TRY(print(*follows));
    return print(*followed_by);
  };

  Batch batch;
  batch.put(follows, Put("ada").add("f", "bob", "").add("f", "cleo", ""));
  batch.put(follows, Put("bob").add("f", "cleo", ""));
  CELLAR_TRY(engine->write(batch));
  CELLAR_TRY(show("a batch"));

  CELLAR_TRY(follows->erase(Delete("ada").column("f", "bob")));
  CELLAR_TRY(show("ada leaves bob"));

  const auto swap = [&](Transaction& transaction) -> Status {
    CELLAR_TRY(transaction.erase(follows, Delete("ada").column("f", "cleo")));
    return transaction.put(follows, Put("cleo").add("f", "ada", ""));
  };
  CELLAR_TRY(engine->run_transaction(swap));
  CELLAR_TRY(show("a transaction: now cleo follows ada"));

  const Status refused = follows->put(Put("bob").add("f", "ada", "").add("f", "bob", ""));
  std::printf("%s\n", std::string(refused.message()).c_str());
  CELLAR_TRY(show("nothing of that was written"));

  CELLAR_TRY(follows->erase(Delete("bob")));
  return show("bob is gone");
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = run(argc > 1 ? argv[1] : "follows_store");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return status.ok() ? 0 : 1;
}
