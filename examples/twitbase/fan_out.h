// A post on its way to the streams of all followers, in pieces of bounded memory.
//
// Table followed_by: row = md5(author) + md5(follower), f:<follower>. Table streams: row = md5(reader) +
// reversed time, info:<author> = text. Table twits: row = md5(author) + reversed time, info:text. A reader
// shows an entry only if its post is in twits, so that one put there shows the post to all. Table outbox has
// posts on their way, in rows as those of twits.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "examples/twitbase/twitbase.h"

namespace example {

inline constexpr size_t kPiece = 1000;  // followers that one batch serves
inline constexpr size_t kNever = SIZE_MAX;

struct Streams {
  std::shared_ptr<Table> followed_by, twits, streams, outbox;
};

inline std::string follower_name(uint64_t number) { return "follower" + std::to_string(number); }

inline Result<Streams> open_streams(Engine& engine) {
  const TableOptions info = {.families = {{.name = "info"}}};
  Streams all;
  CELLAR_TRY_ASSIGN(all.followed_by,
                    engine.open_or_create_table("followed_by", {.families = {{.name = "f"}}}));
  CELLAR_TRY_ASSIGN(all.twits, engine.open_or_create_table("twits", info));
  CELLAR_TRY_ASSIGN(all.streams, engine.open_or_create_table("streams", info));
  CELLAR_TRY_ASSIGN(all.outbox, engine.open_or_create_table("outbox", info));
  return all;
}

// Writes the entries of a post, a piece of the followers at a time. Writing them again changes nothing,
// because their keys and timestamps are those of the post. Returns the size of the largest batch. `die_after`
// pieces the process kills itself.
inline Result<size_t> write_entries(Engine& engine, const Streams& tables, const std::string& author,
                                    int64_t time, std::string_view text, size_t piece,
                                    size_t die_after = kNever) {
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
inline Result<size_t> finish(Engine& engine, const Streams& tables, const std::string& author, int64_t time,
                             std::string_view text, size_t die_after = kNever) {
  CELLAR_TRY_ASSIGN(const size_t largest,
                    write_entries(engine, tables, author, time, text, kPiece, die_after));
  Batch batch;
  batch.put(tables.twits, Put(twit_key(author, time)).add_at("info", "text", time, text));
  batch.erase(tables.outbox, Delete(twit_key(author, time)));
  CELLAR_TRY(engine.write(batch));
  return largest;
}

inline Result<size_t> post(Engine& engine, const Streams& tables, const std::string& author, int64_t time,
                           std::string_view text, size_t die_after = kNever) {
  CELLAR_TRY(tables.outbox->put(Put(twit_key(author, time)).add("info", author, text)));
  return finish(engine, tables, author, time, text, die_after);
}

// After a crash: finishes what is in the outbox. Returns the number of posts.
inline Result<size_t> recover(Engine& engine, const Streams& tables) {
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

}  // namespace example
