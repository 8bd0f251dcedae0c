// A blog, newest entries first, in two designs: flat and wide, tall and narrow. Both give the same answers.
//
//   example_blog [STORE]
//
// Table flat: row = user, entry:<2^63 - 1 - time, 19 digits> = text. Table tall: row = user + "_" + the same
// digits, entry:user, entry:blog, entry:created (8 bytes). Table repaired: row =
// KeyBuilder().text(user).int64(time, down).
#include <algorithm>
#include <map>

#include "examples/application.h"

namespace {

using namespace example;

struct Entry {
  std::string user;
  int64_t time;
  std::string text;
};

struct Designs {
  std::shared_ptr<Table> flat, tall, repaired;
};

// The digits of 2^63 - 1 - time: later times sort first, and all have 19 digits. The time is 0 or later.
std::string converted(int64_t time) { return zero_padded(INT64_MAX - time, 19).value(); }
std::string tall_key(std::string_view user, int64_t time) {
  return std::string(user) + "_" + converted(time);
}
std::string repaired_key(std::string_view user, int64_t time) {
  return KeyBuilder().text(user).int64(time, KeyOrder::kDescending).key().value();
}

// Five entries of two users, users with awkward names, and one user with 5,000 entries.
std::vector<Entry> made_up_entries() {
  std::vector<Entry> all = {{"user1", 11111111, "Blog1"},
                            {"user1", 22222222, "Blog2"},
                            {"user1", 33333333, "Blog3"},
                            {"user2", 44444444, "Blog4"},
                            {"user2", 55555555, "Blog5"},
                            {"a", 0, "by a, at the epoch"},
                            {"a", 7, "by a"},
                            {"a_1", 7, "by a_1"}};
  for (int64_t n = 0; n < 5000; ++n) all.push_back({"busy", 1000 * n, "entry " + std::to_string(n)});
  return all;
}

Result<Designs> load(Engine& engine, const std::vector<Entry>& entries) {
  const TableOptions options = {.families = {{.name = "entry"}}};
  Designs tables;
  CELLAR_TRY_ASSIGN(tables.flat, engine.create_table("flat", options));
  CELLAR_TRY_ASSIGN(tables.tall, engine.create_table("tall", options));
  CELLAR_TRY_ASSIGN(tables.repaired, engine.create_table("repaired", options));
  for (const auto& [user, time, text] : entries) {
    Batch batch;
    batch.put(tables.flat, Put(user).add_at("entry", converted(time), time, text));
    for (const bool repaired : {false, true}) {
      Put put(repaired ? repaired_key(user, time) : tall_key(user, time));
      put.add_at("entry", "user", time, user).add_at("entry", "blog", time, text);
      put.add_at("entry", "created", time, plain_int64(time));
      batch.put(repaired ? tables.repaired : tables.tall, put);
    }
    CELLAR_TRY(engine.write(batch));
  }
  CELLAR_TRY(engine.flush());
  return tables;
}

// The entries of a user from `start` to `end`, both included, found without Cellar.
std::string expected_entries(std::vector<Entry> entries, std::string_view user, int64_t start, int64_t end) {
  std::erase_if(entries,
                [&](const Entry& each) { return each.user != user || each.time < start || each.time > end; });
  std::ranges::sort(entries, std::ranges::greater(), &Entry::time);
  std::string list;
  for (const Entry& each : entries) append(list, each.text);
  return list;
}

// The two filters of the qualifier: at most the converted start, and at least the converted end.
FilterPtr two_filters(int64_t start, int64_t end) {
  return all_of({qualifier_filter(CompareOp::kLessOrEqual, binary(converted(start))),
                 qualifier_filter(CompareOp::kGreaterOrEqual, binary(converted(end)))});
}
// One filter that knows both ends: it seeks to the first and stops after the last.
FilterPtr range_filter(int64_t start, int64_t end) {
  return column_range_filter(converted(end), true, converted(start), true);
}

Result<std::string> from_flat(Table& flat, const std::string& user, const FilterPtr& filter,
                              ReadStats* cost = nullptr) {
  CELLAR_TRY_ASSIGN(const RowBatch row, flat.get(Get(user).filter(filter).stats(cost)));
  std::string list;
  for (const CellView& cell : row.row()) append(list, cell.value_bytes());
  return list;
}

Result<std::string> from_rows(Table& table, const Scan& scan) {
  std::string list;
  CELLAR_TRY_ASSIGN(const auto scanner, table.scan(scan));
  for (const RowView row : *scanner) append(list, row.value("entry", "blog").value_or("no blog"));
  CELLAR_TRY(scanner->status());
  return list;
}

// As the text scans: up to the row of start - 1, which is not included. No row is before time 0.
Scan exclusive(std::string_view user, int64_t start, int64_t end) {
  return Scan().start(tall_key(user, end)).stop(tall_key(user, start - 1));
}
// The same with the row of `start` included, so that no start - 1 is needed.
Scan inclusive(std::string_view user, int64_t start, int64_t end) {
  return Scan().start(tall_key(user, end)).stop(tall_key(user, start), true);
}

Status ask_the_text(const Designs& tables, const std::vector<Entry>& entries, Questions& questions) {
  questions.chapter("The questions of the text");
  const struct {
    const char* user;
    int64_t start, end;
    const char* expected;
  } asked[] = {{"user1", 22222222, 33333333, "Blog3, Blog2"}, {"user2", 55555555, 55555555, "Blog5"}};
  for (const auto& [user, start, end, expected] : asked) {
    const std::string question =
        std::string(user) + " from " + std::to_string(start) + " to " + std::to_string(end) + ", ";
    CELLAR_TRY(questions.same("oracle", expected_entries(entries, user, start, end), expected));
    CELLAR_TRY_ASSIGN(std::string found, from_flat(*tables.flat, user, two_filters(start, end)));
    CELLAR_TRY(questions.answer(question + "flat and wide", found, expected));
    CELLAR_TRY_ASSIGN(found, from_rows(*tables.tall, exclusive(user, start, end)));
    CELLAR_TRY(questions.answer(question + "tall and narrow", found, expected));
  }
  return {};
}

Status ask_costs(const Designs& tables, const std::vector<Entry>& entries, Questions& questions) {
  questions.chapter("Ten of the 5,000 entries of one user, in the middle of them");
  const int64_t start = 2'500'000, end = 2'509'000;
  const std::string expected = expected_entries(entries, "busy", start, end);
  ReadStats costs[3];
  CELLAR_TRY_ASSIGN(std::string found, from_flat(*tables.flat, "busy", two_filters(start, end), &costs[0]));
  CELLAR_TRY(questions.answer("Flat, two filters: each column is compared", found, expected, &costs[0]));
  CELLAR_TRY_ASSIGN(found, from_flat(*tables.flat, "busy", range_filter(start, end), &costs[1]));
  CELLAR_TRY(questions.answer("Flat, ColumnRangeFilter: it seeks", found, expected, &costs[1]));
  CELLAR_TRY_ASSIGN(found, from_rows(*tables.tall, inclusive("busy", start, end).stats(&costs[2])));
  CELLAR_TRY(questions.answer("Tall, a scan of ten rows with three columns", found, expected, &costs[2]));
  CELLAR_TRY(questions.holds("two filters see all columns", costs[0].cells_examined >= 5000));
  CELLAR_TRY(questions.holds("the seeking filter does not", costs[1].cells_examined < 20));
  for (int64_t from = 0; from < 5'000'000; from += 333'333) {
    const std::string few = expected_entries(entries, "busy", from, from + 20'000);
    CELLAR_TRY_ASSIGN(found, from_flat(*tables.flat, "busy", range_filter(from, from + 20'000)));
    CELLAR_TRY(questions.same("flat, somewhere", found, few));
    CELLAR_TRY_ASSIGN(found, from_rows(*tables.tall, inclusive("busy", from, from + 20'000)));
    CELLAR_TRY(questions.same("tall, somewhere", found, few));
  }
  const TableInfo flat = tables.flat->info(), tall = tables.tall->info();
  questions.say("On disk: flat " + std::to_string(flat.families[0].files[0].bytes) + " bytes, tall " +
                std::to_string(tall.families[0].files[0].bytes) + " bytes");
  return {};
}

Status ask_edges(const Designs& tables, const std::vector<Entry>& entries, Questions& questions) {
  questions.chapter("Edges");
  CELLAR_TRY(questions.holds("time 0 has the greatest digits, so start - 1 has none",
                             converted(0) == std::to_string(INT64_MAX) && converted(0).size() == 19));
  CELLAR_TRY_ASSIGN(std::string found, from_rows(*tables.tall, inclusive("a", 0, 100)));
  CELLAR_TRY(questions.answer("Entries of a from time 0 on, with an inclusive stop row", found,
                              expected_entries(entries, "a", 0, 100)));
  CELLAR_TRY_ASSIGN(found, from_flat(*tables.flat, "a", two_filters(0, 100)));
  CELLAR_TRY(questions.answer("The same from the flat table", found, "by a, by a, at the epoch"));

  // "a_1" + "_" + digits lies among the rows that begin with "a_".
  CELLAR_TRY_ASSIGN(found, from_rows(*tables.tall, inclusive("a", 0, INT64_MAX)));
  CELLAR_TRY(
      questions.answer("All entries of a, tall: \"_\" is a separator and a letter of names, so a_1 gets in",
                       found, "by a_1, by a, by a, at the epoch"));
  const std::string of_a = KeyBuilder().text("a").key().value();
  CELLAR_TRY_ASSIGN(found, from_rows(*tables.repaired, Scan(keys_with_prefix(of_a))));
  return questions.answer("The same with KeyBuilder().text(user).int64(time, kDescending)", found,
                          expected_entries(entries, "a", 0, INT64_MAX));
}

Status run(const std::string& store, const std::vector<std::string>&, Questions& questions) {
  const std::vector<Entry> entries = made_up_entries();
  CELLAR_TRY_ASSIGN(const auto engine, new_store(store));
  CELLAR_TRY_ASSIGN(const Designs tables, load(*engine, entries));
  CELLAR_TRY(ask_the_text(tables, entries, questions));
  CELLAR_TRY(ask_costs(tables, entries, questions));
  CELLAR_TRY(ask_edges(tables, entries, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "blog_store", run); }
