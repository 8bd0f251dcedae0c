// SnapshotImpl: a snapshot as users hold it.
#pragma once

#include <cstdint>
#include <memory>

#include "cellar/engine.h"
#include "engine/store/core.h"

namespace cellar {

// What its sequence shows is kept from being rewritten as long as it lives. Any thread.
class SnapshotImpl final : public Snapshot {
 public:
  explicit SnapshotImpl(std::shared_ptr<EngineCore> core)
      : core_(std::move(core)), sequence_(core_->mvcc.open_snapshot()) {}
  ~SnapshotImpl() override;
  SnapshotImpl(const SnapshotImpl&) = delete;
  SnapshotImpl& operator=(const SnapshotImpl&) = delete;

  uint64_t sequence() const override { return sequence_; }
  const EngineCore* core() const { return core_.get(); }

 private:
  const std::shared_ptr<EngineCore> core_;
  const uint64_t sequence_;
};

}  // namespace cellar
