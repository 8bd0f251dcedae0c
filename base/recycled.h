// Recycled<T>: memory for objects that come and go with every read.
#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace cellar {

// A class T that derives from Recycled<T> gets its memory from a short list of the thread that makes it. The
// thread that deletes the object takes the memory into its list. The list needs a fifth of the instructions
// of a general allocator. A thread keeps the memory of at most kKept objects until it ends. Any thread may
// delete an object. With AddressSanitizer, memory is never used again, so that it finds uses of deleted
// objects.
template <class T>
class Recycled {
 public:
  static void* operator new(size_t bytes) {
    if (bytes == sizeof(T) && list_.count > 0) return list_.memory[--list_.count];
    return ::operator new(bytes);
  }
  static void operator delete(void* object, size_t bytes) {
    if (bytes == sizeof(T) && list_.count < kRoom && !list_.ended) {
      list_.memory[list_.count++] = object;
    } else {
      ::operator delete(object);
    }
  }

 protected:
  ~Recycled() = default;

 private:
  static constexpr size_t kKept = 8;
#if defined(__SANITIZE_ADDRESS__)
  static constexpr size_t kRoom = 0;
#else
  static constexpr size_t kRoom = kKept;
#endif

  struct List {
    std::array<void*, kKept> memory;
    size_t count = 0;
    bool ended = false;  // the thread ends

    ~List() {
      ended = true;
      while (count > 0) ::operator delete(memory[--count]);
    }
  };
  static inline thread_local List list_;
};

}  // namespace cellar
