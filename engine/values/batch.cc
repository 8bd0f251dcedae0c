// Batch: a list of changes, each with its table.
#include "cellar/batch.h"
#include "base/assert.h"

#include "engine/values/batch_reader.h"
#include "engine/values/mutation_reader.h"

namespace cellar {
namespace {

constexpr size_t kKeptBytesMax = 8 << 20;

size_t bytes_of(const RowMutation& mutation) {
  size_t bytes = 0;
  const MutationReader reader(mutation);
  for (const MutationPiece& piece : reader.pieces())
    bytes += mutation.row().size() + (piece.end - piece.family_at) + reader.tags().size() + 12;
  return bytes;
}

}  // namespace

Batch::Batch() : impl_(std::make_unique<Impl>()) {}
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;
Batch::~Batch() = default;

Batch& Batch::put(const std::shared_ptr<Table>& table, const Put& put) {
  impl_->bytes += bytes_of(put);
  impl_->add(table, put);
  return *this;
}

Batch& Batch::erase(const std::shared_ptr<Table>& table, const Delete& erase) {
  impl_->bytes += bytes_of(erase) + (erase.empty() ? erase.row().size() + 12 : 0);
  impl_->add(table, erase);
  return *this;
}

Batch& Batch::increment(const std::shared_ptr<Table>& table, const Increment& increment) {
  impl_->bytes += bytes_of(increment);
  impl_->add(table, increment);
  return *this;
}

Batch& Batch::append(const std::shared_ptr<Table>& table, const Append& append) {
  impl_->bytes += bytes_of(append);
  impl_->add(table, append);
  return *this;
}

Batch& Batch::cell(const std::shared_ptr<Table>& table, const CellView& cell) {
  CELLAR_DCHECK(cell.key_size >= 12u + cell.row_size + cell.family_size);
  impl_->bytes += cell.key_size + cell.value_size + cell.tags_size;
  impl_->add(table, Cell(cell));
  return *this;
}

size_t Batch::mutations() const { return impl_->used; }
size_t Batch::bytes() const { return impl_->bytes; }

// The entries keep at most the bytes that were added since none was kept.
void Batch::clear() {
  impl_->tables.clear();
  impl_->kept_bytes += impl_->bytes;
  if (impl_->kept_bytes > kKeptBytesMax) {
    impl_->entries.clear();
    impl_->kept_bytes = 0;
  }
  impl_->used = 0;
  impl_->bytes = 0;
}

}  // namespace cellar
