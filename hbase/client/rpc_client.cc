// RpcClient: connections on one loop of asio. Only the loop's thread touches sockets; callers wait for
// events.
#include "hbase/client/rpc_client.h"

#include <fmt/core.h>

#include <asio/connect.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "hbase/net/link.h"
#include "hbase/wire/frames.h"
#include "hbase/wire/rpc.pb.h"

namespace cellar::hbase {

namespace {

constexpr int64_t kBackoffUs = 100'000;
constexpr int64_t kBackoffUsMax = 2'000'000;
constexpr uint32_t kDroppedMax = 5;

// The bytes of an answer, for as long as its cells are used.
class Frame final : public Pinnable {
 public:
  std::string bytes;
};

}  // namespace

class PendingCall {
 public:
  uint32_t id = 0;
  ServerAddress server;
  std::string service;
  std::string frame;            // to send
  bool droppable = false;       // it has a timeout that is shorter than its deadline
  std::unique_ptr<Event> done;  // signalled once
  // Tells if its bytes went to the socket. The loop sends a call unless its caller has given it up before.
  enum class Way : uint8_t { kWaits, kLeft, kGivenUp };
  std::atomic<Way> way = Way::kWaits;
  std::atomic<bool> finished = false;
  CallOutcome outcome;       // valid once finished
  std::string_view message;  // of the answer, in its frame

  // Returns true if the call goes this way, and did not go the other before.
  bool go(Way to) {
    Way before = Way::kWaits;
    return way.compare_exchange_strong(before, to) || before == to;
  }
  bool has_left() const { return way.load() == Way::kLeft; }
  void finish(CallOutcome result) {
    if (finished.load(std::memory_order_relaxed)) return;
    outcome = std::move(result);
    finished.store(true, std::memory_order_release);
    done->signal();
  }
  void fail(const Status& status, Remedy remedy) {
    CallError error;
    error.status = status;
    error.remedy = remedy;
    error.may_have_happened = has_left();
    finish({.error = std::move(error)});
  }
};

namespace {

using Calls = std::map<uint32_t, std::shared_ptr<PendingCall>>;

// Channel: one connection. The loop's thread only.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
  // `tls`: null for plain text. It must outlive the channel.
  Channel(asio::io_context& loop, ServerAddress server, std::string start, Tls* tls)
      : server_(std::move(server)),
        start_(std::move(start)),
        tls_(tls),
        link_(asio::ip::tcp::socket(loop)),
        resolver_(loop),
        timer_(loop) {}

  bool broken() const { return broken_; }
  const Status& failure() const { return failure_; }
  bool was_connected() const { return connected_; }

  void connect(int64_t timeout_us) {
    const auto self = shared_from_this();
    timer_.expires_after(std::chrono::microseconds(timeout_us));
    timer_.async_wait([self](const std::error_code& error) {
      if (error || self->connected_) return;
      self->end(self->shaking_hands_ ? "does not finish the handshake of TLS in time"
                                     : "does not accept a connection in time");
    });
    resolver_.async_resolve(
        server_.host, std::to_string(server_.port),
        [self](const std::error_code& error, const asio::ip::tcp::resolver::results_type& found) {
          if (self->broken_) return;
          if (error) return self->end("cannot be found: " + error.message());
          asio::async_connect(self->link_.socket(), found,
                              [self](const std::error_code& failed, const asio::ip::tcp::endpoint&) {
                                if (self->broken_) return;
                                if (failed)
                                  return self->end("does not accept a connection: " + failed.message());
                                self->shake_hands();
                              });
        });
  }

  void send(const std::shared_ptr<PendingCall>& call) {
    calls_.emplace(call->id, call);
    waiting_.push_back(call);
    if (connected_) write();
  }

  // A call that nobody waits for any longer. If nothing has come since it left, the connection is taken for
  // dead. A server may drop a call with a timeout of its own, so that several of those must fail in a row.
  void give_up(uint32_t id) {
    const auto found = calls_.find(id);
    if (found == calls_.end()) return;
    const bool silent =
        found->second->has_left() && answers_at_.count(id) != 0 && answers_at_[id] == answers_;
    const bool droppable = found->second->droppable;
    answers_at_.erase(id);
    calls_.erase(found);
    if (silent && (!droppable || ++dropped_ == kDroppedMax)) end("has not answered in time");
  }

  void end(const std::string& why, Remedy remedy = Remedy::kRelocate) {
    end(Status::io_error(fmt::format("server {} {}", server_.text(), why)), remedy);
  }
  void end(const Status& failure, Remedy remedy) {
    if (std::exchange(broken_, true)) return;
    failure_ = failure;
    std::error_code ignored;
    link_.socket().close(ignored);
    resolver_.cancel();
    timer_.cancel(ignored);
    for (auto& [id, call] : std::exchange(calls_, {})) call->fail(failure_, remedy);
    waiting_.clear();
  }

 private:
  void end(const TlsFailure& failure) {
    const Status& why = failure.status;
    end(Status::io_error(fmt::format("server {}: {}", server_.text(), why.message())).hinting(why.hint()),
        failure.is_final ? Remedy::kNone : Remedy::kRelocate);
  }
  // A read or write failed. A server that needs TLS ends a connection in plain text without a word.
  void end_broken(const std::error_code& error) {
    if (const std::optional<TlsFailure> failure = link_.failure_of(error)) return end(*failure);
    const Status broken =
        Status::io_error(fmt::format("server {} broke the connection: {}", server_.text(), error.message()));
    const bool may_need_tls = tls_ == nullptr && answers_ == 0;
    end(may_need_tls ? broken.hinting("if the server needs TLS, add tls=true to the name of the cluster")
                     : broken,
        Remedy::kRelocate);
  }

  void shake_hands() {
    std::error_code ignored;
    link_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
    link_.socket().set_option(asio::socket_base::keep_alive(true), ignored);
    if (tls_ == nullptr) return begin();
    shaking_hands_ = true;
    link_.connect_tls(*tls_, server_.host,
                      [self = shared_from_this()](const std::optional<TlsFailure>& failure) {
                        if (self->broken_) return;
                        if (failure) return self->end(*failure);
                        self->begin();
                      });
  }

  void begin() {
    connected_ = true;
    std::error_code ignored;
    timer_.cancel(ignored);
    outgoing_ = start_;
    read_length();
    write();
  }

  void write() {
    if (writing_ || broken_) return;
    for (const std::shared_ptr<PendingCall>& call : std::exchange(waiting_, {})) {
      if (!calls_.contains(call->id) || !call->go(PendingCall::Way::kLeft)) continue;  // given up
      outgoing_ += call->frame;
      answers_at_[call->id] = answers_;
      call->frame = {};
    }
    if (outgoing_.empty()) return;
    writing_ = true;
    sent_ = std::exchange(outgoing_, {});
    const auto self = shared_from_this();
    asio::async_write(link_, asio::buffer(sent_), [self](const std::error_code& error, size_t) {
      self->writing_ = false;
      if (self->broken_) return;
      if (error) return self->end_broken(error);
      self->write();
    });
  }

  void read_length() {
    const auto self = shared_from_this();
    asio::async_read(link_, asio::buffer(length_), [self](const std::error_code& error, size_t) {
      if (self->broken_) return;
      if (error) return self->end_broken(error);
      const Result<uint32_t> bytes = wire::frame_bytes(self->length_, kFrameBytesMax);
      if (!bytes.ok()) return self->end_unread(bytes.status());
      self->read_frame(*bytes);
    });
  }

  // The length of an answer is too large.
  void end_unread(const Status& why) {
    if (!looks_like_tls({length_, sizeof(length_)})) return end(std::string(why.message()));
    end({.status =
             Status::io_error("it speaks TLS, and this client does not")
                 .hinting(
                     "add tls=true to the name of the cluster, and tls_ca=FILE if it has its own issuer"),
         .is_final = true});
  }

  void read_frame(uint32_t bytes) {
    auto* const frame = new Frame();
    frame_ = Pin(frame);
    frame->bytes.resize(bytes);
    const auto self = shared_from_this();
    asio::async_read(link_, asio::buffer(frame->bytes), [self, frame](const std::error_code& error, size_t) {
      if (self->broken_) return;
      if (error) return self->end_broken(error);
      self->take(*frame);
    });
  }

  void take(const Frame& frame) {
    wire::ResponseHeader header;
    const Result<wire::FrameParts> parts = wire::parse_response(frame.bytes, header);
    if (!parts.ok()) return end(fmt::format("sent an invalid answer: {}", parts.status().message()));
    ++answers_;
    dropped_ = 0;
    // A server that refuses a connection answers a call that was never made.
    const auto found = calls_.find(header.call_id());
    if (found == calls_.end()) {
      if (header.has_exception() && !was_answered_) {
        const CallError error = error_of(header.exception());
        return end(fmt::format("refuses the connection: {}", error.status.message()),
                   error.remedy == Remedy::kNone ? Remedy::kNone : Remedy::kWait);
      }
    } else {
      was_answered_ = true;
      const std::shared_ptr<PendingCall> call = found->second;
      calls_.erase(found);
      answers_at_.erase(call->id);
      CallOutcome outcome;
      if (header.has_exception()) {
        outcome.error = error_of(header.exception());
      } else {
        outcome.frame = frame_;
        outcome.cell_block = parts->cell_block;
        call->message = parts->message;
      }
      call->finish(std::move(outcome));
    }
    frame_.reset();
    read_length();
  }

  const ServerAddress server_;
  const std::string start_;  // the first bytes of the connection
  Tls* const tls_;
  Link link_;
  asio::ip::tcp::resolver resolver_;
  asio::steady_timer timer_;
  bool shaking_hands_ = false;
  bool connected_ = false;  // and TLS, if any, has been agreed on
  bool broken_ = false;
  bool writing_ = false;
  bool was_answered_ = false;
  Status failure_;
  Calls calls_;  // that were not answered
  std::vector<std::shared_ptr<PendingCall>> waiting_;
  std::string outgoing_;
  std::string sent_;
  char length_[wire::kFrameLengthBytes] = {};
  Pin frame_;
  uint64_t answers_ = 0;
  uint32_t dropped_ = 0;                     // calls since the last answer that the server may have dropped
  std::map<uint32_t, uint64_t> answers_at_;  // how many had come when a call left
};

std::string first_bytes(const std::string& user, std::string_view service) {
  wire::ConnectionHeader header;
  header.mutable_user_info()->set_effective_user(user);
  header.set_service_name(std::string(service));
  header.set_cell_block_codec(std::string(wire::kKeyValueCodec));
  wire::VersionInfo& version = *header.mutable_version_info();
  version.set_version("2.6.0");  // the release whose messages are spoken
  version.set_url("cellar");
  version.set_revision("");
  version.set_user(user);
  version.set_date("");
  version.set_source_checksum("");
  version.set_major(2);
  version.set_minor(6);
  return wire::connection_start(header);
}

class AsioClient final : public RpcClient {
 public:
  AsioClient(const RpcOptions& options, std::unique_ptr<asio::io_context> loop)
      : options_(options), loop_(std::move(loop)), work_(asio::make_work_guard(*loop_)) {
    threads_ = make_thread_executor(1, 1);
    stopped_event_ = threads_->make_event();
    ended_ = threads_->make_event();
    // The job holds the event, which it still uses when the destructor goes on.
    threads_->submit(JobPriority::kHigh, [this, ended = ended_] {
      while (!run()) {
      }
      ended->signal();
    });
  }

  // Calls hold events, which must go before the executor that made them.
  ~AsioClient() override {
    stop();
    asio::post(*loop_, [this] { loop_->stop(); });
    ended_->wait(0, -1);
    channels_.clear();
    work_.reset();
    loop_.reset();
  }

  std::shared_ptr<PendingCall> start(const RpcCall& call, int64_t deadline_us) override {
    auto pending = std::make_shared<PendingCall>();
    pending->id = next_id_.fetch_add(1, std::memory_order_relaxed) & INT32_MAX;
    pending->server = call.server;
    pending->service = call.service;
    pending->droppable = call.server_timeout_ms != 0;
    pending->done = threads_->make_event();
    const int64_t left_ms = std::max<int64_t>((deadline_us - options_.clock->steady_us()) / 1000, 1);
    wire::RequestHeader header;
    header.set_call_id(pending->id);
    header.set_method_name(std::string(call.method));
    header.set_timeout_ms(call.server_timeout_ms != 0
                              ? call.server_timeout_ms
                              : static_cast<uint32_t>(std::min<int64_t>(left_ms, INT32_MAX)));
    const uint64_t bytes = call.request->ByteSizeLong() + call.cell_block.size();
    if (bytes >= kFrameBytesMax - 1024) {
      pending->fail(
          Status::limit(fmt::format("a request has {} bytes; at most {} are possible", bytes, kFrameBytesMax))
              .hinting("write fewer cells at a time"),
          Remedy::kNone);
      return pending;
    }
    wire::append_request(pending->frame, header, call.request, call.cell_block);
    asio::post(*loop_, [this, pending] { send(pending); });
    return pending;
  }

  CallOutcome wait(PendingCall& pending, google::protobuf::MessageLite& response,
                   int64_t deadline_us) override {
    while (!pending.finished.load(std::memory_order_acquire)) {
      const uint64_t seen = pending.done->count();
      const int64_t left = deadline_us - options_.clock->steady_us();
      if (pending.finished.load(std::memory_order_acquire)) break;
      if (left <= 0) return time_out(pending);
      pending.done->wait(seen, left);
    }
    CallOutcome outcome = std::move(pending.outcome);
    if (!outcome.ok()) return outcome;
    if (const Status parsed = wire::parse_message(response, pending.message); !parsed.ok())
      return {.error = CallError{.status = parsed.with_context("server " + pending.server.text()),
                                 .may_have_happened = true}};
    return outcome;
  }

  void pause(int64_t us) override {
    const uint64_t seen = stopped_event_->count();
    if (!stopped_.load(std::memory_order_acquire)) stopped_event_->wait(seen, us);
  }

  void stop() override {
    if (stopped_.exchange(true)) return;
    stopped_event_->signal();
    asio::post(*loop_, [this] {
      for (auto& [key, channel] : channels_)
        channel->end(Status::aborted("the engine is closed"), Remedy::kNone);
    });
  }

 private:
  // Runs the loop. asio throws where the system refuses a thread or a descriptor. All calls fail then, and
  // later ones are tried anew. Returns true if the loop was stopped.
  bool run() {
    try {
      loop_->run();
      return true;
    } catch (const std::system_error& error) {
      const Status failure = Status::io_error(std::string("a connection cannot be served: ") + error.what())
                                 .hinting("the system may limit the threads or open files of the process");
      for (auto& [key, channel] : channels_) channel->end(failure, Remedy::kRelocate);
      return false;
    }
  }

  using Key = std::pair<ServerAddress, std::string>;
  struct Backoff {
    int64_t until_us = 0;
    int64_t pause_us = 0;
  };

  CallOutcome time_out(PendingCall& pending) {
    const bool stayed = pending.go(PendingCall::Way::kGivenUp);
    asio::post(*loop_, [this, key = Key(pending.server, pending.service), id = pending.id] {
      const auto found = channels_.find(key);
      if (found != channels_.end()) found->second->give_up(id);
    });
    CallError error;
    error.status = Status::busy(fmt::format("server {} has not answered in time", pending.server.text()));
    if (stayed && options_.tls != nullptr)
      error.status = error.status.hinting("no connection with TLS was made: does it speak TLS at this port?");
    error.remedy = Remedy::kRelocate;
    error.may_have_happened = !stayed;
    return {.error = std::move(error)};
  }

  // On the loop.
  void send(const std::shared_ptr<PendingCall>& call) {
    if (stopped_.load()) return call->fail(Status::aborted("the engine is closed"), Remedy::kNone);
    std::shared_ptr<Channel>& channel = channels_[{call->server, call->service}];
    if (channel == nullptr || channel->broken()) {
      Backoff& backoff = backoffs_[call->server];
      const int64_t now = options_.clock->steady_us();
      if (channel != nullptr && !channel->was_connected()) {
        if (backoff.until_us == 0) {
          backoff.pause_us = std::min(std::max(backoff.pause_us * 2, kBackoffUs), kBackoffUsMax);
          backoff.until_us = now + backoff.pause_us;
        }
        if (now < backoff.until_us) return call->fail(channel->failure(), Remedy::kRelocate);
      } else {
        backoff.pause_us = 0;
      }
      backoff.until_us = 0;
      channel = std::make_shared<Channel>(*loop_, call->server, first_bytes(options_.user, call->service),
                                          options_.tls.get());
      channel->send(call);  // first, so that it fails with the channel if that cannot be connected
      channel->connect(options_.connect_timeout_us);
      return;
    }
    channel->send(call);
  }

  const RpcOptions options_;
  std::unique_ptr<asio::io_context> loop_;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
  std::unique_ptr<Executor> threads_;
  std::unique_ptr<Event> stopped_event_;
  std::shared_ptr<Event> ended_;  // the loop has returned
  std::atomic<bool> stopped_ = false;
  std::atomic<uint32_t> next_id_ = 1;
  std::map<Key, std::shared_ptr<Channel>> channels_;  // the loop's
  std::map<ServerAddress, Backoff> backoffs_;         // the loop's
};

}  // namespace

Result<std::unique_ptr<RpcClient>> RpcClient::create(const RpcOptions& options) {
  try {
    return std::unique_ptr<RpcClient>(
        std::make_unique<AsioClient>(options, std::make_unique<asio::io_context>(1)));
  } catch (const std::system_error& error) {
    return Status::io_error(std::string("no sockets can be used: ") + error.what());
  }
}

}  // namespace cellar::hbase
