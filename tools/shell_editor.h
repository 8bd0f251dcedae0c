// ShellEditor: lines typed at a terminal, with history and completion where libedit is built in.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace cellar {

// One at a time: libedit asks it for completions. The history is kept in $XDG_STATE_HOME/cellar, or
// ~/.local/state/cellar.
class ShellEditor {
 public:
  explicit ShellEditor(bool history);
  ~ShellEditor();
  ShellEditor(const ShellEditor&) = delete;
  ShellEditor& operator=(const ShellEditor&) = delete;

  // The next line with its '\n'; false at the end of the input. After an interrupt the line is empty.
  // `words` complete what is typed.
  bool read_line(const std::string& prompt, std::vector<std::string> words, std::string& line);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cellar
