// A log in memory, for tests of the log alone.
#pragma once

#include <memory>

#include "base/memory_file_system.h"
#include "engine/log/wal_reader.h"
#include "engine/log/wal_writer.h"
#include "tests/engine/wal_support.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/manual_clock.h"
#include "tests/support/step_executor.h"

namespace cellar::testing {

// One log in memory. Facts are what a manifest would have on record.
struct Log {
  explicit Log(uint64_t segment_bytes = 4096, uint64_t seed = 1) : executor(seed, clock), fault(*memory) {
    options.identity = facts.identity = kTestIdentity;
    options.segment_bytes = segment_bytes;
    root = must_open(fault, "store");
    wal_directory = std::move(root->directory("wal", true)).value();
  }
  Status open() {
    Result<std::unique_ptr<Wal>> opened = Wal::create(*root, executor, options);
    if (opened.ok()) wal = std::move(*opened);
    return opened.status();
  }
  Status append(size_t bytes) {
    Status status = wal->append(next, 1, payload_of(next, bytes));
    if (status.ok()) ++next;
    return status;
  }
  // Without mapping: the first attempt to map says that it is not supported.
  void plain() {
    fault.inject({.on = FileOperation::kCreate, .name = "*.log", .nth = 1, .code = Code::kNotSupported});
  }
  ReadBack read() const { return read_back(*wal_directory, facts); }

  LogFacts facts;
  WalOptions options;
  ManualClock clock;
  StepExecutor executor;
  std::unique_ptr<FileSystem> memory = make_memory_file_system();
  FaultFileSystem fault;
  std::unique_ptr<Directory> root;
  std::unique_ptr<Directory> wal_directory;
  std::unique_ptr<Wal> wal;
  uint64_t next = 1;
};

}  // namespace cellar::testing
