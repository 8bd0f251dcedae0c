// ShellEditor: lines typed at a terminal, with history and completion where libedit is built in.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/shell/shell_completion.h"

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
  // `complete` says what a line with the cursor at this byte may go on with.
  using Complete = std::function<ShellCompletion(std::string_view line, size_t cursor)>;
  bool read_line(const std::string& prompt, Complete complete, std::string& line);
  // The lines typed, oldest first, those of the file included; none where libedit is not built in.
  std::vector<std::string> history() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cellar
