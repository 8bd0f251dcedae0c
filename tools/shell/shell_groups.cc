// Groups of commands.
#include "tools/shell/shell_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace cellar {
namespace {

constexpr std::array kHBaseGroups = {
    HBaseGroup{"general", "status version table_help whoami processlist"},
    HBaseGroup{"ddl",
               "alter create describe disable disable_all is_disabled drop drop_all enable enable_all "
               "is_enabled exists list show_filters alter_status alter_async get_table locate_region "
               "list_regions clone_table_schema list_enabled_tables list_disabled_tables"},
    HBaseGroup{"namespace",
               "create_namespace drop_namespace alter_namespace describe_namespace list_namespace "
               "list_namespace_tables"},
    HBaseGroup{"dml",
               "count delete deleteall get get_counter incr put scan truncate truncate_preserve append "
               "get_splits"},
    HBaseGroup{"tools",
               "assign balancer balance_switch balancer_enabled normalize normalizer_switch "
               "normalizer_enabled is_in_maintenance_mode clear_slowlog_responses close_region compact "
               "compaction_switch flush flush_master_store get_balancer_decisions get_balancer_rejections "
               "get_slowlog_responses get_largelog_responses major_compact move split merge_region unassign "
               "zk_dump wal_roll wal_roll_all hlog_roll hbck_chore_run catalogjanitor_run "
               "catalogjanitor_switch catalogjanitor_enabled cleaner_chore_run cleaner_chore_switch "
               "cleaner_chore_enabled compact_rs compaction_state trace snapshot_cleanup_switch "
               "snapshot_cleanup_enabled splitormerge_switch splitormerge_enabled clear_compaction_queues "
               "list_deadservers list_liveservers list_unknownservers clear_deadservers clear_block_cache "
               "stop_master stop_regionserver regioninfo rit list_decommissioned_regionservers "
               "decommission_regionservers recommission_regionserver truncate_region refresh_meta "
               "refresh_hfiles get_prefetched_files get_regionHistorian_responses"},
    HBaseGroup{"replication",
               "add_peer remove_peer list_peers enable_peer disable_peer set_peer_replicate_all "
               "set_peer_serial set_peer_namespaces append_peer_namespaces remove_peer_namespaces "
               "set_peer_exclude_namespaces append_peer_exclude_namespaces remove_peer_exclude_namespaces "
               "show_peer_tableCFs set_peer_tableCFs set_peer_exclude_tableCFs append_peer_exclude_tableCFs "
               "remove_peer_exclude_tableCFs set_peer_bandwidth list_replicated_tables append_peer_tableCFs "
               "remove_peer_tableCFs enable_table_replication disable_table_replication get_peer_config "
               "list_peer_configs update_peer_config transit_peer_sync_replication_state "
               "peer_modification_enabled peer_modification_switch"},
    HBaseGroup{"snapshots",
               "snapshot clone_snapshot restore_snapshot delete_snapshot delete_all_snapshot "
               "delete_table_snapshots list_snapshots list_table_snapshots"},
    HBaseGroup{"configuration", "update_config update_all_config update_rsgroup_config"},
    HBaseGroup{"quotas",
               "set_quota list_quotas list_quota_table_sizes list_quota_snapshots list_snapshot_sizes "
               "enable_rpc_throttle disable_rpc_throttle enable_exceed_throttle_quota "
               "disable_exceed_throttle_quota"},
    HBaseGroup{"security", "list_security_capabilities grant revoke user_permission"},
    HBaseGroup{"procedures", "abort_procedure list_procedures list_locks"},
    HBaseGroup{"visibility labels", "add_labels list_labels set_auths get_auths clear_auths set_visibility"},
    HBaseGroup{"keymeta",
               "enable_key_management show_key_status rotate_stk disable_key_management "
               "disable_managed_key refresh_managed_keys rotate_managed_key"},
    HBaseGroup{"rsgroup",
               "list_rsgroups get_rsgroup add_rsgroup remove_rsgroup balance_rsgroup move_servers_rsgroup "
               "move_tables_rsgroup move_namespaces_rsgroup move_servers_tables_rsgroup "
               "move_servers_namespaces_rsgroup get_server_rsgroup get_table_rsgroup "
               "remove_servers_rsgroup rename_rsgroup alter_rsgroup_config show_rsgroup_config "
               "get_namespace_rsgroup"},
    HBaseGroup{"storefiletracker", "change_sft change_sft_all"},
};

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  std::ranges::sort(words);
  return words;
}

std::string help_of(const HBaseGroup& group) {
  std::string text;
  std::vector<std::pair<std::string_view, std::vector<std::string>>> absent;  // by reason
  for (const std::string& name : words_of(group.commands)) {
    if (const ShellVerb* const verb = find_shell_verb(name)) {
      text += (text.empty() ? "" : "\n") + help_of(*verb);
      continue;
    }
    const std::string_view why = why_not_here(name);
    auto same = std::ranges::find(absent, why, [](const auto& each) { return each.first; });
    if (same == absent.end()) same = absent.insert(absent.end(), {why, {}});
    same->second.push_back(name);
  }
  for (const auto& [why, names] : absent)
    text += fmt::format("{}{}: {}\n", text.empty() ? "" : "\n", fmt::join(names, ", "), why);
  return text;
}

}  // namespace

std::span<const HBaseGroup> hbase_groups() { return kHBaseGroups; }

std::vector<ShellGroup> shell_groups() {
  return {{"read", shell_read_verbs()},
          {"write", shell_write_verbs()},
          {"tables", shell_table_verbs()},
          {"sets of tables", shell_table_set_verbs()},
          {"snapshots", shell_snapshot_verbs()},
          {"store and shell", shell_other_verbs()},
          {"how the shell answers", shell_setting_verbs()}};
}

std::string help_of(const ShellVerb& verb) {
  const size_t end = std::min(verb.usage.find('\n'), verb.usage.size());
  std::string text = fmt::format("usage: {}\n\n{}.\n", verb.usage.substr(0, end), verb.summary);
  if (end < verb.usage.size()) text += fmt::format("\n{}\n", verb.usage.substr(end + 1));
  return text;
}

std::string help_of_group(std::string_view name) {
  for (const HBaseGroup& group : kHBaseGroups)
    if (group.name == name) return help_of(group);
  std::string text;
  for (const ShellGroup& group : shell_groups())
    for (const ShellVerb& verb : group.name == name ? group.verbs : std::span<const ShellVerb>())
      text += (text.empty() ? "" : "\n") + help_of(verb);
  return text;
}

std::vector<std::string> group_names() {
  std::vector<std::string> names;
  for (const ShellGroup& group : shell_groups()) names.emplace_back(group.name);
  for (const HBaseGroup& group : kHBaseGroups)
    if (std::ranges::find(names, group.name) == names.end()) names.emplace_back(group.name);
  return names;
}

}  // namespace cellar
