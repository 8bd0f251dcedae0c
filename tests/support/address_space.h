// AddressSpace: a bound on what a test may map; the memory of the process; whether a sanitizer runs.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>

namespace cellar::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

// Returns the memory of this process without files, in bytes.
inline uint64_t anonymous_bytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t all = 0, resident = 0, of_files = 0;
  statm >> all >> resident >> of_files;
  EXPECT_GT(resident, of_files);
  return (resident - of_files) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Returns the address space of this process, in bytes.
inline uint64_t mapped_bytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  EXPECT_GT(pages, 0u);
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Limits the memory that this process may map beyond its present memory, while this lives. Without effect
// under a sanitizer.
class AddressSpace {
 public:
  explicit AddressSpace(size_t bytes) {
    if (kSanitized) return;
    EXPECT_EQ(getrlimit(RLIMIT_AS, &before_), 0);
    rlimit limit = before_;
    limit.rlim_cur = mapped_bytes() + bytes;
    EXPECT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  }
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;
  ~AddressSpace() {
    if (kSanitized) return;
    EXPECT_EQ(setrlimit(RLIMIT_AS, &before_), 0);
  }

 private:
  rlimit before_{};
};

}  // namespace cellar::testing
