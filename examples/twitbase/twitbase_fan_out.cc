// TwitBase: one post goes to the streams of all followers, who all see it or none, in bounded memory.
//
//   example_twitbase_fan_out [STORE [FOLLOWERS]]
//
// Table followed_by: row = md5(author) + md5(follower), f:<follower>. Table streams: row = md5(reader) +
// reversed time, info:<author> = text. Table twits: row = md5(author) + reversed time, info:text. A reader shows
// an entry only if its post is in twits, so that one put there shows the post to all. Table outbox has posts
// on their way, in rows as those of twits.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "examples/twitbase/twitbase.h"

namespace {

using namespace example;

constexpr size_t kPiece = 1000;  // followers that one batch serves
constexpr size_t kNever = SIZE_MAX;

struct Streams {
  std::shared_ptr<Table> followed_by, twits, streams, outbox;
};

std::string follower_name(uint64_t number) { return "follower" + std::to_string(number); }

Result<Streams> open_streams(Engine& engine) {
  const TableOptions info = {.families = {{.name = "info"}}};
  Streams all;
  CELLAR_TRY_ASSIGN(all.followed_by,
                    engine.open_or_create_table("followed_by", {.families = {{.name = "f"}}}));
  CELLAR_TRY_ASSIGN(all.twits, engine.open_or_create_table("twits", info));
  CELLAR_TRY_ASSIGN(all.streams, engine.open_or_create_table("streams", info));
  CELLAR_TRY_ASSIGN(all.outbox, engine.open_or_create_table("outbox", info));
  return all;
}

// Writes the entries of a post, a piece of the followers at a time. Writing them again changes nothing, because
// their keys and timestamps are those of the post. Returns the size of the largest batch. `die_after` pieces
// the process kills itself.
Result<size_t> write_entries(Engine& engine, const Streams& tables, const std::string& author, int64_t time,
                             std::string_view text, size_t piece, size_t die_after = kNever) {
  const Scan followers(keys_with_prefix(md5_bytes(author)));
  CELLAR_TRY_ASSIGN(const auto scanner, tables.followed_by->scan(followers));
  RowBatch rows;
  Batch batch;
  size_t largest = 0;
  for (size_t pieces = 0; scanner->next_batch(rows, piece); ++pieces) {
    if (pieces == die_after) kill(getpid(), SIGKILL);
    batch.clear();
    for (const RowView row : rows) {
      const std::string_view follower = row.cells().front().qualifier();
      batch.put(tables.streams, Put(twit_key(follower, time)).add_at("info", author, time, text));
    }
    largest = std::max(largest, batch.bytes());
    CELLAR_TRY(engine.write(batch));
  }
  CELLAR_TRY(scanner->status());
  return largest;
}

// Finishes a post of the outbox: its entries, then one batch that shows it to all and empties the outbox.
Result<size_t> finish(Engine& engine, const Streams& tables, const std::string& author, int64_t time,
                      std::string_view text, size_t die_after = kNever) {
  CELLAR_TRY_ASSIGN(const size_t largest,
                    write_entries(engine, tables, author, time, text, kPiece, die_after));
  Batch batch;
  batch.put(tables.twits, Put(twit_key(author, time)).add_at("info", "text", time, text));
  batch.erase(tables.outbox, Delete(twit_key(author, time)));
  CELLAR_TRY(engine.write(batch));
  return largest;
}

Result<size_t> post(Engine& engine, const Streams& tables, const std::string& author, int64_t time,
                    std::string_view text, size_t die_after = kNever) {
  CELLAR_TRY(tables.outbox->put(Put(twit_key(author, time)).add("info", author, text)));
  return finish(engine, tables, author, time, text, die_after);
}

// After a crash: finishes what is in the outbox. Returns the number of posts.
Result<size_t> recover(Engine& engine, const Streams& tables) {
  size_t posts = 0;
  CELLAR_TRY_ASSIGN(const auto scanner, tables.outbox->scan({}));
  for (const RowView row : *scanner) {
    const int64_t time = time_of_reversed(row.row().substr(16)).value_or(0);
    const CellView& cell = row.cells().front();
    CELLAR_TRY(finish(engine, tables, std::string(cell.qualifier()), time, cell.value_bytes()));
    ++posts;
  }
  CELLAR_TRY(scanner->status());
  return posts;
}

// Whether a follower sees the author's post of that time: his entry, and the post itself, as of one instant.
Result<bool> sees(Engine& engine, const Streams& tables, uint64_t follower, const std::string& author,
                  int64_t time) {
  CELLAR_TRY_ASSIGN(const auto now, engine.snapshot());
  const Get entry = Get(twit_key(follower_name(follower), time)).column("info", author).snapshot(now);
  CELLAR_TRY_ASSIGN(const bool has_entry, tables.streams->exists(entry));
  if (!has_entry) return false;
  return tables.twits->exists(Get(twit_key(author, time)).snapshot(now));
}

Result<uint64_t> count_seers(Engine& engine, const Streams& tables, uint64_t followers,
                             const std::string& author, int64_t time) {
  uint64_t seers = 0;
  for (uint64_t follower = 0; follower < followers; ++follower) {
    CELLAR_TRY_ASSIGN(const bool seen, sees(engine, tables, follower, author, time));
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

Status ask(const std::string& store, uint64_t followers, Questions& questions) {
  const std::string all = std::to_string(followers), author = "author";
  EngineOptions options;
  options.memtable_bytes = 2u << 20;
  options.memtable_bytes_total = 8u << 20;
  CELLAR_TRY_ASSIGN(auto engine, new_store(store, options));
  CELLAR_TRY_ASSIGN(Streams tables, open_streams(*engine));
  CELLAR_TRY(load(*engine, tables, followers));

  questions.chapter("A post to " + all + " followers");
  CELLAR_TRY_ASSIGN(const size_t whole, write_entries(*engine, tables, author, 1, "in one batch", followers));
  CELLAR_TRY_ASSIGN(const size_t piece, post(*engine, tables, author, 1000, "in pieces"));
  questions.say("The largest batch has " + std::to_string(whole) + " bytes if it holds all followers, " +
                std::to_string(piece) + " bytes in pieces of " + std::to_string(kPiece));
  CELLAR_TRY(questions.holds("pieces need no more memory for more followers", piece <= 200 * kPiece));
  const EngineStatus status = engine->status();
  CELLAR_TRY(
      questions.holds("memtables keep their limit", status.memtable_bytes <= options.memtable_bytes_total));
  CELLAR_TRY_ASSIGN(uint64_t seers, count_seers(*engine, tables, followers, author, 1000));
  CELLAR_TRY(questions.answer("How many followers see it?", std::to_string(seers), all));
  tables = {};
  CELLAR_TRY(engine->close());
  engine.reset();

  questions.chapter("A process that is killed after the first piece");
  const pid_t child = fork();
  if (child < 0) return Status::io_error("fork failed");
  if (child == 0) {
    const auto life = [&]() -> Status {
      CELLAR_TRY_ASSIGN(const auto own, Engine::open(store, options));
      CELLAR_TRY_ASSIGN(const Streams own_tables, open_streams(*own));
      return post(*own, own_tables, author, 2000, "half sent", 1).status();
    };
    _exit(life().ok() ? 0 : 1);
  }
  int ended = 0;
  waitpid(child, &ended, 0);
  CELLAR_TRY(questions.holds("the child was killed", WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL));
  CELLAR_TRY_ASSIGN(engine, Engine::open(store, options));
  CELLAR_TRY_ASSIGN(tables, open_streams(*engine));
  CELLAR_TRY_ASSIGN(seers, count_seers(*engine, tables, followers, author, 2000));
  CELLAR_TRY(questions.answer("How many followers see the post?", std::to_string(seers), "0"));
  CELLAR_TRY_ASSIGN(const size_t posts, recover(*engine, tables));
  CELLAR_TRY(questions.answer("Posts that the outbox still had", std::to_string(posts), "1"));
  CELLAR_TRY_ASSIGN(seers, count_seers(*engine, tables, followers, author, 2000));
  CELLAR_TRY(questions.answer("How many followers see it now?", std::to_string(seers), all));
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
  return ask(store, followers, questions);
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "twitbase_fan_out_store", run); }
