// Students apply at schools: a key of two parts, read by either part, and the same data as wide rows.
//
//   example_students [STORE]
//
// students.h describes the tables.
#include <map>
#include <set>

#include "examples/students/students.h"

namespace {

using namespace example;
using Applications = std::map<int64_t, std::set<std::string>>;  // what a user applied for

// All applications of a user: the rows that begin with the eight bytes. No stop row user + 1 is computed,
// which would overflow for the greatest user.
Result<std::string> applications_of(Table& by_user, int64_t user, ReadStats* cost) {
  CELLAR_TRY_ASSIGN(const auto scanner, by_user.scan(Scan(keys_with_prefix(plain_int64(user))).stats(cost)));
  std::string list;
  for (const RowView row : *scanner) {
    KeyReader key(row.row());
    CELLAR_TRY(key.raw(8));
    CELLAR_TRY_ASSIGN(const std::string_view application, key.sized());
    append(list, application.empty() ? "(empty)" : application);
  }
  CELLAR_TRY(scanner->status());
  return list;
}

Result<std::string> users_of(Table& by_application, const std::string& application, ReadStats* cost) {
  const std::string prefix = KeyBuilder().sized(application).key().value();
  CELLAR_TRY_ASSIGN(const auto scanner, by_application.scan(Scan(keys_with_prefix(prefix)).stats(cost)));
  std::string list;
  for (const RowView row : *scanner)
    append(list, std::to_string(int64_of_plain(row.row().substr(prefix.size())).value_or(0)));
  CELLAR_TRY(scanner->status());
  return list;
}

Status load(Engine& engine, const Tables& tables, Applications& all) {
  for (int64_t user = 0; user < 500; ++user) {
    for (int64_t k = 0; k <= user % 20; ++k)
      all[user].insert("school-" + std::to_string((user * 7 + k) % 90));
  }
  all[-1] = {"of minus one"};
  all[INT64_MAX] = {"of the last user"};
  all[7] = {"", "b", "aa"};
  for (const auto& [user, applications] : all) {
    for (const std::string& application : applications) CELLAR_TRY(apply(engine, tables, user, application));
  }
  for (const auto& table : {tables.by_user, tables.by_application, tables.wide}) {
    CELLAR_TRY(table->flush());
    CELLAR_TRY(table->major_compact());
  }
  return {};
}

// Returns the users of each application, found without Cellar: the map turned around.
std::map<std::string, std::string> users_by_application(const Applications& all) {
  std::map<std::string, std::string> users;
  for (const auto& [user, applications] : all) {
    for (const std::string& application : applications) append(users[application], std::to_string(user));
  }
  return users;
}

Status ask_both_ways(const Tables& tables, const Applications& all, Questions& questions) {
  questions.chapter("One key, two orders");
  ReadStats cost;
  CELLAR_TRY_ASSIGN(std::string answer, applications_of(*tables.by_user, 3, &cost));
  CELLAR_TRY(questions.answer("What did user 3 apply for?", answer,
                              "school-21, school-22, school-23, school-24", &cost));
  for (const auto& [application, expected] : users_by_application(all)) {
    cost = {};
    CELLAR_TRY_ASSIGN(answer, users_of(*tables.by_application, application, &cost));
    if (application != "school-21") {
      CELLAR_TRY(questions.same("Who applied for " + application + "?", answer, expected));
      continue;
    }
    CELLAR_TRY(questions.answer("Who applied for school-21? (the second table)", answer, expected, &cost));
    cost = {};
    std::string found;
    CELLAR_TRY_ASSIGN(const auto scanner, tables.by_user->scan(Scan().stats(&cost)));
    for (const RowView row : *scanner) {
      if (row.row().substr(10) == application)
        append(found, std::to_string(int64_of_plain(row.row().substr(0, 8)).value_or(0)));
    }
    CELLAR_TRY(scanner->status());
    CELLAR_TRY(questions.answer("The same without the second table: a scan of all", found, expected, &cost));
  }
  return {};
}

// Shows how the raw bytes of a number and of a length sort, and which encodings repair the order.
Status ask_about_order(const Tables& tables, Questions& questions) {
  questions.chapter("Edges of the key");
  CELLAR_TRY_ASSIGN(std::string answer, applications_of(*tables.by_user, INT64_MAX, nullptr));
  CELLAR_TRY(questions.answer("User 2^63-1, after whom no user + 1 exists", answer, "of the last user"));
  CELLAR_TRY_ASSIGN(answer, applications_of(*tables.by_user, -1, nullptr));
  CELLAR_TRY(questions.answer("User -1", answer, "of minus one"));
  CELLAR_TRY_ASSIGN(answer, applications_of(*tables.by_user, 7, nullptr));
  CELLAR_TRY(
      questions.answer("User 7: the length comes first, so b sorts before aa", answer, "(empty), b, aa"));

  CELLAR_TRY_ASSIGN(const auto last, tables.by_user->scan(Scan().reversed(true).limit(1)));
  CELLAR_TRY(questions.answer(
      "The last row of all belongs to",
      last->next() ? std::to_string(int64_of_plain(last->row().row().substr(0, 8)).value_or(0)) : "nobody",
      "-1"));
  const auto sorted = [](int64_t user, std::string_view application) {
    return KeyBuilder().int64(user).text(application).key().value();
  };
  CELLAR_TRY(questions.holds("raw bytes sort -1 after 0", user_key(-1, "") > user_key(0, "")));
  CELLAR_TRY(questions.holds("int64() sorts -1 before 0", sorted(-1, "") < sorted(0, "")));
  CELLAR_TRY(questions.holds("text() sorts aa before b", sorted(7, "aa") < sorted(7, "b")));
  questions.say("KeyBuilder().int64(user).text(application) sorts as people expect: " +
                key_fields_text(sorted(-1, "aa")));
  return {};
}

// Many rows of one cell, or one row of many cells: the same answers at another cost.
Status ask_wide(const Tables& tables, const Applications& all, Questions& questions) {
  questions.chapter("The second part of the key as a column");
  for (const auto& [user, applications] : all) {
    ReadStats wide_cost, tall_cost;
    CELLAR_TRY_ASSIGN(const RowBatch row, tables.wide->get(Get(plain_int64(user)).stats(&wide_cost)));
    std::set<std::string> found;
    for (const CellView& cell : row.row()) found.emplace(cell.qualifier());
    CELLAR_TRY(questions.holds("the wide row has the same applications", found == applications));
    if (user != 39) continue;
    CELLAR_TRY_ASSIGN(const std::string tall, applications_of(*tables.by_user, user, &tall_cost));
    questions.say("User 39, 20 applications: one row of 20 columns, then 20 rows of one column");
    Questions::print(wide_cost);
    Questions::print(tall_cost);
  }
  return {};
}

Status run(const std::string& store, const std::vector<std::string>&, Questions& questions) {
  CELLAR_TRY_ASSIGN(const auto engine, new_store(store));
  CELLAR_TRY_ASSIGN(const Tables tables, open_tables(*engine));
  Applications all;
  CELLAR_TRY(load(*engine, tables, all));
  CELLAR_TRY(ask_both_ways(tables, all, questions));
  CELLAR_TRY(ask_about_order(tables, questions));
  CELLAR_TRY(ask_wide(tables, all, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "students_store", run); }
