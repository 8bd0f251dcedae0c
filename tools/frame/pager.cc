// The pager as a child whose standard input is a pipe.
#include "tools/frame/pager.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>

#include "tools/frame/colour.h"

extern char** environ;

namespace cellar {

std::vector<std::string> pager_words() {
  if (is_dumb_terminal()) return {};
  const char* command = std::getenv("CELLAR_PAGER");
  if (command == nullptr) command = std::getenv("PAGER");
  if (command == nullptr) command = "less";
  std::istringstream text(command);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  if (words.size() == 1 && words[0] == "cat") words.clear();
  return words;
}

int Pager::start() {
  std::vector<std::string> words = pager_words();
  if (words.empty()) return -1;
  ::setenv("LESS", "FRX", /*overwrite=*/0);
  int pipe[2] = {-1, -1};
  if (::pipe2(pipe, O_CLOEXEC) != 0) return -1;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe[0], STDIN_FILENO);
  // The program must end with its terminal and its reader as usual, whatever is ignored here.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int failed = ::posix_spawnp(&child_, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[0]);
  if (failed != 0) {
    ::close(pipe[1]);
    child_ = 0;
    return -1;
  }
  return input_ = pipe[1];
}

void Pager::finish() {
  if (child_ <= 0) return;
  ::close(input_);
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = 0;
  input_ = -1;
}

}  // namespace cellar
