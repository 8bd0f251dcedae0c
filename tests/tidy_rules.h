// The style guard's rules, as data: layers, banned calls, fenced libraries, words and limits.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cellar::testing {

using Strings = std::vector<std::string>;

// Who may include whom. A folder may always include itself; a folder in a folder is a layer of its own.
// CMakeLists.txt and cmake/CellarTools.cmake hold the same table for the linker.
struct Layer {
  std::string_view name;
  std::set<std::string_view> below;
};
inline const std::vector<Layer> kLayers = {
    {"include", {}},
    {"base", {"include"}},
    {"platform", {"base", "include"}},
    {"keys", {"base", "include"}},
    {"cell", {"base", "include"}},
    {"filter", {"cell", "base", "include"}},
    {"memtable", {"cell", "base", "include"}},
    {"bloom", {"cell", "base", "include"}},
    {"cache", {"base", "include"}},
    {"hfile/codec", {"base", "include"}},
    {"hfile/format", {"hfile/codec", "cell", "base", "include"}},
    {"hfile/block", {"hfile/format", "hfile/codec", "bloom", "cache", "cell", "base", "include"}},
    {"hfile/encoding", {"hfile/block", "hfile/format", "cell", "base", "include"}},
    {"hfile/read",
     {"hfile/encoding", "hfile/block", "hfile/format", "hfile/codec", "bloom", "cache", "cell", "base",
      "include"}},
    {"hfile/write",
     {"hfile/read", "hfile/encoding", "hfile/block", "hfile/format", "hfile/codec", "bloom", "cell", "base",
      "include"}},
    {"hfile/check",
     {"hfile/write", "hfile/read", "hfile/encoding", "hfile/block", "hfile/format", "hfile/codec", "bloom",
      "cell", "base", "include"}},
    {"hfile",
     {"hfile/check", "hfile/write", "hfile/read", "hfile/encoding", "hfile/block", "hfile/format",
      "hfile/codec", "bloom", "cell", "base", "include"}},
    {"compaction", {"hfile/write", "cell", "base", "include"}},
    {"engine/schema",
     {"hfile/write", "hfile/codec", "hfile/encoding", "bloom", "memtable", "base", "include"}},
    {"engine/values", {"cell", "base", "include"}},
    {"engine/log", {"base", "include"}},
    {"engine/manifest", {"engine/log", "base", "include"}},
    {"engine/trace", {"engine/values", "hfile/codec", "cell", "platform", "base", "include"}},
    {"engine/store",
     {"engine/manifest", "engine/log", "engine/schema", "hfile/check", "hfile/write", "hfile/read",
      "hfile/format", "cache", "bloom", "memtable", "cell", "platform", "base", "include"}},
    {"engine/read",
     {"engine/store", "engine/values", "engine/schema", "hfile/read", "cell", "base", "include"}},
    {"engine/write",
     {"engine/read", "engine/store", "engine/trace", "engine/values", "engine/log", "cell", "base",
      "include"}},
    {"engine/jobs",
     {"engine/write", "engine/read", "engine/store", "engine/manifest", "engine/log", "engine/schema",
      "compaction", "hfile/check", "hfile/read", "bloom", "cell", "base", "include"}},
    {"engine/second",
     {"engine/jobs", "engine/write", "engine/store", "engine/manifest", "engine/schema", "base", "include"}},
    {"engine",
     {"engine/second", "engine/jobs", "engine/write", "engine/read", "engine/store", "engine/trace",
      "engine/schema", "engine/values", "cell", "base", "include"}},
    {"hbase/proto", {"base", "include"}},
    {"hbase/wire", {"hbase/proto", "filter", "engine/schema", "engine/values", "cell", "base", "include"}},
    {"hbase/net", {"platform", "base", "include"}},
    {"hbase/serve",
     {"hbase/wire", "hbase/net", "hbase/proto", "filter", "cell", "platform", "base", "include"}},
    {"hbase/client",
     {"hbase/wire", "hbase/net", "hbase/proto", "engine/schema", "engine/values", "filter", "hfile/check",
      "cell", "platform", "base", "include"}},
    {"tools/frame", {"engine/values", "hfile/encoding", "base", "include"}},
    {"tools/store", {"tools/frame", "engine/manifest", "engine/schema", "base", "include"}},
    {"tools/hbase",
     {"hbase/proto", "tools/store", "tools/frame", "engine/read", "hfile/read", "hfile/format", "cell",
      "base", "include"}},
    {"tools/query", {"tools/hbase", "tools/store", "tools/frame", "base", "include"}},
    {"tools/transfer",
     {"tools/query", "tools/hbase", "tools/store", "tools/frame", "hfile/check", "hfile/read", "hfile/block",
      "hfile/format", "hfile/codec", "cell", "base", "include"}},
    {"tools/files",
     {"tools/hbase", "tools/store", "tools/frame", "engine/jobs", "engine/store", "engine/manifest",
      "engine/log", "compaction", "hfile/check", "hfile/write", "hfile/read", "hfile/encoding", "hfile/block",
      "hfile/format", "hfile/codec", "cell", "base", "include"}},
    {"tools/repair",
     {"tools/files", "tools/hbase", "tools/store", "tools/frame", "engine/jobs", "engine/store",
      "engine/manifest", "engine/log", "hfile/check", "hfile/codec", "hfile/encoding", "hfile/read",
      "hfile/format", "cell", "base", "include"}},
    {"tools/shell", {"tools/query", "tools/store", "tools/frame", "engine/schema", "base", "include"}},
    {"tools/trace", {"tools/store", "tools/frame", "engine/trace", "base", "include"}},
    {"tools/serve", {"tools/store", "tools/frame", "hbase/serve", "hbase/net", "base", "include"}},
    {"tools/plot", {"tools/frame", "base", "include"}},
    {"tools/simulate",
     {"tools/frame", "engine/store", "engine/manifest", "engine/trace", "compaction", "cache", "base",
      "include"}},
    {"bench/workload", {"base", "include"}},
    {"tools/experiment",
     {"tools/plot", "tools/store", "tools/frame", "bench/workload", "engine/schema", "base", "include"}},
    {"tools", {"tools/frame", "base", "include"}},
};
// Returns the layer of a path: "engine/log" of engine/log/wal_writer.h, "engine" of engine/engine_impl.h.
inline std::string_view layer_of(std::string_view path) {
  const size_t first = path.find('/');
  const size_t second = first == path.npos ? first : path.find('/', first + 1);
  if (second != path.npos)
    for (const Layer& layer : kLayers)
      if (layer.name == path.substr(0, second)) return layer.name;
  return path.substr(0, first);
}
// Above the layers. The guard's own file and the tests of a folder may use all of them.
inline const std::set<std::string_view> kAboveLayers = {"bench", "tests"};
inline const std::set<std::string_view> kTestFolders = {
    "base",          "keys",         "platform",    "cell",       "filter",  "memtable",
    "bloom",         "cache",        "hfile",       "compaction", "engine",  "tools",
    "fuzz",          "metamorphic",  "sim",         "kill",       "scale",   "compat",
    "support",       "cell_support", "bench",       "interop",    "outside", "hfile_support",
    "hfile_threads", "simulate",     "hbase_serve", "hbase",      "cluster", "hbase_both"};

// A call that has one home. `allowed` holds folders ("platform") and files ("base/mutex.h").
struct Ban {
  Strings tokens;
  std::set<std::string_view> allowed;
  std::string_view advice;
};
inline const std::set<std::string_view> kPrograms = {"platform", "tools", "bench", "tests", "examples"};
inline const std::vector<Ban> kBans = {
    {{"std::thread", "std::jthread", "std::async", "pthread_create"},
     kPrograms,
     "give the work to the Executor"},
    {{"std::condition_variable", "std::condition_variable_any"},
     {"base/mutex.h", "base/mutex.cc", "platform", "tests", "examples"},
     "wait through the Executor, so that a test can decide the order"},
    {{"std::mutex", "std::shared_mutex", "std::recursive_mutex", "std::lock_guard", "std::unique_lock",
      "std::scoped_lock", "std::shared_lock"},
     {"base/mutex.h", "base/mutex.cc", "platform/condition.h", "tests", "examples"},
     "use Mutex and MutexLock of base/mutex.h, which clang can check"},
    {{"sleep_for", "sleep_until", "usleep(", "nanosleep(", "sleep("},
     kPrograms,
     "wait through the Executor or Clock"},
    {{"chrono::steady_clock", "steady_clock::now", "chrono::system_clock", "system_clock::now",
      "chrono::high_resolution_clock", "high_resolution_clock::now", "gettimeofday", "clock_gettime",
      "std::time(", "::time(", "time(nullptr)", "time(NULL)"},
     kPrograms,
     "ask the Clock"},
    {{"rand(", "srand(", "drand48("}, {}, "use the seeded Random of base/random.h"},
    {{"random_device"}, {"platform", "tools", "bench", "examples"}, "take a seed and use base/random.h"},
    {{"mt19937", "mt19937_64"}, {"bench", "tests", "examples"}, "use the seeded Random of base/random.h"},
    {{"fopen", "freopen", "std::fstream", "std::ifstream", "std::ofstream", "::open(", "openat(",
      "std::filesystem"},
     kPrograms,
     "go through the FileSystem"},
    {{"mmap(", "munmap("},
     {"base/pages.cc", "platform", "tools", "bench", "tests", "examples"},
     "go through the FileSystem"},
    {{"getenv", "secure_getenv"}, kPrograms, "take it as an option"},
    {{"std::regex"}, {"tests"}, "it has no bound on its time: use RE2, or compare by hand"},
    {{"std::cout", "std::cerr", "std::clog", "printf(", "puts(", "putchar("},
     {"tools", "bench", "tests", "examples"},
     "return a Status or call the Logger: the library prints nothing"},
    {{"fprintf(", "fputs("},
     {"base/assert.cc", "base/status.cc", "tools", "bench", "tests", "examples"},
     "return a Status or call the Logger: the library prints nothing"},
    {{"exit(", "_exit(", "quick_exit("}, {"tools", "bench", "tests", "examples"}, "return a Status"},
    {{"abort("},
     {"base/assert.cc", "base/status.cc", "tools", "bench", "tests", "examples"},
     "state the promise with CELLAR_ASSERT, or return a Status"},
    {{"throw"},
     {"base/pages.cc", "tools", "bench", "tests", "examples"},
     "return a Status: the library throws nothing"},
};

// A library that has one home.
struct Fence {
  std::string_view prefix;
  std::set<std::string_view> allowed;
  bool headers_too;
  std::string_view advice;
};
inline const std::vector<Fence> kFences = {
    {"spdlog/", {"platform", "bench", "tests"}, false, "log through the Logger interface"},
    {"fmt/", {}, false, "fmt stays inside .cc files, where it slows no other compilation"},
    {"google/protobuf/",
     {"hfile/format", "hbase", "tools/hbase"},
     false,
     "protobuf stays where records are parsed"},
    {"asio",
     {"hbase/client", "hbase/net", "hbase/serve", "tests/hbase", "tests/hbase_both", "tests/hbase_serve"},
     false,
     "sockets stay in hbase/"},
    {"openssl/", {"hbase/net", "tests/hbase_both"}, false, "TLS stays behind hbase/net/link.h"},
    {"zookeeper/", {"hbase/client"}, false, "ZooKeeper is one way to find a cluster"},
    {"httplib.h",
     {"hbase/net/http.cc", "tests/hbase/fake_hdfs.cc", "examples"},
     true,
     "HTTP stays in hbase/net/http.h: the header needs the definitions of its library"},
    {"rocksdb/", {"bench"}, false, "RocksDB is only what bench/ compares with"},
    {"leveldb/", {"bench"}, false, "LevelDB is only what bench/ compares with"},
    {"gtest/", {"tests"}, true, "GoogleTest belongs to tests/"},
    {"gmock/", {"tests"}, true, "GoogleMock belongs to tests/"},
    {"benchmark/", {"bench"}, true, "Google Benchmark belongs to bench/"},
    {"CLI/", {"tools", "bench", "tests"}, true, "the command line belongs to tools/"},
    {"nlohmann/", {"tools", "bench", "tests", "hbase/client"}, true, "documents are rendered in tools/"},
};

// Who may include the messages of HBase, in sources only. Other generated messages stay inside their folder.
inline const Strings kUsersOfHBaseMessages = {"hbase/", "tools/hbase/", "tests/hbase"};

// Words that promise work instead of doing it, and paths that exist on one machine. Split, for this file is
// checked too.
inline const Strings kUnfinished = {
    "TO"
    "DO",
    "FIX"
    "ME",
    "XX"
    "X",
    "HA"
    "CK"};
inline const Strings kMachinePaths = {
    "/ho"
    "me/",
    "/ro"
    "ot/",
    "/wo"
    "rk/",
    "/Us"
    "ers/"};

// Words and openings that plain English does without; tests/data/tidy/words.txt holds how many are left.
// A comment at the end of a line of code may be a fragment in lower case, such as "of its first line".
enum class ProseKind { kComments, kMessages, kDocs };
struct Wording {
  std::string_view text;  // words in a row; in lower case they count in any case
  bool opening;           // counts only where a sentence begins so
  std::string_view instead;
};
inline const std::vector<Wording> kWordings = {
    {"behind", false, "write after, or name the interface or layer"},
    {"beside", false, "write concurrently with, next to, in addition to, or compared with"},
    {"but for", false, "write except"},
    {"as one", false, "write atomically, or as a single X"},
    {"is none", false, "write invalid X, or the store has no X"},
    {"is not one", false, "write invalid X"},
    {"there is none", false, "write the store has no X"},
    {"none such", false, "write no such X, naming it"},
    {"whoever", false, "name the subject: the caller, the writer, the thread that"},
    {"for who", false, "name the subject: for callers that"},
    {"wants", false, "write needs, requires or expects"},
    {"said", false, "write specified, stated or default"},
    {"What", true, "begin with a subject and a verb; name the noun"},
    {"Whether", true, "begin with the function: Returns true if"},
    {"Of", true, "begin with a subject and a verb; name the noun"},
    {"Those", true, "name the noun"},
    {"That of", true, "name the noun"},
    {"\u2026", true, "a comment stands alone: write a full sentence"},
    {"...", true, "a comment stands alone: write a full sentence"}};
inline constexpr size_t kSentenceWords = 25;

inline const Strings kPluginKinds = {"policy_", "encoding_", "compressor_", "type_",
                                     "filter_", "ordered_",  "cmd_"};
inline const std::set<std::string_view> kPluginLayers = {
    "filter",       "memtable",    "bloom",       "cache",          "hfile/codec",    "hfile/encoding",
    "compaction",   "tools/frame", "tools/store", "tools/query",    "tools/transfer", "tools/files",
    "tools/repair", "tools/shell", "tools/plot",  "tools/simulate", "tools/trace",    "tools/experiment",
    "tools/serve"};

// Folders in which functions state what they promise. The number of CELLAR_ASSERT and CELLAR_DCHECK, divided
// by the number of functions, may not fall below kAssertionsPerFunction. static_assert is counted apart.
inline const Strings kAssertingFolders = {"cell", "memtable", "cache", "hfile/read", "hfile/write", "engine"};
inline constexpr double kAssertionsPerFunction = 0.3;

inline constexpr size_t kColumns = 110;
inline constexpr size_t kFunctionLines = 70;
inline constexpr size_t kFileLines = 700;
// Types that include/cellar defines, nested ones and enums included. It may only fall. The decisions that
// raised it are two-more-public-types.md, metrics.md, key-schemas-and-aggregates.md and second-tables.md.
inline constexpr size_t kPublicTypes = 119;

}  // namespace cellar::testing
