// Goal: options reach the engines that have them, and every other option is a clear error or a note. Method:
// texts of engines and options, and the command line, on the engines of this build.
#include "bench/driver/settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "bench/driver/peers.h"
#include "bench/driver/report.h"
#include "bench/workload/counted_files.h"
#include "tests/support/scratch_directory.h"

namespace cellar::bench {
namespace {

bool has_rocksdb() { return make_peer("rocksdb") != nullptr; }

TEST(Settings, EnginesHaveOptionsInBrackets) {
  const auto peers =
      parse_peers("cellar[compaction=leveled(fanout=4, pick=oldest),memtable=skip_list],rocksdb").value();
  ASSERT_EQ(peers.size(), 2u);
  EXPECT_EQ(peers[0].text, "cellar[compaction=leveled(fanout=4, pick=oldest),memtable=skip_list]");
  EXPECT_EQ(peers[0].engine, "cellar");
  ASSERT_EQ(peers[0].settings.size(), 2u);
  EXPECT_EQ(peers[0].settings[0].value, "leveled(fanout=4, pick=oldest)");
  EXPECT_EQ(peers[0].settings[1].name, "memtable");
  EXPECT_EQ(peers[1].text, "rocksdb");
  const std::map<std::string, std::string> faults = {{"cellar[a=1", "no ']' at its end"},
                                                     {"cellar]", "that nothing opens"},
                                                     {"cellar[a=1]x", "text after its options"},
                                                     {"cellar[compaction]", "\"compaction\" is no option"},
                                                     {"[a=1]", "names no engine"},
                                                     {"cellar,,rocksdb", "names no engine"},
                                                     {"cellar[a=f(]", "']' that nothing opens"},
                                                     {"cellar,cellar", "occurs twice"}};
  for (const auto& [text, fault] : faults) {
    const Status status = parse_peers(text).status();
    EXPECT_TRUE(status.is(Code::kInvalidArgument)) << text;
    EXPECT_NE(status.message().find(fault), std::string_view::npos) << status;
  }
}

TEST(Settings, OptionsHaveTheNamesOfStoresAndFamilies) {
  PeerOptions options;
  for (const auto& [name, value] : std::map<std::string, std::string>{{"compaction", "tiered(runs=4)"},
                                                                      {"COMPRESSION", "none"},
                                                                      {"cache_policy", "lru"},
                                                                      {"memtable", "skip_list"},
                                                                      {"memtable_bytes", "4m"},
                                                                      {"block_bytes", "32k"}})
    EXPECT_TRUE(options.set(name, value).ok()) << options.set(name, value);
  EXPECT_EQ(options.family().compaction, "tiered(runs=4)");
  EXPECT_EQ(options.family().compression, "none");
  EXPECT_EQ(options.engine().cache_policy, "lru");
  EXPECT_EQ(options.memtable_bytes(1), 4u << 20);
  EXPECT_EQ(options.cache_bytes(77), 77u);
  EXPECT_TRUE(options.given("block_bytes"));
  const std::map<std::string, std::string> hints = {
      {"compactoin", "compaction"}, {"memtabel", "memtable"}, {"cach_bytes", "cache_bytes"}};
  for (const auto& [name, hint] : hints) {
    const Status status = options.set(name, "1");
    EXPECT_TRUE(status.is(Code::kInvalidArgument)) << name;
    EXPECT_NE(status.hint().find(hint), std::string_view::npos) << status;
  }
  for (const auto& [name, value] : std::map<std::string, std::string>{{"compaction", "levelled"},
                                                                      {"memtable", "tree"},
                                                                      {"cache_policy", "best"},
                                                                      {"memtable_bytes", "many"},
                                                                      {"read_only", "true"},
                                                                      {"durability", "skip_wal"}})
    EXPECT_TRUE(options.set(name, value).is(Code::kInvalidArgument)) << name;
}

Status status_of_engine(const std::string& text, std::vector<std::string>& notes) {
  return make_peer(parse_peers(text).value()[0], {}, notes).status();
}

TEST(Settings, AnEngineRefusesOptionsInBracketsThatItLacks) {
  std::vector<std::string> notes;
  EXPECT_TRUE(status_of_engine("cellar[compaction=tiered(runs=4)]", notes).ok());
  EXPECT_TRUE(status_of_engine("cellar[no_such_option=1]", notes).is(Code::kInvalidArgument));
  EXPECT_TRUE(status_of_engine("celar", notes).is(Code::kNotFound));
  EXPECT_TRUE(notes.empty());
}

// A build without RocksDB says that it has none.
TEST(Settings, RocksDBSaysWhatItLacks) {
  std::vector<std::string> notes;
  const auto own = [&](const char* text) { return status_of_engine(text, notes); };
  if (!has_rocksdb()) {
    const Status none = own("rocksdb");
    EXPECT_TRUE(none.is(Code::kNotFound));
    EXPECT_NE(none.message().find("this build has no engine \"rocksdb\""), std::string::npos) << none;
    return;
  }
  const std::vector<Setting> shared = {{"memtable_bytes", "4m"}, {"memtable", "blink"}};
  const auto peer = make_peer(PeerText{"rocksdb", "rocksdb", {}}, shared, notes);
  ASSERT_TRUE(peer.ok()) << peer.status();
  EXPECT_EQ((*peer)->options(), "memtable_bytes=4m");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("rocksdb runs without memtable=blink"), std::string::npos) << notes[0];
  EXPECT_TRUE(own("rocksdb[memtable=blink]").is(Code::kNotSupported));
  EXPECT_TRUE(own("rocksdb[compaction=tiered(runs=4)]").is(Code::kNotSupported));
  EXPECT_TRUE(own("rocksdb[compaction=leveled(fanout=4)]").ok());
  EXPECT_TRUE(own("rocksdb[compression=zstd,block_bytes=4k,bloom=none]").ok());
  EXPECT_TRUE(own("rocksdb[compaction_style=kCompactionStyleUniversal,max_subcompactions=2]").ok());
  EXPECT_TRUE(own("rocksdb[no_such_option=1]").is(Code::kInvalidArgument));
  EXPECT_TRUE(own("rocksd").is(Code::kNotFound));
  EXPECT_EQ(notes.size(), 1u);
}

// Runs the parser as main() does.
std::optional<int> read(std::vector<std::string> words, Settings& settings) {
  std::vector<char*> arguments;
  static std::string program = "cellar_driver";
  arguments.push_back(program.data());
  for (std::string& word : words) arguments.push_back(word.data());
  return read_settings(static_cast<int>(arguments.size()), arguments.data(), settings);
}

TEST(Settings, TheCommandLineIsRead) {
  Settings settings;
  const auto done = read({"--peers",
                          "cellar[compaction=leveled],cellar",
                          "--option",
                          "compression=none",
                          "--option",
                          "block_bytes=8k",
                          "--cache-policy",
                          "lru",
                          "--cache-bytes",
                          "16m",
                          "--memtable",
                          "skip_list",
                          "--memtable-bytes",
                          "1m",
                          "--mix",
                          "read=50,update=40,delete=10",
                          "--skew",
                          "latest:0.8",
                          "--duration",
                          "2.5",
                          "--threads",
                          "2",
                          "--value-bytes",
                          "uniform:10-20",
                          "--scan-length",
                          "fixed:3",
                          "--seed",
                          "9",
                          "--n",
                          "5000"},
                         settings);
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(settings.peer_names(), (std::vector<std::string>{"cellar[compaction=leveled]", "cellar"}));
  ASSERT_EQ(settings.options.size(), 6u);
  EXPECT_EQ(settings.options[1].value, "8k");
  EXPECT_EQ(settings.options[5].name, "memtable_bytes");
  EXPECT_EQ(settings.workloads, (std::vector<std::string>{"mix"}));
  const Workload mixed = settings.amounts.changes.apply(find_workload("mix").value());
  EXPECT_EQ(mixed.to_text(),
            "mix=read=50,update=40,delete=10 skew=latest:0.8 value_bytes=uniform:10-20 scan_length=fixed:3 "
            "threads=2 "
            "seed=9 seconds=2.500000");
  ASSERT_EQ(settings.notes.size(), 1u);
}

TEST(Settings, OptionsOfWorkloadsNameTheWorkloadsWithoutThem) {
  Settings settings;
  EXPECT_FALSE(read({"--peers", "cellar", "--skew", "uniform", "--workloads", "ycsb_a,fill_seq"}, settings));
  ASSERT_EQ(settings.notes.size(), 1u);
  EXPECT_TRUE(settings.notes[0].ends_with(": fill_seq")) << settings.notes[0];
  Settings usual;
  EXPECT_FALSE(read({"--peers", "cellar"}, usual));
  EXPECT_TRUE(usual.notes.empty());
  bool mix = false;
  for (const Group& group : groups()) mix = mix || (group.name == "mix" && !chosen_of(usual, group).empty());
  EXPECT_FALSE(mix) << "the workload mix repeats others unless it is named";
}

TEST(Settings, FaultsOfTheCommandLineEndTheProgram) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--option", "compactoin=leveled"},
                                             {"--option", "compaction"},
                                             {"--peers", "cellr"},
                                             {"--peers", "cellar[compaction=none"},
                                             {"--cache-policy", "best"},
                                             {"--memtable", "tree"},
                                             {"--memtable-bytes", "lots"},
                                             {"--mix", "read=50"},
                                             {"--skew", "steep"},
                                             {"--value-bytes", "0"},
                                             {"--scan-length", "none"},
                                             {"--threads", "0"},
                                             {"--duration", "-1"},
                                             {"--duration", "1", "--ops", "5"},
                                             {"--workloads", "no_such"},
                                             {"--workloads", "time_series", "--mix", "update=100"}}) {
    Settings settings;
    const std::optional<int> code = read(words, settings);
    EXPECT_TRUE(code.has_value() && *code != 0) << ::testing::PrintToString(words);
  }
}

TEST(Settings, BytesOfFilesAreCounted) {
  const std::unique_ptr<FileSystem> memory = make_memory_file_system();
  CountedFiles files(*memory);
  const auto directory = files.open_directory("d", true).value();
  auto file = directory->create("one").value();
  ASSERT_TRUE(file->append("12345").ok());
  ASSERT_TRUE(file->append("678").ok());
  ASSERT_TRUE(file->close().ok());
  EXPECT_EQ(files.bytes().written, 8u);
  const auto sub = directory->directory("sub", true).value();
  ASSERT_TRUE(directory->link("one", *sub, "two").ok());
  const auto reader = sub->open("two").value();
  char bytes[8];
  ASSERT_TRUE(reader->read(2, 4, bytes).ok());
  const ReadRequest requests[] = {{0, 3, bytes}, {4, 2, bytes + 3}};
  ASSERT_TRUE(reader->read_many(requests).ok());
  EXPECT_FALSE(reader->read(7, 5, bytes).ok());
  EXPECT_EQ(files.bytes().read.value(), 9u);
}

TEST(Settings, EveryEngineCountsAtLeastTheBytesOfItsLogAndFiles) {
  for (const std::string& name : usual_peers()) {
    testing::ScratchDirectory scratch;
    const std::unique_ptr<Peer> peer = make_peer(name);
    const std::string path = scratch.path() + "/store";
    std::filesystem::create_directories(path);
    peer->open({.path = path, .families = {"f"}, .create = true});
    const FileBytes before = peer->file_bytes();
    constexpr uint64_t kPuts = 5000;
    {
      const std::unique_ptr<Session> session = peer->session();
      OneCell cell;
      for (uint64_t i = 0; i < kPuts; ++i) session->put(cell.row(i, 0), Keep::kProcess);
      peer->flush();
      peer->settle();
    }
    // The log has each value whole, the file has about half of it.
    const uint64_t written = peer->file_bytes().written - before.written;
    EXPECT_GT(written, kPuts * ValueMaker::kBytes) << name;
    // Without a log, each commit writes whole pages.
    const uint64_t most = kPuts * (peer->has(Feature::kLog) ? 4 * ValueMaker::kBytes : 64 << 10);
    EXPECT_LT(written, most) << name;
    peer->close();
  }
}

TEST(Settings, AmplificationsAreInLinesAndTables) {
  Sample sample;
  sample.ops = 10;
  sample.call_seconds = 2;
  sample.times.add(1000);
  sample.about = "mix=read=100";
  sample.bytes = decltype(sample.bytes)::value_type();
  sample.bytes->put = 100;
  sample.bytes->returned = 50;
  sample.bytes->live = 400;
  sample.bytes->to_files = 250;
  sample.bytes->from_files = 75;
  sample.bytes->counted_by = "file_system";
  const std::string line = result_line({"cellar[x=1]", "1", "x=1", "mix", "ops/s", 0}, sample, 0, 600, 0);
  const Measurement result = parse_result(line);
  EXPECT_EQ(result.rate, 5);
  EXPECT_EQ(result.figures.at("write_amplification"), 2.5);
  EXPECT_EQ(result.figures.at("space_amplification"), 1.5);
  EXPECT_EQ(result.figures.at("read_amplification"), 1.5);
  EXPECT_NE(line.find("\"file_bytes_counted_by\":\"file_system\""), std::string::npos) << line;
  const std::string table = amplifications_of({result}, {"cellar[x=1]"});
  EXPECT_NE(table.find("2.50"), std::string::npos) << table;
  EXPECT_NE(table_of({result}, {"cellar[x=1]"}).find("cellar[x=1]"), std::string::npos);
  sample.bytes->put = 0;
  sample.bytes->from_files.reset();
  const Measurement reads = parse_result(result_line({"a", "1", "", "mix", "ops/s", 0}, sample, 0, 600, 0));
  EXPECT_FALSE(reads.figures.contains("write_amplification"));
  EXPECT_FALSE(reads.figures.contains("read_amplification"));
  EXPECT_NE(amplifications_of({reads}, {"a"}).find(" - "), std::string::npos);
}

TEST(Settings, ResultsThatEndedByTheClockAreNotCompared) {
  Sample sample;
  sample.ops = 10;
  sample.by_time = true;
  const auto result = [&](const char* peer) {
    return parse_result(result_line({peer, "1", "", "mix", "ops/s", 0}, sample, 0, 0, 0));
  };
  const Measurement one = result("one");
  sample.ops = 20;
  EXPECT_TRUE(disagreements({one, result("two")}).empty());
}

}  // namespace
}  // namespace cellar::bench
