// TwitBase: one post goes to the streams of all followers, who all see it or none, in bounded memory.
//
//   example_twitbase_fan_out [STORE [FOLLOWERS]]
//
// fan_out.h has the tables, and the steps of a post.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <thread>

#include "examples/twitbase/fan_out.h"

namespace {

using namespace example;

constexpr uint64_t kMemtablesMax = 8u << 20;

EngineOptions options() {
  EngineOptions options;
  options.memtable_bytes = kMemtablesMax / 4;
  options.memtable_bytes_total = kMemtablesMax;
  return options;
}

// Returns true if a follower sees the author's post of that time: his entry and the post are there.
Result<bool> sees(const Streams& tables, const std::shared_ptr<const Snapshot>& now, uint64_t follower,
                  int64_t time) {
  const Get entry = Get(twit_key(follower_name(follower), time)).column("info", "author").snapshot(now);
  CELLAR_TRY_ASSIGN(const bool has_entry, tables.streams->exists(entry));
  if (!has_entry) return false;
  return tables.twits->exists(Get(twit_key("author", time)).snapshot(now));
}

Result<uint64_t> count_seers(Engine& engine, const Streams& tables, uint64_t followers, int64_t time) {
  CELLAR_TRY_ASSIGN(const auto now, engine.snapshot());
  uint64_t seers = 0;
  for (uint64_t follower = 0; follower < followers; ++follower) {
    CELLAR_TRY_ASSIGN(const bool seen, sees(tables, now, follower, time));
    seers += seen;
  }
  return seers;
}

Status load(Engine& engine, const Streams& tables, uint64_t followers) {
  Batch batch;
  for (uint64_t n = 0; n < followers; ++n) {
    batch.put(tables.followed_by, Put(pair_key("author", follower_name(n))).add("f", follower_name(n), "1"));
    if (batch.mutations() < kPiece && n + 1 < followers) continue;
    CELLAR_TRY(engine.write(batch));
    batch.clear();
  }
  return engine.flush();
}

Status ask_pieces(Engine& engine, const Streams& tables, uint64_t followers, Questions& questions) {
  questions.chapter("A post to " + std::to_string(followers) + " followers");
  CELLAR_TRY_ASSIGN(const size_t whole,
                    write_entries(engine, tables, "author", 1, "in one batch", followers));
  CELLAR_TRY_ASSIGN(const size_t piece, post(engine, tables, "author", 1000, "in pieces"));
  questions.say("The largest batch has " + std::to_string(whole) + " bytes if it holds all followers, " +
                std::to_string(piece) + " bytes in pieces of " + std::to_string(kPiece));
  CELLAR_TRY(questions.holds("pieces need no more memory for more followers", piece <= 200 * kPiece));
  CELLAR_TRY(questions.holds("memtables keep their limit", engine.status().memtable_bytes <= kMemtablesMax));
  CELLAR_TRY_ASSIGN(const uint64_t seers, count_seers(engine, tables, followers, 1000));
  return questions.answer("How many followers see it?", std::to_string(seers), std::to_string(followers));
}

// While a thread posts, a reader compares three followers at one instant after the other.
Status ask_meanwhile(Engine& engine, const Streams& tables, uint64_t followers, Questions& questions) {
  questions.chapter("Three posts, and a reader who looks at three followers all the time");
  std::atomic<bool> done = false;
  Status posted;
  std::thread writer([&] {
    for (int64_t time = 3000; posted.ok() && time < 3003; ++time)
      posted = post(engine, tables, "author", time, "meanwhile").status();
    done = true;
  });
  uint64_t looks = 0, torn = 0;
  const auto look = [&]() -> Status {
    for (int64_t time = 3000; time < 3003; ++time, ++looks) {
      CELLAR_TRY_ASSIGN(const auto now, engine.snapshot());
      uint64_t seers = 0;
      for (const uint64_t follower : {uint64_t{0}, followers / 2, followers - 1}) {
        CELLAR_TRY_ASSIGN(const bool seen, sees(tables, now, follower, time));
        seers += seen;
      }
      torn += seers == 1 || seers == 2;
    }
    return {};
  };
  Status read;
  while (read.ok() && !done) read = look();
  writer.join();
  CELLAR_TRY(read);
  CELLAR_TRY(posted);
  CELLAR_TRY(look());
  CELLAR_TRY(questions.holds("the reader looked", looks >= 3));
  CELLAR_TRY(
      questions.answer("Instants at which some saw a post and others did not", std::to_string(torn), "0"));
  CELLAR_TRY_ASSIGN(const uint64_t seers, count_seers(engine, tables, followers, 3002));
  return questions.answer("How many followers see the last one?", std::to_string(seers),
                          std::to_string(followers));
}

// The child is killed after its first piece. Its post is shown to nobody, until the outbox finishes it.
Status ask_after_kill(const std::string& store, uint64_t followers, Questions& questions) {
  questions.chapter("A process that is killed after the first piece");
  const pid_t child = fork();
  if (child < 0) return Status::io_error("fork failed");
  if (child == 0) {
    const auto life = [&]() -> Status {
      CELLAR_TRY_ASSIGN(const auto engine, Engine::open(store, options()));
      CELLAR_TRY_ASSIGN(const Streams tables, open_streams(*engine));
      return post(*engine, tables, "author", 2000, "half sent", 1).status();
    };
    _exit(life().ok() ? 0 : 1);
  }
  int ended = 0;
  waitpid(child, &ended, 0);
  CELLAR_TRY(questions.holds("the child was killed", WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL));
  CELLAR_TRY_ASSIGN(const auto engine, Engine::open(store, options()));
  CELLAR_TRY_ASSIGN(const Streams tables, open_streams(*engine));
  CELLAR_TRY_ASSIGN(uint64_t seers, count_seers(*engine, tables, followers, 2000));
  CELLAR_TRY(questions.answer("How many followers see the post?", std::to_string(seers), "0"));
  CELLAR_TRY_ASSIGN(const size_t posts, recover(*engine, tables));
  CELLAR_TRY(questions.answer("Posts that the outbox still had", std::to_string(posts), "1"));
  CELLAR_TRY_ASSIGN(seers, count_seers(*engine, tables, followers, 2000));
  CELLAR_TRY(
      questions.answer("How many followers see it now?", std::to_string(seers), std::to_string(followers)));
  return engine->close();
}

Status run(const std::string& store, const std::vector<std::string>& files, Questions& questions) {
  uint64_t followers = 2000;
  if (!files.empty()) {
    const std::string& text = files[0];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), followers);
    if (error != std::errc() || end != text.data() + text.size() || followers <= kPiece ||
        followers > 300'000)
      return Status::invalid_argument("\"" + text + "\" is not a number of followers from 1001 to 300000");
  }
  {
    CELLAR_TRY_ASSIGN(const auto engine, new_store(store, options()));
    CELLAR_TRY_ASSIGN(const Streams tables, open_streams(*engine));
    CELLAR_TRY(load(*engine, tables, followers));
    CELLAR_TRY(ask_pieces(*engine, tables, followers, questions));
    CELLAR_TRY(ask_meanwhile(*engine, tables, followers, questions));
    CELLAR_TRY(engine->close());
  }
  return ask_after_kill(store, followers, questions);
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "twitbase_fan_out_store", run); }
