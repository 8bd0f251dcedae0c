// Helpers of the tests of log and manifest: records with recognisable bytes, reading a log back, copying
// files.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "cellar/environment.h"
#include "cellar/file_system.h"
#include "engine/log/wal_format.h"
#include "engine/log/wal_reader.h"
#include "engine/log/wal_writer.h"

namespace cellar::testing {

inline constexpr Identity kTestIdentity{0x0123456789abcdef, 0xfedcba9876543210};

// A cell key: row "r<number>", family "f", qualifier "q".
inline std::string key_of(uint64_t number) {
  const std::string row = "r" + std::to_string(number);
  std::string key;
  append_be16(key, static_cast<uint16_t>(row.size()));
  key += row + '\1' + "fq";
  append_be64(key, 1000 + number);
  key.push_back(static_cast<char>(CellType::kPut));
  return key;
}

// The value of record `number`: zeros, then letters, so that runs of zeros are in every test.
inline std::string value_of(uint64_t number, size_t bytes) {
  std::string value(bytes, '\0');
  for (size_t i = bytes / 2; i < bytes; ++i) value[i] = static_cast<char>('a' + (number + i) % 26);
  return value;
}

inline void add_cell(RecordBuilder& builder, uint32_t family_id, std::string_view key, std::string_view value,
                     std::string_view tags) {
  key.copy(builder.add(family_id, key.size(), value, tags), key.size());
}

// A payload of one cell.
inline std::string payload_of(uint64_t number, size_t bytes) {
  RecordBuilder builder;
  builder.begin();
  add_cell(builder, 7, key_of(number), value_of(number, bytes), {});
  return std::string(builder.finish(static_cast<int64_t>(5000 + number)));
}

// Executor whose jobs run only when told: a machine too busy to help.
class LazyExecutor final : public Executor {
 public:
  explicit LazyExecutor(Executor& events) : events_(events) {}
  void submit(JobPriority, std::function<void()> job) override { jobs_.push_back(std::move(job)); }
  void submit_later(JobPriority, int64_t, std::function<void()>) override { ADD_FAILURE() << "of the log"; }
  void checkpoint() override {}
  std::unique_ptr<Event> make_event() override { return events_.make_event(); }
  void run_all() {
    // NOLINTNEXTLINE(modernize-loop-convert): a job may submit another
    for (size_t i = 0; i < jobs_.size(); ++i) std::exchange(jobs_[i], nullptr)();
    jobs_.clear();
  }
  size_t queued() const { return jobs_.size(); }

 private:
  Executor& events_;
  std::vector<std::function<void()>> jobs_;
};

struct ReadBack {
  Status status;
  LogSummary summary;
  std::vector<uint64_t> sequences;
};

// Reads a log, checking that each record holds the cell it should.
inline ReadBack read_back(Directory& wal, const LogFacts& facts) {
  ReadBack back;
  Result<LogSummary> summary = read_log(wal, facts, [&](const LogRecord& record) {
    LogCells cells(record.payload, record.count, record.sequence);
    LogCell cell;
    while (cells.next(cell)) {
      EXPECT_EQ(cell.family_id, 7u);
      EXPECT_EQ(cell.cell.key_bytes(), key_of(record.sequence));
      EXPECT_EQ(cell.cell.value_bytes(), value_of(record.sequence, cell.cell.value_size));
    }
    EXPECT_EQ(load_le64(record.payload.data()), 5000 + record.sequence) << "when it was written";
    back.sequences.push_back(record.sequence);
    return cells.status();
  });
  back.status = summary.status();
  if (summary.ok()) back.summary = *summary;
  return back;
}

inline std::string read_file(Directory& directory, const std::string& name) {
  auto file = directory.open(name);
  EXPECT_TRUE(file.ok()) << name << ": " << file.status().to_text();
  if (!file.ok()) return "";
  std::string bytes((*file)->size(), '\0');
  EXPECT_TRUE((*file)->read(0, bytes.size(), bytes.data()).ok());
  return bytes;
}

// Replaces a file by other bytes.
inline void write_file(Directory& directory, const std::string& name, std::string_view bytes) {
  static_cast<void>(directory.unlink(name).ok());
  auto file = directory.create(name, {});
  ASSERT_TRUE(file.ok()) << file.status().to_text();
  ASSERT_TRUE((*file)->append(bytes).ok());
  ASSERT_TRUE((*file)->close().ok());
}

// Returns true if `sequences` is first, first + 1, and so on up to last.
inline bool is_run(const std::vector<uint64_t>& sequences, uint64_t first, uint64_t last) {
  if (sequences.size() != last + 1 - first) return false;
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (sequences[i] != first + i) return false;
  }
  return true;
}

inline std::unique_ptr<Directory> must_open(FileSystem& files, const std::string& path) {
  auto directory = files.open_directory(path, true);
  EXPECT_TRUE(directory.ok()) << directory.status().to_text();
  return directory.ok() ? std::move(*directory) : nullptr;
}

}  // namespace cellar::testing
