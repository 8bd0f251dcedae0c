// Goal: a hole in the log is told from its end, a restart ends a failure, and segments are no larger than the
// load needs. Method: logs in memory, with records overwritten by zeros, with syncs that fail, and with
// segments that cannot be made.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "base/checksum.h"
#include "engine/log/directory.h"
#include "tests/engine/wal_log.h"

namespace cellar::testing {
namespace {

// A process that ends tears its last record at most. So a hole before other records is damage while the
// machine runs on, and the trace of lost power once it was started again.
TEST(WalDamage, HoleBeforeWholeRecords) {
  struct Case {
    bool restarted;
    uint64_t segment_bytes;
  };
  // With small segments a later one may say that the holed one was durable, whether the machine was restarted
  // or not.
  for (const auto& [restarted, segment_bytes] :
       {Case{false, 64 << 10}, Case{true, 64 << 10}, Case{false, 4096}}) {
    Log log(segment_bytes);
    log.options.boot = {1, 2};
    log.facts.boot = restarted ? Identity{3, 4} : log.options.boot;
    ASSERT_TRUE(log.open().ok());
    std::vector<uint64_t> ends;
    while (log.next <= 30) {
      ASSERT_TRUE(log.append(200).ok());
      if (log.wal->current_segment() == 1) ends.push_back(log.wal->end().offset);
    }
    const std::string whole = read_file(*log.wal_directory, segment_name(1));
    const bool only_one = log.wal->current_segment() == 1;
    ASSERT_EQ(only_one, segment_bytes > 4096);
    for (uint64_t i = 0; i + 1 < ends.size(); ++i) {
      std::string holed = whole;
      std::fill_n(holed.begin() + static_cast<ptrdiff_t>(ends[i]), ends[i + 1] - ends[i], '\0');
      ASSERT_TRUE(log.wal_directory->unlink(segment_name(1)).ok());
      write_file(*log.wal_directory, segment_name(1), holed);
      const ReadBack back = log.read();
      const bool is_end = only_one && i + 2 == ends.size();
      EXPECT_EQ(back.status.is(Code::kCorruption), !restarted && !is_end)
          << i << " of " << ends.size() << ": " << back.status.to_text();
      if (!only_one) continue;
      log.facts.tolerate_torn = true;
      EXPECT_EQ(log.read().sequences.size(), i + 1);
      log.facts.tolerate_torn = false;
    }
  }
}

// A page that was lost begins anywhere, and covers the ends of some records and the beginnings of others.
TEST(WalDamage, HoleFromTheMidstOfARecord) {
  constexpr uint64_t kHoleBytes = 512;
  Log log(64 << 10);
  log.options.boot = log.facts.boot = {1, 2};
  ASSERT_TRUE(log.open().ok());
  std::vector<uint64_t> ends;
  while (log.next <= 30) {
    ASSERT_TRUE(log.append(200).ok());
    ends.push_back(log.wal->end().offset);
  }
  const std::string whole = read_file(*log.wal_directory, segment_name(1));
  const uint64_t last_record = ends[ends.size() - 2];
  uint64_t torn = 0, damaged = 0;
  for (uint64_t from = ends[0] + 8; from < ends.back(); from += 40) {
    std::string holed = whole;
    const uint64_t to = std::min(from + kHoleBytes, ends.back());
    std::fill(holed.begin() + static_cast<ptrdiff_t>(from), holed.begin() + static_cast<ptrdiff_t>(to), '\0');
    ASSERT_TRUE(log.wal_directory->unlink(segment_name(1)).ok());
    write_file(*log.wal_directory, segment_name(1), holed);
    const ReadBack back = log.read();
    const bool is_end = to > last_record;  // no whole record comes after the hole
    EXPECT_EQ(back.status.is(Code::kCorruption), !is_end) << from << ": " << back.status.to_text();
    ++(is_end ? torn : damaged);
  }
  EXPECT_GT(torn, 5u);
  EXPECT_GT(damaged, 50u);
}

// Also after the machine was started again: what the manifest has on record as durable cannot be a torn end.
TEST(WalDamage, DamageBeforeTheDurableEndOfTheManifest) {
  Log log(64 << 10);
  log.options.boot = {1, 2};
  log.facts.boot = {3, 4};
  ASSERT_TRUE(log.open().ok());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(log.append(200).ok());
  const uint64_t place = log.wal->end().offset;
  ASSERT_TRUE(log.append(200).ok());
  ASSERT_TRUE(log.wal->sync().ok());
  const LogPosition synced = log.wal->synced();
  ASSERT_GT(synced.offset, place);
  std::string bytes = read_file(*log.wal_directory, segment_name(1));
  std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(place), synced.offset - place, '\0');
  ASSERT_TRUE(log.wal_directory->unlink(segment_name(1)).ok());
  write_file(*log.wal_directory, segment_name(1), bytes);
  EXPECT_EQ(log.read().sequences.size(), 5u) << "the manifest knows nothing";
  log.facts.synced = synced;
  for (const bool tolerate_torn : {false, true}) {
    log.facts.tolerate_torn = tolerate_torn;
    const Status status = log.read().status;
    EXPECT_TRUE(status.is(Code::kCorruption)) << status.to_text();
    EXPECT_NE(status.to_text().find("the manifest knows that it was durable"), std::string::npos)
        << status.to_text();
    EXPECT_NE(status.to_text().find(std::to_string(place)), std::string::npos) << status.to_text();
  }
}

// Adds a record with this sequence to the end of a log, as a forger would who knows the format. `last` is
// where the last record begins.
void forge_record(Log& log, uint64_t last, uint64_t sequence) {
  const LogPosition end = log.wal->end();
  const RecordCodec codec(FileKind::kLog, kTestIdentity, end.segment);
  const std::string payload = payload_of(sequence, 50);
  RecordHeader header{.lsn = end.lsn, .sequence = sequence, .count = 1};
  std::string bytes = read_file(*log.wal_directory, segment_name(end.segment));
  ASSERT_LT(end.offset + record_bytes(payload.size()), bytes.size());
  RecordHeader before;
  ASSERT_TRUE(codec.decode_header(bytes.data() + last, last, before));
  uint32_t chain = before.bcrc;
  codec.encode(header, payload, end.offset, chain, bytes.data() + end.offset);
  ASSERT_TRUE(log.wal_directory->unlink(segment_name(end.segment)).ok());
  write_file(*log.wal_directory, segment_name(end.segment), bytes);
}

TEST(WalDamage, SequencesRise) {
  for (const uint64_t sequence : {2u, 3u, 4u}) {
    Log log(64 << 10);
    ASSERT_TRUE(log.open().ok());
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(log.append(100).ok());
    const uint64_t last = log.wal->end().offset;
    ASSERT_TRUE(log.append(100).ok());
    forge_record(log, last, sequence);
    const ReadBack back = log.read();
    EXPECT_EQ(back.status.ok(), sequence == 4) << back.status.to_text();
    EXPECT_EQ(back.sequences.size(), sequence == 4 ? 4u : 3u);
  }
}

// ---- growth

// A sync that waits for its turn may wake after restart() retired its segment. The segment then has no file,
// and its records are in store files, as restart() demands.
TEST(WalRestart, ASyncThatWaitedMeanwhileSucceeds) {
  Log log;
  ASSERT_TRUE(log.open().ok());
  ASSERT_TRUE(log.append(100).ok());
  bool first = true;
  int ended = 0;
  log.fault.before_each([&](const FileCall& call) {
    if (call.operation != FileOperation::kSync || !std::exchange(first, false)) return;
    for (const char* name : {"second", "third"}) {
      log.executor.run_beside(name, [&] {
        EXPECT_TRUE(log.wal->sync().ok());
        ++ended;
      });
    }
    log.executor.settle();  // they wait for the turn
    log.fault.fail(FileOperation::kSync, "*.log", 1);
  });
  EXPECT_TRUE(log.wal->sync().is(Code::kIoError));
  EXPECT_EQ(ended, 0) << "they still wait: " << log.executor.listing();
  EXPECT_FALSE(log.wal->health().ok());
  ASSERT_TRUE(log.wal->restart(UINT64_MAX).ok());
  EXPECT_EQ(ended, 0) << "they still wait: " << log.executor.listing();
  log.executor.join_beside();
  EXPECT_EQ(ended, 2);
  EXPECT_TRUE(log.wal->health().ok());
  log.facts.first_segment = log.wal->current_segment();
  log.facts.synced = log.wal->synced();
  ASSERT_TRUE(log.append(100).ok());
  EXPECT_TRUE(log.wal->sync().ok());
  const ReadBack back = log.read();
  EXPECT_TRUE(back.status.ok()) << back.status.to_text();
  EXPECT_EQ(back.sequences, (std::vector<uint64_t>{2}));
}

TEST(WalGrowth, SegmentsGrowWithTheLoad) {
  Log log(8 << 20);
  ASSERT_TRUE(log.open().ok());
  const auto bytes = [&] {
    std::vector<uint64_t> sizes;
    for (const DirectoryEntry& each : log.wal_directory->list().value()) sizes.push_back(each.bytes);
    return sizes;
  };
  EXPECT_EQ(bytes(), std::vector<uint64_t>{64 << 10}) << "one small segment, and none ahead of need";
  uint64_t largest = 0;
  while (log.wal->current_segment() < 7) ASSERT_TRUE(log.append(10'000).ok());
  log.executor.settle();
  for (const uint64_t each : bytes()) largest = std::max(largest, each);
  EXPECT_EQ(largest, uint64_t{8} << 20);
  EXPECT_TRUE(is_run(log.read().sequences, 1, log.next - 1));
}

// Where the next larger segment does not fit, one that is large enough does.
TEST(WalGrowth, SmallerSegmentsWhereRoomIsShort) {
  Log log(8 << 20);
  ASSERT_TRUE(log.open().ok());
  log.fault.fail(FileOperation::kCreate, "*.log", 1, Code::kNoSpace);  // the job's try
  log.fault.fail(FileOperation::kCreate, "*.log", 2, Code::kNoSpace);  // the writer's own
  while (log.wal->current_segment() < 2) ASSERT_TRUE(log.append(1000).ok());
  EXPECT_EQ(log.fault.struck(), 2u);
  EXPECT_EQ(log.wal_directory->list().value().back().bytes, uint64_t{64} << 10);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(log.append(1000).ok());
  EXPECT_TRUE(is_run(log.read().sequences, 1, log.next - 1));
}

TEST(WalGrowth, WhatIsNeededIsSaidWhereNoneFits) {
  Log log(8 << 20);
  ASSERT_TRUE(log.open().ok());
  log.fault.inject(
      {.on = FileOperation::kCreate, .name = "*.log", .nth = 1, .sticky = true, .code = Code::kNoSpace});
  Status refused;
  for (int i = 0; i < 1000 && refused.ok(); ++i) refused = log.append(1000);
  EXPECT_TRUE(refused.is(Code::kNoSpace)) << refused.to_text();
  EXPECT_NE(refused.to_text().find(fmt::format("of {} bytes", 64 << 10)), std::string::npos)
      << refused.to_text();
}

// Sums show damage only. So a number that no log reaches is refused although the sum of its header is right.
TEST(WalDamage, AHeaderWithImpossibleNumbersIsRefused) {
  for (const size_t field : {32, 40, 48}) {  // the id, the first record's number, the first sequence
    for (const uint64_t number : {uint64_t{1} << 62, UINT64_MAX}) {
      Log log;
      ASSERT_TRUE(log.open().ok());
      ASSERT_TRUE(log.append(100).ok());
      std::string forged = read_file(*log.wal_directory, segment_name(1));
      store_le64(forged.data() + field, number);
      store_le32(forged.data() + kFileHeaderBytes - 4, crc32c({forged.data(), kFileHeaderBytes - 4}));
      ASSERT_TRUE(log.wal_directory->unlink(segment_name(1)).ok());
      write_file(*log.wal_directory, segment_name(1), forged);
      const ReadBack back = log.read();
      EXPECT_TRUE(back.status.is(Code::kCorruption)) << field << ": " << back.status.to_text();
      EXPECT_NE(back.status.to_text().find("numbers"), std::string::npos) << back.status.to_text();
    }
  }
}

}  // namespace
}  // namespace cellar::testing
