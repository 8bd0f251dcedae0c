// The program that is killed. It opens a store, and writes on from where its predecessor got to. It reports
// each acknowledged write through file descriptor 3.
//
//   cellar_kill_writer <store> <seed> write|open <writes of writer 0 so far> <writes of writer 1 so far>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/kill/kill_plan.h"

namespace cellar::testing {
namespace {

constexpr int kPipe = 3;
constexpr uint64_t kWritesMax = 20'000;  // then it ends by itself: nobody seems to kill it

bool tell(const KillMessage& message) { return write(kPipe, &message, sizeof message) == sizeof message; }

int report(const char* what, const Status& status) {
  std::fprintf(stderr, "%s: %s\n", what, status.to_text().c_str());
  return 1;
}

int run(const char* path, uint64_t seed, bool writes, const std::vector<uint64_t>& done) {
  auto opened = Engine::open(path, kill_engine_options());
  if (!opened.ok()) return report("open", opened.status());
  const std::unique_ptr<Engine> engine = std::move(opened).value();
  auto tables = open_kill_tables(*engine);
  if (!tables.ok()) return report("tables", tables.status());
  if (!tell({})) return 2;
  if (!writes) {
    for (;;) pause();  // until it is killed
  }
  std::vector<std::thread> writers;
  for (uint32_t w = 0; w < kKillWriters; ++w) {
    writers.emplace_back([&, w] {
      for (uint64_t n = done[w] + 1; n <= done[w] + kWritesMax; ++n) {
        const Status status = perform(*engine, *tables, kill_write(seed, w, n));
        if (!status.ok()) std::exit(report("write", status));
        if (!tell({w, 0, n})) std::exit(2);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  return 3;
}

}  // namespace
}  // namespace cellar::testing

int main(int count, char** arguments) {
  if (count != 6) return 64;
  const auto number = [&](int i) { return std::strtoull(arguments[i], nullptr, 10); };
  return cellar::testing::run(arguments[1], number(2), std::string_view(arguments[3]) == "write",
                              {number(4), number(5)});
}
