// TableAlteration: all checks, then directories, then one edit of the manifest, then what is in memory.
#include "engine/jobs/table_alteration.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "engine/jobs/background.h"
#include "engine/jobs/family_stores.h"
#include "engine/jobs/prefetch_job.h"
#include "engine/store/table_state.h"

namespace cellar {
namespace {

template <class Names>
bool is_among(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

Status TableAlteration::run() {
  CELLAR_ASSERT(changed_.empty() && added_.empty() && removed_.empty());  // used once
  CELLAR_TRY(check());
  ManifestEdit edit;
  const TableOptions options = options_to_be();
  if (options != table_.options()) edit.set_tables.push_back({table_.id(), table_.name(), options, {}});
  CELLAR_TRY(prepare_families(edit));
  if (edit.set_tables.empty() && edit.set_families.empty() && edit.drop_families.empty()) return {};
  CELLAR_TRY(
      work_.disk.commit(edit));  // crash before: perhaps an empty directory more; after: all of it counts
  const bool compacts_again = options.compaction_enabled && !table_.options().compaction_enabled;
  std::vector<std::shared_ptr<Store>> compact;  // their policy may want to now
  for (const Changed& each : changed_) compact.push_back(each.store->shared_from_this());
  table_.set_options(options);
  install();
  work_.activity.changed.signal();  // writers may wait for what they need not wait for any more
  if (compacts_again) compact = table_.families().stores;
  for (const auto& store : compact) background_.queue_compaction(store);
  return {};
}

Status TableAlteration::check() const {
  const FamilyList& known = table_.families();
  std::vector<std::string> names;
  for (const auto& store : known.stores) names.push_back(store->family());
  std::vector<std::string> unfit;
  std::vector<std::string> missing;
  std::string hint;
  size_t left = known.stores.size();
  std::vector<std::string> seen;
  for (const FamilyOptions& family : change_.set_families) {
    if (Status status = validate(family); !status.ok()) unfit.emplace_back(status.message());
    if (is_among(seen, family.name))
      unfit.push_back(fmt::format("family \"{}\" is named twice", escaped(family.name)));
    seen.push_back(family.name);
    left += known.find(family.name) == nullptr ? 1 : 0;
  }
  for (const std::string& name : change_.remove_families) {
    if (is_among(seen, name))
      unfit.push_back(fmt::format("family \"{}\" is named twice, once to be removed", escaped(name)));
    seen.push_back(name);
    if (known.find(name) != nullptr) {
      --left;
      continue;
    }
    missing.push_back(fmt::format("table {} has no family \"{}\"", table_.name(), escaped(name)));
    if (hint.empty()) hint = nearest_hint(name, names);
  }
  if (left == 0 && missing.empty() && !change_.remove_families.empty())
    unfit.push_back(
        fmt::format("a table needs at least one family: the last of {} cannot be removed", table_.name()));
  TableOptions options = options_to_be();
  options.families.emplace_back().name = "any";
  if (Status status = validate(options); !status.ok()) unfit.emplace_back(status.message());
  if (change_.durability && change_.default_durability)
    unfit.emplace_back("durability and default_durability exclude each other");
  const bool not_found = unfit.empty();
  unfit.insert(unfit.end(), missing.begin(), missing.end());
  if (unfit.empty()) return {};
  const std::string text = fmt::format("{}", fmt::join(unfit, "; "));
  return (not_found ? Status::not_found(text) : Status::invalid_argument(text)).hinting(hint);
}

TableOptions TableAlteration::options_to_be() const {
  TableOptions options = table_.options();
  if (change_.durability) options.durability = change_.durability;
  if (change_.default_durability) options.durability.reset();
  options.read_only = change_.read_only.value_or(options.read_only);
  options.compaction_enabled = change_.compaction_enabled.value_or(options.compaction_enabled);
  options.memtable_bytes = change_.memtable_bytes.value_or(options.memtable_bytes);
  options.metadata = change_.metadata.value_or(options.metadata);
  options.configuration = change_.configuration.value_or(options.configuration);
  return options;
}

Status TableAlteration::prepare_families(ManifestEdit& edit) {
  for (const auto& store : table_.families().stores)
    if (is_among(change_.remove_families, store->family())) {
      edit.drop_families.push_back(store->ids().family);
      edit.last_sequence = work_.mvcc.read_point();
      removed_.push_back(store);
    }
  edit.next_family_id = work_.disk.manifest->current()->next_family_id;
  TableRecord coming;
  coming.id = table_.id();
  coming.name = table_.name();
  for (const FamilyOptions& family : change_.set_families) {
    CELLAR_TRY_ASSIGN(std::shared_ptr<const FamilyConfig> config, FamilyConfig::create(family));
    uint32_t id = 0;
    if (Store* known = table_.families().find(family.name); known != nullptr) {
      if (known->view()->config->options == family) continue;
      id = known->ids().family;
      changed_.push_back({known, std::move(config)});
    } else {
      id = edit.next_family_id++;
      coming.families.push_back({id, family.name, option_list(family), work_.mvcc.read_point(), {}});
    }
    edit.set_families.push_back({table_.id(), id, family.name, option_list(family)});
  }
  if (coming.families.empty()) return {};
  CELLAR_TRY_ASSIGN(added_, open_new_families(work_, coming));
  return {};
}

// A family that begins to be prefetched is, from the files that are there on.
void TableAlteration::change(Changed& each) {
  CELLAR_ASSERT(each.store != nullptr && each.config != nullptr);
  Store& store = *each.store;
  const bool before = wants_prefetch(work_.world, store.view()->config->options);
  const bool after = wants_prefetch(work_.world, each.config->options);
  store.install_config(std::move(each.config));
  if (before || !after) return;
  const std::shared_ptr<const StoreView> view = store.view();
  for (const auto& file : view->files) file->prefetch_anew();
  background_.queue_prefetch(store.shared_from_this());
}

// The list first: who finds a store that was dropped finds another list, and begins anew.
void TableAlteration::install() {
  for (Changed& each : changed_) change(each);
  if (added_.empty() && removed_.empty()) return;
  std::vector<std::shared_ptr<Store>> stores = table_.families().stores;
  std::erase_if(stores,
                [&](const auto& store) { return std::ranges::find(removed_, store) != removed_.end(); });
  stores.insert(stores.end(), added_.begin(), added_.end());
  CELLAR_ASSERT(!stores.empty());  // check() refuses to remove the last family
  table_.set_families(std::move(stores));
  for (const auto& store : removed_) {
    background_.note_dropped(*store, work_.mvcc.last_taken());
    work_.memory.shrink(store->drop());
  }
}

}  // namespace cellar
