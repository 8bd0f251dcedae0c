// Store: every change makes a new view.
#include "engine/store.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace cellar {

Store::Store(StoreIds ids, std::string table_name, std::shared_ptr<const FamilyConfig> config,
             std::shared_ptr<Directory> directory, std::vector<std::shared_ptr<StoreFile>> files,
             uint64_t rewritten_at, uint64_t flushed_sequence)
    : ids_(ids),
      table_name_(std::move(table_name)),
      family_(config->options.name),
      directory_(std::move(directory)),
      flushed_sequence_(flushed_sequence) {
  file_count_.store(files.size());
  auto view = std::make_shared<StoreView>();
  view->config = std::move(config);
  view->files = std::move(files);
  view->rewritten_at = rewritten_at;
  view_ = std::move(view);
}

template <class Change>
void Store::change_view(const Change& change) {
  std::shared_ptr<const StoreView> old;
  {
    MutexLock lock(mutex_);
    auto next = std::make_shared<StoreView>(*view_);
    change(*next);
    frozen_count_.store(next->frozen.size(), std::memory_order_relaxed);
    file_count_.store(next->files.size(), std::memory_order_relaxed);
    old = std::exchange(view_, std::move(next));
  }
}

void Store::set_active(MemtableRef first) {
  active_ = first.get();
  active_bytes_seen_ = 0;
  change_view([&](StoreView& view) { view.active = first; });
}

void Store::freeze(MemtableRef fresh) {
  active_ = fresh.get();
  active_bytes_seen_ = 0;
  change_view([&](StoreView& view) {
    view.frozen.insert(view.frozen.begin(), view.active);
    view.active = fresh;
  });
}

int64_t Store::take_growth() {
  const uint64_t now = active_->bytes();
  return static_cast<int64_t>(now - std::exchange(active_bytes_seen_, now));
}

uint64_t Store::install_flush(size_t count, std::shared_ptr<StoreFile> file, uint64_t rewritten_at,
                              uint64_t flushed_sequence) {
  uint64_t freed = 0;
  change_view([&](StoreView& view) {
    if (dropped()) {  // the edit that dropped the store came after the one that added the file
      if (file != nullptr) file->set_obsolete();
      return;
    }
    CELLAR_ASSERT(count <= view.frozen.size());
    for (size_t i = 0; i < count; ++i) {
      freed += view.frozen.back()->bytes();
      view.frozen.pop_back();
    }
    if (file != nullptr) view.files.push_back(file);
    view.rewritten_at = std::max(view.rewritten_at, rewritten_at);
  });
  if (flushed_sequence > this->flushed_sequence())
    flushed_sequence_.store(flushed_sequence, std::memory_order_release);
  return freed;
}

void Store::install_compaction(std::span<const std::shared_ptr<StoreFile>> inputs,
                               std::shared_ptr<StoreFile> output, uint64_t rewritten_at) {
  change_view([&](StoreView& view) {
    if (dropped()) {
      if (output != nullptr) output->set_obsolete();
      return;
    }
    const auto first = std::ranges::find(view.files, inputs.front());
    CELLAR_ASSERT(static_cast<size_t>(view.files.end() - first) >= inputs.size());
    CELLAR_ASSERT(std::equal(inputs.begin(), inputs.end(), first));
    const auto at = view.files.erase(first, first + static_cast<std::ptrdiff_t>(inputs.size()));
    if (output != nullptr) view.files.insert(at, output);
    view.rewritten_at = std::max(view.rewritten_at, rewritten_at);
  });
  for (const auto& input : inputs) input->set_obsolete();
}

void Store::install_adopted(std::span<const std::shared_ptr<StoreFile>> files) {
  change_view([&](StoreView& view) { view.files.insert(view.files.end(), files.begin(), files.end()); });
}

void Store::install_config(std::shared_ptr<const FamilyConfig> config) {
  change_view([&](StoreView& view) { view.config = std::move(config); });
}

uint64_t Store::drop() {
  uint64_t freed = active_ != nullptr ? active_->bytes() : 0;
  change_view([&](StoreView& view) {
    dropped_.store(true, std::memory_order_release);
    for (const MemtableRef& memtable : view.frozen) freed += memtable->bytes();
    for (const auto& file : view.files) file->set_obsolete();
    view.files.clear();
    view.frozen.clear();
  });
  return freed;
}

uint64_t Store::oldest_unflushed() const {
  const std::shared_ptr<const StoreView> view = this->view();
  uint64_t oldest = view->active.get() != nullptr ? view->active->summary().sequence_min : UINT64_MAX;
  for (const MemtableRef& memtable : view->frozen)
    oldest = std::min(oldest, memtable->summary().sequence_min);
  return oldest;
}

}  // namespace cellar
