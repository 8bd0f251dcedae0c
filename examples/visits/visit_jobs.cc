// Jobs over all visits: the table is cut into parts, which several threads scan.
//
//   example_visit_jobs STORE LOG      needs the store of example_visits, and the same log
//
// - The funnel counts the visitors who saw a product, and those of them who bought something later.
// - The referrers: how many views came from which page. The scans see a snapshot, while a thread writes.
#include <algorithm>
#include <atomic>
#include <thread>

#include "examples/visits/log_views.h"

namespace {

using namespace example;
constexpr size_t kThreads = 4;

// The results of one part.
struct Part {
  std::map<std::string, uint64_t> rows, referers;  // and how often
  uint64_t saw = 0, bought = 0;
  ReadStats cost;
  Status status;
};
using Parts = std::vector<Part>;
using Work = std::function<void(Scanner& scanner, Part& part)>;

// Returns ranges of nearly the same size that cover the table. With a prefix of 8 bytes a cut moves back to
// the first view of its visitor. One thread then sees all of a journey.
Result<std::vector<KeyRange>> ranges_of(Table& table, size_t parts, size_t whole_prefix) {
  CELLAR_TRY_ASSIGN(const RangeSplits splits, table.split_points(parts));
  return key_ranges(splits.rows, whole_prefix);
}

// Runs a job: one scanner for each range. A thread that is done with its part takes the next one.
Result<Parts> run_job(Table& table, const std::vector<KeyRange>& ranges,
                      const std::shared_ptr<const Snapshot>& snapshot, const std::string& families,
                      const Work& work) {
  Parts parts(ranges.size());
  std::vector<Scan> scans;
  for (size_t i = 0; i < ranges.size(); ++i) {
    Scan scan = Scan(ranges[i]).snapshot(snapshot).stats(&parts[i].cost);
    for (const char family : families) scan.family({&family, 1});
    scans.push_back(scan);
  }
  CELLAR_TRY_ASSIGN(const auto scanners, table.scan_many(scans));
  std::vector<std::thread> threads;
  std::atomic<size_t> next = 0;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (size_t i = next++; i < parts.size(); i = next++) {
        work(*scanners[i], parts[i]);
        parts[i].status = scanners[i]->status();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Part& part : parts) CELLAR_TRY(part.status);
  return parts;
}

// Follows one visitor after the other. Rows come with the newest view first, so a purchase that comes before
// a product in the scan was made after it.
void funnel(Scanner& scanner, Part& part) {
  std::string cookie;
  bool purchase = false, product = false, both = false;
  const auto count = [&] { part.saw += product ? 1 : 0, part.bought += both ? 1 : 0; };
  for (const RowView row : scanner) {
    if (row.row().substr(0, 8) != cookie) {
      count();
      cookie = row.row().substr(0, 8);
      purchase = product = both = false;
    }
    for (const CellView& cell : row) {
      if (cell.family() == "p") product = true, both = both || purchase;
    }
    for (const CellView& cell : row) purchase = purchase || cell.family() == "z";
  }
  count();
}

void referrers(Scanner& scanner, Part& part) {
  for (const RowView row : scanner) {
    ++part.rows[std::string(row.row())];
    ++part.referers[std::string(row.cells()[0].qualifier())];
  }
}

std::string funnel_of(const Parts& parts) {
  uint64_t saw = 0, bought = 0;
  for (const Part& part : parts) saw += part.saw, bought += part.bought;
  return funnel_text(saw, bought);
}

Status ask_funnel(Table& visits, const std::vector<View>& views, Questions& questions) {
  questions.chapter("The funnel");
  CELLAR_TRY_ASSIGN(const auto whole, ranges_of(visits, kThreads, 8));
  CELLAR_TRY_ASSIGN(const Parts parts, run_job(visits, whole, nullptr, "pz", funnel));
  ReadStats cost;
  for (const Part& part : parts) cost += part.cost;
  CELLAR_TRY(questions.holds("the parts are several", parts.size() > 1));
  CELLAR_TRY(questions.answer("How many visitors saw a product, and how many bought something later?",
                              funnel_of(parts), funnel_of(views), &cost));
  // The worst cuts: after each checkout, between it and the products that were seen before.
  std::set<std::string> cuts;
  for (const View& view : views) {
    if (!view.cart.empty()) cuts.insert(view.cookie + reversed_time(view.time_ms) + '\0');
  }
  std::vector<KeyRange> torn = {{}};
  for (const std::string& cut : cuts) torn.back().stop = cut, torn.push_back({cut, ""});
  CELLAR_TRY_ASSIGN(const Parts wrong, run_job(visits, torn, nullptr, "pz", funnel));
  questions.say("Cut after each checkout, torn journeys give a wrong answer: " + funnel_of(wrong));
  return questions.holds("a job that sees parts of journeys finds no buyer",
                         funnel_of(wrong).ends_with(" 0 of them bought later"));
}

Status check_rows(const Parts& parts, const std::vector<View>& views, Questions& questions) {
  std::map<std::string, uint64_t> times, referers, expected;
  for (const Part& part : parts) {
    for (const auto& [row, count] : part.rows) times[row] += count;
    for (const auto& [referer, count] : part.referers) referers[referer] += count;
  }
  for (const View& view : views) {
    CELLAR_TRY(
        questions.holds("each row exactly once", times[view.cookie + reversed_time(view.time_ms)] == 1));
    ++expected[view.referer];
  }
  CELLAR_TRY(questions.holds("no other rows", times.size() == views.size()));
  CELLAR_TRY(questions.holds("the same referers, as often", referers == expected));
  ReadStats cost;
  for (const Part& part : parts) cost += part.cost;
  CELLAR_TRY(
      questions.holds("only the file of family r of each part", cost.files_considered == parts.size()));
  const auto count = [](const auto& of) {
    const auto most = std::max_element(of.begin(), of.end(), [](const auto& a, const auto& b) {
      return a.first == "-" || (b.first != "-" && a.second < b.second);
    });
    return std::to_string(of.size()) + " referers; " + std::to_string(most->second) + " views came from " +
           most->first;
  };
  return questions.answer("Which pages send visitors? (family r)", count(referers), count(expected));
}

// Another thread writes all the time. The scans read a snapshot, so that its rows are not seen.
Status ask_referrers(Engine& engine, Table& visits, const std::vector<View>& views, Questions& questions) {
  questions.chapter("The referrers, while another thread writes");
  CELLAR_TRY_ASSIGN(const auto snapshot, engine.snapshot());
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> written = 0;
  Status writing;
  const auto row = [](uint64_t number) { return md5_bytes(std::to_string(number)); };
  std::thread writer([&] {
    for (; !stop; ++written) {
      const Status put = visits.put(Put(row(written)).add("r", "https://elsewhere.example/", "/"));
      if (!put.ok()) writing = put;
    }
  });
  while (written < 500) std::this_thread::yield();
  const auto job = [&]() -> Result<Parts> {
    CELLAR_TRY_ASSIGN(const auto ranges, ranges_of(visits, kThreads, 0));
    return run_job(visits, ranges, snapshot, "r", referrers);
  };
  const Result<Parts> parts = job();
  stop = true;
  writer.join();
  CELLAR_TRY(writing);
  CELLAR_TRY(parts);
  for (uint64_t number = 0; number < written; ++number)
    CELLAR_TRY(visits.erase(Delete(row(number)).family("r")));
  return check_rows(*parts, views, questions);
}

Status run(const std::string& path, const std::vector<std::string>& files, Questions& questions) {
  if (files.size() != 1) return Status::invalid_argument("name the web log that the store was filled with");
  size_t refused = 0;
  CELLAR_TRY_ASSIGN(const std::vector<View> views, read_views(files[0], refused));
  CELLAR_TRY_ASSIGN(const auto engine, Engine::open(path));
  CELLAR_TRY_ASSIGN(const auto visits, engine->open_table("visits"));
  CELLAR_TRY(ask_funnel(*visits, views, questions));
  CELLAR_TRY(ask_referrers(*engine, *visits, views, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "visits_store", run); }
