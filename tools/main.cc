// The program cellar: finds the sub-command, runs it, and ends with its status.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "base/plugins.h"
#include "tools/frame/command.h"
#include "tools/frame/help.h"
#include "tools/frame/operands.h"
#include "tools/frame/run_command.h"

namespace cellar {
namespace {

// Returns the word after the option: errors have their form even if the arguments cannot be parsed.
std::string word_of(const std::vector<std::string>& words, const std::string& option) {
  for (size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (words[i].starts_with(option + "=")) return words[i].substr(option.size() + 1);
    if (words[i] == option && i + 1 < words.size()) return words[i + 1];
  }
  return "";
}

// Applies CELLAR_MAX_BLOCK, if it is set.
Status set_block_limit() {
  constexpr uint64_t kLeast = 64 << 10;
  constexpr uint64_t kMost = 1 << 30;
  const char* const wanted = std::getenv("CELLAR_MAX_BLOCK");
  if (wanted == nullptr) return {};
  const Result<uint64_t> bytes = parse_size(wanted);
  if (!bytes.ok() || *bytes < kLeast || *bytes > kMost)
    return Status::invalid_argument("invalid CELLAR_MAX_BLOCK \"" + std::string(wanted) +
                                    "\": expected a size from 64k to 1g")
        .hinting("cellar help limits");
  set_block_bytes_max(*bytes);
  return {};
}

// A command that reads a store holds all its files open. The usual limit of 1,024 files is for programs that
// use select(), which this one does not.
void raise_open_files_limit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));  // with a low limit, a large store says so itself
}

int run(std::vector<std::string> words) {
  install_signal_handlers();
  raise_open_files_limit();
  register_tools_plugins();
  register_hfile_plugins();
  register_bloom_plugins();
  register_cache_plugins();
  register_compaction_plugins();
  Output out(STDOUT_FILENO);
  Session session(out);
  if (words.empty()) {
    session.talk(help_of_all());
    return static_cast<int>(Exit::kUsage);
  }
  std::string name = words.front();
  words.erase(words.begin());
  if (name == "--help" || name == "-h") name = "help";
  if (name == "--version") name = "version";
  session.set_format(format_of(word_of(words, "--format")));
  set_color(color_when(word_of(words, "--color")));
  if (const Status set = set_block_limit(); !set.ok())
    return static_cast<int>(session.end(usage_failure(session, set)));
  Status status;
  try {
    status = run_command(session, name, words);
  } catch (const std::exception& fault) {
    status = session.name_failure(
        "CEL-INTERNAL", Exit::kInternal,
        Status::with_code(Code::kIoError, fault.what())
            .hinting("this is a fault of the program: please report it (cellar help CEL-INTERNAL)"));
  }
  return static_cast<int>(session.end(status));
}

}  // namespace
}  // namespace cellar

int main(int argc, char** argv) { return cellar::run(std::vector<std::string>(argv + 1, argv + argc)); }
