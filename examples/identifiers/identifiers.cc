// Identifiers from a counter, from leased blocks of it, and from time, worker and sequence: unique over
// threads, kills and clocks that step back.
//
//   example_identifiers [STORE]
//
// Table ids, family n. Row "counter", n:next: a counter. Row "blocks", n:next: the counter of leased blocks.
// Row "workers": what identifiers by time must remember.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <set>
#include <thread>

#include "examples/application.h"

namespace {

using namespace example;

constexpr int kThreads = 8;
constexpr int kEach = 2000;  // identifiers of a thread

using Ids = std::vector<int64_t>;

bool all_differ(const Ids& ids) { return std::set<int64_t>(ids.begin(), ids.end()).size() == ids.size(); }

Result<std::shared_ptr<Table>> open_ids(Engine& engine) {
  // Identifiers must survive the end of the process, and a worker's mark is a value that only its owner
  // writes.
  return engine.open_or_create_table("ids",
                                     {.families = {{.name = "n"}}, .durability = Durability::kSyncWal});
}

// Returns 1, 2, 3, …: each is one write.
Result<int64_t> next_of_counter(Table& ids) { return ids.increment_one("counter", "n", "next"); }

// Lets threads take identifiers at the same time. Returns them thread after thread.
Result<Ids> from_threads(const std::function<Result<int64_t>()>& next) {
  std::array<Ids, kThreads> ids;
  std::array<Status, kThreads> failed;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int n = 0; n < kEach; ++n) {
        const Result<int64_t> id = next();
        if (!id.ok()) failed[thread] = id.status();
        ids[thread].push_back(id.ok() ? *id : -1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Ids all;
  for (int thread = 0; thread < kThreads; ++thread) {
    CELLAR_TRY(failed[thread]);
    all.insert(all.end(), ids[thread].begin(), ids[thread].end());
  }
  return all;
}

Status ask_threads(Engine& engine, const std::shared_ptr<Table>& table, Questions& questions) {
  questions.chapter("16,000 identifiers for 8 threads");
  CELLAR_TRY_ASSIGN(const auto blocks, leased_identifiers(table, "blocks", "n", "next", 1000));
  CELLAR_TRY_ASSIGN(const auto by_time, time_ordered_identifiers(table, "workers", "n"));
  auto writes = [&, before = uint64_t{0}]() mutable {
    const uint64_t now = engine.status().last_sequence, made = now - before;
    before = now;
    return made;
  };
  writes();
  CELLAR_TRY_ASSIGN(Ids ids, from_threads([&] { return next_of_counter(*table); }));
  CELLAR_TRY(questions.holds("the counter has no gap", all_differ(ids) && std::ranges::max(ids) == 16000));
  CELLAR_TRY(questions.answer("A counter: writes", std::to_string(writes()), "16000"));
  CELLAR_TRY_ASSIGN(ids, from_threads([&] { return blocks->next(); }));
  CELLAR_TRY(questions.holds("leased ones differ", all_differ(ids) && std::ranges::max(ids) == 16000));
  CELLAR_TRY(questions.answer("Leased blocks of 1,000: writes", std::to_string(writes()), "16"));
  CELLAR_TRY_ASSIGN(ids, from_threads([&] { return by_time->next(); }));
  CELLAR_TRY(questions.holds("those by time differ", all_differ(ids)));
  const uint64_t marks = writes();
  CELLAR_TRY(questions.holds("one write a second is enough", marks < 60));
  questions.say("Time, worker and sequence: one write for each second of use");
  CELLAR_TRY_ASSIGN(ids, from_threads([&] { return engine.unique_time_us(); }));
  CELLAR_TRY(questions.holds("Engine::unique_time_us() differs", all_differ(ids)));
  return questions.answer("Engine::unique_time_us(), which keeps its own mark: writes",
                          std::to_string(writes()), "0");
}

constexpr int64_t kStart = 1'600'000'000'000;  // a day in 2020

Status ask_clocks(const std::shared_ptr<Table>& table, Questions& questions) {
  questions.chapter("Order, and clocks that stand still or step back");
  ManualClock clock(kStart);
  CELLAR_TRY_ASSIGN(const auto first, time_ordered_identifiers(table, "workers", "n", clock));
  CELLAR_TRY_ASSIGN(const auto second, time_ordered_identifiers(table, "workers", "n", clock));
  CELLAR_TRY_ASSIGN(const int64_t early, second->next());
  Ids ids = {early};
  for (int n = 0; n < 10'000; ++n) {
    if (n == 5000) clock.add_ms(-3'600'000);
    CELLAR_TRY_ASSIGN(const int64_t id, first->next());
    CELLAR_TRY(questions.holds("one worker's identifiers rise", n == 0 || id > ids.back()));
    ids.push_back(id);
  }
  CELLAR_TRY(questions.holds("two workers in one millisecond differ", all_differ(ids)));
  questions.say("10,000 identifiers in one millisecond run " +
                std::to_string(time_of_identifier(ids.back()) - kStart) + " ms ahead of the clock");
  clock.add_ms(3'600'000 + 10);
  CELLAR_TRY_ASSIGN(const int64_t late, second->next());
  CELLAR_TRY(questions.answer("Does a worker's identifier of 10 ms later sort after all of them?",
                              late > std::ranges::max(ids) ? "yes" : "no", "yes"));

  // The same worker number again, after 1,024 starts and a clock that was set back by a day. The last
  // identifiers of its first object have the time of its mark. That object goes on, with another number.
  clock.add_ms(990);
  const auto take = [&](Identifiers& from) -> Status {
    for (int n = 0; n < 3; ++n) {
      CELLAR_TRY_ASSIGN(const int64_t id, from.next());
      ids.push_back(id);
    }
    return {};
  };
  CELLAR_TRY(take(*first));
  clock.add_ms(-86'400'000);
  const uint32_t worker = worker_of_identifier(ids.back());
  std::unique_ptr<Identifiers> again;
  do {
    CELLAR_TRY_ASSIGN(again, time_ordered_identifiers(table, "workers", "n", clock));
    CELLAR_TRY(take(*again));
  } while (worker_of_identifier(ids.back()) != worker);
  CELLAR_TRY(take(*first));
  return questions.answer("After 1,024 starts the worker's number comes again: are its identifiers new?",
                          all_differ(ids) ? "yes" : "no", "yes");
}

enum Kind : int64_t { kCounter, kLeased, kByTime, kKinds };
using Record = std::array<int64_t, 2>;  // kind, identifier

// A life of the program: it takes identifiers and writes them to a pipe, until it is killed.
Status live(const std::string& store, int to) {
  CELLAR_TRY_ASSIGN(const auto engine, Engine::open(store));
  CELLAR_TRY_ASSIGN(const auto table, open_ids(*engine));
  CELLAR_TRY_ASSIGN(const auto blocks, leased_identifiers(table, "blocks", "n", "next", 1000));
  CELLAR_TRY_ASSIGN(const auto by_time, time_ordered_identifiers(table, "workers", "n"));
  for (int64_t n = 0;; ++n) {
    const Kind kind = static_cast<Kind>(n % kKinds);
    CELLAR_TRY_ASSIGN(const int64_t id, kind == kCounter  ? next_of_counter(*table)
                                        : kind == kLeased ? blocks->next()
                                                          : by_time->next());
    const Record record = {kind, id};
    if (write(to, record.data(), sizeof record) != sizeof record)
      return Status::io_error("the pipe is closed");
  }
}

Status ask_after_kills(const std::string& store, Questions& questions) {
  questions.chapter("Six lives, each killed with kill -9 after about 6,000 identifiers");
  std::array<Ids, kKinds> all;
  bool ordered = true;
  for (int life = 0; life < 6; ++life) {
    int ends[2];
    if (pipe(ends) != 0) return Status::io_error("pipe failed");
    const pid_t child = fork();
    if (child < 0) return Status::io_error("fork failed");
    if (child == 0) _exit(live(store, ends[1]).ok() ? 0 : 1);
    close(ends[1]);
    const int64_t before = all[kByTime].empty() ? 0 : std::ranges::max(all[kByTime]);
    Record record;
    for (int n = 0; read(ends[0], record.data(), sizeof record) == sizeof record; ++n) {
      all[static_cast<size_t>(record[0])].push_back(record[1]);
      if (record[0] == kByTime) ordered = ordered && record[1] > before;
      if (n == 6000 + 111 * life) kill(child, SIGKILL);  // what is in the pipe still comes
    }
    close(ends[0]);
    int ended = 0;
    waitpid(child, &ended, 0);
    CELLAR_TRY(questions.holds("the child was killed", WIFSIGNALED(ended)));
  }
  const char* const names[] = {"the counter", "leased blocks", "time, worker, sequence"};
  for (size_t kind = 0; kind < kKinds; ++kind) {
    CELLAR_TRY(questions.holds("there are enough identifiers", all[kind].size() > 12'000));
    CELLAR_TRY(questions.answer("Are all identifiers of " + std::string(names[kind]) + " different?",
                                all_differ(all[kind]) ? "yes" : "no", "yes"));
  }
  return questions.answer("Do all identifiers by time sort after those of earlier lives?",
                          ordered ? "yes" : "no", "yes");
}

Status run(const std::string& store, const std::vector<std::string>&, Questions& questions) {
  {
    CELLAR_TRY_ASSIGN(const auto engine, new_store(store));
    CELLAR_TRY_ASSIGN(const auto table, open_ids(*engine));
    CELLAR_TRY(ask_threads(*engine, table, questions));
    CELLAR_TRY(ask_clocks(table, questions));
    CELLAR_TRY(engine->close());
  }
  return ask_after_kills(store, questions);
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "identifiers_store", run); }
