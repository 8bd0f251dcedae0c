// Mutex and MutexLock: std::mutex with clang's thread-safety annotations.
#pragma once

#include <mutex>

#if defined(__clang__)
#define CELLAR_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define CELLAR_THREAD_ANNOTATION(x)
#endif
#define CELLAR_CAPABILITY(x) CELLAR_THREAD_ANNOTATION(capability(x))
#define CELLAR_SCOPED_CAPABILITY CELLAR_THREAD_ANNOTATION(scoped_lockable)
#define CELLAR_GUARDED_BY(x) CELLAR_THREAD_ANNOTATION(guarded_by(x))
#define CELLAR_PT_GUARDED_BY(x) CELLAR_THREAD_ANNOTATION(pt_guarded_by(x))
#define CELLAR_REQUIRES(...) CELLAR_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define CELLAR_ACQUIRE(...) CELLAR_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define CELLAR_TRY_ACQUIRE(...) CELLAR_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define CELLAR_RELEASE(...) CELLAR_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define CELLAR_EXCLUDES(...) CELLAR_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define CELLAR_RETURN_CAPABILITY(x) CELLAR_THREAD_ANNOTATION(lock_returned(x))
#define CELLAR_ACQUIRED_AFTER(...) CELLAR_THREAD_ANNOTATION(acquired_after(__VA_ARGS__))
#define CELLAR_NO_THREAD_SAFETY_ANALYSIS CELLAR_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace cellar {

namespace internal {
inline constinit thread_local int mutexes_held = 0;
}  // namespace internal

// Returns the number of Mutexes that this thread holds. Executors assert that it is 0 before a call that
// may block.
inline int mutexes_held() { return internal::mutexes_held; }

class CELLAR_CAPABILITY("mutex") Mutex {
 public:
  void lock() CELLAR_ACQUIRE() {
    mutex_.lock();
    ++internal::mutexes_held;
  }
  bool try_lock() CELLAR_TRY_ACQUIRE(true) {
    if (!mutex_.try_lock()) return false;
    ++internal::mutexes_held;
    return true;
  }
  void unlock() CELLAR_RELEASE() {
    --internal::mutexes_held;
    mutex_.unlock();
  }

 private:
  friend class Condition;
  std::mutex mutex_;
};

class CELLAR_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) CELLAR_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() CELLAR_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace cellar
