// cellar create: makes a table, and the store with its first one.
#include <fmt/format.h>

#include "cellar/engine.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/frame/output.h"
#include "tools/store/family_operand.h"
#include "tools/store/region_splits.h"
#include "tools/store/row_splits.h"
#include "tools/store/schema_text.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

class CreateCommand final : public Command {
 public:
  explicit CreateCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override { return "Create a table, and the store if it does not exist"; }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store; created if it does not exist")
        .operand("TABLE", table_, "name of the new table")
        .operands("FAMILY[:option=value,…]", families_,
                  "column families, with options that differ from the defaults", true)
        .choice("--durability", durability_, {"default", "skip_wal", "async_wal", "sync_wal", "fsync_wal"},
                "which crashes an acknowledged write survives")
        .option_list("--set", set_, "OPTION=VALUE",
                     "table option: read_only, compaction_enabled, memtable_bytes, durability, …")
        .option("--splits", splits_, "FILE", "cluster: first rows of the regions, one row key per line")
        .option_if("--regions", regions_, "N", "cluster: N regions of equal ranges of keys")
        .option("--split-by", split_by_, "ALGORITHM",
                "cluster, with --regions: hex, uniform or decimal (HBase's HexStringSplit, …)")
        .note(
            "Options: max_versions, min_versions, ttl_s, block_bytes, compression, encoding, bloom, "
            "compaction, …\n"
            "by Cellar's or HBase's names (VERSIONS, TTL, …); `cellar describe` prints all of them.\n"
            "metadata.KEY=TEXT stores a note. HBase's attributes without a meaning here are stored, too.\n"
            "Times: 86400, 7d, '1 DAY 2 HOURS', forever.")
        .example("cellar create shop visits c:max_versions=3",
                 "a table with one family that keeps three versions")
        .example("cellar create shop people d:VERSIONS=5,COMPRESSION=GZ c:ttl_s=86400,bloom=none",
                 "with HBase's option names, and a family whose cells expire after a day")
        .more_example(
            "cellar create shop days \\\n      "
            "'d:compression=zstd(level=9),bloom=rowprefix_fixed_length(prefix_length=8)'",
            "a stronger codec, and a Bloom filter of the first 8 bytes of each row")
        .more_example("cellar create shop views v --set key_fields='user text, when int64 desc ms'",
                      "a table that names the fields of its keys: get and scan show them, and take --key")
        .more_example("cellar create shop events e:ttl_s=7d --durability async_wal --set memtable_bytes=32m",
                      "fast writes with a larger memtable; a crash may lose the last writes")
        .more_example("cellar create hbase://master:16000 visits c --splits splits.txt",
                      "a table of a cluster whose regions begin at the rows of the file")
        .more_example("cellar create hbase://master:16000 hashes c --regions 16 --split-by hex",
                      "a table of a cluster with 16 regions, for rows that begin with hexadecimal digits");
  }

  Status run(Session& session) override {
    TableOptions options;
    std::vector<Status> faults;
    for (const std::string& text : families_)
      faults.push_back(parse_family(text, options.families.emplace_back()));
    for (const Durability each :
         {Durability::kSkipWal, Durability::kAsyncWal, Durability::kSyncWal, Durability::kFsyncWal}) {
      if (durability_name(each) == durability_) options.durability = each;
    }
    faults.push_back(set_table_options(options, set_));
    faults.push_back(validate(options));
    CELLAR_TRY(all_faults(faults));
    CELLAR_TRY_ASSIGN(const std::vector<std::string> splits, splits_of_regions());
    tell_carried(session, TableOptions(), options);
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_engine(session, store_, OpenFor::kCreating));
    const Result<std::shared_ptr<Table>> table = engine->create_table(table_, options, splits);
    if (!table.ok()) return table.status();
    CELLAR_TRY(engine->close());
    session.talk(fmt::format("created table {} with {}{}", table_, counted(options.families.size(), "family"),
                             regions_text(splits)));
    return {};
  }

 private:
  // Returns the rows at which the regions begin. Returns no rows if no option is about regions.
  Result<std::vector<std::string>> splits_of_regions() const {
    uint64_t regions = 0;
    if (regions_) {
      CELLAR_TRY_ASSIGN(regions, for_argument("--regions", parse_count(*regions_)));
    }
    const std::string_view given = !splits_.empty()     ? "--splits"
                                   : regions_           ? "--regions"
                                   : !split_by_.empty() ? "--split-by"
                                                        : "";
    if (given.empty()) return std::vector<std::string>();
    if (!is_cluster(store_))
      return Status::invalid_argument(fmt::format("{} is for tables of a cluster", given))
          .hinting("a table of a store has one region");
    if (!splits_.empty()) {
      if (regions_ || !split_by_.empty())
        return Status::invalid_argument(fmt::format("--splits tells the regions, and so does {}",
                                                    regions_ ? "--regions" : "--split-by"))
            .hinting("leave one of them out");
      CELLAR_TRY_ASSIGN(const RowSplits splits, RowSplits::read(splits_));
      return splits.rows();
    }
    if (!regions_ || split_by_.empty())
      return Status::invalid_argument(regions_ ? "--split-by is missing" : "--regions is missing")
          .hinting("both are needed, such as --regions 16 --split-by hex");
    CELLAR_TRY_ASSIGN(const SplitBy by, for_argument("--split-by", parse_split_by(split_by_)));
    return for_argument("--regions", region_splits(regions, by));
  }

  std::string store_;
  std::string table_;
  std::vector<std::string> families_;
  std::string durability_;
  std::vector<std::string> set_;
  std::string splits_;
  std::optional<std::string> regions_;
  std::string split_by_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_create, "create", CreateCommand)

}  // namespace cellar
