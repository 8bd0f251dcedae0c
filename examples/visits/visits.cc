// Visitor journeys from a web log: the pages of a visitor newest first, what led to them, what was bought.
//
//   example_visits STORE LOG
//
// - Table visits: row = cookie (8 bytes), then the reversed time. One row for each page view. Family r has
//   the referer, s the words that were searched for, p the product. The value is the page. Family z has the
//   cart of a checkout; the value is the list of purchases.
// - Table cookie_urls: row = cookie, one column for each page, all its views as versions.
// - Table ip_hours: row = address, then the hour since 1970; one counter for each page.
#include <algorithm>
#include <set>

#include "examples/visits/log_views.h"

namespace {

using namespace example;

struct Tables {
  std::shared_ptr<Table> visits, cookie_urls, packed_urls, ip_hours;
};

std::string visit_key(const View& view) { return view.cookie + reversed_time(view.time_ms); }

std::string ip_key(std::string_view ip, int64_t time_ms) {
  return KeyBuilder().text(ip).int32(static_cast<int32_t>(time_ms / 3'600'000)).key().value();
}

Result<Tables> create(Engine& engine) {
  Tables all;
  // The tools show the fields of a row, and not its bytes.
  const auto fields = [](const std::string& schema) {
    return CarriedTexts{{std::string(KeySchema::kTableAttribute), schema}};
  };
  CELLAR_TRY_ASSIGN(
      all.visits,
      engine.create_table(
          "visits",
          {.families = {{.name = "r", .block_bytes = 4096}, {.name = "s"}, {.name = "p"}, {.name = "z"}},
           .metadata = fields("cookie hex(8), when reversed_time ms")}));
  FamilyOptions urls = {.name = "u", .max_versions = INT32_MAX, .compression = "none"};
  CELLAR_TRY_ASSIGN(all.cookie_urls, engine.create_table("cookie_urls", {.families = {urls}}));
  urls.encoding = "fast_diff";
  CELLAR_TRY_ASSIGN(all.packed_urls, engine.create_table("packed_urls", {.families = {urls}}));
  CELLAR_TRY_ASSIGN(all.ip_hours,
                    engine.create_table("ip_hours", {.families = {{.name = "u"}},
                                                     .metadata = fields("ip text, hour int32 h")}));
  return all;
}

// One view is one batch: every table has it, or none.
Status store(Engine& engine, const Tables& tables, const View& view) {
  Put visit(visit_key(view));
  visit.add_at("r", view.referer, view.time_ms, view.path);
  if (!view.term.empty()) visit.add_at("s", view.term, view.time_ms, view.path);
  if (!view.product.empty()) visit.add_at("p", view.product, view.time_ms, view.path);
  if (!view.cart.empty()) visit.add_at("z", view.cart, view.time_ms, view.bought);
  const Put url = Put(view.cookie).add_at("u", view.path, view.time_ms, "");
  Batch batch;
  batch.put(tables.visits, visit).put(tables.cookie_urls, url).put(tables.packed_urls, url);
  batch.increment(tables.ip_hours, Increment(ip_key(view.ip, view.time_ms)).add("u", view.path, 1));
  return engine.write(batch);
}

// The pages of a visitor, the newest first: the rows that begin with the cookie.
Result<std::vector<std::string>> pages_of(Table& visits, const std::string& cookie, uint64_t limit,
                                          ReadStats* cost) {
  const Scan scan = Scan(keys_with_prefix(cookie)).family("r").limit(limit).stats(cost);
  CELLAR_TRY_ASSIGN(const auto scanner, visits.scan(scan));
  std::vector<std::string> pages;
  for (const RowView row : *scanner) pages.emplace_back(row.cells()[0].value_bytes());
  CELLAR_TRY(scanner->status());
  return pages;
}

// The same found without Cellar.
std::map<std::string, std::vector<std::string>> pages_by_visitor(const std::vector<View>& views) {
  std::map<std::string, std::map<int64_t, std::string>> by_time;
  for (const View& view : views) by_time[view.cookie][-view.time_ms] = view.path;
  std::map<std::string, std::vector<std::string>> pages;
  for (const auto& [cookie, of_visitor] : by_time) {
    for (const auto& [time, page] : of_visitor) pages[cookie].push_back(page);
  }
  return pages;
}

std::string joined(const auto& words) {
  std::string list;
  for (const std::string& word : words) append(list, word);
  return list;
}

Status ask_journeys(const Tables& tables, const std::vector<View>& views, Questions& questions) {
  questions.chapter("Journeys: rows of cookie and reversed time");
  const std::string shown =
      std::find_if(views.begin(), views.end(), [](const View& view) { return !view.cart.empty(); })->cookie;
  for (const auto& [cookie, expected] : pages_by_visitor(views)) {
    ReadStats all_cost, latest_cost;
    CELLAR_TRY_ASSIGN(const auto pages, pages_of(*tables.visits, cookie, 0, &all_cost));
    CELLAR_TRY_ASSIGN(const auto latest, pages_of(*tables.visits, cookie, 1, &latest_cost));
    CELLAR_TRY(questions.holds("the latest page is the first one", latest[0] == expected[0]));
    CELLAR_TRY(questions.holds("one row is read for the latest page", latest_cost.rows_returned == 1));
    CELLAR_TRY_ASSIGN(const Row urls, tables.cookie_urls->get_row(Get(cookie)));
    CELLAR_TRY_ASSIGN(const Row seen, tables.cookie_urls->get_row(Get(cookie).all_versions()));
    std::vector<std::string> distinct;
    for (const Cell& cell : urls.cells) distinct.push_back(cell.qualifier);
    const std::set<std::string> oracle(expected.begin(), expected.end());
    CELLAR_TRY(questions.same("distinct pages, in order", joined(distinct), joined(oracle)));
    CELLAR_TRY(questions.holds("every view is a version", seen.cells.size() == expected.size()));
    if (cookie != shown) {
      CELLAR_TRY(questions.same("pages of a visitor", joined(pages), joined(expected)));
      continue;
    }
    CELLAR_TRY(questions.answer("Which pages did the first buyer see, newest first?", joined(pages),
                                joined(expected), &all_cost));
    CELLAR_TRY(questions.answer("The latest page alone: limit 1", joined(latest), expected[0], &latest_cost));
    CELLAR_TRY(
        questions.answer("The distinct pages: versions 1 of cookie_urls", joined(distinct), joined(oracle)));
    questions.say("all versions of the same row: " + std::to_string(seen.cells.size()) + " views");
  }
  return {};
}

// Reads the named families of all rows, and checks that the files of the others stayed closed.
Status ask_families(const Tables& tables, const std::vector<View>& views, Questions& questions) {
  questions.chapter("A family that is not asked for stays closed");
  using Families = std::initializer_list<std::string_view>;
  const auto ask = [&](Families families, std::string_view question, size_t expected) -> Status {
    ReadStats cost;
    ReadExplanation sources;
    const Scan scan = Scan().families(families).stats(&cost).explain(&sources);
    CELLAR_TRY_ASSIGN(const RangeCount found, tables.visits->count(scan));
    CELLAR_TRY(questions.answer(question, std::to_string(found.cells), std::to_string(expected), &cost));
    for (const auto& source : sources.sources)
      CELLAR_TRY(questions.holds("no other family was looked at",
                                 std::ranges::find(families, source.family) != families.end()));
    return questions.holds("one file for each family", cost.files_considered == families.size());
  };
  size_t purchases = 0, words = 0, products = 0;
  for (const View& view : views) {
    purchases += view.cart.empty() ? 0 : 1;
    words += view.term.empty() ? 0 : 1;
    products += view.product.empty() ? 0 : 1;
  }
  CELLAR_TRY(ask({"z"}, "How many checkouts? (z)", purchases));
  CELLAR_TRY(ask({"r", "s"}, "How many referers and searches? (r and s)", views.size() + words));
  return ask({"p", "r", "s", "z"}, "How many cells in all four families?",
             views.size() + words + products + purchases);
}

Status ask_addresses(const Tables& tables, const std::vector<View>& views, Questions& questions) {
  questions.chapter("Addresses by hour");
  std::map<std::pair<std::string, int64_t>, std::map<std::string, int64_t>> counts;
  for (const View& view : views) ++counts[{view.ip, view.time_ms / 3'600'000}][view.path];
  size_t buckets = 0;
  for (const auto& [bucket, pages] : counts) {
    CELLAR_TRY_ASSIGN(const RowBatch row,
                      tables.ip_hours->get(Get(ip_key(bucket.first, bucket.second * 3'600'000))));
    std::map<std::string, int64_t> found;
    for (const CellView& cell : row.row())
      found[std::string(cell.qualifier())] = int64_of_plain(cell.value_bytes()).value_or(-1);
    CELLAR_TRY(questions.holds("pages and counts of the hour", found == pages));
    ++buckets;
  }
  CELLAR_TRY_ASSIGN(const RangeCount rows, tables.ip_hours->count());
  CELLAR_TRY(questions.answer("How many rows of address and hour?", std::to_string(rows.rows),
                              std::to_string(buckets)));
  // A range of hours of one address is one scan. The end of the text keeps 192.0.2.1 apart from 192.0.2.10.
  const auto& [ip, hour] = counts.rbegin()->first;
  const int64_t from = (hour - 11) * 3'600'000, until = (hour + 1) * 3'600'000;
  int64_t expected = 0;
  for (const View& view : views)
    expected += view.ip == ip && view.time_ms >= from && view.time_ms < until ? 1 : 0;
  ReadStats cost;
  const Scan twelve_hours = Scan().start(ip_key(ip, from)).stop(ip_key(ip, until)).stats(&cost);
  CELLAR_TRY_ASSIGN(const Aggregate<int64_t> found, aggregate<int64_t>(*tables.ip_hours, twelve_hours));
  return questions.answer("How many pages did " + ip + " ask for in twelve hours?", std::to_string(found.sum),
                          std::to_string(expected), &cost);
}

Status run(const std::string& path, const std::vector<std::string>& files, Questions& questions) {
  if (files.size() != 1) return Status::invalid_argument("name one web log in the combined format");
  size_t refused = 0;
  CELLAR_TRY_ASSIGN(const std::vector<View> views, read_views(files[0], refused));
  std::printf("%zu page views; %zu lines were refused\n", views.size(), refused);
  CELLAR_TRY_ASSIGN(const auto engine, new_store(path));
  CELLAR_TRY_ASSIGN(const Tables tables, create(*engine));
  for (const View& view : views) CELLAR_TRY(store(*engine, tables, view));
  CELLAR_TRY(engine->flush());
  CELLAR_TRY(ask_journeys(tables, views, questions));
  CELLAR_TRY(ask_families(tables, views, questions));
  CELLAR_TRY(ask_addresses(tables, views, questions));
  const uint64_t plain = tables.cookie_urls->info().families[0].files[0].bytes;
  const uint64_t packed = tables.packed_urls->info().families[0].files[0].bytes;
  questions.say("cookie_urls takes " + std::to_string(plain) + " bytes; with encoding fast_diff " +
                std::to_string(packed));
  CELLAR_TRY(questions.holds("fast_diff makes long qualifiers smaller", packed < plain));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "visits_store", run); }
