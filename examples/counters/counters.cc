// Live counters: page views by visitor and page, under many threads and kill -9.
//
//   example_counters STORE LOG
//
// Table cookie_url_count: row = cookie, one counter for each page. An increment returns the new sum.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>

#include "examples/visits/log_views.h"

namespace {

using namespace example;
constexpr int kThreads = 16;

// Adds to a counter and returns the sum.
Result<int64_t> count(Table& table, std::string_view row, std::string_view page, int64_t amount = 1) {
  return table.increment_one(row, "u", page, amount);
}

// Every thread counts views; all answers together must be 1, 2, 3, … without a gap.
Status ask_threads(Table& table, const std::vector<View>& views, Questions& questions) {
  questions.chapter("Counters under 16 threads");
  CELLAR_TRY_ASSIGN(int64_t sum, count(table, "nobody", "/", 0));
  CELLAR_TRY(questions.answer("A counter that is missing, plus 0", std::to_string(sum), "0"));
  CELLAR_TRY_ASSIGN(const bool exists, table.exists(Get("nobody")));
  CELLAR_TRY(questions.holds("an increment by 0 writes a counter, as in HBase", exists));
  questions.say("An increment by 0 wrote a counter, as in HBase. To look at a counter, use get().");
  CELLAR_TRY_ASSIGN(sum, count(table, "nobody", "/", -5));
  CELLAR_TRY(questions.answer("The same, minus 5", std::to_string(sum), "-5"));

  // The threads take the views in turn, so that they meet in the same rows. Each view also counts for "all".
  std::vector<std::vector<int64_t>> answers(kThreads);
  std::vector<Status> failures(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto work = [&]() -> Status {
        for (size_t i = t; i < views.size(); i += kThreads) {
          CELLAR_TRY(count(table, views[i].cookie, views[i].path));
          CELLAR_TRY_ASSIGN(const int64_t number, count(table, "all", "/"));
          answers[t].push_back(number);
        }
        return {};
      };
      failures[t] = work();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<int64_t> unique;
  for (size_t t = 0; t < kThreads; ++t) {
    CELLAR_TRY(failures[t]);
    CELLAR_TRY(questions.holds("the answers of a thread rise",
                               std::is_sorted(answers[t].begin(), answers[t].end())));
    unique.insert(answers[t].begin(), answers[t].end());
  }
  const auto n = static_cast<int64_t>(views.size());
  CELLAR_TRY(questions.answer("The answers of one counter: how many, the least, the greatest",
                              std::to_string(unique.size()) + ", " + std::to_string(*unique.begin()) + ", " +
                                  std::to_string(*unique.rbegin()),
                              std::to_string(n) + ", 1, " + std::to_string(n)));
  std::map<std::string, std::map<std::string, int64_t>> expected;
  for (const View& view : views) ++expected[view.cookie][view.path];
  for (const auto& [cookie, pages] : expected) {
    CELLAR_TRY_ASSIGN(const RowBatch row, table.get(Get(cookie)));
    CELLAR_TRY(questions.holds("as many pages as in the log", row.cells() == pages.size()));
    for (const auto& [page, views_of_page] : pages)
      CELLAR_TRY(questions.holds("as many views as in the log", row.counter("u", page) == views_of_page));
  }
  return {};
}

// A sum beyond 64 bits is refused, and so is a value that is no counter.
Status ask_beyond(Table& table, Questions& questions) {
  CELLAR_TRY(count(table, "far", "/", INT64_MAX));
  const Result<int64_t> beyond = count(table, "far", "/");
  CELLAR_TRY(questions.answer("2^63 - 1 plus 1", code_name(beyond.status().code()), "invalid_argument"));
  CELLAR_TRY_ASSIGN(int64_t sum, count(table, "far", "/", 0));
  CELLAR_TRY(questions.holds("the refused increment changed nothing", sum == INT64_MAX));
  CELLAR_TRY(table.put(Put("digits").add("u", "/", "41")));
  const Result<int64_t> digits = count(table, "digits", "/");
  return questions.answer("The digits 41 plus 1", code_name(digits.status().code()), "invalid_argument");
}

// Counts in 16 threads until the process is killed. Each answer goes into the pipe before the next increment.
Status count_forever(const std::string& path, int pipe) {
  CELLAR_TRY_ASSIGN(const auto engine, Engine::open(path));
  CELLAR_TRY_ASSIGN(const auto table, engine->open_table("cookie_url_count"));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (Result<int64_t> sum = count(*table, "survivor", "/"); sum.ok();
           sum = count(*table, "survivor", "/")) {
        if (write(pipe, &*sum, sizeof *sum) != sizeof *sum) return;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return Status::aborted("a counter failed");
}

Status ask_after_kills(const std::string& path, Questions& questions) {
  questions.chapter("Counters after kill -9");
  std::set<int64_t> answers;
  size_t received = 0;
  for (int life = 0; life < 5; ++life) {
    int ends[2];
    if (pipe(ends) != 0) return Status::io_error("pipe failed");
    const pid_t child = fork();
    if (child < 0) return Status::io_error("fork failed");
    if (child == 0) _exit(count_forever(path, ends[1]).ok() ? 0 : 1);
    close(ends[1]);
    int64_t answer = 0;
    for (int n = 0; read(ends[0], &answer, sizeof answer) == sizeof answer; ++n, ++received) {
      answers.insert(answer);
      if (n == 2000 + 777 * life) kill(child, SIGKILL);
    }
    close(ends[0]);
    int ended = 0;
    waitpid(child, &ended, 0);
    CELLAR_TRY(questions.holds("the child was killed, and did not fail", WIFSIGNALED(ended)));
    CELLAR_TRY_ASSIGN(const auto engine, Engine::open(path));
    CELLAR_TRY_ASSIGN(const auto table, engine->open_table("cookie_url_count"));
    CELLAR_TRY_ASSIGN(const RowBatch row, table->get(Get("survivor")));
    const int64_t now = row.counter("u", "/").value_or(0);
    CELLAR_TRY(questions.holds("no answer came twice", answers.size() == received));
    CELLAR_TRY(questions.holds("no answer was lost", now >= *answers.rbegin()));
    const int64_t unheard =
        now - static_cast<int64_t>(received);  // killed between the increment and its report
    CELLAR_TRY(questions.holds("at most one increment of each thread and life went unheard",
                               unheard <= kThreads * (life + 1)));
  }
  questions.say("Five processes were killed. No acknowledged increment was lost, and no answer came twice.");
  return {};
}

Status run(const std::string& path, const std::vector<std::string>& files, Questions& questions) {
  if (files.size() != 1) return Status::invalid_argument("name one web log in the combined format");
  size_t refused = 0;
  CELLAR_TRY_ASSIGN(const std::vector<View> views, read_views(files[0], refused));
  {
    CELLAR_TRY_ASSIGN(const auto engine, new_store(path));
    CELLAR_TRY_ASSIGN(const auto counts,
                      engine->create_table("cookie_url_count", {.families = {{.name = "u"}}}));
    CELLAR_TRY(ask_threads(*counts, views, questions));
    CELLAR_TRY(ask_beyond(*counts, questions));
    CELLAR_TRY(engine->close());
  }
  return ask_after_kills(path, questions);
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "counters_store", run); }
