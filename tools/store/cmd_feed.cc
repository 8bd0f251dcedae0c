// cellar feed: the feeds of a store: making, listing, reading and dropping them.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "base/plugins.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

using FeedTables = std::map<std::string, std::vector<std::string>>;

// Adds "orders" or "orders/d,c" to the tables of a feed.
Status add_feed_table(FeedTables& tables, const std::string& text) {
  const size_t slash = text.find('/');
  const std::string table = text.substr(0, slash);
  std::vector<std::string> families;
  if (slash != std::string::npos) families = words_of(text.substr(slash + 1));
  if (table.empty() || (slash != std::string::npos && families.empty()))
    return Status::invalid_argument("--table: \"" + escaped(text) + "\" has no table name")
        .hinting("orders, or orders/d,c for two of its families");
  if (!tables.emplace(table, std::move(families)).second)
    return Status::invalid_argument("--table: table " + escaped(table) + " is named twice")
        .hinting("name it once, with all its families");
  return {};
}

// "orders/d,c", "users"; "*" for all tables.
std::vector<std::string> names_of(const FeedTables& tables) {
  if (tables.empty()) return {"*"};
  std::vector<std::string> names;
  for (const auto& [table, families] : tables) {
    std::string& name = names.emplace_back(table);
    for (size_t i = 0; i < families.size(); ++i) name += (i == 0 ? "/" : ",") + families[i];
  }
  return names;
}

class FeedCommand final : public Command {
 public:
  explicit FeedCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override {
    return "Manage and read change feeds: all writes to some tables, in order";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("ACTION", action_, "create, list, read or drop")
        .operand("STORE", store_, "directory of the store")
        .optional_operand("NAME", name_, "name of the feed, for create, read and drop")
        .option_list("--table", tables_, "TABLE[/FAMILIES]",
                     "create: orders, or orders/d,c; may be repeated; default: all tables")
        .option_if("--retain", retain_, "SIZE",
                   "create: how much log the feed may retain before it is lost (1g)")
        .option_if("--from", from_, "SEQUENCE",
                   "read: begin after this write; default: after the acknowledged write")
        .option_count("--limit", limit_, "read: at most N writes")
        .flag("--acknowledge", acknowledge_,
              "read: acknowledge the printed writes, so that their log can be removed")
        .note(
            "read    prints one line per cell, with the sequence number of its write; one line per file of "
            "a\n"
            "        bulk load, and one line for a restored, cloned or emptied table. The position at the "
            "end\n"
            "        can be given to --from.")
        .note("Writes that skip the log are not in feeds; unlogged_writes counts them.")
        .example("cellar feed create shop index --table orders/d --table people --retain 4g",
                 "one family of a table and all of another; at most 4 GiB of log are retained")
        .example("cellar feed list shop", "the position of each feed")
        .example("cellar feed read shop audit --limit 10 --acknowledge",
                 "read the next ten writes and acknowledge them")
        .more_example("cellar feed read shop audit --from 2 --format jsonl",
                      "read the writes after write 2 again, for a program")
        .more_example("cellar feed drop shop audit", "remove a feed that nobody reads any more");
  }

  Status run(Session& session) override {
    if (action_ != "list" && action_ != "create" && action_ != "read" && action_ != "drop")
      return unknown_action(action_, {"create", "list", "read", "drop"});
    CELLAR_TRY(check_options());
    if (action_ == "read") return read(session);
    const OpenFor what = action_ == "list" ? OpenFor::kLooking : OpenFor::kWriting;
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_store(session, store_, what));
    if (action_ == "create") CELLAR_TRY(create(*engine));
    if (action_ == "drop") CELLAR_TRY(engine->feeds().drop(name_));
    print_feeds(session, *engine);
    CELLAR_TRY(engine->close());
    if (action_ == "create")
      session.talk(fmt::format("created feed {}: it begins with the next write", name_));
    if (action_ == "drop") session.talk(fmt::format("dropped feed {}", name_));
    return {};
  }

 private:
  Status only(std::string_view action, std::initializer_list<std::pair<const char*, bool>> unfit) const {
    if (action_ == action) return {};
    for (const auto& [name, given] : unfit)
      if (given) return Status::invalid_argument(fmt::format("feed {1} does not take {0}", name, action_));
    return {};
  }
  Status check_options() const {
    CELLAR_TRY(only("create", {{"--table", !tables_.empty()}, {"--retain", retain_.has_value()}}));
    CELLAR_TRY(only(
        "read", {{"--from", from_.has_value()}, {"--limit", limit_ != 0}, {"--acknowledge", acknowledge_}}));
    if (action_ == "list" && !name_.empty()) return Status::invalid_argument("feed list takes no NAME");
    if (action_ != "list" && name_.empty())
      return Status::invalid_argument(fmt::format("feed {}: the name of the feed is missing", action_))
          .hinting("cellar feed list STORE lists the feeds");
    return {};
  }

  Status create(Engine& engine) const {
    FeedOptions options;
    for (const std::string& text : tables_) CELLAR_TRY(add_feed_table(options.tables, text));
    if (retain_) {
      CELLAR_TRY_ASSIGN(options.retained_bytes_max, for_argument("--retain", parse_size(*retain_)));
    }
    return engine.feeds().create(name_, options);
  }

  void print_feeds(Session& session, Engine& engine) const {
    Records records(session.out(), session.format(), "cellar.feed/1", "feeds");
    for (const FeedInfo& each : engine.feeds().list()) {
      if (action_ == "create" && each.name != name_) continue;
      records.text("feed", each.name)
          .list("tables", names_of(each.tables), " ")
          .count("acknowledged", each.acknowledged);
      records.size("retained", each.retained_bytes).size("retained_max", each.retained_bytes_max);
      records.flag("lost", each.lost).add();
    }
    records.finish();
  }

  Status read(Session& session) {
    std::optional<uint64_t> from;
    if (from_) {
      CELLAR_TRY_ASSIGN(from, for_argument("--from", parse_count(*from_)));
    }
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine,
                      open_store(session, store_, acknowledge_ ? OpenFor::kWriting : OpenFor::kLooking));
    {
      CELLAR_TRY_ASSIGN(const std::unique_ptr<FeedReader> reader, engine->feeds().read(name_, from));
      CELLAR_TRY(print_entries(session, *reader));
      // Acknowledges only entries that have reached the output.
      session.out().flush();
      CELLAR_TRY(session.out().status());
      if (acknowledge_ && !session.stopping()) CELLAR_TRY(reader->acknowledge(reader->position()));
    }
    return engine->close();
  }

  Status print_entries(Session& session, FeedReader& reader) const {
    Records records(session.out(), session.format(), "cellar.feed/1", "entries");
    for (uint64_t given = 0; (limit_ == 0 || given < limit_) && !session.stopping(); ++given) {
      CELLAR_TRY_ASSIGN(const FeedEntry* entry, reader.next());
      if (entry == nullptr) break;
      for (const auto& [table, cell] : entry->cells) {
        records.count("sequence", entry->sequence).text("table", table).bytes("family", cell.family());
        records.bytes("row", cell.row()).bytes("qualifier", cell.qualifier()).time("ts", cell.timestamp);
        records.text("type", type_name(cell.type())).bytes("value", cell.value_bytes()).add();
      }
      for (const IngestFile& each : entry->files) print_file(session, records, entry->sequence, each);
      for (const std::string& each : entry->replaced) print_replaced(session, records, entry->sequence, each);
    }
    if (session.stopping() && interrupted())
      return interrupted_status(
          fmt::format("printed up to write {}; nothing was acknowledged", reader.position()));
    records.count("position", reader.position()).count("unlogged_writes", reader.unlogged_writes());
    records.count("unnamed_cells", reader.unnamed_cells()).finish();
    if (session.format() == Format::kTable || session.format() == Format::kCsv)
      session.talk(fmt::format("position {}, {} not in the log", reader.position(),
                               counted(reader.unlogged_writes(), "write")));
    return {};
  }

  // In tables the columns are those of cells.
  static void print_file(Session& session, Records& records, uint64_t sequence, const IngestFile& file) {
    records.count("sequence", sequence).text("table", file.table).bytes("family", file.family);
    if (session.format() == Format::kJson || session.format() == Format::kJsonl) {
      records.text("file", file.name).count("bytes", file.bytes).count("cells", file.cells).add();
    } else {
      records.text("row", "").text("qualifier", "").text("ts", "").text("type", "Ingest");
      records.text("value", fmt::format("{}, {}", file.name, counted(file.cells, "cell"))).add();
    }
  }

  static void print_replaced(Session& session, Records& records, uint64_t sequence,
                             const std::string& table) {
    records.count("sequence", sequence).text("table", table).text("family", "");
    if (session.format() != Format::kJson && session.format() != Format::kJsonl)
      records.text("row", "").text("qualifier", "").text("ts", "");
    records.text("type", "Replace");
    if (session.format() != Format::kJson && session.format() != Format::kJsonl) records.text("value", "");
    records.add();
  }

  std::string action_;
  std::string store_;
  std::string name_;
  std::vector<std::string> tables_;
  std::optional<std::string> retain_;
  std::optional<std::string> from_;
  uint64_t limit_ = 0;
  bool acknowledge_ = false;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_feed, "feed", FeedCommand)

}  // namespace cellar
