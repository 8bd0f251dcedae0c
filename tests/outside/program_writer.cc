// The program into which faults are injected. It carries out a plan, a line a step, on a store. It reports
// through a file descriptor how each step ended. It goes on after errors.
//
//   cellar_outside_writer <store> <file descriptor> < plan
//
// The reply to a step is "ok …" or "no …"; to "dump", lines "cell …" come before it. Steps that write
// acknowledge with write(2), so that what was told is known when the process is killed. A put tells the true
// time before and after it, in milliseconds: what its stamp must be, unless the clock was struck.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <sstream>
#include <thread>

#include "tests/kill/kill_plan.h"

namespace cellar::testing {
namespace {

int pipe_end = -1;
constexpr int64_t kStallMs = 5000;  // a write that waits longer is answered by an error

void tell(const std::string& line) {
  const std::string whole = line + "\n";
  if (write(pipe_end, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) std::exit(2);
}

std::string reply(const Status& status) {
  if (status.ok()) return "ok";
  std::string text = status.to_text();
  for (char& c : text)
    if (c == '\n') c = ' ';
  return "no " + text;
}

// The wall clock as the kernel has it: no preloaded clock_gettime() is asked.
int64_t true_ms() {
  timespec now{};
  if (syscall(SYS_clock_gettime, CLOCK_REALTIME, &now) != 0) std::exit(2);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// Engine::resume(), where the engine has it.
template <class E>
Status resume(E& engine) {
  if constexpr (requires { engine.resume(); }) {
    return engine.resume();
  } else {
    return Status::not_supported("this engine has no resume()");
  }
}

class BackgroundErrors final : public EventListener {
 public:
  void on_background_error(const Status&) override { ++count; }
  std::atomic<uint64_t> count{0};
};

class Writer {
 public:
  explicit Writer(std::string path) : path_(std::move(path)) {}

  // One line of the plan.
  void perform(const std::string& line) {
    std::istringstream in(line);
    std::string step;
    in >> step;
    if (step == "recover") return recover(in);
    if (step == "over") return over();
    if (step == "open") return tell(reply(open()));
    if (engine_ == nullptr) return tell("no the store is not open");
    if (step == "health") return health();
    if (step == "dump") return tell(reply(dump(*engine_, "")));
    if (step == "close") return tell(reply(close()));
    const int64_t before = true_ms();
    std::string told = reply(change(step, in));
    if (step == "put" && told == "ok") told += fmt::format(" {} {}", before, true_ms());
    tell(told);
  }

 private:
  Status open();
  Status close();
  Status change(const std::string& step, std::istringstream& in);
  Status put(std::istringstream& in);
  Status erase(std::istringstream& in);
  Status create(const std::string& name);
  Status dump(Engine& engine, const std::string& prefix);
  Status probe(uint64_t number);
  bool probe_for(uint64_t number, int64_t milliseconds);
  void recover(std::istringstream& in);
  void over();
  void health();
  Result<std::shared_ptr<Table>> table(const std::string& name) { return engine_->open_table(name); }

  const std::string path_;
  BackgroundErrors errors_;
  std::unique_ptr<Engine> engine_;
};

Durability durability_of(const std::string& name) {
  return name == "fsync"   ? Durability::kFsyncWal
         : name == "async" ? Durability::kAsyncWal
                           : Durability::kSyncWal;
}

Status Writer::open() {
  EngineOptions options = kill_engine_options();
  options.stall_ms_max = kStallMs;
  options.environment.events = &errors_;
  CELLAR_TRY_ASSIGN(engine_, Engine::open(path_, options));
  const Status status = open_kill_tables(*engine_).status();
  if (!status.ok()) engine_.reset();
  return status;
}

Status Writer::close() {
  const Status status = engine_->close();
  engine_.reset();
  return status;
}

// put <number> <durability> <bytes> <table/family/row>…: one write; a row named "last" gets the time of the
// write.
Status Writer::put(std::istringstream& in) {
  uint64_t number = 0;
  size_t bytes = 0;
  std::string durability, place;
  in >> number >> durability >> bytes;
  const std::string value = fmt::format("{}:", number) + std::string(bytes, 'x');
  Batch batch;
  while (in >> place) {
    const size_t first = place.find('/'), second = place.find('/', first + 1);
    const std::string row = place.substr(second + 1), family = place.substr(first + 1, second - first - 1);
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> into, table(place.substr(0, first)));
    Put put(row);
    if (row == "last") {
      put.add(family, "q", value);
    } else {
      put.add_at(family, "q", static_cast<int64_t>(number), value);
    }
    batch.put(into, put);
  }
  return engine_->write(batch, {.durability = durability_of(durability)});
}

// delete <durability> <row>: in both tables, in a single write.
Status Writer::erase(std::istringstream& in) {
  std::string durability, row;
  in >> durability >> row;
  Batch batch;
  for (const char* name : {"t", "u"}) {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> from, table(name));
    batch.erase(from, Delete(row));
  }
  return engine_->write(batch, {.durability = durability_of(durability)});
}

Status Writer::create(const std::string& name) {
  FamilyOptions family;
  family.name = "e";
  return engine_->create_table(name, {.families = {family}}).status();
}

Status Writer::change(const std::string& step, std::istringstream& in) {
  if (step == "put") return put(in);
  if (step == "delete") return erase(in);
  std::string first, second;
  in >> first >> second;
  if (step == "create") return create(first);
  if (step == "flush") return engine_->flush();
  if (step == "truncate") return engine_->truncate_table(first);
  if (step == "drop") return engine_->drop_table(first);
  if (step == "snapshot") return engine_->named_snapshots().create(first).status();
  if (step == "drop-snapshot") return engine_->named_snapshots().drop(first);
  if (step == "clone") return engine_->named_snapshots().clone(first, "t", second).status();
  if (step == "checkpoint") return engine_->checkpoint(path_ + "." + first).status();
  if (step == "feed") return engine_->feeds().create(first);
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> t, table("t"));
  if (step == "increment") {
    const WriteOptions options{.durability = durability_of(first)};
    return t->increment(Increment("counter").add("c", "n", 1), options).status();
  }
  if (step == "compact") return first == "major" ? t->major_compact() : t->compact();
  if (step == "alter") {
    FamilyOptions family = t->info().options.families.front();
    family.max_versions = 2;
    return engine_->alter_family("t", family);
  }
  std::cerr << "no such step: " << step << std::endl;
  std::exit(64);
}

// A line for each cell: where it is, the number of its write, how many bytes follow the number, and its
// stamp.
Status Writer::dump(Engine& engine, const std::string& prefix) {
  for (const std::string& name : engine.list_tables()) {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> from, engine.open_table(name));
    tell(fmt::format("table {}{}", prefix, name));
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, from->scan(Scan()));
    while (scanner->next()) {
      for (const CellView& cell : scanner->row()) {
        const std::string value(cell.value_bytes());
        const size_t colon = value.find(':');
        const std::string text =
            colon == std::string::npos
                ? fmt::format("{} 0", value.empty() ? 0 : static_cast<unsigned char>(value.back()))
                : value.substr(0, colon) + " " + std::to_string(value.size() - colon - 1);
        tell(fmt::format("cell {}{}/{}/{} {} {}", prefix, name, cell.family(), cell.row(), text,
                         cell.timestamp));
      }
    }
    CELLAR_TRY(scanner->status());
  }
  if (!prefix.empty()) return {};
  CELLAR_TRY_ASSIGN(const std::vector<CheckpointInfo> snapshots, engine.named_snapshots().list());
  for (const CheckpointInfo& each : snapshots) {
    CELLAR_TRY(each.status);
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> opened, engine.named_snapshots().open(each.name));
    tell(fmt::format("snapshot {}", each.name));
    CELLAR_TRY(dump(*opened, each.name + ":"));
  }
  return {};
}

// ---- After the fault ----

// From here on no call is struck. Without the preloaded library nothing was.
void Writer::over() {
  using End = void();
  if (auto* end = reinterpret_cast<End*>(dlsym(RTLD_DEFAULT, "cellar_faults_end"))) end();
  tell("ok");
}

void Writer::health() {
  const Status health = engine_->status().health;
  tell(fmt::format("ok {} {}", errors_.count.load(), health.ok() ? "healthy" : reply(health)));
}

// Tries if the store takes a write and makes a file of it.
Status Writer::probe(uint64_t number) {
  std::istringstream in(fmt::format("{} fsync 10 t/a/r{:05} u/d/r{:05} t/b/last", number, number, number));
  CELLAR_TRY(put(in));
  return engine_->flush();
}

bool Writer::probe_for(uint64_t number, int64_t milliseconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (!probe(number).ok()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

// recover <number> <milliseconds>: writes until a write succeeds: first without anything, then after
// resume(), then after closing and opening. Tells which of them it needed; "open" where it was not open.
void Writer::recover(std::istringstream& in) {
  uint64_t number = 0;
  int64_t patience_ms = 0;
  in >> number >> patience_ms;
  const bool was_open = engine_ != nullptr;
  if (was_open) {
    if (probe_for(number, patience_ms)) return tell("ok itself");
    if (resume(*engine_).ok() && probe_for(number, patience_ms)) return tell("ok resume");
    static_cast<void>(engine_->close());
    engine_.reset();
  }
  if (const Status opened = open(); !opened.ok()) return tell(reply(opened));
  if (!probe_for(number, patience_ms)) return tell("no writes are refused after opening again");
  tell(was_open ? "ok reopen" : "ok open");
}

}  // namespace
}  // namespace cellar::testing

int main(int count, char** arguments) {
  if (count != 3) return 64;
  cellar::testing::pipe_end = std::atoi(arguments[2]);
  cellar::testing::Writer writer(arguments[1]);
  for (std::string line; std::getline(std::cin, line);) writer.perform(line);
  return 0;
}
