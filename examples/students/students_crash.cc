// Students apply at schools: both orders of the key agree although writers are killed at their work.
//
//   example_students_crash [STORE]
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "examples/students/students.h"

namespace {

using namespace example;

// A child writes until it is killed in the middle of its work. Then both tables must agree.
Status ask_after_kills(const std::string& path, Questions& questions) {
  questions.chapter("Both tables agree after kill -9");
  size_t applications = 0;
  for (int life = 0; life < 5; ++life) {
    const pid_t child = fork();
    if (child < 0) return Status::io_error("fork failed");
    if (child == 0) {
      const auto forever = [&]() -> Status {
        CELLAR_TRY_ASSIGN(const auto engine, Engine::open(path));
        CELLAR_TRY_ASSIGN(const Tables tables, open_tables(*engine));
        for (int64_t n = 0;; ++n) CELLAR_TRY(apply(*engine, tables, 1000 + life, std::to_string(n)));
      };
      _exit(forever().ok() ? 0 : 1);
    }
    usleep(static_cast<useconds_t>(100000 + life * 7777));
    kill(child, SIGKILL);
    int ended = 0;
    waitpid(child, &ended, 0);
    CELLAR_TRY(questions.holds("the child was killed, and did not fail", WIFSIGNALED(ended)));
    CELLAR_TRY_ASSIGN(const auto engine, Engine::open(path));
    CELLAR_TRY_ASSIGN(const Tables tables, open_tables(*engine));
    std::set<std::string> by_user, by_application;
    CELLAR_TRY_ASSIGN(const auto users, tables.by_user->scan({}));
    for (const RowView row : *users)
      by_user.insert(std::string(row.row().substr(8)) + std::string(row.row().substr(0, 8)));
    CELLAR_TRY(users->status());
    CELLAR_TRY_ASSIGN(const auto mirrored, tables.by_application->scan({}));
    for (const RowView row : *mirrored) by_application.emplace(row.row());
    CELLAR_TRY(mirrored->status());
    CELLAR_TRY(questions.holds("both tables hold the same applications", by_user == by_application));
    CELLAR_TRY(questions.holds("the child wrote", by_user.size() > applications));
    applications = by_user.size();
  }
  questions.say("five writers were killed, and both tables had the same applications each time");
  return {};
}

Status run(const std::string& store, const std::vector<std::string>&, Questions& questions) {
  CELLAR_TRY_ASSIGN(const auto engine, new_store(store));
  CELLAR_TRY(engine->close());
  return ask_after_kills(store, questions);
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "students_crash_store", run); }
