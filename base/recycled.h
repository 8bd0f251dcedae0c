// Recycled<T> and RecycledBytes: memory for objects and arrays that come and go with every read.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include "base/assert.h"

#if defined(__SANITIZE_ADDRESS__)
#define CELLAR_WITH_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CELLAR_WITH_ADDRESS_SANITIZER 1
#endif
#endif

namespace cellar {

// True if threads keep memory for their next read. With AddressSanitizer, memory is never used again, so that
// it finds uses of deleted objects.
#if defined(CELLAR_WITH_ADDRESS_SANITIZER)
inline constexpr bool kKeepsMemory = false;
#else
inline constexpr bool kKeepsMemory = true;
#endif

// A class T that derives from Recycled<T> gets its memory from a short list of the thread that makes it. The
// thread that deletes the object takes the memory into its list. The list needs a fifth of the instructions
// of a general allocator. A thread keeps the memory of at most kKept objects until it ends. Any thread may
// delete an object.
template <class T>
class Recycled {
 public:
  static void* operator new(size_t bytes) {
    if (bytes == sizeof(T) && list_.count > 0) return list_.memory[--list_.count];
    return ::operator new(bytes);
  }
  static void operator delete(void* object, size_t bytes) {
    if (bytes == sizeof(T) && list_.count < kRoom && (list_.keeps || begin_to_keep())) {
      list_.memory[list_.count++] = object;
    } else {
      ::operator delete(object);
    }
  }

 protected:
  ~Recycled() = default;

 private:
  static constexpr size_t kKept = 8;
  static constexpr size_t kRoom = kKeepsMemory ? kKept : 0;

  // It has no constructor, so that no access asks whether it is built.
  struct List {
    void* memory[kKept];
    size_t count;
    bool keeps;
    bool ended;  // the thread ends
  };
  // Sees to it that the end of the thread frees what is kept. Returns false if the thread is ending.
  static bool begin_to_keep() {
    struct Owner {
      ~Owner() {
        list_.keeps = false;
        list_.ended = true;
        while (list_.count > 0) ::operator delete(list_.memory[--list_.count]);
      }
    };
    if (list_.ended) return false;
    list_.keeps = true;
    thread_local const Owner owner;
    return true;
  }
  static constinit inline thread_local List list_ = {};
};

// RecycledBytes: the same for small arrays, whose sizes differ. A list serves the sizes up to a power of two.
// A thread keeps at most kKept pieces of each of the seven sizes, which are 64 KiB together. Larger pieces
// come from the general allocator. Any thread may give back a piece, with the size that was taken.
class RecycledBytes {
 public:
  static void* take(size_t bytes) { return take_whole(bytes); }
  // The same, and the user may have all of the piece: `bytes` becomes its size.
  static void* take_whole(size_t& bytes) {
    if (bytes > kBytesMax || !kKeepsMemory) return ::operator new(bytes);
    const size_t size = size_of(bytes);
    bytes = kBytesMin << size;
    List& list = lists_.of[size];
    return list.count > 0 ? list.memory[--list.count] : ::operator new(bytes);
  }
  static void give_back(void* piece, size_t bytes) {
    CELLAR_DCHECK(piece != nullptr);
    if (bytes > kBytesMax) return ::operator delete(piece);
    List& list = lists_.of[size_of(bytes)];
    if (list.count == kRoom || (!lists_.keeps && !begin_to_keep())) return ::operator delete(piece);
    list.memory[list.count++] = piece;
  }

  // Returns the number of pieces of this size that the thread keeps.
  static size_t kept(size_t bytes) { return bytes > kBytesMax ? 0 : lists_.of[size_of(bytes)].count; }

  static constexpr size_t kBytesMin = 64;
  static constexpr size_t kBytesMax = 4096;
  static constexpr size_t kKept = 8;

 private:
  static constexpr size_t kRoom = kKeepsMemory ? kKept : 0;
  static constexpr size_t kSizes = 7;
  static_assert(kBytesMin << (kSizes - 1) == kBytesMax);

  static size_t size_of(size_t bytes) {
    return bytes <= kBytesMin ? 0 : static_cast<size_t>(std::bit_width((bytes - 1) / kBytesMin));
  }
  // Sees to it that the end of the thread frees what is kept. Returns false if the thread is ending.
  static bool begin_to_keep();

  struct List {
    void* memory[kKept];
    size_t count;
  };
  // It has no constructor, so that no access asks whether it is built.
  struct Lists {
    List of[kSizes];
    bool keeps;
    bool ended;  // the thread ends
  };
  static constinit inline thread_local Lists lists_ = {};
};

// RecycledAllocator: lets a container of the standard library take its memory from RecycledBytes.
template <class T>
struct RecycledAllocator {
  using value_type = T;
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  RecycledAllocator() = default;
  template <class U>
  RecycledAllocator(const RecycledAllocator<U>&) {}  // NOLINT: implicit, as containers need it
  T* allocate(size_t count) {
    CELLAR_DCHECK(count <= SIZE_MAX / sizeof(T));
    return static_cast<T*>(RecycledBytes::take(count * sizeof(T)));
  }
  void deallocate(T* piece, size_t count) { RecycledBytes::give_back(piece, count * sizeof(T)); }
  bool operator==(const RecycledAllocator&) const { return true; }
};

}  // namespace cellar
