// cellar config: the options in effect, what each of them means, and whether they fit together.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/bytes.h"
#include "cellar/metrics.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/store/config_check.h"
#include "tools/store/config_file.h"
#include "tools/store/engine_settings.h"
#include "tools/store/hbase_keys.h"
#include "tools/store/option_pages.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

using OptionList = std::vector<std::pair<std::string, std::string>>;

// The file of a configuration is written by hand.
constexpr uint64_t kFileBytesMax = 1 << 20;

std::string value_in(const OptionList& options, const std::string& name) {
  const auto found = std::ranges::find_if(options, [&](const auto& option) { return option.first == name; });
  return found == options.end() ? std::string() : found->second;
}

class ConfigCommand final : public Command {
 public:
  explicit ConfigCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override {
    return "Show the options in effect, explain an option, check that options fit together";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("ACTION", action_, "show, explain or check")
        .operand("WHAT", what_,
                 "show: STORE; explain: OPTION, also HBase's name or key; check: STORE or FILE")
        .optional_operand("TABLE", table_, "show: only this table")
        .flag("--set", only_set_, "show: only options that differ from their default")
        .note("show    tells where each value comes from: default, environment (CELLAR_ENGINE), table,")
        .note("        family, or engine, where a table or family takes the engine's. A store does not")
        .note("        remember the engine's options: a program may have opened it with others.")
        .note("check   FILE has lines \"name = value\" below [engine], [table T] and [family T:F]. The exit")
        .note("        status is 1 if options contradict each other.")
        .example("cellar config show shop orders --set", "the options that somebody set")
        .example("cellar config explain VERSIONS", "range, default, effect and HBase's name")
        .example("cellar config check shop", "options of the store that do not fit together")
        .more_example("cellar config explain hbase.hstore.blockingWaitTime", "the option in its place")
        .more_example("cellar config check shop.conf --format json", "the same of a file, for a program");
  }

  Status run(Session& session) override {
    const bool shows = action_ == "show";
    if (!shows && action_ != "explain" && action_ != "check")
      return unknown_action(action_, {"show", "explain", "check"});
    if (!shows && (only_set_ || !table_.empty()))
      return session.name_failure("CEL-USAGE", Exit::kUsage,
                                  Status::invalid_argument(fmt::format("config {} does not take {}", action_,
                                                                       only_set_ ? "--set" : "TABLE")));
    if (shows) return show(session);
    return action_ == "explain" ? explain(session) : check(session);
  }

 private:
  // ---- show

  void add(Records& records, const std::string& of, const std::string& name, const std::string& value,
           std::string_view from) const {
    if (only_set_ && from == "default") return;
    records.text("of", of).text("option", name).text("value", value, escaped(value)).text("from", from).add();
  }

  Status show(Session& session) const {
    EngineOptions engine_options;
    CELLAR_TRY(apply_engine_settings(session, engine_options));
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_store(session, what_, OpenFor::kLooking));
    std::vector<TableInfo> tables;
    for (const std::string& name : table_.empty() ? engine->list_tables() : std::vector{table_}) {
      CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, open_table(session, *engine, what_, name));
      tables.push_back(table->info());
    }
    CELLAR_TRY(engine->close());
    Records records(session.out(), session.format(), "cellar.config/1", "options");
    const OptionList of_engine = option_list(engine_options);
    const OptionList usual = option_list(EngineOptions());
    if (table_.empty())
      for (const auto& [name, value] : of_engine)
        add(records, "engine", name, value, value == value_in(usual, name) ? "default" : "environment");
    for (const TableInfo& table : tables) {
      show_table(records, table, of_engine);
      for (const FamilyInfo& family : table.families)
        show_family(records, table.name, family.options, engine_options);
    }
    records.finish();
    return {};
  }

  // Adds the engine's value of an option that a table or family leaves to the engine.
  void add_inherited(Records& records, const std::string& of, const std::string& name,
                     const std::string& value, const std::string& usual) const {
    if (!only_set_ || value != usual) add(records, of, name, value, "engine");
  }

  void show_table(Records& records, const TableInfo& table, const OptionList& of_engine) const {
    const OptionList usual = option_list(TableOptions());
    for (const auto& [name, value] : option_list(table.options)) {
      const bool is_usual = value == value_in(usual, name);
      const bool takes_engines = name == "durability" || name == "memtable_bytes";
      if (is_usual && takes_engines)
        add_inherited(records, shown_name(table.name), name, value_in(of_engine, name),
                      value_in(option_list(EngineOptions()), name));
      else
        add(records, shown_name(table.name), name, value, is_usual ? "default" : "table");
    }
  }

  void show_family(Records& records, const std::string& table, const FamilyOptions& family,
                   const EngineOptions& engine) const {
    const std::string of = shown_name(table) + ":" + shown_name(family.name);
    const OptionList usual = option_list(FamilyOptions());
    for (const auto& [name, value] : option_list(family)) {
      const bool is_usual = value == value_in(usual, name);
      if (is_usual && name == "files_stop")
        add_inherited(records, of, name, std::to_string(engine.files_stop),
                      std::to_string(EngineOptions().files_stop));
      else if (is_usual && name == "major_compaction_interval_ms")
        add_inherited(records, of, name, std::to_string(engine.major_compaction_interval_s * 1000), "0");
      else
        add(records, of, name, value, is_usual ? "default" : "family");
    }
  }

  // ---- explain

  static std::vector<HBaseKey> keys_of(const OptionPage& page) {
    std::vector<HBaseKey> keys;
    for (const HBaseKey& each : hbase_keys())
      if (each.scope == page.scope && each.option == page.name) keys.push_back(each);
    return keys;
  }

  static bool is_asked(const OptionPage& page, std::string_view asked) {
    const auto is_key = [&](const HBaseKey& each) { return same_but_for_case(each.key, asked); };
    return same_but_for_case(page.name, asked) ||
           (!page.hbase_name.empty() && same_but_for_case(page.hbase_name, asked)) ||
           std::ranges::any_of(keys_of(page), is_key);
  }

  static std::string text_of(const OptionPage& page) {
    std::string text = fmt::format("{} of {}\n", page.name,
                                   page.scope == "engine"  ? "the engine (EngineOptions)"
                                   : page.scope == "table" ? "a table (TableOptions)"
                                                           : "a family (FamilyOptions)");
    const auto line = [&](std::string_view name, std::string_view value) {
      if (!value.empty()) text += fmt::format("  {:<13} {}\n", name, value);
    };
    line("default", page.standard);
    line("may be", page.range);
    line("HBase's name", page.hbase_name);
    for (const HBaseKey& each : keys_of(page))
      line("HBase's key",
           each.note.empty() ? std::string(each.key) : fmt::format("{}: {}", each.key, each.note));
    line("example", page.example.empty() ? "" : fmt::format("{}={}", page.name, page.example));
    line("effect", page.purpose);
    return text;
  }

  Status explain(Session& session) const {
    std::vector<OptionPage> found;
    std::vector<std::string> names;
    for (const OptionPage& page : option_pages()) {
      names.emplace_back(page.name);
      if (is_asked(page, what_)) found.push_back(page);
    }
    for (const HBaseKey& each : hbase_keys()) names.push_back(lower_ascii(each.key));
    if (found.empty()) {
      std::string nearest = nearest_name(lower_ascii(what_), names);
      for (const HBaseKey& each : hbase_keys())
        if (same_but_for_case(each.key, nearest)) nearest = each.key;
      return Status::not_found(fmt::format("unknown option \"{}\"", escaped(what_)))
          .hinting(nearest.empty() ? "docs/options.md lists all options"
                                   : fmt::format("did you mean {}?", nearest));
    }
    if (session.format() == Format::kTable) {
      for (const OptionPage& page : found)
        session.out().write((&page == &found.front() ? "" : "\n") + text_of(page));
      return {};
    }
    Records records(session.out(), session.format(), "cellar.config.explain/1", "options");
    for (const OptionPage& page : found) {
      std::string keys;
      for (const HBaseKey& each : keys_of(page)) keys += (keys.empty() ? "" : ", ") + std::string(each.key);
      records.text("scope", page.scope)
          .text("option", page.name)
          .text("default", page.standard)
          .text("range", page.range)
          .text("hbase_name", page.hbase_name)
          .text("hbase_keys", keys)
          .text("example", page.example)
          .text("purpose", page.purpose)
          .add();
    }
    records.finish();
    return {};
  }

  // ---- check

  Result<Configuration> configuration_of_store(Session& session) const {
    Configuration configuration;
    CELLAR_TRY(read_engine_settings(session, configuration.engine));
    if (!validate(configuration.engine).ok()) return configuration;  // with these, no store opens
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_store(session, what_, OpenFor::kLooking));
    for (const std::string& name : engine->list_tables()) {
      CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, engine->open_table(name));
      configuration.tables[name] = table->info().options;
    }
    CELLAR_TRY(engine->close());
    return configuration;
  }

  Result<Configuration> configuration_of_file() const {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<ReadableFile> file, posix_file_system().open_file(what_));
    if (file->size() > kFileBytesMax)
      return Status::with_code(Code::kLimit,
                               fmt::format("a file of options has at most {}", human_bytes(kFileBytesMax)));
    std::string text(file->size(), '\0');
    CELLAR_TRY(file->read(0, text.size(), text.data()));
    return parse_configuration(text);
  }

  Status check(Session& session) const {
    std::error_code error;
    const bool is_file = std::filesystem::is_regular_file(what_, error);
    Result<Configuration> configuration = is_file ? configuration_of_file() : configuration_of_store(session);
    if (!configuration.ok())
      return is_file ? configuration.status().with_context(what_) : configuration.status();
    const std::vector<ConfigFinding> findings = check_configuration(*configuration);
    if (std::ranges::any_of(findings, &ConfigFinding::contradiction)) session.answer_negative();
    if (session.format() == Format::kTable && findings.empty()) {
      session.out().write_verdict("ok  the options fit together\n", Style::kGood);
      return {};
    }
    Records records(session.out(), session.format(), "cellar.config.check/1", "findings");
    for (const ConfigFinding& each : findings)
      records.text("kind", each.contradiction ? "contradiction" : "advice")
          .text("of", each.where)
          .text("finding", each.text)
          .text("hint", each.hint)
          .add();
    records.finish();
    return {};
  }

  std::string action_;
  std::string what_;
  std::string table_;
  bool only_set_ = false;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_config, "config", ConfigCommand)

}  // namespace cellar
