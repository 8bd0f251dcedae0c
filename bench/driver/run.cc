// Run: opening, measuring, and running only what is wanted.
#include "bench/driver/run.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>
#include <utility>

namespace cellar::bench {
namespace {

int perf_control = -1;

void tell_perf(std::string_view command) {
  if (perf_control < 0) return;
  if (::write(perf_control, command.data(), command.size()) != static_cast<ssize_t>(command.size()))
    give_up("perf has closed its FIFO");
}

}  // namespace

void control_perf(const std::string& fifo) {
  perf_control = ::open(fifo.c_str(), O_WRONLY | O_CLOEXEC);
  if (perf_control < 0) give_up("cannot write to " + fifo);
}

void Sample::start() {
  tell_perf("enable\n");
  meter_.emplace();
}

void Sample::stop() {
  if (!meter_) return;
  const Cost cost = meter_->stop();
  tell_perf("disable\n");
  meter_.reset();
  cost_.seconds += cost.seconds;
  cost_.cpu_seconds += cost.cpu_seconds;
  cost_.foreign_seconds += cost.foreign_seconds;
  cost_.bytes_written += cost.bytes_written;
  cost_.peak_memory = std::max(cost_.peak_memory, cost.peak_memory);
}

Run::Run(Peer& peer, const Amounts& amounts, std::string path, std::set<std::string> wanted, Emit emit)
    : peer_(peer),
      amounts_(amounts),
      path_(std::move(path)),
      wanted_(std::move(wanted)),
      emit_(std::move(emit)) {}

void Run::fresh(std::vector<std::string> families, uint64_t cache_bytes) {
  remove();
  std::filesystem::create_directories(path_);
  options_ = {.path = path_, .families = std::move(families), .cache_bytes = cache_bytes, .create = true};
  peer_.open(options_);
}

void Run::reopen(uint64_t cache_bytes) {
  peer_.close();
  options_.create = false;
  options_.cache_bytes = cache_bytes;
  peer_.open(options_);
}

void Run::remove() {
  peer_.close();
  std::filesystem::remove_all(path_);
}

void Run::step(const std::string& workload, Step kind, const std::string& unit,
               const std::function<void(Sample&)>& body) {
  const bool wanted = wanted_.erase(workload) != 0;
  if (!wanted && (kind == Step::kAlone || wanted_.empty())) return;
  Sample sample;
  body(sample);
  sample.stop();
  const int64_t before = steady_ns();
  peer_.settle();
  const double settle = static_cast<double>(steady_ns() - before) * 1e-9;
  if (sample.after) sample.after(sample);
  if (wanted) emit_(workload, unit, sample, settle);
}

void Run::work(Sample& sample, uint64_t threads, const std::function<void(Worker&)>& body) {
  struct Part {
    std::unique_ptr<Session> session;
    Histogram times;
    Tally tally;
  };
  std::vector<Part> parts(threads);
  for (Part& part : parts) part.session = peer_.session();
  std::atomic<bool> go{false};
  std::vector<std::thread> others;
  const auto run_part = [&](uint64_t index) {
    Worker worker{index, *parts[index].session, parts[index].times, parts[index].tally};
    body(worker);
  };
  for (uint64_t i = 1; i < threads; ++i) {
    others.emplace_back([&, i] {
      go.wait(false);
      run_part(i);
    });
  }
  sample.start();
  go = true;
  go.notify_all();
  run_part(0);
  for (std::thread& other : others) other.join();
  sample.stop();
  for (const Part& part : parts) {
    sample.times += part.times;
    sample.tally += part.tally;
  }
}

void Run::warm() {
  Tally tally;
  peer_.session()->scan({}, tally);
}

}  // namespace cellar::bench
