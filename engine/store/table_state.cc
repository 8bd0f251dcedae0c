// TableState: lists of families, options, and whether the table may be used.
#include "engine/store/table_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "engine/schema/names.h"

namespace cellar {

Status is_read_only(std::string_view table) {
  return Status::read_only("table " + std::string(table) + " is read-only")
      .hinting("alter it: read_only=false, or READONLY => false in the shell");
}

TableState::TableState(std::shared_ptr<const TableHost> host, uint32_t id, std::string name,
                       TableOptions options, std::vector<std::shared_ptr<Store>> stores)
    : host_(std::move(host)), id_(id), name_(std::move(name)) {
  set_options(std::move(options));
  CELLAR_ASSERT(host_ != nullptr && id_ != 0 && !name_.empty());
  set_families(std::move(stores));
}

TableState* TableState::of(const TableHost& host, Table* table) {
  auto* state = dynamic_cast<TableState*>(table);
  return state != nullptr && state->host_.get() == &host ? state : nullptr;
}

TableOptions TableState::options() const {
  MutexLock lock(history_mutex_);
  return options_;
}

void TableState::set_options(TableOptions options) {
  options.families.clear();
  MutexLock lock(history_mutex_);
  options_ = std::move(options);
  durability_.store(options_.durability.value_or(host_->world.options.durability), std::memory_order_relaxed);
  read_only_.store(options_.read_only, std::memory_order_relaxed);
  if (const FamilyList* list = families_.load(std::memory_order_acquire); list != nullptr)
    for (const auto& store : list->stores) store->take_table_options(options_);
}

void TableState::set_families(std::vector<std::shared_ptr<Store>> stores) {
  std::ranges::sort(stores, {}, [](const auto& store) { return store->family(); });
  auto list = std::make_unique<const FamilyList>(FamilyList{std::move(stores)});
  CELLAR_ASSERT(std::ranges::adjacent_find(list->stores, {}, [](const auto& store) {
                  return store->family();
                }) == list->stores.end());
  MutexLock lock(history_mutex_);
  for (const auto& store : list->stores) {
    store->take_table_options(options_);
    store->set_watched(has_seconds());
  }
  families_.store(list.get(), std::memory_order_release);
  history_.push_back(std::move(list));
}

std::optional<SecondTable> TableState::second() const {
  MutexLock lock(history_mutex_);
  return second_;
}

void TableState::set_second(std::optional<SecondTable> second) {
  MutexLock lock(history_mutex_);
  is_second_.store(second.has_value(), std::memory_order_release);
  unbuilt_.store(second && !second->built, std::memory_order_release);
  second_ = std::move(second);
}

void TableState::set_has_seconds(bool has) {
  MutexLock lock(history_mutex_);
  has_seconds_.store(has, std::memory_order_release);
  const FamilyList* const list = families_.load(std::memory_order_acquire);
  CELLAR_ASSERT(list != nullptr);
  for (const auto& store : list->stores) store->set_watched(has);
}

Status TableState::is_unbuilt() const {
  return Status::busy("second table " + name_ + " is not built")
      .hinting("Engine::build_second_table or cellar second-table build builds it");
}

Status TableState::is_second() const {
  const std::optional<SecondTable> second = this->second();
  return Status::read_only(fmt::format("table {} is a second table of {}, which the engine writes", name_,
                                       second ? second->of : "another table"))
      .hinting("write to that table instead");
}

Status TableState::check_adopting() const {
  CELLAR_TRY(check_writable());
  if (!has_seconds()) return {};
  return Status::invalid_argument("table " + name_ +
                                  " has second tables, which would not follow adopted files")
      .hinting("drop the second tables, adopt the files, and create the second tables again");
}

Status TableState::check_additions() const {
  if (is_second_.load(std::memory_order_relaxed)) return is_second();
  if (!has_seconds()) return {};
  return Status::invalid_argument("an observer cannot add to table " + name_ +
                                  ", which has second tables that would not follow")
      .hinting("write to it with a Batch instead");
}

Status TableState::why_unusable() const {
  CELLAR_TRY(host_->life.check_open());
  return dropped() ? Status::not_found("table " + name_ + " was dropped") : Status();
}

Status TableState::check_writable() const {
  CELLAR_TRY(check());
  if (read_only_.load(std::memory_order_relaxed)) return is_read_only(name_);
  return is_second_.load(std::memory_order_relaxed) ? is_second() : Status();
}

Status TableState::unknown_family(std::string_view family) const {
  std::vector<std::string> names;
  for (const auto& store : families().stores) names.push_back(store->family());
  return cellar::unknown_family(name_, family, names);
}

Result<std::vector<std::shared_ptr<Store>>> TableState::stores_of(std::string_view family) const {
  std::vector<std::shared_ptr<Store>> chosen;
  for (const auto& store : families().stores)
    if (family.empty() || store->family() == family) chosen.push_back(store);
  if (chosen.empty() && !family.empty()) return unknown_family(family);
  return chosen;
}

}  // namespace cellar
