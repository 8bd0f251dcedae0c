// Goal: what an engine tells reads as a sentence.
#include "cellar/events.h"

#include <gtest/gtest.h>

namespace cellar::testing {

TEST(Events, Flush) {
  FlushInfo info{.table = "users", .family = "f", .file = "", .cells_in = 1234, .status = {}};
  EXPECT_EQ(to_text(info), "flush users/f: begins, 1,234 cells");
  info.micros = 340'000;
  info.cells_out = 0;
  EXPECT_EQ(to_text(info), "flush users/f: 1,234 cells in, 0 out, no file, 340 ms");
  info.file = "0a";
  info.cells_out = 1200;
  info.bytes_out = 1 << 20;
  EXPECT_EQ(to_text(info), "flush users/f: 1,234 cells in, 1,200 out, 1 MiB in 0a, 340 ms");
  info.status = Status::no_space("disk full");
  EXPECT_EQ(to_text(info), "flush users/f: failed: no_space: disk full");
}

TEST(Events, Compaction) {
  CompactionInfo info;
  info.table = "users";
  info.family = "f";
  info.why = "3 of similar size";
  info.inputs = {"a", "b"};
  EXPECT_EQ(to_text(info), "minor compaction users/f: begins, 2 files (a, b): 3 of similar size");
  info.major = true;
  info.outputs.emplace_back().name = "c";
  info.cells_in = 10;
  info.cells_out = 9;
  info.bytes_in = 2048;
  info.bytes_out = 1024;
  info.micros = 1500;
  EXPECT_EQ(to_text(info),
            "major compaction users/f: 2 files, 10 cells in, 9 out, 2 KiB to 1 KiB in c, 1.5 ms");
  info.parts = 3;
  EXPECT_EQ(to_text(info),
            "major compaction users/f: 2 files, 10 cells in, 9 out, 2 KiB to 1 KiB in c, in 3 parts, 1.5 ms");
  info.status = Status::corruption("bad");
  EXPECT_EQ(to_text(info), "major compaction users/f: failed: corruption: bad");
}

TEST(Events, OthersAndDefaults) {
  EXPECT_EQ(
      to_text(RecoveryReport{.segments_read = 1,
                             .records_replayed = 2,
                             .cells_replayed = 3,
                             .cells_skipped = 4,
                             .torn_bytes = 5,
                             .orphans_removed = 1,
                             .micros = 6}),
      "recovered: 1 log segment, 2 records, 3 cells replayed, 4 already stored, 5 B of a torn tail left out, "
      "1 leftover file removed, 6 µs");
  EXPECT_EQ(to_text(RecoveryReport{.clean = true}),
            "opened after a clean close: 0 log segments, 0 records, 0 cells replayed, 0 µs");
  EventListener silent;
  silent.on_flush_begin({});
  silent.on_flush_end({});
  silent.on_compaction_begin({});
  silent.on_compaction_end({});
  silent.on_stall_begin("9 files");
  silent.on_stall_end("9 files", 2000);
  silent.on_log_rolled(1, 2);
  silent.on_log_removed(1, 2);
  silent.on_feed_lost({});
  silent.on_recovered({});
  silent.on_background_error({});
}

}  // namespace cellar::testing
