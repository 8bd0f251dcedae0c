// TwitBase: users, whom they follow, and who follows them, in three designs of the key.
//
//   example_twitbase [STORE]
//
// Table users: row = name, family info. Table follows: row = md5(user) + md5(followed), f:<followed> = 1.
// Table followed_by: the same in the other order. Tables middle and first hold both relations in one table:
// md5(user) + type + md5(other), and type + md5(user) + md5(other). twitbase.h has the keys.
#include <atomic>
#include <thread>

#include "examples/twitbase/twitbase.h"

namespace {

using namespace example;

Status load(Engine& engine, const Tables& tables, const Relation& follows) {
  for (const auto& [user, all] : follows) {
    CELLAR_TRY(tables.users->put(Put(user).add("info", "email", user + "@example.org")));
    for (const std::string& whom : all) CELLAR_TRY(follow(engine, tables, user, whom));
  }
  for (const auto& table : {tables.users, tables.follows, tables.followed_by, tables.middle, tables.first}) {
    CELLAR_TRY(table->flush());
    CELLAR_TRY(table->major_compact());
  }
  return {};
}

// The names in the qualifiers of all rows that begin with the prefix.
Result<std::set<std::string>> names_at(Table& table, std::string_view prefix, ReadStats* cost = nullptr) {
  std::set<std::string> names;
  CELLAR_TRY_ASSIGN(const auto scanner, table.scan(Scan(keys_with_prefix(prefix)).stats(cost)));
  for (const RowView row : *scanner) names.emplace(row.cells().front().qualifier());
  CELLAR_TRY(scanner->status());
  return names;
}

Status ask_follows(const Tables& tables, const Relation& follows, Questions& questions) {
  questions.chapter("Users, and whom they follow");
  ReadStats cost, miss;
  CELLAR_TRY_ASSIGN(const RowBatch user, tables.users->get(Get("user007").stats(&cost)));
  CELLAR_TRY(questions.answer("The address of user007", or_none(user.value("info", "email")),
                              "user007@example.org", &cost));
  for (const auto& [name, expected] : follows) {
    CELLAR_TRY_ASSIGN(const std::set<std::string> found, names_at(*tables.follows, md5_bytes(name)));
    CELLAR_TRY(questions.same("Whom does " + name + " follow?", list_of(found), list_of(expected)));
  }
  cost = {};
  CELLAR_TRY_ASSIGN(const std::set<std::string> found,
                    names_at(*tables.follows, md5_bytes("user003"), &cost));
  CELLAR_TRY(
      questions.answer("Whom does user003 follow?", list_of(found), list_of(follows.at("user003")), &cost));

  const std::string whom = *follows.at("user003").begin();
  cost = {};
  CELLAR_TRY_ASSIGN(const bool yes, tables.follows->exists(Get(pair_key("user003", whom)).stats(&cost)));
  CELLAR_TRY(questions.answer("Does user003 follow " + whom + "? One get", yes ? "yes" : "no", "yes", &cost));
  CELLAR_TRY_ASSIGN(const bool no, tables.follows->exists(Get(pair_key("user003", "nobody")).stats(&miss)));
  CELLAR_TRY(questions.answer("Does user003 follow nobody?", no ? "yes" : "no", "no", &miss));
  CELLAR_TRY(questions.holds("the Bloom filter answers it without a data block",
                             miss.files_skipped_bloom == 1 && miss.cells_examined == 0));

  // The fault that the hash repairs: a name that begins with another name.
  const KeyRange of_bob = keys_with_prefix("bob");
  CELLAR_TRY(questions.holds("keys of names alone mix up bob and bobby",
                             std::string("bobby") + "ada" >= of_bob.start && "bobbyada" < of_bob.stop));
  questions.say(
      "Without the hash the rows of bobby would lie among those of bob; with it each row has 32 bytes");
  return {};
}

Status ask_followed_by(const Tables& tables, const Relation& followed_by, Questions& questions) {
  questions.chapter("Who follows a user, in three designs of the key");
  const std::string middle(1, kFollowedBy);
  for (const auto& [name, expected] : followed_by) {
    ReadStats costs[3];
    CELLAR_TRY_ASSIGN(const auto own, names_at(*tables.followed_by, md5_bytes(name), &costs[0]));
    CELLAR_TRY_ASSIGN(const auto mid, names_at(*tables.middle, md5_bytes(name) + middle, &costs[1]));
    CELLAR_TRY_ASSIGN(const auto first, names_at(*tables.first, middle + md5_bytes(name), &costs[2]));
    CELLAR_TRY(questions.same("own table", list_of(own), list_of(expected)));
    CELLAR_TRY(questions.same("type in the middle", list_of(mid), list_of(expected)));
    CELLAR_TRY(questions.same("type first", list_of(first), list_of(expected)));
    if (name != "user001") continue;
    questions.say("user001 has " + std::to_string(own.size()) +
                  " followers. A table of its own, the type in the middle, the type first:");
    for (const ReadStats& cost : costs) Questions::print(cost);
  }
  return {};
}

// The questions by which the three designs differ.
Status ask_designs(const Tables& tables, const Relation& follows, Questions& questions) {
  questions.chapter("Both relations of one user, and one relation of all users");
  size_t pairs = 0;
  for (const auto& [user, all] : follows) pairs += all.size();
  const std::string both =
      std::to_string(follows.at("user001").size() + inverse(follows).at("user001").size());
  const auto count = [](Table& table, const Scan& scan) -> Result<std::string> {
    CELLAR_TRY_ASSIGN(const RangeCount found, table.count(scan));
    return std::to_string(found.rows);
  };
  ReadStats cost;
  CELLAR_TRY_ASSIGN(std::string found,
                    count(*tables.middle, Scan(keys_with_prefix(md5_bytes("user001"))).stats(&cost)));
  CELLAR_TRY(questions.answer("Both relations of user001, type in the middle: one scan", found, both, &cost));
  cost = {};
  uint64_t rows = 0;
  for (const char type : {kFollows, kFollowedBy}) {
    const std::string prefix = std::string(1, type) + md5_bytes("user001");
    CELLAR_TRY_ASSIGN(const RangeCount part,
                      tables.first->count(Scan(keys_with_prefix(prefix)).stats(&cost)));
    rows += part.rows;
  }
  CELLAR_TRY(questions.answer("The same, type first: two scans", std::to_string(rows), both, &cost));

  cost = {};
  CELLAR_TRY_ASSIGN(found, count(*tables.first, Scan(keys_with_prefix("B")).stats(&cost)));
  CELLAR_TRY(
      questions.answer("All pairs of followed_by, type first: a range", found, std::to_string(pairs), &cost));
  cost = {};
  const std::string key = std::string(16, '\0') + kFollowedBy, mask = std::string(16, '\1') + '\0';
  CELLAR_TRY_ASSIGN(const FilterPtr filter, fuzzy_row_filter({{key, mask}}));
  CELLAR_TRY_ASSIGN(found, count(*tables.middle, Scan().filter(filter).stats(&cost)));
  return questions.answer("The same, type in the middle: a filter that skips bytes, over the whole table",
                          found, std::to_string(pairs), &cost);
}

// While one thread follows and stops following, every snapshot has both entries or none.
Status ask_both_or_none(Engine& engine, const Tables& tables, Questions& questions) {
  questions.chapter("Both entries or none");
  std::atomic<uint64_t> written = 0, seen = 0;
  std::atomic<bool> done = false, ended = false;
  Status failed;
  std::thread writer([&] {
    while (!done && failed.ok()) {
      if (written > 3 * seen) {  // at most three changes for each look
        std::this_thread::yield();
        continue;
      }
      Batch batch;
      batch.erase(tables.follows, Delete(pair_key("left", "right")));
      batch.erase(tables.followed_by, Delete(pair_key("right", "left")));
      failed = written++ % 2 == 0 ? follow(engine, tables, "left", "right") : engine.write(batch);
    }
    ended = true;
  });
  uint64_t torn = 0;
  const auto look = [&]() -> Status {
    CELLAR_TRY_ASSIGN(const auto now, engine.snapshot());
    CELLAR_TRY_ASSIGN(const bool there, tables.follows->exists(Get(pair_key("left", "right")).snapshot(now)));
    CELLAR_TRY_ASSIGN(const bool back,
                      tables.followed_by->exists(Get(pair_key("right", "left")).snapshot(now)));
    torn += there != back;
    return {};
  };
  Status read;
  for (; read.ok() && seen < 300; ++seen) {
    while (written <= seen && !ended) std::this_thread::yield();  // at least one change for each look
    read = look();
  }
  done = true;
  writer.join();
  CELLAR_TRY(read);
  CELLAR_TRY(failed);
  CELLAR_TRY(questions.holds("the writer wrote meanwhile", written >= 300));
  return questions.answer("Of 300 snapshots, those with one entry alone", std::to_string(torn), "0");
}

Status run(const std::string& store, const std::vector<std::string>&, Questions& questions) {
  const Relation follows = made_up_follows(500, 2012);
  CELLAR_TRY_ASSIGN(const auto engine, new_store(store));
  CELLAR_TRY_ASSIGN(const Tables tables, open_tables(*engine));
  CELLAR_TRY(load(*engine, tables, follows));
  CELLAR_TRY(ask_follows(tables, follows, questions));
  CELLAR_TRY(ask_followed_by(tables, inverse(follows), questions));
  CELLAR_TRY(ask_designs(tables, follows, questions));
  CELLAR_TRY(ask_both_or_none(*engine, tables, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "twitbase_store", run); }
