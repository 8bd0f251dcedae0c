// CommitOrder: writers log one after another, insert side by side, and become visible in the order of the
// log.
//
//          in turn               side by side                     in order
//   take sequence, log ───▶ sync, insert into memtables ───▶ publish the sequence
//
// The scheme is that of Pebble's commit pipeline (CockroachDB), which RocksDB's pipelined writes resemble.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

#include "cellar/environment.h"
#include "cellar/status.h"
#include "engine/store/mvcc.h"
#include "engine/write/turn.h"
#include "engine/write/wait_list.h"

namespace cellar {

// Any thread. A writer takes the turn, takes its sequence and logs, and enters. Then it gives the turn back.
// It settles its place when its cells are in the memtables, or when it has failed and inserted nothing.
// Writers settle in any order; their sequences become visible in the order of their places.
class CommitOrder {
 public:
  CommitOrder(Executor& executor, Mvcc& mvcc) : mvcc_(mvcc), turn_(executor), waiting_(executor) {}

  // The turn to log. The thread that holds it is the leader that other classes speak of.
  Turn& turn() { return turn_; }
  // With the turn: the next place, for this sequence.
  uint64_t enter(uint64_t sequence);
  // The write at this place is in the memtables, if `inserted`, or nothing of it is. Returns when it is
  // settled, and all before it are. So an inserted write is visible then.
  void settle(uint64_t place, bool inserted) {
    mark(place, inserted);
    await(place);
  }
  // The same, without waiting.
  void mark(uint64_t place, bool inserted);
  // Returns when the place is settled, and all before it are.
  void await(uint64_t place);
  // Returns when it is, or when call() has been called for the place after `called` was set. Sleeps at once:
  // for long waits. Only the place's own writer may wait so.
  void await_call(uint64_t place, const std::atomic<bool>& called);
  // Wakes the place's writer, if it sleeps in await_call(). A thread in drain() or enter() may sleep for the
  // same place in await(), and sleeps on.
  void call(uint64_t place) { waiting_.call(place); }
  // With the turn: returns when everything that entered is settled.
  void drain();
  // Runs `work` between writes: all before are settled, none after has begun. An exception ends the process,
  // because the work may be half done.
  Status alone(const std::function<Status()>& work) noexcept;

 private:
  // Writers beyond so many wait for the oldest to settle.
  static constexpr uint64_t kPlaces = 256;
  enum class State : uint32_t { kUnsettled, kInserted, kFailed };
  struct Place {
    std::atomic<State> state{State::kUnsettled};
    uint64_t sequence = 0;  // written by its writer in turn, read by the publisher
  };
  // Two places in a row often belong to two writers. So they do not share a line of cache.
  Place& at(uint64_t place) { return places_[place * 4 % kPlaces + place / (kPlaces / 4) % 4]; }
  bool is_settled(uint64_t place) const { return settled_.load(std::memory_order_seq_cst) > place; }
  void publish();
  void publish_settled();

  Mvcc& mvcc_;
  Turn turn_;
  uint64_t entered_ = 0;                          // places taken so far; the turn's
  alignas(64) std::atomic<uint64_t> settled_{0};  // all places below are settled and published
  std::atomic<bool> publishing_{false};
  alignas(64) std::array<Place, kPlaces> places_;
  WaitList waiting_;  // for places to be settled
};

}  // namespace cellar
