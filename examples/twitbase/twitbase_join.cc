// TwitBase: a reader's stream joined when it is read, or kept ready: the same answers at other costs.
//
//   example_twitbase_join [STORE]
//
// Joined: tables follows (row = md5(user) + md5(followed), f:<followed>) and twits (row = md5(author) +
// reversed time, info:<author> = text). Kept ready: table streams (row = md5(reader) + reversed time,
// info:<author> = text).
#include <algorithm>

#include "examples/twitbase/twitbase.h"

namespace {

using namespace example;

constexpr size_t kShown = 10;
constexpr int64_t kStart = 1'352'000'000'000;

struct Post {
  int64_t time;
  std::string author, text;
};

struct Designs {
  std::shared_ptr<Table> follows, twits, streams;
};

// Makes up 3,000 posts of all users. Their times differ.
std::vector<Post> made_up_posts(uint64_t users) {
  std::mt19937_64 random(30);
  std::vector<Post> posts;
  int64_t time = kStart;
  for (int n = 0; n < 3000; ++n) {
    time += 1 + static_cast<int64_t>(random() % 60'000);
    posts.push_back({time, user_name(random() % users), "post number " + std::to_string(n)});
  }
  return posts;
}

// A post is one cell of twits, and one cell of the stream of each follower.
Status post(Engine& engine, const Designs& tables, const Relation& followed_by, const Post& post) {
  Batch batch;
  batch.put(tables.twits,
            Put(twit_key(post.author, post.time)).add_at("info", post.author, post.time, post.text));
  if (const auto followers = followed_by.find(post.author); followers != followed_by.end()) {
    for (const std::string& follower : followers->second)
      batch.put(tables.streams,
                Put(twit_key(follower, post.time)).add_at("info", post.author, post.time, post.text));
  }
  return engine.write(batch);
}

Result<Designs> load(Engine& engine, const Relation& follows, const std::vector<Post>& posts) {
  const TableOptions info = {.families = {{.name = "info"}}};
  Designs tables;
  CELLAR_TRY_ASSIGN(tables.follows, engine.create_table("follows", {.families = {{.name = "f"}}}));
  CELLAR_TRY_ASSIGN(tables.twits, engine.create_table("twits", info));
  CELLAR_TRY_ASSIGN(tables.streams, engine.create_table("streams", info));
  for (const auto& [user, all] : follows) {
    for (const std::string& whom : all)
      CELLAR_TRY(tables.follows->put(Put(pair_key(user, whom)).add_at("f", whom, kStart, "1")));
  }
  const Relation followed_by = inverse(follows);
  for (const Post& each : posts) CELLAR_TRY(post(engine, tables, followed_by, each));
  for (const auto& table : {tables.follows, tables.twits, tables.streams}) {
    CELLAR_TRY(table->flush());
    CELLAR_TRY(table->major_compact());
  }
  return tables;
}

// Joins: whom the reader follows, then the newest posts of each of them, all as of one instant, merged by
// time.
Result<std::string> joined(Engine& engine, const Designs& tables, const std::string& reader, size_t count,
                           ReadStats* cost) {
  CELLAR_TRY_ASSIGN(const auto now, engine.snapshot());
  const Scan whom = Scan(keys_with_prefix(md5_bytes(reader))).snapshot(now).stats(cost);
  CELLAR_TRY_ASSIGN(const auto followed, tables.follows->scan(whom));
  std::vector<Scan> scans;
  for (const RowView row : *followed) {
    const KeyRange of_author = keys_with_prefix(md5_bytes(row.cells().front().qualifier()));
    scans.push_back(Scan(of_author).limit(count).snapshot(now).stats(cost));
  }
  CELLAR_TRY(followed->status());
  CELLAR_TRY_ASSIGN(auto authors, tables.twits->scan_many(scans));
  std::erase_if(authors, [](const auto& author) { return !author->next(); });
  std::string lines;
  for (; count > 0 && !authors.empty(); --count) {
    const auto newest = std::ranges::max_element(
        authors, {}, [](const auto& author) { return author->row().cells().front().timestamp; });
    const CellView& cell = (*newest)->row().cells().front();
    lines += std::string(lines.empty() ? "" : "\n    ") + std::string(cell.qualifier()) + ": " +
             std::string(cell.value_bytes());
    if ((*newest)->next()) continue;
    CELLAR_TRY((*newest)->status());
    authors.erase(newest);
  }
  return lines;
}

std::string expected_stream(const std::vector<Post>& posts, const std::set<std::string>& followed,
                            size_t count) {
  std::string lines;
  for (auto each = posts.rbegin(); each != posts.rend() && count > 0; ++each) {
    if (!followed.contains(each->author)) continue;
    lines += std::string(lines.empty() ? "" : "\n    ") + each->author + ": " + each->text;
    --count;
  }
  return lines;
}

Status ask_streams(Engine& engine, const Designs& tables, const Relation& follows,
                   const std::vector<Post>& posts, Questions& questions) {
  questions.chapter("The newest ten posts for a reader");
  ReadStats all_joined, all_ready;
  for (const auto& [reader, followed] : follows) {
    ReadStats join_cost, ready_cost;
    const std::string expected = expected_stream(posts, followed, kShown);
    CELLAR_TRY_ASSIGN(const std::string join, joined(engine, tables, reader, kShown, &join_cost));
    CELLAR_TRY_ASSIGN(const std::string ready, newest(*tables.streams, reader, kShown, &ready_cost));
    CELLAR_TRY(questions.same("joined stream of " + reader, join, expected));
    CELLAR_TRY(questions.same("ready stream of " + reader, ready, expected));
    all_joined += join_cost;
    all_ready += ready_cost;
    if (reader != "user003") continue;
    const std::string who =
        "user003 follows " + std::to_string(followed.size()) + " users. Joined at the read:";
    CELLAR_TRY(questions.answer(who, join, expected, &join_cost));
    CELLAR_TRY(questions.answer("Kept ready:", ready, expected, &ready_cost));
  }
  questions.say("All " + std::to_string(follows.size()) + " readers, joined, then kept ready:");
  Questions::print(all_joined);
  Questions::print(all_ready);
  return {};
}

Status ask_writes(const Designs& tables, Questions& questions) {
  questions.chapter("The cost of writing");
  for (const auto& table : {tables.follows, tables.twits, tables.streams}) {
    const TableInfo info = table->info();
    const StoreFileInfo& file = info.families[0].files.front();
    questions.say(info.name + ": " + std::to_string(file.cells) + " cells, " +
                  std::to_string(info.families[0].bytes_put) + " bytes put, " + std::to_string(file.bytes) +
                  " bytes on disk");
  }
  return {};
}

// A relation that ends: the joined stream follows at once, the ready one keeps what it was given.
Status ask_unfollow(Engine& engine, const Designs& tables, Relation follows, const std::vector<Post>& posts,
                    Questions& questions) {
  questions.chapter("A reader stops to follow the author of the newest post");
  const std::string reader = "user003";
  const std::set<std::string> before = follows[reader];
  const auto last = std::find_if(posts.rbegin(), posts.rend(),
                                 [&](const Post& each) { return before.contains(each.author); });
  CELLAR_TRY(tables.follows->erase(Delete(pair_key(reader, last->author))));
  follows[reader].erase(last->author);
  CELLAR_TRY_ASSIGN(const std::string join, joined(engine, tables, reader, 2, nullptr));
  CELLAR_TRY(questions.answer("Joined", join, expected_stream(posts, follows[reader], 2)));
  CELLAR_TRY_ASSIGN(const std::string ready, newest(*tables.streams, reader, 2));
  return questions.answer("Kept ready: the old posts stay until they are erased or expire", ready,
                          expected_stream(posts, before, 2));
}

Status run(const std::string& store, const std::vector<std::string>&, Questions& questions) {
  const Relation follows = made_up_follows(200, 2012);
  const std::vector<Post> posts = made_up_posts(200);
  CELLAR_TRY_ASSIGN(const auto engine, new_store(store));
  {
    CELLAR_TRY_ASSIGN(const Designs tables, load(*engine, follows, posts));
    CELLAR_TRY(ask_streams(*engine, tables, follows, posts, questions));
    CELLAR_TRY(ask_writes(tables, questions));
    CELLAR_TRY(ask_unfollow(*engine, tables, follows, posts, questions));
  }
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "twitbase_join_store", run); }
