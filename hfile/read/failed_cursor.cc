// A cursor that never stands anywhere and says why.
#include "hfile/read/failed_cursor.h"

#include "base/assert.h"

namespace cellar {
namespace {

class FailedCursor final : public RunCursor {
 public:
  explicit FailedCursor(Status status) : status_(std::move(status)) { CELLAR_ASSERT(!status_.ok()); }
  const CellView* seek(const CellView&) override { return nullptr; }
  const CellView* next() override { return nullptr; }
  const CellView* skip_to(const CellView&) override { return nullptr; }
  const CellView* seek_before(const CellView&) override { return nullptr; }
  Status status() const override { return status_; }
  const Pinnable* pinned() const override { return nullptr; }
  void print(TextPrinter& out) const override { out.line("cannot be read: " + status_.to_text()); }

 private:
  Status status_;
};

}  // namespace

std::unique_ptr<RunCursor> make_failed_cursor(Status status) {
  return std::make_unique<FailedCursor>(std::move(status));
}

}  // namespace cellar
