// Peer: what the driver asks of an engine, Cellar or one it is compared with: HBase's data model, one way for
// all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/workload/counted_files.h"
#include "bench/workload/session.h"
#include "cellar/status.h"

namespace cellar::bench {

struct StoreOptions {
  std::string path;
  std::vector<std::string> families;  // sorted
  uint64_t cache_bytes = 1u << 30;
  uint64_t memtable_bytes = 64u << 20;
  bool create = false;
};

enum class Feature : uint8_t {
  kTimeToLive,
  kColdGets,
  kCompactions,
  kLog,  // that is read when a store is opened after its process was killed
};

// A store of one engine. Any thread may ask for sessions; the rest is for one thread.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string name() const = 0;
  // Version and build, and what differs from the others' settings.
  virtual std::string version() const = 0;
  virtual bool has(Feature feature) const = 0;

  // Sets an option by its name in Cellar, or by the engine's own name; before open(). It replaces the value
  // of StoreOptions. Error: kInvalidArgument for an invalid name or value, with the nearest name as its hint.
  // Error: kNotSupported if the engine has no such option or no such value.
  virtual Status set(const std::string& name, const std::string& value) = 0;
  // Returns the options that were set and are in effect: "compaction=leveled,memtable_bytes=4m".
  virtual std::string options() const = 0;

  virtual void open(const StoreOptions& options) = 0;
  virtual void close() = 0;
  virtual std::unique_ptr<Session> session() = 0;

  virtual void flush() = 0;
  // Everything into one run, dropping what nobody can see any more.
  virtual void compact() = 0;
  // Waits until no background work is running or due.
  virtual void settle() = 0;
  // From now on cells older than this are expired.
  virtual void set_time_to_live(const std::string& family, int64_t seconds) = 0;
  // Bytes of the sorted runs, logs left out, as the engine counts them.
  virtual uint64_t run_bytes() = 0;
  // Bytes moved so far, by the engine's own count or the kernel's.
  virtual FileBytes file_bytes() = 0;
  // Returns "file_system" if the layer below the engine counts them, "proc_self_io" if the kernel does.
  virtual std::string counted_by() const = 0;
};

// Says what failed and ends the program.
[[noreturn]] void give_up(const std::string& what);

}  // namespace cellar::bench
