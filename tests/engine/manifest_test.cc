// Goal: the manifest gives back exactly the state that was committed, refuses damage, and stops when it
// cannot know. Method: random edits against a plain state; every flipped bit and every cut; failures by rule
// at every operation. Crashes are in manifest_crash_test.cc.
#include "engine/manifest/manifest.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <thread>
#include <tuple>
#include <vector>

#include "base/coding.h"
#include "base/memory_file_system.h"
#include "base/random.h"
#include "engine/manifest/manifest_codec.h"
#include "tests/engine/manifest_support.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/step_executor.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {

namespace {

struct Store {
  explicit Store(uint64_t seed = 1) : executor(seed, clock), fault(*memory) {
    root = must_open(fault, "store");
  }
  Status create() {
    ManifestState state;
    state.identity = kTestIdentity;
    return take(Manifest::create(*root, executor, state, options));
  }
  Status load() { return take(Manifest::load(*root, executor, options)); }
  Status take(Result<std::unique_ptr<Manifest>> made) {
    if (made.ok()) manifest = std::move(*made);
    return made.status();
  }
  // The state as another reader finds it.
  Result<ManifestState> stored() {
    auto loaded = Manifest::load(*root, executor, {.read_only = true});
    if (!loaded.ok()) return loaded.status();
    return (*loaded)->state();
  }
  // Begins a new generation with the current state.
  Status roll() { return manifest->switch_to(manifest->state()).status(); }
  // The number of the newest generation.
  uint64_t generation() {
    uint64_t newest = 0, number = 0;
    for (const DirectoryEntry& entry : *root->list())
      if (parse_manifest_name(entry.name, number)) newest = std::max(newest, number);
    return newest;
  }

  ManualClock clock;
  StepExecutor executor;
  std::unique_ptr<FileSystem> memory = make_memory_file_system();
  FaultFileSystem fault;
  std::unique_ptr<Directory> root;
  ManifestOptions options;
  std::unique_ptr<Manifest> manifest;
};

TEST(ManifestCodec, EveryFieldComesBack) {
  ManifestState state = full_state();
  state.snapshot = "before";
  ManifestState back;
  ASSERT_TRUE(apply_payload(back, encode_snapshot(state), EditKind::kSnapshot).ok());
  back.edit = state.edit;
  EXPECT_EQ(back, state);
}

TEST(ManifestCodec, HostilePayloadsAreRefused) {
  const std::string snapshot = encode_snapshot(full_state());
  for (size_t bytes = 0; bytes < snapshot.size(); ++bytes) {
    ManifestState state;
    const Status status = apply_payload(state, snapshot.substr(0, bytes), EditKind::kSnapshot);
    EXPECT_TRUE(status.ok() || status.is(Code::kCorruption)) << status.to_text();
  }
  Random random(5);
  for (int i = 0; i < static_cast<int>(scaled(100'000)); ++i) {
    std::string changed = snapshot;
    for (uint64_t n = 1 + random.below(3); n > 0; --n) {
      changed[random.below(changed.size())] = static_cast<char>(random.next());
    }
    ManifestState state;
    const Status status = apply_payload(state, changed, EditKind::kSnapshot);
    EXPECT_TRUE(status.ok() || status.is(Code::kCorruption) || status.is(Code::kNotSupported))
        << status.to_text();
  }
  ManifestState state;
  EXPECT_TRUE(apply_payload(state, "\x7f\x01x", EditKind::kEdit).is(Code::kNotSupported));
  EXPECT_TRUE(apply_payload(state, snapshot, EditKind::kEdit).is(Code::kCorruption));
}

TEST(ManifestState, EditsThatDoNotFitAreRefused) {
  const ManifestState state = full_state();
  const auto refused = [&](const std::function<void(ManifestEdit&)>& fill) {
    ManifestState changed = state;
    ManifestEdit edit;
    fill(edit);
    EXPECT_TRUE(apply(changed, edit).is(Code::kInvalidArgument));
  };
  const uint32_t family = state.tables[0].families[0].id;
  const std::string there = state.tables[0].families[0].files[0].name;
  refused([](ManifestEdit& edit) { edit.set_tables.push_back({0, "t", {}, {}}); });
  refused([&](ManifestEdit& edit) { edit.set_tables.push_back({77, state.tables[0].name, {}, {}}); });
  refused([](ManifestEdit& edit) { edit.set_families.push_back({99, 50, "f", {}}); });
  refused([&](ManifestEdit& edit) {
    edit.set_families.push_back({state.tables[0].id, 50, state.tables[0].families[0].name, {}});
  });
  refused([&](ManifestEdit& edit) {
    edit.set_families.push_back({state.tables[0].id, state.dropped_families[0], "new", {}});
  });
  refused([&](ManifestEdit& edit) { edit.remove_files.push_back({family, store_file_name({1, 1}, 1)}); });
  refused([&](ManifestEdit& edit) { edit.add_files.push_back({99, some_file(1)}); });
  refused([&](ManifestEdit& edit) { edit.add_files.push_back({family, {.name = there}}); });
  refused([&](ManifestEdit& edit) { edit.add_files.push_back({family, {.name = "../x"}}); });
  refused([](ManifestEdit& edit) { edit.flushed.push_back({99, 1}); });
  refused([](ManifestEdit& edit) { edit.drop_families.push_back(99); });
  refused([](ManifestEdit& edit) { edit.drop_tables.push_back(99); });
  refused([&](ManifestEdit& edit) {
    edit.feeds.add.push_back({50, state.feeds.feeds[0].name, 0, 1, false, {}});
  });
  refused([&](ManifestEdit& edit) {
    edit.feeds.add.push_back({state.feeds.feeds[0].id, "x", 0, 1, false, {}});
  });
  refused([](ManifestEdit& edit) { edit.feeds.drop.push_back(99); });
  refused([](ManifestEdit& edit) { edit.feeds.acknowledge.push_back({99, 1}); });
  refused([&](ManifestEdit& edit) { edit.feeds.retain.push_back(state.feeds.retained[0]); });
}

// Files of equal sequences differ by their place alone.
TEST(ManifestState, WhatReplacesFilesStandsWhereTheyStood) {
  ManifestState state = full_state();
  const uint32_t family = state.tables[0].families[0].id;
  ManifestEdit more;
  for (const uint64_t number : {10, 11, 12}) more.add_files.push_back({family, some_file(number)});
  ASSERT_TRUE(apply(state, more).ok());
  const auto names = [&] {
    std::vector<std::string> all;
    for (const FileRecord& file : state.tables[0].families[0].files) all.push_back(file.name);
    return all;
  };
  const std::vector<std::string> before = names();  // 1 2 10 11 12
  ManifestEdit compaction;
  compaction.remove_files = {{family, before[3]}, {family, before[1]}, {family, before[2]}};
  compaction.add_files = {{family, some_file(20)}, {family, some_file(21)}};
  ASSERT_TRUE(apply(state, compaction).ok());
  EXPECT_EQ(names(),
            (std::vector<std::string>{before[0], some_file(20).name, some_file(21).name, before[4]}));
}

// A Cellar that knows of no adopted files must not read one as its own, and reads all else as ever.
TEST(ManifestCodec, OnlyAdoptedFilesHaveTheirTag) {
  ManifestEdit edit;
  edit.add_files.push_back({9, some_file(1)});
  ASSERT_EQ(some_file(1).adopted_as, 0u);
  EXPECT_EQ(encode_edit(edit)[0], 5);
  edit.add_files[0].file = some_file(3);
  ASSERT_NE(some_file(3).adopted_as, 0u);
  EXPECT_EQ(encode_edit(edit)[0], 21);
}

TEST(ManifestState, DroppedFamiliesLeaveObsoleteFilesAndTheirIds) {
  ManifestState state = full_state();
  const uint32_t table = state.tables[0].id, family = state.tables[0].families[0].id;
  const size_t before = state.obsolete.size();
  size_t files = 0;
  for (const FamilyRecord& each : state.tables[0].families) files += each.files.size();
  ManifestEdit edit;
  edit.drop_tables.push_back(table);
  ASSERT_TRUE(apply(state, edit).ok());
  EXPECT_EQ(state.table(table), nullptr);
  EXPECT_TRUE(state.is_dropped(family));
  EXPECT_EQ(state.obsolete.size(), before + files);
  ManifestEdit forget;
  forget.forget_dropped.push_back(family);
  forget.forget_obsolete = state.obsolete;
  ASSERT_TRUE(apply(state, forget).ok());
  EXPECT_FALSE(state.is_dropped(family));
  EXPECT_TRUE(state.obsolete.empty());
}

TEST(ManifestState, TellsTheLogWhatMustBeThere) {
  ManifestState state;
  state.edit = 1;
  EXPECT_EQ(state.log_facts().synced, LogPosition()) << "the log may not have been made yet";
  state.edit = 2;
  state.log_start = 4;
  EXPECT_EQ(state.log_facts().synced, (LogPosition{4, kFileHeaderBytes, 0, 0}));
  EXPECT_EQ(state.log_facts().manifest_edit, 2u);
  state.log_synced = {9, 500, 0, 0};
  EXPECT_EQ(state.log_facts().synced, state.log_synced);
}

TEST(Manifest, RandomEditsComeBackOverRollsAndReopens) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Store store(seed);
    store.options.roll_bytes = 2000;
    ASSERT_TRUE(store.create().ok());
    Random random(seed);
    ManifestState model = store.manifest->state();
    EditMaker maker(seed);
    for (int i = 0; i < 120; ++i) {
      const ManifestEdit edit = maker.next(model);
      const Result<uint64_t> number = store.manifest->commit(edit);
      ASSERT_TRUE(number.ok()) << number.status().to_text();
      ASSERT_TRUE(apply(model, edit).ok());
      ++model.edit;
      EXPECT_EQ(*number, model.edit);
      EXPECT_EQ(store.manifest->state(), model);
      if (random.one_in(10)) {
        EXPECT_EQ(*store.stored(), model);
      }
      if (random.one_in(20)) {
        ASSERT_TRUE(store.load().ok());
        EXPECT_EQ(store.manifest->state(), model);
      }
    }
    EXPECT_GT(store.generation(), 3u);
    uint64_t generation = 0, manifests = 0;
    for (const DirectoryEntry& entry : *store.root->list()) {
      manifests += parse_manifest_name(entry.name, generation) ? 1 : 0;
    }
    EXPECT_EQ(manifests, 2u) << "the current one and the one before";
    EXPECT_FALSE(store.create().ok()) << "a store already exists";
  }
}

TEST(Manifest, SwitchPublishesAWholeState) {
  Store store;
  ASSERT_TRUE(store.create().ok());
  ManifestState state = full_state();
  const Result<uint64_t> number = store.manifest->switch_to(state);
  ASSERT_TRUE(number.ok()) << number.status().to_text();
  state.edit = *number;
  EXPECT_EQ(*store.stored(), state);
  state.identity = {1, 1};
  EXPECT_TRUE(store.manifest->switch_to(state).status().is(Code::kInvalidArgument));
  EXPECT_TRUE(store.manifest->commit({}).ok());
}

TEST(Manifest, AnEditThatDoesNotFitChangesNothing) {
  Store store;
  ASSERT_TRUE(store.create().ok());
  const ManifestState before = store.manifest->state();
  ManifestEdit edit;
  edit.drop_tables.push_back(5);
  EXPECT_TRUE(store.manifest->commit(edit).status().is(Code::kInvalidArgument));
  EXPECT_EQ(store.manifest->state(), before);
  EXPECT_EQ(*store.stored(), before);
}

TEST(Manifest, FileNumbersAreNeverGivenTwice) {
  Store store;
  ASSERT_TRUE(store.create().ok());
  for (uint64_t i = 1; i <= 10; ++i) EXPECT_EQ(store.manifest->next_file_number(), i);
  ASSERT_TRUE(store.manifest->commit({}).ok());
  ASSERT_TRUE(store.load().ok());
  EXPECT_EQ(store.manifest->next_file_number(), 11u);
  store.manifest->raise_file_number(500);
  EXPECT_EQ(store.manifest->next_file_number(), 501u);
}

TEST(Manifest, ReadOnlyWritesNothing) {
  Store store;
  ASSERT_TRUE(store.create().ok());
  store.options.read_only = true;
  store.fault.clear_log();
  ASSERT_TRUE(store.load().ok());
  EXPECT_TRUE(store.manifest->commit({}).status().is(Code::kReadOnly));
  EXPECT_TRUE(store.roll().is(Code::kReadOnly));
  EXPECT_TRUE(store.manifest->switch_to(store.manifest->state()).status().is(Code::kReadOnly));
  EXPECT_EQ(store.fault.count(kAllWrites), store.fault.count(FileOperation::kDirectory)) << store.fault.log();
}

TEST(Manifest, NoStoreIsNotAnEmptyStore) {
  Store store;
  EXPECT_TRUE(store.load().is(Code::kNotFound));
  ASSERT_TRUE(store.create().ok());
  ASSERT_TRUE(store.roll().ok());
  ASSERT_TRUE(store.root->unlink("CURRENT").ok());
  EXPECT_TRUE(store.load().is(Code::kCorruption));
  EXPECT_TRUE(store.create().is(Code::kCorruption)) << "never made anew over what was lost";
}

TEST(Manifest, AMissingGenerationIsDamage) {
  Store store;
  ASSERT_TRUE(store.create().ok());
  ASSERT_TRUE(store.root->unlink("MANIFEST-000001").ok());
  EXPECT_TRUE(store.load().is(Code::kCorruption));
}

TEST(Manifest, AnInterruptedCreationIsDoneAgain) {
  Store store;
  write_file(*store.root, "MANIFEST-000001", "half");
  write_file(*store.root, "CURRENT.tmp", "cellar");
  EXPECT_TRUE(store.load().is(Code::kNotFound));
  ASSERT_TRUE(store.create().ok());
  EXPECT_TRUE(store.load().ok());
}

// ---- failures

TEST(ManifestFailures, TheEditAfterAFullDiskBeginsAGeneration) {
  Store store;
  ASSERT_TRUE(store.create().ok());
  const ManifestState before = store.manifest->state();
  store.fault.inject({.on = FileOperation::kAppend, .nth = 1, .code = Code::kNoSpace, .short_append = 40});
  EXPECT_TRUE(store.manifest->commit({}).status().is(Code::kNoSpace));
  EXPECT_FALSE(store.manifest->poisoned());
  EXPECT_EQ(*store.stored(), before);
  const uint64_t generation = store.generation();
  EXPECT_TRUE(store.manifest->commit({}).ok());
  EXPECT_EQ(store.generation(), generation + 1) << "nothing may follow half a record";
  EXPECT_EQ(store.stored()->edit, before.edit + 1);
}

TEST(ManifestFailures, ResumeUndoesAnEditThatMayHaveSurvived) {
  for (const auto& [on, name, nth] : {std::tuple(FileOperation::kSync, "MANIFEST*", 1),
                                      std::tuple(FileOperation::kRename, "CURRENT.tmp", 1),
                                      std::tuple(FileOperation::kDirectorySync, ".", 2)}) {
    Store store;
    ASSERT_TRUE(store.create().ok());
    ASSERT_TRUE(store.manifest->resume().ok()) << "nothing to do";
    const ManifestState before = store.manifest->state();
    if (on != FileOperation::kSync) {
      store.fault.fail(FileOperation::kAppend, "MANIFEST*", 1, Code::kNoSpace);
      EXPECT_FALSE(store.manifest->commit({}).ok());
    }
    store.fault.fail(on, name, static_cast<uint64_t>(nth));
    ManifestEdit edit;
    edit.last_sequence = before.last_sequence + 1;
    EXPECT_TRUE(store.manifest->commit(edit).status().is(Code::kIoError)) << name;
    EXPECT_TRUE(store.manifest->poisoned());
    ASSERT_TRUE(store.manifest->resume().ok()) << name;
    EXPECT_FALSE(store.manifest->poisoned());
    EXPECT_EQ(*store.stored(), before) << name;
    EXPECT_TRUE(store.manifest->commit(edit).ok());
    EXPECT_EQ(store.stored()->last_sequence, before.last_sequence + 1);
  }
}

// A number near 2^64 leaves no room for the next one. The writer never writes one, so the test changes the
// last byte of a large number that may be written.
TEST(ManifestCodec, ImpossibleNumbersAreRefused) {
  constexpr uint64_t kMark = kCountMax - 0x2aaaaaa;
  std::string mark;
  append_varint(mark, kMark);
  for (const auto& number : std::vector<std::function<uint64_t&(ManifestState&)>>{
           [](ManifestState& state) -> uint64_t& { return state.last_sequence; },
           [](ManifestState& state) -> uint64_t& { return state.log_start; },
           [](ManifestState& state) -> uint64_t& { return state.next_file_number; },
           [](ManifestState& state) -> uint64_t& { return state.log_synced.segment; },
           [](ManifestState& state) -> uint64_t& { return state.tables[0].families[0].flushed_sequence; },
           [](ManifestState& state) -> uint64_t& {
             return state.tables[0].families[0].files[0].sequence_max;
           }}) {
    ManifestState state = full_state();
    number(state) = kMark;
    std::string payload = encode_snapshot(state);
    ManifestState back;
    ASSERT_TRUE(apply_payload(back, payload, EditKind::kSnapshot).ok());
    const size_t at = payload.find(mark);
    ASSERT_NE(at, std::string::npos);
    payload[at + mark.size() - 1] = 0x7f;  // of the same length, and 2^62 larger
    EXPECT_TRUE(apply_payload(back, payload, EditKind::kSnapshot).is(Code::kCorruption));
    number(state) = kCountMax;
    EXPECT_DEATH(static_cast<void>(encode_snapshot(state)), "broken promise: value < kCountMax");
  }
}

TEST(ManifestFailures, ASyncThatFailedPoisonsForGood) {
  Store store;
  ASSERT_TRUE(store.create().ok());
  store.fault.fail(FileOperation::kSync, "MANIFEST*", 1);
  EXPECT_TRUE(store.manifest->commit({}).status().is(Code::kIoError));
  EXPECT_TRUE(store.manifest->poisoned());
  store.fault.clear_log();
  EXPECT_TRUE(store.manifest->commit({}).status().is(Code::kIoError));
  EXPECT_TRUE(store.roll().is(Code::kIoError));
  EXPECT_TRUE(store.manifest->switch_to(store.manifest->state()).status().is(Code::kIoError));
  EXPECT_EQ(store.fault.count(kAllOperations), 0u);
}

// Each operation of a workload with rolls fails once. Afterwards the stored state is one of the two that the
// failed call could have left, and a healthy manifest goes on.
TEST(ManifestFailures, EachOperationMayFail) {
  uint64_t operations = 0, poisoned = 0;
  for (uint64_t k = 0; k <= operations; ++k) {
    Store store;
    store.options.roll_bytes = 600;
    ASSERT_TRUE(store.create().ok());
    store.fault.clear_log();
    if (k > 0) store.fault.inject({.on = kAllOperations, .nth = k, .short_append = 17});
    EditMaker maker(3);
    for (int i = 0; i < 25; ++i) {
      const ManifestState before = store.manifest->state();
      ManifestState after = before;
      const ManifestEdit edit = maker.next(before);
      ASSERT_TRUE(apply(after, edit).ok());
      ++after.edit;
      const Status status = i % 8 == 7 ? store.roll() : store.manifest->commit(edit).status();
      if (status.ok() && i % 8 != 7) {
        EXPECT_EQ(store.manifest->state(), after);
      }
      if (!status.ok()) {
        EXPECT_EQ(store.manifest->state(), before);
      }
    }
    store.fault.clear();
    const bool unknown = store.manifest->poisoned();
    poisoned += unknown ? 1 : 0;
    const ManifestState last = store.manifest->state();
    const Result<ManifestState> stored = store.stored();
    ASSERT_TRUE(stored.ok()) << k << ": " << stored.status().to_text();
    EXPECT_TRUE(*stored == last || (unknown && stored->edit == last.edit + 1)) << k;
    if (!unknown) {
      EXPECT_TRUE(store.roll().ok()) << k;
      EXPECT_TRUE(store.manifest->commit({}).ok());
    }
    if (k == 0) operations = store.fault.count(kAllOperations);
  }
  EXPECT_GT(poisoned, 20u);
  std::printf("%llu failures injected, %llu poisoned the manifest\n",
              static_cast<unsigned long long>(operations), static_cast<unsigned long long>(poisoned));
}

// ---- damage

struct Files {
  explicit Files(Directory& root) {
    const std::string current = read_file(root, "CURRENT");
    name = manifest_name(parse_current(current)->generation);
    manifest = read_file(root, name);
  }
  std::string name;
  std::string manifest;
};

TEST(ManifestDamage, AfterACleanCloseEveryBitAndEveryByteCounts) {
  Store store;
  ASSERT_TRUE(store.create().ok());
  ASSERT_TRUE(store.manifest->switch_to(full_state()).ok());
  const Files files(*store.root);
  uint64_t cases = 0;
  for (size_t bit = 0; bit < files.manifest.size() * 8; ++bit, ++cases) {
    std::string flipped = files.manifest;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    write_file(*store.root, files.name, flipped);
    EXPECT_TRUE(store.stored().status().is(Code::kCorruption)) << "bit " << bit;
  }
  for (size_t bytes = 0; bytes < files.manifest.size(); ++bytes, ++cases) {
    write_file(*store.root, files.name, files.manifest.substr(0, bytes));
    EXPECT_TRUE(store.stored().status().is(Code::kCorruption)) << "cut to " << bytes;
  }
  write_file(*store.root, files.name, files.manifest);
  EXPECT_TRUE(store.stored().ok());
  count(cases, "damaged manifests of a store that was closed, all refused");
}

TEST(ManifestDamage, AfterAnUncleanEndOnlyTheLastEditMayBeTorn) {
  Store store;
  ASSERT_TRUE(store.create().ok());
  std::vector<uint64_t> ends;
  const uint64_t first_edit = store.manifest->state().edit;
  EditMaker maker(8);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(store.manifest->commit(maker.next(store.manifest->state())).ok());
    ends.push_back(read_file(*store.root, "MANIFEST-000001").size());
  }
  const std::string whole = read_file(*store.root, "MANIFEST-000001");
  uint64_t refused = 0, shorter = 0;
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    write_file(*store.root, "MANIFEST-000001", flipped);
    EXPECT_TRUE(store.stored().status().is(Code::kCorruption)) << "bit " << bit;
    ++refused;
  }
  // Cuts: what a crash may leave, except in the first record. A file cut shorter than an edit that others
  // relied on is found by what they left: logs, files, the edit numbers in log records.
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    write_file(*store.root, "MANIFEST-000001", whole.substr(0, bytes));
    const Result<ManifestState> stored = store.stored();
    if (!stored.ok()) {
      EXPECT_TRUE(stored.status().is(Code::kCorruption));
      continue;
    }
    ++shorter;
    const auto edits = static_cast<uint64_t>(
        std::count_if(ends.begin(), ends.end(), [&](uint64_t end) { return end <= bytes; }));
    EXPECT_EQ(stored->edit, first_edit + edits);
  }
  // A hole in an edit that a later one saw durable is damage, whatever it looks like.
  for (size_t at = kFileHeaderBytes; at < ends[3]; at += 8) {
    std::string hole = whole;
    std::fill_n(hole.begin() + static_cast<ptrdiff_t>(at), 8, '\0');
    write_file(*store.root, "MANIFEST-000001", hole);
    EXPECT_TRUE(store.stored().status().is(Code::kCorruption)) << "word " << at;
  }
  for (size_t at = ends[3]; at < ends[4]; at += 8) {
    std::string hole = whole;
    std::fill_n(hole.begin() + static_cast<ptrdiff_t>(at), 8, '\0');
    write_file(*store.root, "MANIFEST-000001", hole);
    EXPECT_EQ(store.stored()->edit, first_edit + 4) << "word " << at;
  }
  count(refused, "bits flipped in a manifest that was not closed, all refused");
  count(shorter, "cuts of a manifest that was not closed, ending at an earlier edit");
}

// Edits are numbered from 1. A manifest whose header names edit 0 as its first would number all later edits
// wrongly. Every sum in it is right.
TEST(ManifestDamage, AFirstEditWithoutANumberIsRefused) {
  for (const uint64_t number : {uint64_t{1}, uint64_t{0}}) {
    SCOPED_TRACE(number);
    Store store;
    ASSERT_TRUE(store.create().ok());
    constexpr uint64_t kGeneration = 9;
    char header[kFileHeaderBytes];
    uint32_t chain = encode_file_header({FileKind::kManifest, kTestIdentity, kGeneration, number, 0}, header);
    std::string bytes(header, sizeof header);
    const std::string payload = encode_snapshot(full_state());
    std::string record(record_bytes(payload.size()), '\0');
    RecordHeader edit{.type = RecordType::kEdit, .lsn = number};
    RecordCodec(FileKind::kManifest, kTestIdentity, kGeneration)
        .encode(edit, payload, bytes.size(), chain, record.data());
    write_file(*store.root, manifest_name(kGeneration), bytes + record);
    write_file(*store.root, "CURRENT", to_text(Current{kTestIdentity, kGeneration, number}));
    const Result<ManifestState> stored = store.stored();
    if (number != 0) {
      ASSERT_TRUE(stored.ok()) << stored.status().to_text();
      EXPECT_EQ(stored->edit, number);
      continue;
    }
    EXPECT_TRUE(stored.status().is(Code::kCorruption)) << stored.status().to_text();
    EXPECT_EQ(stored.status().message(), "the manifest's first edit has no number");
    EXPECT_EQ(stored.status().place(), manifest_name(kGeneration));
  }
}

// Feeds and log segments are numbered from 1, too.
TEST(ManifestDamage, AFeedAndASegmentWithoutANumberAreRefused) {
  ManifestEdit edit;
  edit.feeds.add = {{77, "some", 5, 1 << 20, false, {}}};
  edit.feeds.retain = {{78, 1000, 6}};
  const std::string sound = encode_edit(edit);
  ManifestState state;
  ASSERT_TRUE(apply_payload(state, sound, EditKind::kEdit).ok());
  for (const std::string& place : {std::string("\x4d\x04some"), std::string("\x4e\xe8\x07\x06")}) {
    std::string forged = sound;
    const size_t at = forged.find(place);
    ASSERT_NE(at, std::string::npos);
    forged[at] = '\0';
    state = {};
    const Status status = apply_payload(state, forged, EditKind::kEdit);
    EXPECT_TRUE(status.is(Code::kCorruption)) << status.to_text();
    EXPECT_NE(status.message().find("needs an id"), std::string_view::npos) << status.to_text();
  }
}

TEST(ManifestDamage, CurrentKnowsWhatMustBeThere) {
  Store store;
  ASSERT_TRUE(store.create().ok());
  ASSERT_TRUE(store.roll().ok());
  const std::string text = read_file(*store.root, "CURRENT");
  for (size_t byte = 0; byte < text.size(); ++byte) {
    std::string flipped = text;
    flipped[byte] = static_cast<char>(flipped[byte] ^ 1 << byte % 8);
    write_file(*store.root, "CURRENT", flipped);
    EXPECT_TRUE(store.stored().status().is(Code::kCorruption)) << byte;
  }
  Current current = *parse_current(text);
  ++current.edit;
  write_file(*store.root, "CURRENT", to_text(current));
  EXPECT_TRUE(store.stored().status().is(Code::kCorruption)) << "an edit is missing";
  current.edit -= 2;  // the generation before has one edit less
  --current.generation;
  write_file(*store.root, "CURRENT", to_text(current));
  EXPECT_TRUE(store.stored().ok());
  current.identity = {1, 2};
  write_file(*store.root, "CURRENT", to_text(current));
  EXPECT_TRUE(store.stored().status().is(Code::kCorruption)) << "another store's manifest";
}

// ---- threads

TEST(ManifestThreads, EditsOfManyThreadsAreMadeOneByOne) {
  auto memory = make_memory_file_system();
  auto root = must_open(*memory, "store");
  auto executor = make_thread_executor(1, 1);
  ManifestState state;
  state.identity = kTestIdentity;
  auto manifest = std::move(Manifest::create(*root, *executor, state, {.roll_bytes = 4000})).value();
  ManifestEdit table;
  table.set_tables.push_back({1, "t", {}, {}});
  for (uint32_t id = 1; id <= 4; ++id) table.set_families.push_back({1, id, "f" + std::to_string(id), {}});
  ASSERT_TRUE(manifest->commit(table).ok());
  std::vector<std::thread> threads;
  for (uint32_t id = 1; id <= 4; ++id) {
    threads.emplace_back([&, id] {
      for (uint64_t i = 0; i < 50; ++i) {
        ManifestEdit edit;
        edit.add_files.push_back({id, some_file(manifest->next_file_number())});
        edit.flushed.push_back({id, i});
        EXPECT_TRUE(manifest->commit(edit).ok());
        EXPECT_GE(manifest->state().family(id).second->files.size(), i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const ManifestState last = manifest->state();
  EXPECT_EQ(last.edit, 202u);
  for (uint32_t id = 1; id <= 4; ++id) EXPECT_EQ(last.family(id).second->files.size(), 50u);
  EXPECT_EQ((*Manifest::load(*root, *executor))->state(), last);
}

}  // namespace
}  // namespace cellar::testing
