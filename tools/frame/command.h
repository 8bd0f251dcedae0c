// Command: one sub-command of the program cellar. A plug-in: tools/cmd_<name>.cc.
#pragma once

#include <string_view>

#include "cellar/plugin.h"
#include "cellar/status.h"
#include "tools/frame/arguments.h"
#include "tools/frame/session.h"

namespace cellar {

// Where a command stands in `cellar help`.
enum class CommandGroup { kFiles, kStore, kMove, kOther };

// Made once per run of the program: declare() binds members to arguments, run() uses them.
class Command {
 public:
  virtual ~Command() = default;
  virtual CommandGroup group() const = 0;
  // Returns what the command does, in one line without a full stop.
  virtual std::string_view summary() const = 0;
  virtual void declare(Arguments& arguments) = 0;
  // Returns whether the name of a cluster ("hbase://master:16000") may stand in the place of a store's
  // directory. For all other commands the program refuses such a name before run().
  virtual bool takes_clusters() const { return false; }
  // An error ends the program with the exit status of its code; a negative answer is
  // session.answer_negative().
  virtual Status run(Session& session) = 0;
};

}  // namespace cellar
