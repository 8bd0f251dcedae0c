// Time series: samples that arrive in the order of time and expire, and reads of the newest ones of a series.
//
// A row is a series and the number of a sample, counted down, so that the newest sample comes first. Half of
// the loaded samples are older than the time to live. No sample is so close to that age that it expires
// during a run.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "bench/workload/course.h"
#include "bench/workload/data.h"

namespace cellar::bench {
namespace {

constexpr int64_t kHour = 3600000;  // milliseconds
constexpr int64_t kDay = 24 * kHour;
constexpr int64_t kStep = 100;       // between two samples of a series that the run adds
constexpr uint64_t kSamples = 1000;  // loaded ones of a series, about
constexpr uint64_t kSeriesMin = 10;
constexpr uint64_t kDigits = 12;
constexpr uint64_t kNumbers = 1000000000000;

// "s", six digits of the series, twelve digits of the sample counted down.
class SampleKey {
 public:
  std::string_view set(uint64_t series, uint64_t sample) {
    digits(1, 6, series);
    digits(7, kDigits, kNumbers - 1 - sample);
    return {bytes_, sizeof bytes_};
  }
  // The row keys of a series begin with it.
  std::string_view prefix(uint64_t series) {
    digits(1, 6, series);
    return {bytes_, 7};
  }

 private:
  void digits(uint64_t from, uint64_t count, uint64_t number) {
    for (uint64_t i = from + count; i > from; number /= 10)
      bytes_[--i] = static_cast<char>('0' + number % 10);
  }
  char bytes_[7 + kDigits] = {'s'};
};

class SampleRow {
 public:
  explicit SampleRow(const Lengths& lengths) : lengths_(lengths), value_(lengths.most) {}
  // Valid until the next call.
  RowIn row(uint64_t series, uint64_t sample) {
    const uint64_t word = mix(series * 0x9e3779b97f4a7c15 + sample + 1);
    const uint64_t bytes = lengths_.of(word >> 8);
    fill_value({value_.data(), bytes}, word);
    cell_ = {kFamily, kQualifier, {value_.data(), bytes}};
    return {key_.set(series, sample), {&cell_, 1}};
  }
  void add_to(Tally& tally, uint64_t series, uint64_t sample) {
    const RowIn made = row(series, sample);
    ++tally.rows;
    tally.add(made.row, kQualifier, cell_.value);
  }

 private:
  const Lengths lengths_;
  std::vector<char> value_;
  SampleKey key_;
  CellIn cell_;
};

class SeriesCourse : public Course {
 public:
  SeriesCourse(const Workload& workload, uint64_t rows) : Course(workload) {
    const uint64_t threads = workload.threads;
    series_ = (std::max(kSeriesMin, rows / kSamples) + threads - 1) / threads * threads;
    samples_ = std::max<uint64_t>(rows / series_, 4);
    counts_.assign(series_, samples_);
    now_ms_ = std::chrono::duration_cast<std::chrono::milliseconds>(
                  std::chrono::system_clock::now().time_since_epoch())
                  .count();
  }

  int64_t time_to_live() const override { return kDay / 1000; }
  std::unique_ptr<Client> client(Session& session, uint64_t thread) override;

  uint64_t series() const { return series_; }
  uint64_t samples() const { return samples_; }
  uint64_t expired() const { return samples_ / 2; }  // of each series, the first ones
  uint64_t& count(uint64_t series) { return counts_[series]; }

  int64_t time_of(uint64_t sample) const {
    const auto at = static_cast<int64_t>(sample);
    const auto old = static_cast<int64_t>(expired());
    const auto all = static_cast<int64_t>(samples_);
    if (at < old) return now_ms_ - 2 * kDay + at * (kDay - kHour) / old;
    if (at < all) return now_ms_ - kDay + kHour + (at - old) * (kDay - 2 * kHour) / (all - old);
    return now_ms_ - kHour + (at - all) * kStep;
  }

 protected:
  uint64_t loaded() const override { return series_ * samples_; }
  RowIn load_row(uint64_t index, uint64_t slot, int64_t& timestamp) override {
    rows_.reserve(kBatchRows);  // they stay where they are
    while (rows_.size() <= slot) rows_.emplace_back(workload_.value_bytes);
    timestamp = time_of(index / series_);
    return rows_[slot].row(index % series_, index / series_);
  }
  void load_done() override {
    rows_.clear();
    rows_.shrink_to_fit();
  }

  Tally expected() const override {
    Tally tally;
    SampleRow sample(workload_.value_bytes);
    for (uint64_t series = 0; series < series_; ++series)
      for (uint64_t i = expired(); i < counts_[series]; ++i) sample.add_to(tally, series, i);
    return tally;
  }

 private:
  uint64_t series_ = 0;
  uint64_t samples_ = 0;  // loaded ones of each series
  int64_t now_ms_ = 0;
  std::vector<uint64_t> counts_;  // samples of each series; its thread alone uses it during the run
  std::vector<SampleRow> rows_;   // of the batch that is loaded
};

class SeriesClient : public Client {
 public:
  SeriesClient(SeriesCourse& course, Session& session, uint64_t thread)
      : course_(course),
        session_(session),
        thread_(thread),
        chooser_(course.workload().skew, course.samples()),
        random_(mix(course.workload().seed * 1000003 + thread)),
        sample_(course.workload().value_bytes) {}

  Status step() override {
    switch (course_.workload().mix.draw(random_)) {
      case Operation::kInsert:
        append();
        return {};
      case Operation::kScan:
        return scan();
      default:
        return read();
    }
  }

 private:
  uint64_t own_series() const { return course_.series() / course_.workload().threads; }
  uint64_t any_series() { return random_.below(own_series()) * course_.workload().threads + thread_; }

  Status wrong(const char* what, uint64_t series, const std::string& details) const {
    return Status::corruption(course_.workload().name + ": " + what + " series " + std::to_string(series) +
                              " in operation " + std::to_string(work_.ops) + " of thread " +
                              std::to_string(thread_) + ": " + details);
  }

  // All series take turns, as if each were sampled at the same times.
  void append() {
    const uint64_t series = appended_++ % own_series() * course_.workload().threads + thread_;
    uint64_t& count = course_.count(series);
    const RowIn row = sample_.row(series, count);
    const int64_t timestamp = course_.time_of(count);
    time([&] { session_.put(row, Keep::kProcess, timestamp); });
    work_.bytes_put +=
        row.row.size() + kFamily.size() + kQualifier.size() + kTimestampBytes + row.cells[0].value.size();
    ++count;
  }

  // The newest window of a series.
  Status scan() {
    const uint64_t series = any_series();
    const uint64_t count = course_.count(series);
    const uint64_t window =
        std::min(course_.workload().scan_length.of(random_.next()), count - course_.expired());
    const ScanIn in = {
        .prefix = key_.prefix(series), .limit = window, .from = course_.time_of(count - window)};
    Tally got;
    time([&] { session_.scan(in, got); });
    work_.read += got;
    if (got.rows != window || got.cells != window)
      return wrong("the newest window of", series,
                   std::to_string(got.rows) + " samples instead of " + std::to_string(window));
    Tally wanted;
    for (uint64_t i = count - window; i < count; ++i) sample_.add_to(wanted, series, i);
    if (got.sum != wanted.sum)
      return wrong("the newest window of", series, "it has other samples than were written");
    return {};
  }

  Status read() {
    const uint64_t series = any_series();
    const uint64_t sample = chooser_.next(random_, course_.count(series));
    Tally got, wanted;
    time([&] { session_.get(key_.set(series, sample), kFamily, kQualifier, got); });
    work_.read += got;
    if (sample >= course_.expired()) sample_.add_to(wanted, series, sample);
    if (got.cells == wanted.cells && got.sum == wanted.sum) return {};
    return wrong("a sample of", series,
                 got.cells == 0      ? "it was not found"
                 : wanted.cells == 0 ? "it has expired, but was found"
                                     : "its value is not the one that was written");
  }

  SeriesCourse& course_;
  Session& session_;
  const uint64_t thread_;
  KeyChooser chooser_;
  Random random_;
  SampleRow sample_;
  SampleKey key_;
  uint64_t appended_ = 0;
};

std::unique_ptr<Client> SeriesCourse::client(Session& session, uint64_t thread) {
  return std::make_unique<SeriesClient>(*this, session, thread);
}

}  // namespace

std::unique_ptr<Course> make_series_course(const Workload& workload, uint64_t rows) {
  return std::make_unique<SeriesCourse>(workload, rows);
}

}  // namespace cellar::bench
