// A post goes to the streams of all followers atomically, in the same write. The fan-out is bounded: a post
// of an author with many followers is put in one place, where readers look as well.
//
//   example_fan_out [STORE]
//
// Table posts: row = author, column p:<number> = text. Table followed_by: row = author, column f:<follower>.
// Table streams: row = reader, column s:post, the newest three versions; row = author for the many.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "cellar/cellar.h"

namespace {

using namespace cellar;

constexpr size_t kFollowersMax = 1000;

class FanOut final : public Observer {
 public:
  FanOut(std::shared_ptr<Table> followed_by, std::shared_ptr<Table> streams)
      : followed_by_(std::move(followed_by)), streams_(std::move(streams)) {}

  Status before_write(const RowView& row, ObserverContext& context) override {
    const std::string author(row.row());
    // One more than the limit, to know; in parts, so that a row of millions is no matter.
    std::vector<std::string> readers;
    const Scan scan = Scan().start(author).stop(author + '\0').batch(100);
    CELLAR_TRY_ASSIGN(const auto parts, context.scan(followed_by_, scan));
    while (readers.size() <= kFollowersMax && parts->next())
      for (const CellView& cell : parts->row()) readers.emplace_back(cell.qualifier());
    CELLAR_TRY(parts->status());
    if (readers.size() > kFollowersMax) readers = {author};

    for (const CellView& cell : row) {
      if (cell.type() != CellType::kPut) continue;  // what was deleted stays in the streams
      const std::string text = author + ": " + std::string(cell.value_bytes());
      for (const std::string& reader : readers)
        CELLAR_TRY(context.put(streams_, Put(reader).add_at("s", "post", cell.timestamp, text)));
    }
    return {};
  }

 private:
  const std::shared_ptr<Table> followed_by_;
  const std::shared_ptr<Table> streams_;
};

Result<std::shared_ptr<Table>> new_table(Engine& engine, const std::string& name, FamilyOptions family) {
  const std::vector<std::string> names = engine.list_tables();
  if (std::ranges::find(names, name) != names.end()) CELLAR_TRY(engine.drop_table(name));
  return engine.create_table(name, {.families = {std::move(family)}});
}

Status print_stream(Table& streams, const std::string& reader) {
  std::printf("stream of %s\n", reader.c_str());
  CELLAR_TRY_ASSIGN(const RowBatch found, streams.get(Get(reader).versions(3)));
  for (const CellView& cell : found.row()) std::printf("  %s\n", std::string(cell.value_bytes()).c_str());
  return {};
}

Status run(const std::string& path) {
  CELLAR_TRY_ASSIGN(const auto engine, Engine::open(path, {.create_if_missing = true}));
  CELLAR_TRY_ASSIGN(const auto posts, new_table(*engine, "posts", {.name = "p"}));
  CELLAR_TRY_ASSIGN(const auto followed_by, new_table(*engine, "followed_by", {.name = "f"}));
  CELLAR_TRY_ASSIGN(const auto streams, new_table(*engine, "streams", {.name = "s", .max_versions = 3}));
  CELLAR_TRY(engine->add_observer("posts", "fan-out", std::make_shared<FanOut>(followed_by, streams)));

  Put known("ada"), famous("eve");
  for (int i = 0; i < 500; ++i) known.add("f", "reader" + std::to_string(i), "");
  for (int i = 0; i < 5000; ++i) famous.add("f", "reader" + std::to_string(i), "");
  CELLAR_TRY(followed_by->put(known));
  CELLAR_TRY(followed_by->put(famous));

  int64_t time = 1'700'000'000'000;
  for (const char* text : {"good morning", "it rains", "it still rains", "good night"}) {
    ++time;
    CELLAR_TRY(posts->put(Put("ada").add_at("p", std::to_string(time), time, text)));
  }
  CELLAR_TRY(posts->put(Put("eve").add_at("p", "1", time, "hello, world")));

  const uint64_t before = engine->status().last_sequence;
  CELLAR_TRY(posts->put(Put("ada").add_at("p", "2", time + 1, "one more")));
  std::printf("a post to 500 streams: %llu write\n",
              static_cast<unsigned long long>(engine->status().last_sequence - before));
  CELLAR_TRY(print_stream(*streams, "reader7"));
  CELLAR_TRY(print_stream(*streams, "reader4711"));
  return print_stream(*streams, "eve");
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = run(argc > 1 ? argv[1] : "fan_out_store");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return status.ok() ? 0 : 1;
}
