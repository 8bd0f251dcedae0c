// UnsaltedFilter: removes the salt from keys and restores it.
#include "engine/read/unsalted_filter.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/coding.h"

namespace cellar {
namespace {

void point_at(CellView& cell, const std::string& key) {
  cell.key = key.data();
  cell.key_size = static_cast<uint32_t>(key.size());
}

// Changes the cell to a row without its salt; `key` holds the new key.
void take_salt(CellView& cell, std::string& key) {
  char row_size[2];
  store_be16(row_size, static_cast<uint16_t>(cell.row_size - 1));
  key.assign(row_size, sizeof row_size).append(cell.key_bytes().substr(sizeof row_size + 1));
  point_at(cell, key);
  --cell.row_size;
}

void put_salt(CellView& cell, char salt, std::string& key) {
  char row_size[2];
  store_be16(row_size, static_cast<uint16_t>(cell.row_size + 1));
  key.assign(row_size, sizeof row_size).append(1, salt).append(cell.key_bytes().substr(sizeof row_size));
  point_at(cell, key);
  ++cell.row_size;
}

}  // namespace

void UnsaltedFilter::set_reversed(bool reversed) {
  Filter::set_reversed(reversed);
  inside_->set_reversed(reversed);
}

CellView UnsaltedFilter::shown(const CellView& cell) {
  CellView unsalted = cell;
  take_salt(unsalted, key_);
  return unsalted;
}

std::optional<Cell> UnsaltedFilter::seek_hint(const CellView& cell) {
  std::optional<Cell> hint = inside_->seek_hint(shown(cell));
  if (hint) hint->row.insert(hint->row.begin(), salt_);
  return hint;
}

// Takes over the filter's value and tags. The key stays, because it identifies the row.
void UnsaltedFilter::transform(CellView& cell) {
  CellView changed = shown(cell);
  inside_->transform(changed);
  cell.value = changed.value;
  cell.value_size = changed.value_size;
  cell.tags = changed.tags;
  cell.tags_size = changed.tags_size;
}

// Restores the original keys of the remaining cells and adds the salt to the keys of new cells.
void UnsaltedFilter::edit_row(std::vector<CellView>& cells) {
  const size_t count = cells.size();
  std::vector<std::pair<const char*, const char*>> keys(count);  // shown, and as stored
  shown_keys_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    keys[i].second = cells[i].key;
    take_salt(cells[i], shown_keys_[i]);
    keys[i].first = cells[i].key;
  }
  inside_->edit_row(cells);
  std::ranges::sort(keys);
  CELLAR_DCHECK(std::ranges::adjacent_find(keys) == keys.end());  // each shown key has bytes of its own
  salted_keys_.resize(cells.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto found =
        std::ranges::lower_bound(keys, cells[i].key, {}, &std::pair<const char*, const char*>::first);
    if (found == keys.end() || found->first != cells[i].key) {
      put_salt(cells[i], salt_, salted_keys_[i]);
      continue;
    }
    cells[i].key = found->second;
    ++cells[i].key_size;
    ++cells[i].row_size;
  }
}

}  // namespace cellar
