// JobsInOrder: work on pieces of a file that any thread may do, and whose results are taken in the file's
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cellar/environment.h"

namespace cellar {

// One thread owns it: adds pieces and takes their results. Nothing depends on a second thread being there:
// while the owner has to wait, it works itself.
class JobsInOrder {
 public:
  class Piece {
   public:
    virtual ~Piece() = default;
    // Memory that it holds until it is taken, about.
    virtual uint64_t bytes() const = 0;
    // Runs once, on any thread, concurrently with other pieces.
    virtual void run() = 0;
    // Once, on the owner's thread, after run(); one piece after the other, as they were added.
    virtual void take() = 0;
  };

  // Null `executor`: each piece is run and taken when it is added. Else it is borrowed until the destructor
  // returns. Pieces hold about `bytes_max` together, a single one may hold more.
  JobsInOrder(Executor* executor, uint64_t bytes_max);
  // Drops what is not begun, waits for what is. No Mutex may be held, as for add() and finish().
  ~JobsInOrder();

  void add(std::unique_ptr<Piece> piece);
  // Returns when all pieces are taken.
  void finish();

 private:
  struct State;
  void take_first();
  const uint64_t bytes_max_;
  std::shared_ptr<State> state_;  // shared with jobs that are not begun when this ends
};

}  // namespace cellar
