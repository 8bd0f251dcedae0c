// TwitBase: streams, newest first, of which each entry disappears after 72 hours.
//
//   example_twitbase_stream [STORE]
//
// Table streams: row = md5(reader) + reversed time, info:<author> = text, time to live 259,200 seconds.
#include <algorithm>

#include "examples/twitbase/twitbase.h"

namespace {

using namespace example;

constexpr int64_t kHour = 3'600'000;
constexpr int64_t kStart = 1'352'000'000'000;  // a day in November 2012
constexpr int64_t kLifetime = 72 * kHour;

struct Post {
  int64_t time;
  std::string reader, author, text;
};

// Makes up a post about every nine minutes for 100 hours, for four readers. Some share a millisecond.
std::vector<Post> made_up_posts() {
  std::mt19937_64 random(72);
  std::vector<Post> posts;
  int64_t time = kStart;
  for (int n = 0; n < 700; ++n) {
    if (random() % 8 != 0) time += 1 + static_cast<int64_t>(random() % (2 * 100 * kHour / 700));
    posts.push_back(
        {time, user_name(random() % 4), user_name(10 + random() % 30), "post " + std::to_string(n)});
  }
  return posts;
}

Status post(Table& streams, ManualClock& clock, const Post& post) {
  clock.set_ms(post.time);
  return streams.put(Put(twit_key(post.reader, post.time)).add("info", post.author, post.text));
}

// Returns the stream of a reader at a time, found without Cellar: the newest first, then by author.
std::string expected_stream(std::vector<Post> posts, const std::string& reader, int64_t now, size_t count) {
  std::erase_if(posts, [&](const Post& post) {
    return post.reader != reader || post.time > now || post.time < now - kLifetime;
  });
  std::ranges::stable_sort(posts, [](const Post& a, const Post& b) {
    return a.time != b.time ? a.time > b.time : a.author < b.author;
  });
  std::string lines;
  for (size_t n = 0; n < posts.size() && count > 0; ++n) {
    const bool replaced = n + 1 < posts.size() && posts[n].time == posts[n + 1].time &&
                          posts[n].author == posts[n + 1].author;  // the later one of the two wins
    if (replaced) continue;
    lines += std::string(lines.empty() ? "" : "\n    ") + posts[n].author + ": " + posts[n].text;
    --count;
  }
  return lines;
}

uint64_t cells_on_disk(const Table& table) {
  uint64_t cells = 0;
  for (const StoreFileInfo& file : table.files("info").value()) cells += file.cells;
  return cells;
}

Status load(Table& streams, ManualClock& clock, const std::vector<Post>& posts) {
  for (size_t n = 0; n < posts.size(); ++n) {
    CELLAR_TRY(post(streams, clock, posts[n]));
    if (n % 100 == 99) CELLAR_TRY(streams.flush());
  }
  return {};
}

Status ask_newest(Table& streams, ManualClock& clock, const std::vector<Post>& posts, Questions& questions) {
  questions.chapter("The newest posts, before any compaction");
  const int64_t now = posts.back().time;
  ReadStats cost;
  CELLAR_TRY_ASSIGN(std::string found, newest(streams, "user001", 5, &cost));
  CELLAR_TRY(questions.answer("The newest five for user001", found, expected_stream(posts, "user001", now, 5),
                              &cost));
  for (uint64_t reader = 0; reader < 4; ++reader) {
    const std::string name = user_name(reader);
    CELLAR_TRY_ASSIGN(found, newest(streams, name, 1000));
    CELLAR_TRY(questions.same("All of " + name, found, expected_stream(posts, name, now, 1000)));
    for (int64_t hours : {1, 30, 71, 72, 73}) {
      clock.set_ms(now + hours * kHour);
      CELLAR_TRY_ASSIGN(found, newest(streams, name, 1000));
      CELLAR_TRY(questions.same("All of " + name + " some hours later", found,
                                expected_stream(posts, name, now + hours * kHour, 1000)));
    }
    clock.set_ms(now);
  }
  cost = {};
  CELLAR_TRY_ASSIGN(const RangeCount visible, streams.count(Scan().stats(&cost)));
  const auto expired = [&](const Post& post) { return post.time < now - kLifetime; };
  questions.say(std::to_string(std::ranges::count_if(posts, expired)) +
                " of 700 posts are older than 72 hours; " + std::to_string(cells_on_disk(streams)) +
                " cells are on disk, " + std::to_string(visible.cells) + " are visible");
  Questions::print(cost);
  return questions.holds("a file of which all has expired is not read", cost.files_skipped_ttl > 0);
}

Status ask_boundary(Table& streams, ManualClock& clock, Questions& questions) {
  questions.chapter("The moment at which a post disappears");
  const Post last = {kStart + 1000 * kHour, "edge", "user001", "seen for 72 hours"};
  CELLAR_TRY(post(streams, clock, last));
  clock.set_ms(last.time + kLifetime);
  CELLAR_TRY_ASSIGN(std::string found, newest(streams, "edge", 9));
  CELLAR_TRY(questions.answer("After 72 hours", found, "user001: seen for 72 hours"));
  clock.set_ms(last.time + kLifetime + 1);
  CELLAR_TRY_ASSIGN(found, newest(streams, "edge", 9));
  CELLAR_TRY(questions.answer("One millisecond later", found.empty() ? "nothing" : found, "nothing"));
  // The lifetime begins at the timestamp of the cell, whenever it was written.
  CELLAR_TRY(streams.put(Put(twit_key("edge", last.time)).add_at("info", "user002", last.time, "late")));
  CELLAR_TRY_ASSIGN(found, newest(streams, "edge", 9));
  return questions.answer("A post that arrives 72 hours late, with its own time",
                          found.empty() ? "nothing" : found, "nothing");
}

Status ask_one_millisecond(Engine& engine, Table& streams, ManualClock& clock, Questions& questions) {
  questions.chapter("Two posts in one millisecond");
  const int64_t now = kStart + 2000 * kHour;
  CELLAR_TRY(post(streams, clock, {now, "same", "user001", "first"}));
  CELLAR_TRY(post(streams, clock, {now, "same", "user002", "second"}));
  CELLAR_TRY_ASSIGN(std::string found, newest(streams, "same", 9));
  CELLAR_TRY(questions.answer("By two authors: two columns of one row", found,
                              "user001: first\n    user002: second"));
  CELLAR_TRY(post(streams, clock, {now, "same", "user002", "third"}));
  CELLAR_TRY_ASSIGN(found, newest(streams, "same", 9));
  CELLAR_TRY(
      questions.answer("By one author: the later one wins", found, "user001: first\n    user002: third"));
  for (const char* text : {"first", "second"}) {
    CELLAR_TRY_ASSIGN(const int64_t unique, engine.unique_time_us());
    CELLAR_TRY(streams.put(Put(twit_key("unique", unique)).add("info", "user002", text)));
  }
  CELLAR_TRY_ASSIGN(found, newest(streams, "unique", 9));
  return questions.answer("By one author, with unique times in the key: both, the newer one first", found,
                          "user002: second\n    user002: first");
}

Status ask_compacted(Table& streams, Questions& questions) {
  questions.chapter("After a compaction");
  CELLAR_TRY(streams.flush());
  const uint64_t before = cells_on_disk(streams);
  CELLAR_TRY(streams.major_compact());
  CELLAR_TRY_ASSIGN(const RangeCount visible, streams.count());
  CELLAR_TRY(
      questions.holds("the file has what can be seen, and no more", cells_on_disk(streams) == visible.cells));
  questions.say(std::to_string(before) + " cells were on disk, " + std::to_string(cells_on_disk(streams)) +
                " are left: those that can be seen");
  return {};
}

Status run(const std::string& store, const std::vector<std::string>&, Questions& questions) {
  ManualClock clock(kStart);  // a program that keeps real streams passes none
  EngineOptions options;
  options.automatic_compaction = false;  // to show that expiry needs no compaction
  options.ttl_clock_guard_s = 0;         // compactions trust this clock although it leaps by days
  options.environment.clock = &clock;
  CELLAR_TRY_ASSIGN(const auto engine, new_store(store, options));
  const FamilyOptions info = {.name = "info", .ttl_s = kLifetime / 1000};
  CELLAR_TRY_ASSIGN(const auto streams, engine->create_table("streams", {.families = {info}}));
  const std::vector<Post> posts = made_up_posts();
  CELLAR_TRY(load(*streams, clock, posts));
  CELLAR_TRY(ask_newest(*streams, clock, posts, questions));
  CELLAR_TRY(ask_boundary(*streams, clock, questions));
  CELLAR_TRY(ask_one_millisecond(*engine, *streams, clock, questions));
  CELLAR_TRY(ask_compacted(*streams, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "twitbase_stream_store", run); }
