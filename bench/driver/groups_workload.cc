// Workloads of bench/workload: load, run, check what the store holds, and count bytes.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/driver/groups.h"
#include "bench/workload/course.h"

namespace cellar::bench {
namespace {

void must(Run& run, const Status& status) {
  if (!status.ok()) give_up(run.peer().name() + ": " + status.to_text());
}

std::shared_ptr<Course> fresh_course(Run& run, const Workload& workload) {
  Result<std::unique_ptr<Course>> made = Course::make(workload, run.n());
  must(run, made.status());
  run.fresh({std::string(kFamily)});
  return std::move(made).value();
}

// Flushes everything, waits, and completes the bytes. Every cell that was put is then in a file.
void finish(Run& run, const Course& course, const FileBytes& before, Sample& sample) {
  run.peer().flush();
  run.peer().settle();
  sample.bytes->to_files = run.peer().file_bytes().written - before.written;
  Tally live;
  must(run, course.check(*run.peer().session(), live));
  sample.bytes->live = bytes_of_cells(live);
}

void describe(Run& run, const Workload& workload, Sample& sample) {
  sample.about = workload.to_text();
  sample.by_time = workload.seconds > 0;
  sample.bytes.emplace();
  sample.bytes->counted_by = run.peer().counted_by();
}

// Runs the clients of a course whose rows are loaded.
void run_clients(Run& run, const std::shared_ptr<Course>& course, Sample& sample) {
  const Workload& workload = course->workload();
  const uint64_t each = workload.total_ops(run.n()) / workload.threads;
  describe(run, workload, sample);
  std::vector<Work> works(workload.threads);
  const FileBytes before = run.peer().file_bytes();
  run.work(sample, workload.threads, [&](Worker& worker) {
    const std::unique_ptr<Client> client = course->client(worker.session, worker.index);
    must(run, client->run(each, workload.seconds));
    works[worker.index] = client->work();
    worker.times += client->work().times;
    worker.tally += client->work().read;
  });
  const FileBytes after = run.peer().file_bytes();
  sample.bytes->from_files.reset();
  if (after.read && before.read) sample.bytes->from_files = *after.read - *before.read;
  for (const Work& work : works) {
    sample.ops += work.ops;
    sample.call_seconds += work.seconds / static_cast<double>(workload.threads);
    sample.bytes->put += work.bytes_put;
    sample.bytes->returned += bytes_of_cells(work.read) + bytes_of_cells(work.read_meanwhile);
  }
  sample.after = [&run, course, before](Sample& done) { finish(run, *course, before, done); };
}

}  // namespace

void run_workload(Run& run, const Workload& workload) {
  if (workload.shape == Shape::kTimeSeries && !run.peer().has(Feature::kTimeToLive)) return;
  run.step(workload.name, Step::kAlone, "ops/s", [&](Sample& sample) {
    const std::shared_ptr<Course> course = fresh_course(run, workload);
    course->load(*run.peer().session());
    run.peer().flush();
    run.peer().settle();
    if (course->time_to_live() != 0)
      run.peer().set_time_to_live(std::string(kFamily), course->time_to_live());
    run.warm();
    run_clients(run, course, sample);
  });
}

void run_bulk(Run& run, const Workload& workload) {
  std::shared_ptr<Course> course;
  run.step("bulk_load", Step::kNeeded, "rows/s", [&](Sample& sample) {
    course = fresh_course(run, workload);
    describe(run, course->workload(), sample);
    sample.by_time = false;
    const FileBytes before = run.peer().file_bytes();
    const std::unique_ptr<Session> session = run.peer().session();
    sample.start();
    const Work work = course->load(*session);
    sample.stop();
    sample.ops = work.ops;
    sample.times = work.times;
    sample.call_seconds = work.seconds;
    sample.bytes->put = work.bytes_put;
    sample.after = [&run, course, before](Sample& done) { finish(run, *course, before, done); };
  });
  if (!run.more()) return;
  run.step(workload.name, Step::kAlone, "ops/s", [&](Sample& sample) { run_clients(run, course, sample); });
}

}  // namespace cellar::bench
