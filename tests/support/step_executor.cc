// StepExecutor: tasks on threads of their own, each with a semaphore; the baton is the pointer `running`.
#include "tests/support/step_executor.h"

#include <sched.h>
#include <semaphore.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"

namespace cellar::testing {

namespace {

enum class State {
  kReady,      // can run
  kRunning,    // has the baton
  kWaiting,    // for an event, or for time
  kSettling,   // until nobody is ready
  kJoining,    // until the threads of run_beside() have ended
  kFinishing,  // until all have
  kIdle,       // a thread without a body
};

enum class Kind { kMain, kBeside, kHigh, kLow };

// Turn: one thread waits until another one gives it the turn. A semaphore of the system: a condition variable
// needs more calls.
class Turn {
 public:
  Turn() { (void)sem_init(&semaphore_, 0, 0); }
  ~Turn() { (void)sem_destroy(&semaphore_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void give() { (void)sem_post(&semaphore_); }
  void await() {
    while (sem_wait(&semaphore_) != 0) {  // a signal interrupted it
    }
  }

 private:
  sem_t semaphore_;
};

struct Task {
  State state = State::kIdle;
  Kind kind = Kind::kMain;
  std::string name;
  std::function<void()> body;
  const Event* event = nullptr;  // while waiting; null: for time alone
  uint64_t seen = 0;
  int64_t deadline_us = -1;  // negative: none
  Turn turn;                 // given when this task becomes the running one, or its thread is to end
  std::thread thread;
};

struct Step {
  std::string who;
  const char* reason;  // what the one before did
  int64_t at_us;
};

const char* name_of(State state) {
  switch (state) {
    case State::kReady:
      return "ready";
    case State::kRunning:
      return "running";
    case State::kWaiting:
      return "waiting";
    case State::kSettling:
      return "settling";
    case State::kJoining:
      return "joining";
    case State::kFinishing:
      return "finishing";
    case State::kIdle:
      return "idle";
  }
  return "";
}

// The task this thread is, and whose. Executors may nest: the inner one's destructor restores the outer one.
struct Current {
  const void* executor = nullptr;
  Task* task = nullptr;
};
thread_local Current current;

// OnOneProcessor: keeps this thread, and those that it starts, on the processor where it runs. Only one of
// them runs at a time. Waking a thread on another processor takes several times as long. Does nothing if the
// system does not allow it.
class OnOneProcessor {
 public:
  OnOneProcessor() {
    cpu_set_t one;
    CPU_ZERO(&one);
    const int here = sched_getcpu();
    if (here < 0 || here >= CPU_SETSIZE) return;
    CPU_SET(here, &one);
    set_ = sched_getaffinity(0, sizeof before_, &before_) == 0 && sched_setaffinity(0, sizeof one, &one) == 0;
  }
  ~OnOneProcessor() {
    if (set_) (void)sched_setaffinity(0, sizeof before_, &before_);
  }
  OnOneProcessor(const OnOneProcessor&) = delete;
  OnOneProcessor& operator=(const OnOneProcessor&) = delete;

 private:
  cpu_set_t before_{};
  bool set_ = false;
};

}  // namespace

struct StepExecutor::Impl {
  struct Queue {
    Kind kind;
    int limit;
    int under_way = 0;
    std::deque<std::pair<std::string, std::function<void()>>> jobs;
  };
  struct Later {
    Queue* queue;
    std::pair<std::string, std::function<void()>> job;  // with its name
  };

  Impl(const Options& given, ManualClock& given_clock)
      : options(given),
        clock(given_clock),
        random(given.seed),
        high{Kind::kHigh, given.high, 0, {}},
        low{Kind::kLow, given.low, 0, {}} {}

  [[noreturn]] void die(const std::string& why) const {
    std::fprintf(stderr, "StepExecutor (seed %llu): %s\n%slast steps:\n%s",
                 static_cast<unsigned long long>(options.seed), why.c_str(), listing().c_str(),
                 schedule(30).c_str());
    std::fflush(stderr);
    std::abort();
  }

  // The task of this thread, which must take part and be free to wait.
  Task& self(const char* what, bool may_hold_mutex = false) const {
    if (current.executor != this) {
      die(std::string(what) + " on a thread that does not take part; start it with run_beside()");
    }
    if (!may_hold_mutex && mutexes_held() > 0) die(std::string(what) + " while this thread holds a Mutex");
    return *current.task;
  }

  // Gives the baton to whom the seed draws, and returns when `me` has it again; at once when `me` is idle.
  // The lock is open while another has the baton: a thread that is woken would only wait for the lock again.
  void pass_on(std::unique_lock<std::mutex>& lock, Task& me, const char* reason) {
    const bool idle = me.state == State::kIdle;  // what is drawn next may be a body for `me`
    Task& next = choose();
    steps.push_back({next.name, reason, clock.steady_us()});
    if (steps.size() > kStepsKept) steps.pop_front();
    if (++step_count > options.steps_max) die("more steps than steps_max");
    next.state = State::kRunning;
    running = &next;
    if (&next == &me && !idle) return;
    lock.unlock();
    next.turn.give();
    if (idle) return;
    me.turn.await();
    lock.lock();
  }

  Task& choose() {
    while (true) {
      wake_expired();
      std::vector<Task*> ready;
      for (const auto& task : tasks) {
        if (task->state == State::kReady) ready.push_back(task.get());
      }
      std::vector<Queue*> startable;
      for (Queue* queue : {&high, &low}) {
        if (!queue->jobs.empty() && queue->under_way < queue->limit) startable.push_back(queue);
      }
      const size_t choices = ready.size() + startable.size();
      if (choices > 0) {
        const size_t drawn = choices == 1 ? 0 : random.below(choices);
        return drawn < ready.size() ? *ready[drawn] : start_job(*startable[drawn - ready.size()]);
      }
      if (Task* settled = first_in(State::kSettling)) return *settled;
      if (Task* joined = first_in(State::kJoining); joined != nullptr && count_of(Kind::kBeside) == 0)
        return *joined;
      if (Task* finished = first_in(State::kFinishing); finished != nullptr && others_ended())
        return *finished;
      if (!jump_to_deadline()) die("nobody can ever run again");
    }
  }

  Queue& queue_of(JobPriority priority) { return priority == JobPriority::kHigh ? high : low; }

  void wake_expired() {
    const int64_t now = clock.steady_us();
    for (; !later.empty() && later.begin()->first <= now; later.erase(later.begin()))
      later.begin()->second.queue->jobs.push_back(std::move(later.begin()->second.job));
    for (const auto& task : tasks) {
      const bool timed = task->state == State::kWaiting && task->deadline_us >= 0;
      if (timed && task->deadline_us <= now) task->state = State::kReady;
    }
  }

  bool jump_to_deadline() {
    int64_t earliest = later.empty() ? std::numeric_limits<int64_t>::max() : later.begin()->first;
    for (const auto& task : tasks) {
      const bool timed = task->state == State::kWaiting && task->deadline_us >= 0;
      if (timed) earliest = std::min(earliest, task->deadline_us);
    }
    if (earliest == std::numeric_limits<int64_t>::max()) return false;
    clock.advance_us(std::max<int64_t>(earliest - clock.steady_us(), 0));
    return true;
  }

  Task* first_in(State state) const {
    for (const auto& task : tasks) {
      if (task->state == state) return task.get();
    }
    return nullptr;
  }

  size_t count_of(Kind kind) const {
    return static_cast<size_t>(std::count_if(tasks.begin(), tasks.end(), [kind](const auto& task) {
      return task->kind == kind && task->state != State::kIdle;
    }));
  }

  // Nobody ready is known by now: only those who wait, with or without a timeout, are in the way.
  bool others_ended() const {
    return first_in(State::kWaiting) == nullptr && high.jobs.empty() && low.jobs.empty();
  }

  Task& start_job(Queue& queue) {
    auto [name, body] = std::move(queue.jobs.front());
    queue.jobs.pop_front();
    ++queue.under_way;
    return start(queue.kind, std::move(name), std::move(body));
  }

  // A ready task on a thread that is idle, or a new one.
  Task& start(Kind kind, std::string name, std::function<void()> body) {
    Task* task = first_in(State::kIdle);
    if (task == nullptr) {
      task = tasks.emplace_back(std::make_unique<Task>()).get();
      task->thread = std::thread([this, task] { serve(*task); });
    }
    task->kind = kind;
    task->name = std::move(name);
    task->body = std::move(body);
    task->state = State::kReady;
    return *task;
  }

  void serve(Task& me) {
    current = {this, &me};
    while (true) {
      me.turn.await();
      if (quitting) return;
      std::function<void()> body = std::exchange(me.body, nullptr);
      body();
      body = nullptr;  // what it captured must be gone before the task counts as ended
      if (mutexes_held() > 0) die("the end of " + me.name + " while it holds a Mutex");
      std::unique_lock<std::mutex> lock(mutex);
      if (me.kind == Kind::kHigh) --high.under_way;
      if (me.kind == Kind::kLow) --low.under_way;
      me.state = State::kIdle;
      pass_on(lock, me, "end");
    }
  }

  void yield(State state, const char* reason) {
    std::unique_lock<std::mutex> lock(mutex);
    Task& me = *current.task;
    me.state = state;
    pass_on(lock, me, reason);
  }

  void wait(const Event* event, uint64_t seen, int64_t timeout_us, const char* reason) {
    std::unique_lock<std::mutex> lock(mutex);
    Task& me = *current.task;
    const bool stepped = event != nullptr && event->count() > seen;
    me.state = stepped || timeout_us == 0 ? State::kReady : State::kWaiting;
    me.event = event;
    me.seen = seen;
    const int64_t now = clock.steady_us();
    const bool endless = timeout_us < 0 || timeout_us > std::numeric_limits<int64_t>::max() - now;
    me.deadline_us = endless ? -1 : now + timeout_us;
    pass_on(lock, me, reason);
    me.event = nullptr;
    me.deadline_us = -1;
  }

  void signalled(const Event* event) {
    for (const auto& task : tasks) {
      const bool waits = task->state == State::kWaiting && task->event == event;
      if (waits && event->count() > task->seen) task->state = State::kReady;
    }
  }

  std::string listing() const {
    std::string text;
    for (const auto& task : tasks) {
      if (task->state == State::kIdle) continue;
      text += "  " + task->name + ": " + name_of(task->state);
      if (task->state == State::kWaiting && task->event != nullptr) {
        text += " for an event beyond " + std::to_string(task->seen) + " (it stands at " +
                std::to_string(task->event->count()) + ")";
      }
      if (task->deadline_us >= 0) text += " until " + std::to_string(task->deadline_us) + " µs";
      text += "\n";
    }
    for (const Queue* queue : {&high, &low}) {
      for (const auto& job : queue->jobs) text += "  " + job.first + ": queued\n";
    }
    return text;
  }

  std::string schedule(uint64_t count) const {
    const size_t shown = std::min<size_t>(count, steps.size());
    std::string text;
    for (size_t i = steps.size() - shown; i < steps.size(); ++i) {
      text += "  " + std::to_string(step_count - steps.size() + i + 1) + "  " +
              std::to_string(steps[i].at_us) + " µs  " + steps[i].who + "  after " + steps[i].reason + "\n";
    }
    return text;
  }

  static constexpr size_t kStepsKept = 100'000;

  const Options options;
  ManualClock& clock;
  mutable std::mutex mutex;  // all below; the thread with the baton takes it to hand on
  Random random;
  Queue high;
  Queue low;
  std::vector<std::unique_ptr<Task>> tasks;  // in order of creation, so that a draw means the same each time
  Task* running = nullptr;
  std::deque<Step> steps;
  uint64_t step_count = 0;
  uint64_t jobs_submitted = 0;
  std::multimap<int64_t, Later> later;  // by the time they are due
  bool quitting = false;
  Current outer;
  OnOneProcessor on_one_processor;  // of the thread that constructs the executor, and later destroys it
};

class StepEvent final : public Event {
 public:
  explicit StepEvent(StepExecutor::Impl& executor) : executor_(executor) {}
  ~StepEvent() override {
    const std::lock_guard<std::mutex> lock(executor_.mutex);
    for (const auto& task : executor_.tasks) {
      if (task->event == this) executor_.die("an event is destroyed while " + task->name + " waits for it");
    }
  }

  uint64_t count() const override { return count_.load(); }

  void signal() override {
    const std::lock_guard<std::mutex> lock(executor_.mutex);
    count_.fetch_add(1);
    executor_.signalled(this);
  }

  void wait(uint64_t seen, int64_t timeout_us) override {
    (void)executor_.self("wait()");
    executor_.wait(this, seen, timeout_us, "wait");
  }

 private:
  StepExecutor::Impl& executor_;
  std::atomic<uint64_t> count_{0};
};

StepExecutor::StepExecutor(uint64_t seed, ManualClock& clock) : StepExecutor(Options{.seed = seed}, clock) {}

StepExecutor::StepExecutor(const Options& options, ManualClock& clock)
    : impl_(std::make_unique<Impl>(options, clock)) {
  Task* task = impl_->tasks.emplace_back(std::make_unique<Task>()).get();
  task->name = "main";
  task->state = State::kRunning;
  impl_->running = task;
  impl_->outer = std::exchange(current, Current{impl_.get(), task});
}

StepExecutor::~StepExecutor() {
  finish();
  {
    const std::lock_guard<std::mutex> lock(impl_->mutex);
    impl_->quitting = true;
    for (const auto& task : impl_->tasks) task->turn.give();
  }
  for (const auto& task : impl_->tasks) {
    if (task->thread.joinable()) task->thread.join();
  }
  current = impl_->outer;
}

void StepExecutor::submit(JobPriority priority, std::function<void()> job) {
  (void)impl_->self("submit()", true);
  {
    const std::lock_guard<std::mutex> lock(impl_->mutex);
    const bool is_high = priority == JobPriority::kHigh;
    std::string name = "job " + std::to_string(++impl_->jobs_submitted) + (is_high ? " (high)" : " (low)");
    impl_->queue_of(priority).jobs.emplace_back(std::move(name), std::move(job));
  }
  // Under a lock the others could run into it, which would stop everything: the job starts a little later
  // then.
  if (mutexes_held() == 0) impl_->yield(State::kReady, "submit");
}

void StepExecutor::submit_later(JobPriority priority, int64_t delay_us, std::function<void()> job) {
  (void)impl_->self("submit_later()", true);
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  std::string name = "job " + std::to_string(++impl_->jobs_submitted) + " (later)";
  impl_->later.emplace(impl_->clock.steady_us() + delay_us,
                       Impl::Later{&impl_->queue_of(priority), {std::move(name), std::move(job)}});
}

void StepExecutor::checkpoint() {
  (void)impl_->self("checkpoint()");
  impl_->yield(State::kReady, "checkpoint");
}

std::unique_ptr<Event> StepExecutor::make_event() { return std::make_unique<StepEvent>(*impl_); }

void StepExecutor::run_beside(std::string name, std::function<void()> body) {
  (void)impl_->self("run_beside()");
  {
    const std::lock_guard<std::mutex> lock(impl_->mutex);
    (void)impl_->start(Kind::kBeside, std::move(name), std::move(body));
  }
  impl_->yield(State::kReady, "run_beside");
}

void StepExecutor::settle() {
  (void)impl_->self("settle()");
  impl_->yield(State::kSettling, "settle");
}

void StepExecutor::join_beside() {
  (void)impl_->self("join_beside()");
  impl_->yield(State::kJoining, "join_beside");
}

void StepExecutor::finish() {
  (void)impl_->self("finish()");
  impl_->yield(State::kFinishing, "finish");
}

void StepExecutor::pause_us(int64_t us) {
  (void)impl_->self("pause_us()");
  impl_->wait(nullptr, 0, std::max<int64_t>(us, 0), "pause");
}

uint64_t StepExecutor::steps() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->step_count;
}

std::string StepExecutor::schedule(uint64_t count) const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->schedule(count);
}

std::string StepExecutor::listing() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->listing();
}

}  // namespace cellar::testing
