// RecycledBytes: the end of a thread frees what the thread kept.
#include "base/recycled.h"

namespace cellar {

bool RecycledBytes::begin_to_keep() {
  struct Owner {
    ~Owner() {
      Lists& lists = lists_;
      CELLAR_ASSERT(lists.keeps && !lists.ended);
      lists.keeps = false;
      lists.ended = true;
      for (List& list : lists.of)
        while (list.count > 0) ::operator delete(list.memory[--list.count]);
    }
  };
  if (lists_.ended) return false;
  lists_.keeps = true;
  thread_local const Owner owner;
  return true;
}

}  // namespace cellar
