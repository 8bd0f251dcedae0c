// The generation of this process, counted by a handler that fork() runs in the child.
#include "platform/posix_process.h"

#include <pthread.h>

#include <atomic>

namespace cellar {
namespace {

std::atomic<uint64_t> generation{0};

const int handler_is_set = pthread_atfork(
    nullptr, nullptr, [] { generation.store(generation.load(std::memory_order_relaxed) + 1); });

}  // namespace

uint64_t process_generation() {
  static_cast<void>(handler_is_set);
  return generation.load(std::memory_order_relaxed);
}

}  // namespace cellar
