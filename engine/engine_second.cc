// EngineImpl: second tables.
#include <fmt/format.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "engine/engine_impl.h"
#include "engine/schema/names.h"
#include "engine/second/second_build.h"
#include "engine/write/transaction.h"

namespace cellar {

Result<std::shared_ptr<Table>> EngineImpl::create_second_table(const std::string& name,
                                                               const SecondTable& second) {
  CELLAR_TRY(check_writable());
  CELLAR_TRY(check_table_name(name));
  const Status created = parts_->write_path.alone([&]() -> Status {
    CELLAR_TRY_ASSIGN(const TableOptions options, parts_->second_tables.schema(name, second));
    CELLAR_TRY(create_now(name, options, second));
    return parts_->second_tables.install();
  });
  CELLAR_TRY(created);
  return open_table(name);
}

// The tables that a job on a second table reads.
Result<SecondPair> EngineImpl::second_pair(const std::string& name) {
  CELLAR_TRY_ASSIGN(const std::shared_ptr<TableState> table, parts_->catalog.find(name));
  const std::optional<SecondTable> second = table->second();
  if (!second) return Status::invalid_argument("table " + name + " is not a second table");
  CELLAR_TRY_ASSIGN(std::shared_ptr<Table> source, open_table(second->of));
  CELLAR_TRY_ASSIGN(SecondDefinition definition, SecondDefinition::parse(*second));
  return SecondPair{std::move(source), table, std::move(definition)};
}

Status EngineImpl::build_second_table(const std::string& name, const std::function<bool(uint64_t)>& on_way) {
  CELLAR_TRY(check_writable());
  CELLAR_TRY_ASSIGN(const SecondPair pair, second_pair(name));
  if (pair.second->info().second->built) return {};
  const auto begin = [&] {
    return std::make_unique<TransactionImpl>(parts_->shared(parts_->host), parts_->shared(parts_->write_path),
                                             parts_->memory, TransactionOptions());
  };
  CELLAR_TRY(build_second(pair, begin, on_way).with_context("building second table " + name));
  return parts_->write_path.alone([&]() -> Status {
    const std::shared_ptr<TableState> table = parts_->catalog.lookup(name);
    if (table == nullptr || table != pair.second)
      return Status::not_found("second table " + name + " was dropped while it was built");
    CELLAR_TRY(parts_->disk.sync_log());  // a crash must not take rows from a table that is built
    ManifestEdit edit;
    edit.set_seconds.push_back({table->id(), *table->second()});
    edit.set_seconds.front().second.built = true;
    CELLAR_TRY(parts_->disk.commit(edit));
    return parts_->second_tables.install();
  });
}

Result<SecondTableCheck> EngineImpl::verify_second_table(const std::string& name,
                                                         const std::function<bool(uint64_t)>& on_way) {
  CELLAR_TRY(parts_->life.check_open());
  CELLAR_TRY_ASSIGN(const SecondPair pair, second_pair(name));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<const Snapshot> now, snapshot());
  return verify_second(pair, now, on_way);
}

}  // namespace cellar
