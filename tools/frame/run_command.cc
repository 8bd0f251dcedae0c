// Runs one sub-command.
#include "tools/frame/run_command.h"

#include <memory>
#include <utility>

#include "tools/frame/command.h"
#include "tools/frame/help.h"
#include "tools/frame/operands.h"

namespace cellar {

Status usage_failure(Session& session, Status status) {
  return session.name_failure("CEL-USAGE", Exit::kUsage, std::move(status));
}

Status run_command(Session& session, const std::string& name, const std::vector<std::string>& words) {
  Result<std::unique_ptr<Command>> made = make_command(name);
  if (!made.ok()) return usage_failure(session, made.status());
  Command& command = **made;
  Arguments arguments("cellar " + name, std::string(command.summary()));
  command.declare(arguments);
  const Status parsed = arguments.parse(words);
  if (arguments.help_wanted()) {
    session.out().allow_pager(!arguments.no_pager());
    session.out().write(arguments.help());
    return {};
  }
  if (!parsed.ok()) return usage_failure(session, parsed);
  session.set_format(format_of(arguments.format()));
  if (!command.takes_clusters()) {
    for (const std::string& operand : arguments.operand_values())
      if (is_cluster(operand)) return cluster_refusal(operand);
  }
  session.set_quiet(arguments.quiet());
  session.out().allow_pager(!arguments.no_pager());
  return command.run(session);
}

}  // namespace cellar
