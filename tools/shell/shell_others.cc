// The shell's commands about the store and the shell itself, and answers to those that only a cluster can
// carry out.
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "cellar/environment.h"
#include "cellar/filter.h"
#include "cellar/plugin.h"
#include "tools/frame/help.h"
#include "tools/frame/operands.h"
#include "tools/shell/shell_call.h"
#include "tools/shell/shell_groups.h"
#include "tools/store/store_reports.h"

namespace cellar {
namespace {

// Names that HBase's shell has and a store cannot have, each group with its answer.
struct Absent {
  std::string_view names;  // between blanks; a name that ends in * stands for all that begin so
  std::string_view why;
};
constexpr std::array kAbsent = {
    Absent{" list_regions locate_region assign unassign move split merge_region close_region regioninfo rit "
           "compact_rs is_in_maintenance_mode hbck_chore_run split* truncate_region "
           "get_regionHistorian_responses ",
           "a table of a store is not cut into regions; cellar describe shows its files, cellar split cuts "
           "HFiles"},
    Absent{" balancer balance_switch balancer_enabled normalize normalizer_switch normalizer_enabled "
           "compaction_switch catalogjanitor* cleaner_chore* get_balancer_decisions get_balancer_rejections "
           "list_deadservers list_liveservers list_unknownservers clear_deadservers decommission* "
           "list_decommissioned_regionservers recommission_regionserver stop_master stop_regionserver "
           "zk_dump abort_procedure list_procedures list_locks update_config update_all_config "
           "flush_master_store refresh_meta refresh_hfiles disable_compaction_offload "
           "enable_compaction_offload ",
           "a store is one process and has no servers to manage; status describes it"},
    Absent{" add_peer remove_peer enable_peer disable_peer update_peer_config list_peers list_peer_configs "
           "get_peer_config set_peer* append_peer* remove_peer* show_peer_tableCFs "
           "transit_peer_sync_replication_state peer_modification_enabled peer_modification_switch "
           "list_replicated_tables enable_table_replication disable_table_replication ",
           "a store does not replicate; cellar export and cellar load carry cells elsewhere"},
    Absent{" grant revoke user_permission list_security_capabilities add_labels list_labels set_auths "
           "get_auths clear_auths set_visibility ",
           "a store has no users of its own; the permissions of its directory say who may open it"},
    Absent{" set_quota list_quotas list_quota* list_snapshot_sizes enable_rpc_throttle disable_rpc_throttle "
           "enable_exceed_throttle_quota disable_exceed_throttle_quota ",
           "a store has no quotas; the file system's hold for its directory"},
    Absent{" enable_key_management disable_key_management show_key_status rotate_stk disable_managed_key "
           "refresh_managed_keys rotate_managed_key ",
           "a store does not encrypt; a file system can"},
    Absent{" compact_mob major_compact_mob ",
           "values are stored in their cells; compact and major_compact rewrite both"},
    Absent{" snapshot_cleanup* ", "a snapshot stays until it is dropped"},
    Absent{" create_namespace alter_namespace describe_namespace drop_namespace list_namespace "
           "list_namespace_tables ",
           "a store has no namespaces; 'ns:table' is only a name"},
    Absent{" add_rsgroup alter_rsgroup_config balance_rsgroup get_rsgroup get_namespace_rsgroup "
           "get_server_rsgroup get_table_rsgroup list_rsgroups move_* remove_rsgroup remove_servers_rsgroup "
           "rename_rsgroup show_rsgroup_config update_rsgroup_config ",
           "a store is one process and has no groups of servers"},
    Absent{" clear_block_cache clear_compaction_queues clear_slowlog_responses get_slowlog_responses "
           "get_largelog_responses get_prefetched_files trace wal_roll wal_roll_all hlog_roll change_sft "
           "change_sft_all ",
           "this shell has no such command; the cache is empty when the shell starts, and .explain on "
           "prints what a read costs"},
    Absent{" get_table ", "the shell has no variables; every command names its table: scan 't'"},
    Absent{" if for while def puts print require import load class begin each ",
           "the shell runs commands, not Ruby; a program in any language can write a file for -f"},
};

bool names_hold(std::string_view names, std::string_view name) {
  if (names.find(fmt::format(" {} ", name)) != std::string_view::npos) return true;
  for (size_t star = names.find('*'); star != std::string_view::npos; star = names.find('*', star + 1)) {
    const size_t from = names.rfind(' ', star) + 1;
    if (name.starts_with(names.substr(from, star - from))) return true;
  }
  return false;
}

// The kind that is asked for; a note about those that only a cluster has.
Result<std::string> status_kind(ShellCall& call) {
  const std::vector<std::string> kinds = {"simple", "detailed", "summary"};
  if (call.positions() == 0) return std::string();
  CELLAR_TRY_ASSIGN(const std::string kind, call.text(0));
  if (std::ranges::find(kinds, kind) != kinds.end()) return kind;
  if (kind == "replication" || kind == "tasks") {
    call.session().talk(
        fmt::format("note   '{}' has no effect: a store is one process that does not "
                    "replicate; processlist shows flushes and compactions",
                    kind));
    return kind;
  }
  const std::string nearest = nearest_name(kind, kinds);
  return call.fault(call.position(0), fmt::format("unknown status \"{}\"", escaped(kind)),
                    nearest.empty() ? "simple, detailed, summary" : fmt::format("did you mean {}?", nearest));
}

Status run_status(ShellCall& call) {
  CELLAR_TRY(call.take({}, 0, 2));
  CELLAR_TRY(call.answers_a_document());
  CELLAR_TRY_ASSIGN(const std::string kind, status_kind(call));
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  if (call.on_cluster())
    return Status::not_supported("a cluster does not tell its sizes")
        .hinting("use the status of HBase's own shell");
  Session& session = call.session();
  print_status(session, *store);
  if (kind != "detailed" || session.format() != Format::kTable) return {};
  for (const std::string& name : store->list_tables()) {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, store->open_table(name));
    session.out().write("\n" + description_text(table->info(), true));
  }
  return {};
}

Status run_whoami(ShellCall& call) {
  CELLAR_TRY(call.take({}, 0, 0));
  const passwd* const user = ::getpwuid(::geteuid());
  const std::string name =
      user != nullptr && user->pw_name != nullptr ? user->pw_name : std::to_string(::geteuid());
  call.answer(fmt::format("{} (the operating system's user; a store has none of its own)", escaped(name)),
              "user", name);
  return {};
}

// HBase's words choose among tasks of servers; here there is one kind.
Status run_processlist(ShellCall& call) {
  CELLAR_TRY(call.take({}, 0, 2));
  if (call.positions() > 0)
    call.session().talk("note   a store has one process and one kind of tasks: flushes and compactions");
  CELLAR_TRY(call.engine().status());
  Session& session = call.session();
  const std::vector<ShellActivity::Work> running = call.state().activity.running();
  Records records(session.out(), session.format(), "cellar.shell-processes/1", "processes");
  for (const ShellActivity::Work& work : running) {
    records.text("what", work.what).bytes("table", work.table).bytes("family", work.family);
    records.count("files", work.files);
    records.number("ms", (system_clock().steady_us() - work.began_us) / 1000).add();
  }
  records.finish();
  if (session.format() == Format::kTable)
    session.talk(running.empty() ? "no flush or compaction is running" : counted(running.size(), "task"));
  return {};
}

Status run_version(ShellCall& call) {
  CELLAR_TRY(call.take({}, 0, 0));
  CELLAR_TRY(call.answers_a_document());
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Command> version, make_command("version"));
  return version->run(call.session());
}

Status run_show_filters(ShellCall& call) {
  CELLAR_TRY(call.take({}, 0, 0));
  Session& session = call.session();
  Records records(session.out(), session.format(), "cellar.shell/1", "answers");
  for (const std::string& name : filter_names()) {
    if (session.format() != Format::kRaw && session.format() != Format::kTable)
      records.text("name", "filter");
    records.text(session.format() == Format::kTable ? "filter" : "value", name).add();
  }
  records.finish();
  return {};
}

Status run_compaction_state(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  bool minor = false;
  bool major = false;
  for (const ShellActivity::Work& work : call.state().activity.running()) {
    if (work.table != table->name()) continue;
    major = major || work.what == "major compaction";
    minor = minor || work.what == "compaction";
  }
  const std::string_view state = major ? (minor ? "MAJOR_AND_MINOR" : "MAJOR") : (minor ? "MINOR" : "NONE");
  call.answer(state, "compaction_state", state);
  return {};
}

// As HBase's shell does: the number is that of the regions. Raw lines are those of a file of splits.
Status print_splits(ShellCall& call, Table& table) {
  CELLAR_TRY_ASSIGN(const std::vector<std::string> starts, table.region_starts());
  Session& session = call.session();
  const Format format = session.format();
  std::string text;
  if (format == Format::kTable) text = fmt::format("Total number of splits = {}\n", starts.size());
  for (size_t i = 1; i < starts.size(); ++i) text += escaped(starts[i]) + "\n";
  if (format == Format::kTable || format == Format::kRaw) return session.out().write(text), Status();
  Records records(session.out(), format, "cellar.shell/1", "answers");
  records.text("name", "splits").count("value", starts.size() - 1).add();
  for (size_t i = 1; i < starts.size(); ++i) records.text("name", "split").bytes("value", starts[i]).add();
  records.finish();
  return {};
}

Status run_get_splits(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  if (call.on_cluster()) return print_splits(call, *table);
  call.answer_count("a table of a store is one region and has no splits", "splits", 0);
  return {};
}

Status run_quit(ShellCall& call) {
  CELLAR_TRY(call.take({}, 0, 1));
  call.state().quit = true;
  return {};
}

std::string overview() {
  std::string text;
  for (const auto& [title, verbs] : shell_groups()) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", title);
    for (const ShellVerb& verb : verbs) text += fmt::format("  {:<22} {}\n", verb.name, verb.summary);
  }
  return text +
         "\nHBase's syntax, put 't', 'row', 'f:q', 'value', or plain words, put t row f:q value.\n"
         "In \"…\" \\x00 is a byte, in '…' it is four characters. help 'scan' explains scan;\n"
         "help 'read', or HBase's help 'dml', explains a group.\n";
}

Status run_help(ShellCall& call) {
  CELLAR_TRY(call.take({}, 0, 1));
  if (call.positions() == 0) {
    call.explain(overview());
    return {};
  }
  CELLAR_TRY_ASSIGN(const std::string name, call.text(0));
  if (const ShellVerb* const verb = find_shell_verb(name)) {
    call.explain(help_of(*verb));
    return {};
  }
  if (const std::string group = help_of_group(name); !group.empty()) {
    call.explain(group);
    return {};
  }
  if (const std::string_view why = why_not_here(name); !why.empty()) {
    call.explain(fmt::format("{}: {}\n", escaped(name), why));
    return {};
  }
  std::vector<std::string> names = shell_verb_names();
  for (std::string& group : group_names()) names.push_back(std::move(group));
  const std::string nearest = nearest_name(name, names);
  return call.fault(call.position(0), fmt::format("unknown command or group \"{}\"", escaped(name)),
                    nearest.empty() ? "help lists the commands; groups: " +
                                          fmt::format("{}", fmt::join(group_names(), ", "))
                                    : fmt::format("did you mean {}?", nearest));
}

// HBase's shell has this one group as a command, too.
Status run_tools(ShellCall& call) {
  CELLAR_TRY(call.take({}, 0, 0));
  call.explain(help_of_group("tools"));
  return {};
}

Status run_table_help(ShellCall& call) {
  CELLAR_TRY(call.take({}, 0, 0));
  std::string text =
      "Every command names its table first. Methods of a table in HBase's shell, such as t.scan and\n"
      "t.get 'row', are written here as\n\n";
  for (const auto& verbs : {shell_read_verbs(), shell_write_verbs()})
    for (const ShellVerb& verb : verbs)
      text += fmt::format("  {}\n", verb.usage.substr(0, verb.usage.find('\n')));
  call.explain(text + "\nhelp 'scan' shows a command with examples.\n");
  return {};
}

constexpr std::array kOtherVerbs = {
    ShellVerb{"status", "status ['simple'|'detailed'|'summary']\nstatus\nstatus 'detailed'",
              "Print the sizes of the store, and what recovery found at open", run_status},
    ShellVerb{"version", "version\nversion\n.format json; version",
              "Print the version, and the codecs, encodings and policies", run_version},
    ShellVerb{"whoami", "whoami\nwhoami\n.format json; whoami", "Print the user of the operating system",
              run_whoami},
    ShellVerb{"processlist", "processlist\nprocesslist\nmajor_compact 'orders'; processlist",
              "List the running flushes and compactions", run_processlist},
    ShellVerb{"show_filters", "show_filters\nshow_filters\n.format csv; show_filters",
              "List the filters for FILTER (cellar help filters)", run_show_filters},
    ShellVerb{
        "compaction_state",
        "compaction_state 't'\ncompaction_state 'orders'\nmajor_compact 'orders'; compaction_state 'orders'",
        "Print whether a compaction of the table is running: NONE, MINOR or MAJOR", run_compaction_state},
    ShellVerb{"get_splits", "get_splits 't'\nget_splits 'orders'\nget_splits orders",
              "Print the first rows of a cluster's regions; a store has none", run_get_splits},
    ShellVerb{"help", "help ['command']\nhelp 'scan'\nhelp 'dml'",
              "List the commands, or explain one command or a group", run_help},
    ShellVerb{"tools", "tools\ntools\ntools; help 'compact'", "The same as help 'tools'", run_tools},
    ShellVerb{"table_help", "table_help\ntable_help\ntable_help; help 'scan'",
              "List the commands that take a table", run_table_help},
    ShellVerb{"exit", "exit\nexit\nflush 'orders'; exit", "End the shell, like the end of the input",
              run_quit},
    ShellVerb{"quit", "quit\nquit\nflush 'orders'; quit", "The same as exit", run_quit},
};

}  // namespace

std::span<const ShellVerb> shell_other_verbs() { return kOtherVerbs; }

std::string_view why_not_here(std::string_view name) {
  for (const Absent& each : kAbsent)
    if (!name.empty() && name.find_first_of(" *") == std::string_view::npos && names_hold(each.names, name))
      return each.why;
  return "";
}

}  // namespace cellar
