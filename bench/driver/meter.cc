// Meter: reads the kernel's accounts of this process and of the machine.
#include "bench/driver/meter.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

namespace cellar::bench {
namespace {

double own_cpu() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Seconds that all processors were busy: user, nice, system, irq and softirq of the first line of /proc/stat.
double machine_cpu() {
  std::ifstream stat("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0;
  stat >> name >> user >> nice >> system >> idle >> wait >> irq >> softirq;
  return (user + nice + system + irq + softirq) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void each_file(const std::string& path, const std::function<void(const std::string&)>& visit) {
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path, error)) {
    if (entry.is_regular_file(error)) visit(entry.path().string());
  }
}

}  // namespace

uint64_t account(const char* path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    if (word != key) continue;
    uint64_t value = 0;
    file >> value;
    return value;
  }
  return 0;
}

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

int64_t steady_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000 + now.tv_nsec;
}

Meter::Meter() {
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak of memory begins anew
  written_ = account("/proc/self/io", "write_bytes:");
  machine_ = machine_cpu();
  cpu_ = own_cpu();
  begin_ns_ = steady_ns();
}

Cost Meter::stop() const {
  Cost cost;
  cost.seconds = static_cast<double>(steady_ns() - begin_ns_) * 1e-9;
  cost.cpu_seconds = own_cpu() - cpu_;
  const double foreign = machine_cpu() - machine_ - cost.cpu_seconds;
  cost.foreign_seconds = foreign > 0 ? foreign : 0;
  cost.bytes_written = account("/proc/self/io", "write_bytes:") - written_;
  cost.peak_memory = account("/proc/self/status", "VmHWM:") * 1024;
  return cost;
}

FileBytes bytes_of_calls() {
  return {.written = account("/proc/self/io", "wchar:"), .read = account("/proc/self/io", "rchar:")};
}

uint64_t bytes_on_disk(const std::string& path) {
  uint64_t bytes = 0;
  each_file(path, [&](const std::string& file) {
    struct stat found {};
    if (::stat(file.c_str(), &found) == 0) bytes += static_cast<uint64_t>(found.st_blocks) * 512;
  });
  return bytes;
}

uint64_t files_below(const std::string& path) {
  uint64_t files = 0;
  each_file(path, [&](const std::string&) { ++files; });
  return files;
}

void drop_pages(const std::string& path) {
  each_file(path, [](const std::string& file) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    ::fdatasync(fd);
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
  });
}

void load_pages(const std::string& path) {
  std::vector<char> room(1u << 20);
  each_file(path, [&](const std::string& file) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    while (::read(fd, room.data(), room.size()) > 0) {
    }
    ::close(fd);
  });
}

}  // namespace cellar::bench
