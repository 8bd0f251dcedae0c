// Goal: whenever the process that writes is killed, every write that it acknowledged is there afterwards. No
// write is there in part, none is unknown, and the store goes on. Method: a child process writes, with two
// threads, over two tables and four families, and reports each acknowledged write through a pipe. It is
// killed with SIGKILL at a random moment, now and then once more while it opens the store. The store is
// opened, compared with the state that its writes must have left, and given to the next child. CELLAR_SEED
// repeats a course as far as its moments can be repeated. CELLAR_KILLS sets the number of kills, and
// CELLAR_KILL_DIRECTORY the place (default: memory, /dev/shm).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "base/random.h"
#include "tests/kill/kill_plan.h"
#include "tests/support/scratch_directory.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

constexpr uint64_t kShards = 2;
constexpr uint64_t kKillsOfShard = 100;

std::string kill_directory() {
  if (const char* given = std::getenv("CELLAR_KILL_DIRECTORY")) return given;
  return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path().string();
}

int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The child and the reading end of its pipe.
class Child {
 public:
  Child(const std::string& store, uint64_t seed, bool writes, const std::vector<uint64_t>& done) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 3);
    std::vector<std::string> words = {CELLAR_KILL_WRITER_PATH, store, std::to_string(seed),
                                      writes ? "write" : "open"};
    for (const uint64_t each : done) words.push_back(std::to_string(each));
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&process_, arguments[0], &actions, nullptr, arguments.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    pipe_ = ends[0];
  }
  ~Child() { close(pipe_); }

  // Takes what the child tells until `until_us`, or until it ends by itself; whether it still runs.
  template <class Take>
  bool listen(int64_t until_us, const Take& take) {
    pollfd waiting{.fd = pipe_, .events = POLLIN, .revents = 0};
    for (int64_t left = until_us - now_us(); left > 0; left = until_us - now_us()) {
      const timespec timeout{.tv_sec = left / 1'000'000, .tv_nsec = left % 1'000'000 * 1000};
      if (ppoll(&waiting, 1, &timeout, nullptr) > 0 && !take_one(take)) return false;
    }
    return true;
  }

  // Kills it and takes what is still in the pipe. Its exit status, or minus the signal that ended it.
  template <class Take>
  int kill_now(const Take& take) {
    kill(process_, SIGKILL);
    int status = 0;
    EXPECT_EQ(waitpid(process_, &status, 0), process_);
    while (take_one(take)) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  template <class Take>
  bool take_one(const Take& take) {
    KillMessage message;
    if (read(pipe_, &message, sizeof message) != static_cast<ssize_t>(sizeof message)) return false;
    take(message);
    return true;
  }

  pid_t process_ = -1;
  int pipe_ = -1;
};

// The state that one writer must have left: after its acknowledged writes, or after one more.
struct WriterOracle {
  uint64_t applied = 0;  // writes in `state`
  uint64_t acknowledged = 0;
  KillState state;

  void catch_up(uint64_t seed, uint32_t writer) {
    while (applied < acknowledged) advance(state, kill_write(seed, writer, ++applied));
  }
  // Returns the fault of the state found, or nothing. Goes on from that state.
  std::optional<std::string> compare(const KillState& found, uint64_t seed, uint32_t writer) {
    catch_up(seed, writer);
    if (found == state) return std::nullopt;
    KillState one_more = state;
    advance(one_more, kill_write(seed, writer, applied + 1));
    if (found == one_more) {
      state = std::move(one_more);
      acknowledged = ++applied;
      return std::nullopt;
    }
    std::string text = "writer " + std::to_string(writer) + ", " + std::to_string(acknowledged) +
                       " writes acknowledged, holds neither what they leave nor what one more does:\n";
    for (const auto& [cell, number] : found)
      if (!state.contains(cell) || state.at(cell) != number)
        text += "  " + cell + " is of " + std::to_string(number) + ", should be of " +
                (state.contains(cell) ? std::to_string(state.at(cell)) : "none") + "\n";
    for (const auto& [cell, number] : state)
      if (!found.contains(cell)) text += "  " + cell + " of " + std::to_string(number) + " is lost\n";
    return text;
  }
};

struct Tally {
  uint64_t kills = 0, while_opening = 0, writes = 0, recoveries = 0, torn = 0, segments = 0, files = 0;
};

class Kill : public ::testing::TestWithParam<uint64_t> {
 protected:
  // Lets a child write until a random moment.
  void write_and_kill() {
    std::vector<uint64_t> done;
    for (const WriterOracle& oracle : oracles_) done.push_back(oracle.acknowledged);
    bool opened = false;
    const auto take = [&](const KillMessage& message) {
      if (message.number == 0) {
        opened = true;
        return;
      }
      WriterOracle& oracle = oracles_.at(message.writer);
      EXPECT_EQ(message.number, oracle.acknowledged + 1);
      oracle.acknowledged = message.number;
      ++tally_.writes;
    };
    Child child(scratch_ / "store", seed_, true, done);
    bool runs = true;
    const int64_t give_up = now_us() + 30'000'000;
    while (runs && !opened && now_us() < give_up) runs = child.listen(now_us() + 500, take);
    ASSERT_TRUE(opened || !runs) << "the child does not get to writing";
    runs = runs && child.listen(now_us() + static_cast<int64_t>(random_.below(60'000)), take);
    end(child, runs, take);
  }

  // Lets a child open the store, or begin to.
  void open_and_kill() {
    bool opened = false;
    const auto take = [&](const KillMessage&) { opened = true; };
    Child child(scratch_ / "store", seed_, false, std::vector<uint64_t>(kKillWriters, 0));
    end(child, child.listen(now_us() + static_cast<int64_t>(random_.below(15'000)), take), take);
    if (!opened) ++tally_.while_opening;
  }

  template <class Take>
  void end(Child& child, bool runs, const Take& take) {
    const int status = child.kill_now(take);
    ASSERT_TRUE(runs && status == -SIGKILL) << "the child ended by itself with status " << status;
    ++tally_.kills;
  }

  void open_and_compare(bool read_only) {
    EngineOptions options = kill_engine_options();
    options.read_only = read_only;
    options.create_if_missing = false;
    auto opened = Engine::open(scratch_ / "store", options);
    if (opened.status().is(Code::kNotFound)) {  // killed before the store was made
      for (const WriterOracle& oracle : oracles_) ASSERT_EQ(oracle.acknowledged, 0u);
      return;
    }
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    const RecoveryReport& report = (*opened)->recovery_report();
    if (!report.clean) ++tally_.recoveries;
    if (report.torn_bytes != 0) ++tally_.torn;
    tally_.segments = std::max(tally_.segments, report.segments_read);
    tally_.files = std::max(tally_.files, (*opened)->status().store_files);
    const auto found = found_states(**opened);
    ASSERT_TRUE(found.ok()) << found.status().to_text();
    for (uint32_t w = 0; w < kKillWriters; ++w) {
      const auto wrong = oracles_[w].compare((*found)[w], seed_, w);
      ASSERT_FALSE(wrong) << *wrong;
    }
    const Status closed = (*opened)->close();
    ASSERT_TRUE(closed.ok()) << closed.to_text();
  }

  bool is_meaningful() const {
    return tally_.writes > tally_.kills && tally_.segments > 1 && tally_.files > 4;
  }

  static constexpr uint64_t kMoreKills = 100;
  const uint64_t seed_ = from_environment("CELLAR_SEED", system_random() >> 16) + GetParam();
  Random random_{seed_};
  ScratchDirectory scratch_{kill_directory()};
  std::vector<WriterOracle> oracles_{kKillWriters};
  Tally tally_;
};
INSTANTIATE_TEST_SUITE_P(Shards, Kill, ::testing::Range(uint64_t{0}, kShards));

TEST_P(Kill, AtAnyMomentLosesNothing) {
  const uint64_t kills = from_environment("CELLAR_KILLS", kShards * scaled(kKillsOfShard)) / kShards;
  std::cout << "seed " << seed_ - GetParam() << " in " << scratch_.path() << std::endl;
  // A few kills may all come before the store is open. They mean something only with what the end expects.
  while (tally_.kills < kills || (!is_meaningful() && tally_.kills < kills + kMoreKills)) {
    write_and_kill();
    while (!HasFailure() && random_.one_in(4)) open_and_kill();
    // Mostly seen without a change, so that the next child recovers.
    if (!HasFailure()) open_and_compare(!random_.one_in(4));
    if (HasFailure()) {
      GTEST_FAIL() << "after kill " << tally_.kills << "; repeat: CELLAR_SEED=" << seed_ - GetParam()
                   << " CELLAR_KILLS=" << kills * kShards
                   << " cellar_tests_kill --gtest_filter=Shards/Kill.*/" << GetParam();
    }
  }
  open_and_compare(false);
  count(tally_.kills, "kills of the writing process");
  count(tally_.writes, "acknowledged writes that outlived them");
  std::cout << tally_.kills << " kills, " << tally_.while_opening << " of them before the store was open; "
            << tally_.writes << " writes acknowledged; " << tally_.recoveries << " recoveries, "
            << tally_.torn << " of a torn log; at most " << tally_.segments << " log segments and "
            << tally_.files << " store files" << std::endl;
  EXPECT_GT(tally_.writes, tally_.kills);
  EXPECT_GT(tally_.segments, 1u);
  EXPECT_GT(tally_.files, 4u);
}

}  // namespace
}  // namespace cellar::testing
