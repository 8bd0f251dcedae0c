// TwitBase: who follows a user, from a second table that the engine keeps. No writer knows of it.
//
//   example_twitbase_second [STORE]
//
// Table follows: row = md5(user) + md5(followed), f:<followed> = 1. Second table followed_by: its keys are
// the two halves of these rows in the other order.
#include <thread>

#include "examples/twitbase/twitbase.h"

namespace {

using namespace example;

constexpr const char* kName = "followed_by";

// Half of the users follow before the second table is there, and the others while it is built.
Status load(Engine& engine, const std::shared_ptr<Table>& follows, const Relation& relation) {
  const auto write = [&](bool first_half) -> Status {
    for (const auto& [user, all] : relation)
      for (const std::string& whom : all)
        if ((user < user_name(relation.size() / 2)) == first_half)
          CELLAR_TRY(follows->put(Put(pair_key(user, whom)).add("f", whom, "1")));
    return {};
  };
  CELLAR_TRY(write(true));
  CELLAR_TRY(engine.create_second_table(kName, {"follows", "row[16:32], row[0:16]", "f"}).status());
  Status built;
  std::thread builder([&] { built = engine.build_second_table(kName); });
  const Status written = write(false);
  builder.join();
  CELLAR_TRY(built);
  return written;
}

// The hashes of the users who follow `name`.
Result<std::set<std::string>> followers_of(Table& followed_by, std::string_view name, ReadStats* cost) {
  std::set<std::string> hashes;
  CELLAR_TRY_ASSIGN(const auto scanner,
                    followed_by.scan(Scan(keys_with_prefix(md5_bytes(name))).family("row").stats(cost)));
  for (const RowView row : *scanner) hashes.insert(std::string(row.value("row", "")->substr(0, 16)));
  CELLAR_TRY(scanner->status());
  return hashes;
}

Status ask(Engine& engine, const Relation& followed_by, Questions& questions) {
  questions.chapter("Who follows a user, from a second table");
  CELLAR_TRY_ASSIGN(const auto table, engine.open_table(kName));
  CELLAR_TRY(table->flush());
  CELLAR_TRY(table->major_compact());
  for (const auto& [name, expected] : followed_by) {
    std::set<std::string> hashes;
    for (const std::string& user : expected) hashes.insert(md5_bytes(user));
    ReadStats cost;
    CELLAR_TRY_ASSIGN(const std::set<std::string> found, followers_of(*table, name, &cost));
    CELLAR_TRY(questions.holds("the followers of " + name, found == hashes));
    if (name == "user001")
      CELLAR_TRY(questions.answer("How many follow user001?", std::to_string(found.size()),
                                  std::to_string(expected.size()), &cost));
  }
  CELLAR_TRY_ASSIGN(const SecondTableCheck check, engine.verify_second_table(kName));
  return questions.answer("Do both tables agree?", check.agrees() ? "yes" : "no", "yes");
}

Status ask_after_the_end(Engine& engine, Table& follows, Relation relation, Questions& questions) {
  questions.chapter("After user003 stopped to follow");
  const std::string whom = *relation["user003"].begin();
  CELLAR_TRY(follows.erase(Delete(pair_key("user003", whom))));
  relation["user003"].erase(whom);
  CELLAR_TRY_ASSIGN(const auto table, engine.open_table(kName));
  CELLAR_TRY_ASSIGN(const std::set<std::string> found, followers_of(*table, whom, nullptr));
  return questions.answer("How many follow " + whom + " now?", std::to_string(found.size()),
                          std::to_string(inverse(relation)[whom].size()));
}

Status run(const std::string& store, const std::vector<std::string>&, Questions& questions) {
  const Relation relation = made_up_follows(500, 2012);
  CELLAR_TRY_ASSIGN(const auto engine, new_store(store));
  const TableOptions options = {.families = {{.name = "f", .delete_order = MarkerOrder::kSequence}}};
  CELLAR_TRY_ASSIGN(const auto follows, engine->create_table("follows", options));
  CELLAR_TRY(load(*engine, follows, relation));
  CELLAR_TRY(ask(*engine, inverse(relation), questions));
  CELLAR_TRY(ask_after_the_end(*engine, *follows, relation, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "twitbase_second_store", run); }
