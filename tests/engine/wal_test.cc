// Goal: the records of the log come back in order up to its end. Damage is never mistaken for an end. Method:
// round trips over memory, mapped and plain, and every torn length and every flipped bit of small logs.
// Failures strike by rule, and an executor never helps. Crashes are in wal_crash_test.cc.
#include "engine/log/wal_writer.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <thread>

#include "base/memory_file_system.h"
#include "base/random.h"
#include "engine/log/directory.h"
#include "tests/engine/wal_log.h"
#include "tests/engine/wal_support.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/manual_clock.h"
#include "tests/support/scratch_directory.h"
#include "tests/support/step_executor.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {

namespace {

// ---- the bytes

TEST(WalFormat, RecordsOfEveryLengthComeBack) {
  const RecordCodec codec(FileKind::kLog, kTestIdentity, 3);
  for (size_t bytes = kLogTimeBytes; bytes < 300; ++bytes) {
    const std::string payload = value_of(bytes, bytes);
    for (const uint64_t offset : {96u, 1024u, 999992u}) {
      RecordHeader header{.lsn = 9, .sequence = bytes, .count = 2, .edit = 4, .synced = 96};
      uint32_t chain = 77;
      std::string stored(record_bytes(bytes), 'x');
      codec.encode(header, payload, offset, chain, stored.data());
      EXPECT_EQ(chain, header.bcrc);
      EXPECT_FALSE(has_zero_word(stored));
      RecordHeader back;
      ASSERT_TRUE(codec.decode_header(stored.data(), offset, back));
      EXPECT_EQ(back.len, bytes);
      EXPECT_EQ(back.lsn, 9u);
      EXPECT_EQ(back.sequence, bytes);
      EXPECT_EQ(back.count, 2u);
      EXPECT_EQ(back.edit, 4u);
      EXPECT_EQ(back.synced, 96u);
      EXPECT_FALSE(codec.decode_header(stored.data(), offset + 8, back)) << "at another offset";
      std::string clear = stored.substr(kRecordHeaderBytes);
      ASSERT_TRUE(codec.decode_payload(back, offset + kRecordHeaderBytes, 77, clear.data()));
      EXPECT_EQ(clear.substr(0, bytes), payload);
      clear = stored.substr(kRecordHeaderBytes);
      EXPECT_FALSE(codec.decode_payload(back, offset + kRecordHeaderBytes, 78, clear.data()))
          << "another chain";
    }
  }
}

TEST(WalFormat, ZerosAreNeverStoredAsZeros) {
  const std::string zeros(64 << 10, '\0');
  for (uint64_t id = 1; id < 50; ++id) {
    const RecordCodec codec(FileKind::kLog, {0, 0}, id);
    RecordHeader header;
    uint32_t chain = 0;
    std::string stored(record_bytes(zeros.size()), '\0');
    codec.encode(header, zeros, 96, chain, stored.data());
    EXPECT_FALSE(has_zero_word(stored));
  }
}

TEST(WalFormat, EveryBitOfARecordCounts) {
  const RecordCodec codec(FileKind::kLog, kTestIdentity, 3);
  const std::string payload = payload_of(1, 21);
  RecordHeader header{.lsn = 1, .sequence = 1, .count = 1};
  uint32_t chain = 5;
  std::string stored(record_bytes(payload.size()), '\0');
  codec.encode(header, payload, 96, chain, stored.data());
  for (size_t bit = 0; bit < stored.size() * 8; ++bit) {
    std::string flipped = stored;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    RecordHeader back;
    const bool sound =
        codec.decode_header(flipped.data(), 96, back) && back.len == payload.size() &&
        codec.decode_payload(back, 96 + kRecordHeaderBytes, 5, flipped.data() + kRecordHeaderBytes);
    EXPECT_FALSE(sound) << "bit " << bit;
  }
}

TEST(WalFormat, CellsComeBackWithTags) {
  RecordBuilder builder;
  for (int round = 0; round < 3; ++round) {
    builder.begin();
    for (uint32_t i = 0; i < 200; ++i)
      add_cell(builder, i, key_of(i), value_of(i, i * 3), std::string(i % 7, 't'));
    const std::string_view payload = builder.finish(-5);
    EXPECT_EQ(static_cast<int64_t>(load_le64(payload.data())), -5) << "when it was written";
    LogCells cells(payload, builder.count(), 42);
    LogCell cell;
    for (uint32_t i = 0; i < 200; ++i) {
      ASSERT_TRUE(cells.next(cell)) << cells.status().to_text();
      EXPECT_EQ(cell.family_id, i);
      EXPECT_EQ(cell.cell.row(), "r" + std::to_string(i));
      EXPECT_EQ(cell.cell.family(), "f");
      EXPECT_EQ(cell.cell.qualifier(), "q");
      EXPECT_EQ(cell.cell.timestamp, 1000 + i);
      EXPECT_EQ(cell.cell.value_bytes(), value_of(i, i * 3));
      EXPECT_EQ(cell.cell.tags_bytes(), std::string(i % 7, 't'));
      EXPECT_EQ(cell.cell.sequence, 42u);
    }
    EXPECT_FALSE(cells.next(cell));
    EXPECT_TRUE(cells.status().ok());
    if (round == 1) builder.shrink(1000);
  }
}

// Every length and every count of a payload, and random bytes: an answer, never a step outside (the
// sanitizers watch).
TEST(WalFormat, HostilePayloadsAreRefused) {
  RecordBuilder builder;
  builder.begin();
  for (uint32_t i = 0; i < 3; ++i) add_cell(builder, i, key_of(i), "value", "tag");
  const std::string payload(builder.finish(1));
  const auto walk = [](const std::string& bytes, uint32_t count) {
    const auto exact = std::make_unique<char[]>(bytes.size());  // so that a step outside is seen
    std::copy(bytes.begin(), bytes.end(), exact.get());
    LogCells cells({exact.get(), bytes.size()}, count, 1);
    LogCell cell;
    uint64_t seen = 0;
    while (cells.next(cell))
      seen += cell.cell.row().size() + cell.cell.qualifier().size() + cell.cell.tags_size;
    return cells.status().ok() && seen > 0;
  };
  EXPECT_TRUE(walk(payload, 3));
  for (size_t bytes = 0; bytes < payload.size(); ++bytes)
    EXPECT_FALSE(walk(payload.substr(0, bytes), 3)) << bytes;
  EXPECT_FALSE(walk(payload, 2));
  EXPECT_FALSE(walk(payload, 4));
  Random random(11);
  for (int i = 0; i < 200000; ++i) {
    std::string changed = payload;
    for (uint64_t n = 1 + random.below(3); n > 0; --n) {
      changed[random.below(changed.size())] = static_cast<char>(random.next());
    }
    walk(changed, 3);
  }
}

// ---- round trips

class WalModes : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(MappedAndPlain, WalModes, ::testing::Bool(),
                         [](const auto& param) { return param.param ? "Mapped" : "Plain"; });

TEST_P(WalModes, RecordsComeBackOverManyRollsAndReopens) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Log log(4096, seed);
    if (!GetParam()) log.plain();
    Random random(seed);
    for (int session = 0; session < 4; ++session) {
      ASSERT_TRUE(log.open().ok());
      for (int i = 0; i < 60; ++i) {
        ASSERT_TRUE(log.append(random.below(400)).ok());
        if (random.one_in(9)) {
          ASSERT_TRUE(log.wal->sync().ok());
        }
      }
      const Result<LogPosition> end = log.wal->close_cleanly();
      ASSERT_TRUE(end.ok()) << end.status().to_text();
      log.wal.reset();
      log.facts.clean_close = *end;
      const ReadBack back = log.read();
      ASSERT_TRUE(back.status.ok()) << back.status.to_text();
      EXPECT_TRUE(back.summary.clean);
      EXPECT_EQ(back.summary.end, *end);
      EXPECT_TRUE(is_run(back.sequences, 1, log.next - 1));
      EXPECT_EQ(back.summary.torn_bytes, 0u);
      log.options.continues = back.summary.end;
      log.options.older = back.summary.segments;
      log.options.first_segment = back.summary.next_segment;
      log.options.last_sequence = back.summary.last_sequence;
      EXPECT_GT(back.summary.segments.size(), 2u);
    }
    log.executor.finish();
  }
}

TEST_P(WalModes, AnUncleanEndLosesNothingThatWasAppended) {
  Log log;
  if (!GetParam()) log.plain();
  ASSERT_TRUE(log.open().ok());
  EXPECT_TRUE(log.read().status.ok());
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(log.append(static_cast<size_t>(i * 5)).ok());
    const ReadBack back = log.read();
    ASSERT_TRUE(back.status.ok()) << back.status.to_text();
    ASSERT_TRUE(is_run(back.sequences, 1, log.next - 1));
    EXPECT_FALSE(back.summary.clean);
    EXPECT_EQ(back.summary.end.segment, log.wal->end().segment);
    EXPECT_EQ(back.summary.end.offset, log.wal->end().offset);
    EXPECT_EQ(back.summary.end.lsn, log.wal->end().lsn);
  }
}

TEST_P(WalModes, ARecordLargerThanASegmentGetsItsOwn) {
  Log log;
  if (!GetParam()) log.plain();
  ASSERT_TRUE(log.open().ok());
  for (const size_t bytes : {10u, 100000u, 10u, 3000u, 3900u, 4000u, 1000000u, 1000000u, 5u}) {
    ASSERT_TRUE(log.append(bytes).ok());
  }
  EXPECT_TRUE(log.wal->append(log.next, 1, std::string(kLogPayloadBytesMax + 1, 'x')).is(Code::kLimit));
  EXPECT_TRUE(log.wal->health().ok());
  log.facts.clean_close = *log.wal->close_cleanly();
  const ReadBack back = log.read();
  ASSERT_TRUE(back.status.ok()) << back.status.to_text();
  EXPECT_TRUE(is_run(back.sequences, 1, 9));
  EXPECT_TRUE(back.summary.clean);
}

TEST(Wal, SegmentsAreCutWhenTheyAreDone) {
  Log log;
  ASSERT_TRUE(log.open().ok());
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(log.append(300).ok());
  ASSERT_TRUE(log.wal->sync().ok());
  for (const LogSegment& segment : log.wal->segments()) {
    const uint64_t size = read_file(*log.wal_directory, segment_name(segment.id)).size();
    EXPECT_EQ(size, segment.id == log.wal->current_segment() ? 4096u : segment.bytes);
  }
  ASSERT_TRUE(log.wal->close_cleanly().ok());
  EXPECT_EQ(log.wal_directory->list()->size(), log.wal->segments().size()) << "nothing prepared stays";
}

TEST(Wal, ReleasedSegmentsGoOldestFirstAndOthersStay) {
  Log log;
  ASSERT_TRUE(log.open().ok());
  while (log.wal->current_segment() < 6) ASSERT_TRUE(log.append(300).ok());
  ASSERT_TRUE(log.wal->sync().ok());
  const std::vector<LogSegment> segments = log.wal->segments();
  EXPECT_EQ(log.wal->needed_from(0), 1u);
  EXPECT_EQ(log.wal->needed_from(segments[2].last_sequence), 4u);
  EXPECT_EQ(log.wal->needed_from(segments[2].last_sequence - 1), 3u);
  EXPECT_EQ(log.wal->needed_from(log.next), 6u);
  log.fault.clear_log();
  ASSERT_TRUE(log.wal->release_before(4).ok());
  EXPECT_EQ(log.fault.count(FileOperation::kUnlink), 3u);
  log.facts.first_segment = 4;
  const ReadBack back = log.read();
  ASSERT_TRUE(back.status.ok()) << back.status.to_text();
  EXPECT_TRUE(is_run(back.sequences, segments[2].last_sequence + 1, log.next - 1));
  ASSERT_TRUE(log.wal->release_before(99).ok());  // never the current one
  EXPECT_EQ(log.wal->segments().size(), 1u);
  log.facts.first_segment = 3;
  log.facts.synced = log.wal->synced();
  EXPECT_TRUE(log.read().status.is(Code::kCorruption)) << "a segment that the manifest asks for is gone";
  EXPECT_TRUE(remove_segments_before(*log.wal_directory, 7, {}, nullptr).ok());
}

// The records are in files, so a log that ends in a new segment leaves nothing to read.
TEST_P(WalModes, ASmallSegmentAtTheEndLeavesNothingToRead) {
  Log log(1 << 20);
  if (GetParam()) log.plain();
  ASSERT_TRUE(log.open().ok());
  ASSERT_TRUE(log.append(1000).ok());
  ASSERT_TRUE(log.wal->begin_small_segment().ok());
  EXPECT_EQ(log.wal->current_segment(), 1u) << "it is small";
  while (log.wal->current_segment() < 3) ASSERT_TRUE(log.append(1000).ok());
  while (log.wal->end().offset < 5000) ASSERT_TRUE(log.append(1000).ok());
  ASSERT_TRUE(log.wal->begin_small_segment().ok());
  EXPECT_EQ(log.wal->current_segment(), 4u);
  EXPECT_EQ(log.wal->needed_from(log.next - 1), 4u);
  ASSERT_TRUE(log.wal->release_before(4).ok());
  log.facts.first_segment = 4;
  const Result<LogPosition> end = log.wal->close_cleanly();
  ASSERT_TRUE(end.ok()) << end.status().to_text();
  log.facts.clean_close = *end;
  const ReadBack back = log.read();
  ASSERT_TRUE(back.status.ok()) << back.status.to_text();
  EXPECT_TRUE(back.sequences.empty());
  const std::vector<DirectoryEntry> files = log.wal_directory->list().value();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_LE(read_file(*log.wal_directory, files[0].name).size(), 512u);
  EXPECT_FALSE(log.wal->begin_small_segment().ok()) << "the log is closed";
}

// Nobody waits for a job that has not begun.
TEST(Wal, GoesOnWithAnExecutorThatNeverHelps) {
  Log log;
  LazyExecutor lazy(log.executor);
  {
    auto wal = std::move(Wal::create(*log.root, lazy, log.options)).value();
    for (uint64_t i = 1; i <= 200; ++i) {
      ASSERT_TRUE(wal->append(i, 1, payload_of(i, 300)).ok());
      if (i % 50 == 0) {
        ASSERT_TRUE(wal->sync().ok());
      }
    }
    EXPECT_GT(lazy.queued(), 10u);
    log.facts.clean_close = std::move(wal->close_cleanly()).value();
  }
  EXPECT_TRUE(is_run(log.read().sequences, 1, 200));
  lazy.run_all();  // after the log is gone: they find it closed
  EXPECT_TRUE(log.read().summary.clean);
}

TEST(Wal, RecordsSayWhichManifestEditWasDurable) {
  Log log;
  ASSERT_TRUE(log.open().ok());
  ASSERT_TRUE(log.append(10).ok());
  EXPECT_EQ(log.read().summary.manifest_edit, 0u);
  log.wal->note_manifest_edit(17);
  ASSERT_TRUE(log.append(10).ok());
  EXPECT_EQ(log.read().summary.manifest_edit, 17u);
  log.facts.manifest_edit = 17;
  EXPECT_TRUE(log.read().status.ok());
  log.facts.manifest_edit = 16;
  EXPECT_TRUE(log.read().status.is(Code::kCorruption)) << "the manifest has lost its end";
}

TEST(Wal, TellsItsListener) {
  struct Listener : EventListener {
    void on_log_rolled(uint64_t segment, uint64_t) override { rolled.push_back(segment); }
    void on_log_removed(uint64_t segment, uint64_t) override { removed.push_back(segment); }
    std::vector<uint64_t> rolled, removed;
  } listener;
  Log log;
  log.options.events = &listener;
  ASSERT_TRUE(log.open().ok());
  while (log.wal->current_segment() < 4) ASSERT_TRUE(log.append(500).ok());
  ASSERT_TRUE(log.wal->release_before(3).ok());
  EXPECT_EQ(listener.rolled, (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_EQ(listener.removed, (std::vector<uint64_t>{1, 2}));
}

// ---- failures

TEST(Wal, AFullDiskIsMetBeforeAnythingIsAppended) {
  Log log;
  ASSERT_TRUE(log.open().ok());
  log.executor.settle();
  log.fault.inject({.on = FileOperation::kCreate, .nth = 1, .sticky = true, .code = Code::kNoSpace});
  Status status;
  while (status.ok()) status = log.append(300);
  EXPECT_TRUE(status.is(Code::kNoSpace)) << status.to_text();
  EXPECT_TRUE(log.wal->health().ok()) << "nothing is unknown";
  EXPECT_TRUE(log.wal->sync().ok());
  EXPECT_TRUE(log.append(300).is(Code::kNoSpace));
  EXPECT_TRUE(is_run(log.read().sequences, 1, log.next - 1));
  log.fault.clear();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(log.append(300).ok());
  log.facts.clean_close = *log.wal->close_cleanly();
  EXPECT_TRUE(is_run(log.read().sequences, 1, log.next - 1));
}

// Each writing operation of a workload fails, once: the log is sealed or goes on, never in between; what was
// acknowledged is there afterwards.
TEST_P(WalModes, EachFailureSealsOrDoesNothing) {
  const bool mapped = GetParam();
  const auto run = [&](Log& log, uint64_t& synced) {
    if (!log.open().ok()) return;
    Status first;
    for (int i = 0; i < 40; ++i) {
      const Status appended = log.append(300);
      const Status sync = i % 7 == 6 ? log.wal->sync() : Status();
      if (i % 7 == 6 && sync.ok()) synced = log.next - 1;
      if (!first.ok()) {
        EXPECT_FALSE(appended.ok());
        EXPECT_EQ(log.wal->health().message(), first.message());
      }
      if (first.ok() && !log.wal->health().ok()) first = log.wal->health();
    }
    if (!first.ok()) {
      EXPECT_FALSE(log.wal->close_cleanly().ok());
    }
  };
  uint64_t operations = 0, sealed = 0;
  {
    Log log;
    if (!mapped) log.plain();
    uint64_t synced = 0;
    run(log, synced);
    log.executor.finish();
    operations = log.fault.count(kAllWrites);
  }
  for (uint64_t k = 3; k <= operations; ++k) {
    Log log;
    if (!mapped) log.plain();
    log.fault.inject({.on = kAllWrites, .nth = k - 2, .short_append = mapped ? std::optional<size_t>() : 20});
    uint64_t synced = 0;
    run(log, synced);
    log.executor.finish();
    if (log.wal != nullptr && !log.wal->health().ok()) ++sealed;
    log.wal.reset();
    const ReadBack back = log.read();
    ASSERT_TRUE(back.status.ok()) << k << ": " << back.status.to_text() << "\n" << log.fault.log();
    EXPECT_GE(back.sequences.size(), synced);
    EXPECT_TRUE(is_run(back.sequences, 1, back.sequences.size()));
  }
  std::printf("%llu failures injected, %llu sealed the log\n",
              static_cast<unsigned long long>(operations - 2), static_cast<unsigned long long>(sealed));
}

// ---- damage

// A closed log of three segments, as bytes by name.
struct ClosedLog {
  explicit ClosedLog(bool clean) {
    EXPECT_TRUE(log.open().ok());
    while (log.wal->current_segment() < 3) EXPECT_TRUE(log.append(700).ok());
    EXPECT_TRUE(log.append(40).ok());
    EXPECT_TRUE(log.wal->sync().ok());
    synced = log.next - 1;
    EXPECT_TRUE(log.append(60).ok());
    EXPECT_TRUE(log.append(60).ok());
    if (clean) log.facts.clean_close = *log.wal->close_cleanly();
    end = log.wal->end().offset;
    log.wal.reset();
    log.executor.finish();
    for (const DirectoryEntry& entry : *log.wal_directory->list()) {
      files.emplace_back(entry.name, read_file(*log.wal_directory, entry.name));
    }
  }
  // Reads the log with one file replaced.
  ReadBack with(size_t index, const std::string& bytes) {
    write_file(*log.wal_directory, files[index].first, bytes);
    ReadBack back = log.read();
    write_file(*log.wal_directory, files[index].first, files[index].second);
    return back;
  }
  Log log;
  uint64_t synced = 0;
  uint64_t end = 0;
  std::vector<std::pair<std::string, std::string>> files;
};

TEST(WalDamage, AfterACleanCloseEveryFlippedBitIsAnError) {
  ClosedLog closed(true);
  uint64_t flips = 0, refused = 0;
  for (size_t f = 0; f < closed.files.size(); ++f) {
    for (size_t byte = 0; byte < closed.files[f].second.size(); ++byte) {
      for (const int bit : {static_cast<int>(byte % 8), static_cast<int>((byte * 5 + 3) % 8)}) {
        std::string flipped = closed.files[f].second;
        flipped[byte] = static_cast<char>(flipped[byte] ^ 1 << bit);
        const ReadBack back = closed.with(f, flipped);
        ++flips;
        refused += back.status.ok() ? 0 : 1;
        EXPECT_FALSE(back.status.ok()) << closed.files[f].first << " byte " << byte;
        EXPECT_FALSE(back.status.place().empty());
      }
    }
  }
  EXPECT_EQ(refused, flips);
  count(flips, "bits flipped in a cleanly closed log, all refused");
}

TEST(WalDamage, AfterACleanCloseEveryMissingByteIsAnError) {
  ClosedLog closed(true);
  for (size_t f = 0; f < closed.files.size(); ++f) {
    const std::string& whole = closed.files[f].second;
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
      EXPECT_FALSE(closed.with(f, whole.substr(0, bytes)).status.ok())
          << closed.files[f].first << " of " << bytes;
    }
    std::string zeroed = whole;
    for (size_t at = 0; at + 8 <= whole.size(); at += 8) {
      zeroed = whole;
      std::fill_n(zeroed.begin() + static_cast<ptrdiff_t>(at), 8, '\0');
      if (zeroed == whole) continue;  // a word of the header
      EXPECT_FALSE(closed.with(f, zeroed).status.ok()) << closed.files[f].first << " word " << at;
    }
    EXPECT_TRUE(closed.with(f, whole + std::string(4096, '\0')).status.ok())
        << "the cut may not have been durable";
    EXPECT_FALSE(closed.with(f, whole + "x").status.ok());
    EXPECT_TRUE(closed.log.wal_directory->unlink(closed.files[f].first).ok());
    EXPECT_TRUE(closed.log.read().status.is(Code::kCorruption));
    write_file(*closed.log.wal_directory, closed.files[f].first, whole);
  }
  EXPECT_TRUE(closed.log.read().summary.clean);
}

TEST(WalDamage, AfterAnUncleanEndFlipsAreErrorsOrLoseTheLastSyncGroup) {
  ClosedLog closed(false);
  uint64_t flips = 0, refused = 0, harmless = 0, lost = 0;
  for (size_t f = 0; f < closed.files.size(); ++f) {
    for (size_t byte = 0; byte < closed.files[f].second.size(); ++byte) {
      std::string flipped = closed.files[f].second;
      flipped[byte] = static_cast<char>(flipped[byte] ^ 1 << byte % 8);
      const ReadBack back = closed.with(f, flipped);
      ++flips;
      if (!back.status.ok()) {
        ++refused;
      } else if (back.sequences.size() == closed.log.next - 1) {
        ++harmless;
      } else {
        ++lost;
        EXPECT_GE(back.sequences.size(), closed.synced) << closed.files[f].first << " byte " << byte;
        EXPECT_TRUE(is_run(back.sequences, 1, back.sequences.size()));
      }
    }
  }
  EXPECT_EQ(harmless, 0u);
  count(refused, "bits flipped in a log that was not closed, refused");
  count(harmless, "bits flipped in a log that was not closed, without effect");
  count(lost, "bits flipped in a log that was not closed, taken for a torn end behind the last sync");
}

TEST(WalDamage, TheManifestsWitnessCatchesALostTail) {
  ClosedLog closed(false);
  const std::string name = closed.files[2].first;
  closed.log.facts.synced = {3, 0, 0, 0};
  EXPECT_TRUE(closed.log.read().status.ok());
  const std::string cut = closed.files[2].second.substr(0, 300);
  EXPECT_TRUE(closed.with(2, cut).status.ok());
  closed.log.facts.synced = {3, 400, 0, 0};
  EXPECT_TRUE(closed.with(2, cut).status.is(Code::kCorruption));
  EXPECT_TRUE(closed.log.read().status.ok());
}

TEST(WalDamage, SegmentsDoNotMix) {
  ClosedLog one(true), other(true);
  EXPECT_FALSE(one.with(1, one.files[0].second).status.ok()) << "another segment under its name";
  EXPECT_FALSE(one.with(0, one.files[1].second).status.ok());
  one.log.facts.identity = {1, 2};
  const ReadBack back = one.log.read();
  EXPECT_TRUE(back.status.is(Code::kCorruption));
  EXPECT_NE(back.status.message().find("another store"), std::string_view::npos);
}

TEST(WalDamage, ToleranceEndsTheLogAtDamageWithoutWitness) {
  ClosedLog closed(false);
  // The first record of the last segment was synced, and later ones say so; the last record was not.
  const auto flipped = [&](uint64_t byte) {
    std::string last = closed.files[2].second;
    EXPECT_NE(last[byte], 0);
    last[byte] = static_cast<char>(last[byte] ^ 4);
    return last;
  };
  const std::string first_damaged = flipped(kFileHeaderBytes + 80 + 60);
  const std::string last_damaged = flipped(closed.end - 20);
  const ReadBack strict = closed.with(2, first_damaged);
  EXPECT_TRUE(strict.status.is(Code::kCorruption));
  EXPECT_NE(strict.status.place().find("0000000003.log: offset 176"), std::string_view::npos);
  EXPECT_TRUE(closed.with(2, last_damaged).status.is(Code::kCorruption));
  closed.log.facts.tolerate_torn = true;
  EXPECT_TRUE(closed.with(2, first_damaged).status.is(Code::kCorruption));
  const ReadBack tolerant = closed.with(2, last_damaged);
  ASSERT_TRUE(tolerant.status.ok()) << tolerant.status.to_text();
  EXPECT_TRUE(is_run(tolerant.sequences, 1, closed.log.next - 2));
  EXPECT_GT(tolerant.summary.torn_bytes, 60u);
}

// ---- torn tails

TEST(WalTorn, PlainAppendsCutAtEveryByte) {
  Log log;
  log.plain();
  ASSERT_TRUE(log.open().ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(log.append(90).ok());
  const uint64_t before = log.wal->end().offset;
  ASSERT_TRUE(log.append(123).ok());
  const uint64_t after = log.wal->end().offset;
  log.wal.reset();
  log.executor.finish();
  const std::string whole = read_file(*log.wal_directory, segment_name(1));
  ASSERT_EQ(whole.size(), after);
  for (uint64_t bytes = before; bytes < after; ++bytes) {
    write_file(*log.wal_directory, segment_name(1), whole.substr(0, bytes));
    const ReadBack back = log.read();
    ASSERT_TRUE(back.status.ok()) << bytes << ": " << back.status.to_text();
    EXPECT_EQ(back.sequences.size(), 3u);
    EXPECT_LE(back.summary.torn_bytes, bytes - before);  // the last bytes may be zeros
    EXPECT_EQ(back.summary.end.offset, before);
  }
}

// A kill inside the copy: any words of the record may be there, the first one only when all others are.
TEST(WalTorn, MappedAppendsWithAnyWordsMissing) {
  Log log;
  ASSERT_TRUE(log.open().ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(log.append(90).ok());
  const uint64_t before = log.wal->end().offset;
  ASSERT_TRUE(log.append(70).ok());
  const uint64_t words = (log.wal->end().offset - before) / 8;
  log.wal.reset();
  log.executor.finish();
  const std::string whole = read_file(*log.wal_directory, segment_name(1));
  Random random(3);
  for (int sample = 0; sample < 20000; ++sample) {
    std::string torn = whole;
    uint64_t missing = 0;
    for (uint64_t word = 0; word < words; ++word) {
      const bool gone =
          sample < static_cast<int>(words) ? word == static_cast<uint64_t>(sample) : random.one_in(2);
      if (gone) std::fill_n(torn.begin() + static_cast<ptrdiff_t>(before + 8 * word), 8, '\0');
      missing += gone ? 1 : 0;
    }
    write_file(*log.wal_directory, segment_name(1), torn);
    const ReadBack back = log.read();
    ASSERT_TRUE(back.status.ok()) << sample << ": " << back.status.to_text();
    ASSERT_EQ(back.sequences.size(), missing == 0 ? 4u : 3u);
  }
}

// ---- threads

// Real threads and real files: one appends and rolls, two sync, one looks, one releases.
void hammer(FileSystem& files, const std::string& path) {
  auto root = must_open(files, path);
  auto directory = std::move(root->directory("wal", true)).value();
  auto executor = make_thread_executor(1, 1);
  constexpr uint64_t kRecords = 4000;
  LogFacts facts{.identity = kTestIdentity};
  {
    auto wal =
        std::move(Wal::create(*root, *executor, {.identity = kTestIdentity, .segment_bytes = 16384})).value();
    std::atomic<bool> done{false};
    std::atomic<uint64_t> released{1};
    const auto sync = [&] {
      while (!done) {
        EXPECT_TRUE(wal->sync().ok());
        const LogPosition position = wal->synced();
        EXPECT_GT(position.segment, 0u);
      }
    };
    std::thread first(sync), second(sync), third([&] {
      while (!done) {
        const uint64_t from = wal->needed_from(wal->end().lsn / 2);
        EXPECT_TRUE(wal->release_before(from).ok());
        released = std::max(released.load(), from);
        std::this_thread::yield();
      }
    });
    for (uint64_t i = 1; i <= kRecords; ++i) ASSERT_TRUE(wal->append(i, 1, payload_of(i, i % 900)).ok());
    done = true;
    first.join(), second.join(), third.join();
    facts.clean_close = std::move(wal->close_cleanly()).value();
    facts.first_segment = released;
  }
  const ReadBack back = read_back(*directory, facts);
  ASSERT_TRUE(back.status.ok()) << back.status.to_text();
  EXPECT_EQ(back.sequences.back(), kRecords);
  EXPECT_TRUE(is_run(back.sequences, back.sequences.front(), kRecords));
}

TEST(WalThreads, SyncBesideAppendInMemory) {
  auto memory = make_memory_file_system();
  hammer(*memory, "store");
}

TEST(WalThreads, SyncBesideAppendOnFiles) {
  ScratchDirectory scratch;
  hammer(posix_file_system(), scratch / "store");
}

}  // namespace
}  // namespace cellar::testing
