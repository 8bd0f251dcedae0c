// Numbers as timestamps: the page that a visitor sees most often, and the last five pages, in one column
// each.
//
//   example_visitor_stats STORE LOG
//
// - Table cookie_stats: row = cookie. Family c keeps one version, and each put has the number of views as its
//   timestamp: the page with the most views wins. Families r and v keep the last five pages as versions.
//   Family r has the clock's timestamps, v has rising ones.
// - Table counts: row = cookie, one counter for each page. An increment returns the timestamp for family c.
#include <algorithm>
#include <deque>

#include "examples/visits/log_views.h"

namespace {

using namespace example;

// The contents that a visitor's row must have, found without Cellar.
struct Expected {
  std::map<std::string, int64_t> views;
  std::string top;                    // of pages with equal counts the one that reached it last
  std::deque<std::string> last;       // five, the newest first
  std::deque<std::string> collapsed;  // the same, but of each second only the last page
  int64_t last_ms = -1;
};
using AllExpected = std::map<std::string, Expected>;

struct Tables {
  std::shared_ptr<Table> counts, stats;
};

Result<Tables> create(Engine& engine) {
  Tables all;
  CELLAR_TRY_ASSIGN(all.counts, engine.create_table("counts", {.families = {{.name = "u"}}}));
  const FamilyOptions recent = {.name = "r", .max_versions = 5};
  const FamilyOptions rising = {.name = "v", .max_versions = 5, .stamps = Stamps::kRising};
  CELLAR_TRY_ASSIGN(all.stats,
                    engine.create_table("cookie_stats", {.families = {{.name = "c"}, recent, rising}}));
  return all;
}

Status see(const Tables& tables, const View& view) {
  CELLAR_TRY_ASSIGN(const int64_t count, tables.counts->increment_one(view.cookie, "u", view.path));
  return tables.stats->put(Put(view.cookie)
                               .add_at("c", "top", count, view.path)
                               .add("r", "last", view.path)
                               .add("v", "last", view.path));
}

void expect(Expected& visitor, const View& view, int64_t now) {
  const int64_t count = ++visitor.views[view.path];
  if (visitor.top.empty() || count >= visitor.views[visitor.top]) visitor.top = view.path;
  visitor.last.push_front(view.path);
  if (visitor.last.size() > 5) visitor.last.pop_back();
  if (visitor.last_ms == now) visitor.collapsed.pop_front();
  visitor.collapsed.push_front(view.path);
  if (visitor.collapsed.size() > 5) visitor.collapsed.pop_back();
  visitor.last_ms = now;
}

std::string pages_of(const Row& row, std::string_view family) {
  std::string list;
  for (const Cell& cell : row.versions(family, "last")) append(list, cell.value);
  return list;
}

std::string list_of(const std::deque<std::string>& pages) {
  std::string list;
  for (const std::string& page : pages) append(list, page);
  return list;
}

Status ask_visitors(const Tables& tables, const AllExpected& all, Questions& questions, bool show) {
  size_t collapsed = 0;
  for (const auto& [cookie, expected] : all) {
    CELLAR_TRY_ASSIGN(const Row row, tables.stats->get_row(Get(cookie).versions(5)));
    const std::string top = or_none(row.value("c", "top"));
    CELLAR_TRY(questions.same("the most frequent page", top, expected.top));
    CELLAR_TRY(questions.holds("its timestamp is its count",
                               row.versions("c", "top")[0].timestamp == expected.views.at(top)));
    CELLAR_TRY(questions.same("the last five pages", pages_of(row, "v"), list_of(expected.last)));
    CELLAR_TRY(questions.same("the last five seconds", pages_of(row, "r"), list_of(expected.collapsed)));
    const bool differ = expected.last != expected.collapsed;
    if (show && differ && collapsed == 0) {
      questions.say("A visitor with two pages in one second. Most frequent: " + top);
      questions.say("rising stamps:  " + pages_of(row, "v"));
      questions.say("clock's stamps: " + pages_of(row, "r"));
    }
    collapsed += differ ? 1 : 0;
  }
  if (show)
    questions.say(std::to_string(collapsed) + " of " + std::to_string(all.size()) +
                  " visitors miss a page with the clock's stamps");
  return questions.holds("some visitors miss a page with the clock's stamps", collapsed > 0);
}

// Writes a thousand lower counts after each greater one. Nothing of them stays.
Status ask_growth(Table& stats, Questions& questions) {
  questions.chapter("Lower counts are written all the time");
  for (int64_t count = 1; count <= 1000; ++count) {
    CELLAR_TRY(stats.put(Put("busy").add_at("c", "top", 5000, "/first")));
    CELLAR_TRY(stats.put(Put("busy").add_at("c", "top", count, "/other")));
  }
  CELLAR_TRY_ASSIGN(Row row, stats.get_row(Get("busy")));
  CELLAR_TRY(questions.answer("The page with the highest count", or_none(row.value("c", "top")), "/first"));
  CELLAR_TRY(stats.put(Put("busy").add_at("c", "top", 5000, "/second")));
  CELLAR_TRY_ASSIGN(row, stats.get_row(Get("busy")));
  CELLAR_TRY(questions.answer("Two pages with equal counts: the later put", or_none(row.value("c", "top")),
                              "/second"));
  CELLAR_TRY(stats.flush());
  CELLAR_TRY(stats.put(Put("busy").add_at("c", "top", 5000, "/third")));
  CELLAR_TRY(stats.flush());
  CELLAR_TRY_ASSIGN(row, stats.get_row(Get("busy")));
  CELLAR_TRY(questions.answer("The same over two files", or_none(row.value("c", "top")), "/third"));
  CELLAR_TRY(stats.major_compact());
  CELLAR_TRY_ASSIGN(row, stats.get_row(Get("busy").all_versions()));
  CELLAR_TRY(questions.answer("The same after a compaction", or_none(row.value("c", "top")), "/third"));
  CELLAR_TRY_ASSIGN(const RangeCount rows, stats.count(Scan().family("c")));
  const uint64_t stored = stats.info().families[0].files[0].cells;
  return questions.answer("Cells in the file, after 2,000 puts to this row", std::to_string(stored),
                          std::to_string(rows.rows));
}

// Three traps of a timestamp that is no time.
Status ask_traps(Engine& engine, Questions& questions) {
  questions.chapter("Traps of a timestamp that is a count");
  CELLAR_TRY_ASSIGN(
      const auto expiring,
      engine.create_table("expiring_stats", {.families = {{.name = "c", .ttl_s = 10 * 365 * 86400}}}));
  CELLAR_TRY(expiring->put(Put("a").add_at("c", "top", 12, "/")));
  CELLAR_TRY_ASSIGN(Row row, expiring->get_row(Get("a")));
  CELLAR_TRY(questions.answer("A time to live of ten years: 12 is a time of 1970",
                              or_none(row.value("c", "top")), "nothing"));

  CELLAR_TRY_ASSIGN(const auto stats, engine.open_table("cookie_stats"));
  CELLAR_TRY(stats->put(Put("forgot").add("c", "top", "/by-clock")));
  CELLAR_TRY(stats->put(Put("forgot").add_at("c", "top", 12, "/")));
  CELLAR_TRY_ASSIGN(row, stats->get_row(Get("forgot")));
  CELLAR_TRY(questions.answer("A put without a timestamp wins over all counts",
                              or_none(row.value("c", "top")), "/by-clock"));

  CELLAR_TRY(stats->put(Put("reset").add_at("c", "top", 12, "/")));
  CELLAR_TRY(stats->erase(Delete("reset").column("c", "top")));
  CELLAR_TRY(stats->put(Put("reset").add_at("c", "top", 13, "/again")));
  CELLAR_TRY_ASSIGN(row, stats->get_row(Get("reset")));
  CELLAR_TRY(questions.answer("A delete has the clock's time, and hides later counts",
                              or_none(row.value("c", "top")), "nothing"));
  CELLAR_TRY(stats->erase(Delete("repaired").column("c", "top", 12)));
  CELLAR_TRY(stats->put(Put("repaired").add_at("c", "top", 13, "/again")));
  CELLAR_TRY_ASSIGN(row, stats->get_row(Get("repaired")));
  return questions.answer("A delete with the timestamp 12 hides counts up to 12",
                          or_none(row.value("c", "top")), "/again");
}

Status run(const std::string& path, const std::vector<std::string>& files, Questions& questions) {
  CELLAR_TRY_ASSIGN(const std::vector<View> views, views_by_time(files));
  ManualClock clock(views[0].time_ms);
  EngineOptions options;
  options.environment.clock = &clock;
  CELLAR_TRY_ASSIGN(const auto engine, new_store(path, options));
  CELLAR_TRY_ASSIGN(const Tables tables, create(*engine));
  AllExpected expected;
  for (const View& view : views) {
    clock.set_ms(view.time_ms / 1000 * 1000);  // the log tells seconds
    CELLAR_TRY(see(tables, view));
    expect(expected[view.cookie], view, clock.wall_ms());
  }
  questions.chapter("Most frequent and last pages");
  CELLAR_TRY(ask_visitors(tables, expected, questions, true));
  CELLAR_TRY(tables.stats->flush());
  CELLAR_TRY(tables.stats->major_compact());
  CELLAR_TRY(ask_visitors(tables, expected, questions, false));
  questions.say("After a flush and a compaction all answers are the same.");
  CELLAR_TRY(ask_growth(*tables.stats, questions));
  CELLAR_TRY(ask_traps(*engine, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "visitor_stats_store", run); }
