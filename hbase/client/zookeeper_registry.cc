// Registry: ZooKeeper, by its own C library. Only this file knows that library.
#include <fmt/core.h>

#include "hbase/client/registry.h"

#ifdef CELLAR_WITH_ZOOKEEPER

#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/mutex.h"
#include "hbase/client/znodes.h"

namespace cellar::hbase {
namespace {

// A server of ZooKeeper that accepts no connection within two thirds of this time is left for the next one.
constexpr int kSessionMs = 3'000;
constexpr int64_t kServerUs = 5'000'000;  // a lookup takes at most so long for each server
constexpr size_t kLossesOfServer = 2;     // a name often has two addresses: of IPv4 and of IPv6

// The library takes addresses of IPv6 without brackets: the last colon is before the port.
std::string text_of(const std::vector<ServerAddress>& servers) {
  std::string text;
  for (const ServerAddress& each : servers) text += (text.empty() ? "" : ",") + each.text();
  return text;
}

bool is_lost(int code) { return code == ZCONNECTIONLOSS || code == ZOPERATIONTIMEOUT; }

// One session asks for the content of znodes, and for the children of the root if the cluster's are absent.
enum Question : uint8_t { kBase, kIdentity, kMaster, kMeta, kRoot };
constexpr size_t kQuestions = 5;
constexpr size_t kZnodes = kRoot;

// Lookup: one session. run() is called once, by a thread of the registry; others wait for its end.
class Lookup {
 public:
  Lookup(std::string servers, const std::string& base, int64_t time_us, size_t losses_max, Clock& clock,
         Executor& threads)
      : servers_(std::move(servers)),
        paths_{base, base + "/hbaseid", base + "/master", base + "/meta-region-server", "/"},
        end_us_(clock.steady_us() + time_us),
        losses_max_(losses_max),
        clock_(clock),
        answered_(threads.make_event()),
        ended_(threads.make_event()) {
    for (size_t i = 0; i < kQuestions; ++i) replies_[i].of = this;
  }

  void run() {
    errno = 0;
    zhandle_t* const zookeeper = zookeeper_init2(servers_.c_str(), nullptr, kSessionMs, nullptr, nullptr,
                                                 ZOO_NO_LOG_CLIENTENV, be_quiet);
    if (zookeeper == nullptr) {
      failure_ = Status::io_error(
          fmt::format("ZooKeeper at {} cannot be found: {}", servers_, std::strerror(errno)));
    } else {
      failure_ = ask(*zookeeper);
    }
    finished_.store(true, std::memory_order_release);
    ended_->signal();
    // Only the next lookup and the destructor wait for the end of the session. Open questions fail then, or
    // the library loses a kilobyte with them: the thread that would fail them may have ended before.
    if (zookeeper != nullptr) zookeeper_close(zookeeper);
  }

  // Any thread.
  bool finished() const { return finished_.load(std::memory_order_acquire); }
  // Returns when the lookup has finished or was stopped, or after so much time.
  void wait(int64_t time_us) const { ended_->wait(0, time_us); }
  void stop() {
    stopped_.store(true, std::memory_order_release);
    answered_->signal();
    ended_->signal();
  }
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }

  // Returns the answer of a lookup that has finished.
  CallOutcome outcome(Sought sought, Whereabouts& found) const {
    if (!failure_.ok()) return failed_call(failure_, Remedy::kWait);
    if (replies_[kBase].code == ZNONODE)
      return failed_call(
          Status::not_found(fmt::format("ZooKeeper at {} has no path {}", servers_, paths_[kBase]))
              .hinting("HBase's zookeeper.znode.parent is the path; in the root there is: " +
                       replies_[kRoot].bytes),
          Remedy::kNone);
    std::array<CallOutcome, 3> outcomes;
    outcomes[0] = take(kIdentity, parse_identity_znode, "no HBase has registered its identity yet",
                       [&](const std::string& identity) { found.identity = identity; });
    outcomes[1] = take(kMaster, parse_master_znode, "the cluster has no active master",
                       [&](const ServerAddress& master) { found.master = master; });
    outcomes[2] = take(kMeta, parse_meta_znode, "the region of hbase:meta has no server yet",
                       [&](const ServerAddress& meta) { found.meta = meta; });
    return std::move(outcomes[static_cast<size_t>(sought)]);
  }

 private:
  struct Reply {
    Lookup* of = nullptr;
    bool done = false;
    int code = ZOK;
    std::string bytes;
  };

  static void be_quiet(const char*) {}  // what matters is in the codes of the answers

  static void take_data(int code, const char* value, int bytes, const Stat*, const void* reply) {
    auto* const to = static_cast<Reply*>(const_cast<void*>(reply));
    to->of->take_reply(*to, code,
                       code == ZOK && value != nullptr && bytes > 0
                           ? std::string(value, static_cast<size_t>(bytes))
                           : std::string());
  }
  static void take_children(int code, const String_vector* names, const void* reply) {
    auto* const to = static_cast<Reply*>(const_cast<void*>(reply));
    std::string all;
    for (int i = 0; code == ZOK && names != nullptr && i < names->count; ++i)
      all += fmt::format("{}/{}", i == 0 ? "" : ", ", escaped(names->data[i]));
    to->of->take_reply(*to, code, std::move(all));
  }
  // On a thread of ZooKeeper's library.
  void take_reply(Reply& reply, int code, std::string bytes) {
    {
      const MutexLock lock(mutex_);
      reply.code = code;
      reply.bytes = std::move(bytes);
      reply.done = true;
    }
    answered_->signal();
  }

  Status ask(zhandle_t& zookeeper) {
    CELLAR_TRY(ask_all(zookeeper, 0, kZnodes));
    bool has_base = false;
    {
      const MutexLock lock(mutex_);
      has_base = replies_[kBase].code != ZNONODE;
    }
    return has_base ? Status() : ask_all(zookeeper, kRoot, kQuestions);
  }

  // Asks these questions until all are answered. Each lost connection fails all that are open, and the
  // library goes on with the next server.
  Status ask_all(zhandle_t& zookeeper, size_t first, size_t last) {
    for (size_t losses = 0;;) {
      for (size_t i = first; i < last; ++i)
        if (!is_done(i)) CELLAR_TRY(send(zookeeper, i));
      CELLAR_TRY(wait_for(first, last));
      const int lost = reset_lost(first, last);
      if (lost == ZOK) return {};
      if (++losses >= losses_max_)
        return Status::io_error(fmt::format("no ZooKeeper answers at {}: {}", servers_, zerror(lost)));
    }
  }

  Status send(zhandle_t& zookeeper, size_t question) {
    Reply* const reply = &replies_[question];
    const char* const path = paths_[question].c_str();
    const int code = question == kRoot ? zoo_aget_children(&zookeeper, path, 0, take_children, reply)
                                       : zoo_aget(&zookeeper, path, 0, take_data, reply);
    if (code == ZOK) return {};
    return Status::io_error(fmt::format("ZooKeeper at {} takes no question: {}", servers_, zerror(code)));
  }

  Status wait_for(size_t first, size_t last) {
    while (true) {
      const uint64_t seen = answered_->count();
      bool all = true;
      for (size_t i = first; i < last; ++i) all &= is_done(i);
      if (all) return {};
      if (stopped()) return Status::aborted("the engine is closed");
      const int64_t left = end_us_ - clock_.steady_us();
      if (left <= 0) return Status::busy(fmt::format("ZooKeeper at {} has not answered in time", servers_));
      answered_->wait(seen, left);
    }
  }

  bool is_done(size_t question) const {
    const MutexLock lock(mutex_);
    return replies_[question].done;
  }

  // Opens the questions again that a lost connection has failed. Returns the code of one of them, or ZOK.
  int reset_lost(size_t first, size_t last) {
    const MutexLock lock(mutex_);
    int lost = ZOK;
    for (size_t i = first; i < last; ++i) {
      if (!is_lost(replies_[i].code)) continue;
      lost = replies_[i].code;
      replies_[i].done = false;
    }
    return lost;
  }

  template <class Parse, class Use>
  CallOutcome take(Question question, const Parse& parse, const char* absent, const Use& use) const {
    const Reply& reply = replies_[question];
    const std::string place = fmt::format("znode {} of ZooKeeper at {}", paths_[question], servers_);
    if (reply.code == ZNONODE || (reply.code == ZOK && reply.bytes.empty()))
      return failed_call(Status::busy(absent).with_context(place), Remedy::kWait);
    if (reply.code != ZOK)
      return failed_call(Status::io_error(zerror(reply.code)).with_context(place), Remedy::kWait);
    const auto parsed = parse(reply.bytes);
    if (!parsed.ok())
      return failed_call(parsed.status().with_context(place),
                         parsed.status().is(Code::kBusy) ? Remedy::kWait : Remedy::kNone);
    use(*parsed);
    return {};
  }

  const std::string servers_;
  const std::array<std::string, kQuestions> paths_;
  const int64_t end_us_;
  const size_t losses_max_;
  Clock& clock_;
  const std::unique_ptr<Event> answered_;
  const std::unique_ptr<Event> ended_;
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> finished_ = false;
  Status failure_;  // valid once finished
  mutable Mutex mutex_;
  std::array<Reply, kQuestions> replies_;  // under the mutex until the lookup has finished
};

class ZooKeeperRegistry final : public Registry {
 public:
  ZooKeeperRegistry(const ClusterName& name, Clock& clock)
      : servers_(text_of(name.quorum)),
        base_(name.znode),
        time_us_(kServerUs * static_cast<int64_t>(name.quorum.size())),
        losses_max_(kLossesOfServer * name.quorum.size()),
        clock_(clock),
        threads_(make_thread_executor(1, 1)) {}

  // The lookup holds events of the executor, whose destructor waits for the end of the session.
  ~ZooKeeperRegistry() override {
    stop();
    const MutexLock lock(mutex_);
    current_.reset();
  }

  CallOutcome ask(Sought sought, int64_t deadline_us, Whereabouts& found) override {
    const std::shared_ptr<Lookup> lookup = join();
    if (lookup == nullptr) return failed_call(Status::aborted("the engine is closed"), Remedy::kNone);
    lookup->wait(std::max<int64_t>(deadline_us - clock_.steady_us(), 0));
    if (lookup->finished()) return lookup->outcome(sought, found);
    if (lookup->stopped()) return failed_call(Status::aborted("the engine is closed"), Remedy::kNone);
    return failed_call(Status::busy(fmt::format("ZooKeeper at {} has not answered in time", servers_)),
                       Remedy::kWait);
  }
  std::string_view advice() const override {
    return "does ZooKeeper run at these addresses? ?timeout_ms=120000 waits longer for a cluster that starts";
  }
  void stop() override {
    const MutexLock lock(mutex_);
    stopped_ = true;
    if (current_ != nullptr) current_->stop();
  }

 private:
  // Returns the lookup that is under way, or begins one. Null after stop().
  std::shared_ptr<Lookup> join() {
    const MutexLock lock(mutex_);
    if (stopped_) return nullptr;
    if (current_ == nullptr || current_->finished()) {
      current_ = std::make_shared<Lookup>(servers_, base_, time_us_, losses_max_, clock_, *threads_);
      threads_->submit(JobPriority::kHigh, [lookup = current_] { lookup->run(); });
    }
    return current_;
  }

  const std::string servers_;
  const std::string base_;
  const int64_t time_us_;
  const size_t losses_max_;
  Clock& clock_;
  const std::unique_ptr<Executor> threads_;
  Mutex mutex_;
  bool stopped_ CELLAR_GUARDED_BY(mutex_) = false;
  std::shared_ptr<Lookup> current_ CELLAR_GUARDED_BY(mutex_);
};

}  // namespace

bool knows_zookeeper() { return true; }

Result<std::unique_ptr<Registry>> make_zookeeper_registry(const ClusterName& name, Clock& clock) {
  return std::unique_ptr<Registry>(std::make_unique<ZooKeeperRegistry>(name, clock));
}

}  // namespace cellar::hbase

#else

namespace cellar::hbase {

bool knows_zookeeper() { return false; }

Result<std::unique_ptr<Registry>> make_zookeeper_registry(const ClusterName&, Clock&) {
  return Status::not_supported("this build finds clusters by their masters alone: it has no ZooKeeper")
      .hinting(
          "build with libzookeeper-mt-dev (-DCELLAR_WITH_ZOOKEEPER=ON), or name the masters: "
          "hbase://master:16000");
}

}  // namespace cellar::hbase

#endif
