// Help that is made from the registered commands, and the topics of `cellar help TOPIC`.
#include "tools/frame/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/bytes.h"
#include "cellar/cache_policy.h"
#include "cellar/compaction_policy.h"
#include "cellar/plugin.h"
#include "tools/frame/error_pages.h"
#include "tools/frame/finding_pages.h"

namespace cellar {

namespace {

constexpr std::string_view kExitTopic = R"(exit statuses, the same for every command

    0  success
    1  the answer is negative: a file is damaged, files differ, the row was not found
    2  wrong usage: an unknown, missing or invalid argument
    3  something cannot be read, opened or locked, or is not an HFile
    4  valid, but not supported by this build: a version, codec, encoding or encryption
    5  an internal error
  130  interrupted by SIGINT (Ctrl-C), after a clean stop
  143  ended by SIGTERM, after a clean stop

`cellar help errors` lists the error codes. `cellar help findings` lists the codes that checks of files
and stores report.
)";

constexpr std::string_view kLimitsTopic = R"(limits: how much memory an HFile may make a command use

  A block of an HFile may have at most 16 MiB when decompressed. (HBase's largest cell has 10 MiB by
  default.) A larger block is refused. Commands that look at files then use less than 256 MiB of memory,
  whatever a file says. For files that you trust, CELLAR_MAX_BLOCK=64m raises the limit, up to 1g. Memory
  grows with it, and tenfold where large values are printed.

  Index and filters of an open file may use 128 MiB plus a quarter of the file's size.
)";

constexpr std::string_view kFormatTopic = R"(formats: --format table|json|jsonl|csv|raw

  table  aligned columns for people; sizes and times are rounded for reading
  json   one document; its first member is "schema", such as "cellar.list/1". The file
         share/cellar/schema/list.json describes it
  jsonl  one JSON object per line. Cells always have this form, which `cellar load` reads back unchanged:
         {"row":"r","family":"f","qualifier":"q","ts":1700000000000,"type":"Put","value":"v"}
         An answer that is not a list, such as that of `cellar status`, is one object on one line; it has
         neither csv nor raw
  csv    a line of names, then lines as in RFC 4180
  raw    values, one per line; other lists, in the shell, as csv without the line of names

Rows, columns and values: a table shows printable UTF-8 as it is, the other formats printable ASCII;
every other byte is \xHH and a backslash is \x5C. Both can be typed back. --as changes values, --decode
any part: auto (that), text or escaped (either of the two), utf8 (the bytes unchanged, in csv and raw),
hex, json, and HBase's numbers: long, int, short, double, float, boolean. --decode also shows the fields of
a key (cellar help keys). Cells in json and jsonl always have the form above; with --decode row=key, they
also have a member "key".

Control characters and marks that change the direction of text are \xHH in tables, and in every format
at a terminal: no file can drive it.

Standard output is data; progress, notes and errors go to standard error. With --format json or jsonl, an
error is a single JSON object. At a terminal, and nowhere else, a table cuts values to its width (--full does
not), has colours (--color; NO_COLOR and TERM=dumb are honoured), and goes through CELLAR_PAGER, PAGER
or less if it is longer than the screen (--no-pager).
)";

constexpr std::string_view kFilterTopic = R"(filters: --filter TEXT, in HBase's filter language

  PrefixFilter('user') AND (ColumnPrefixFilter('na') OR ValueFilter(=, 'substring:mail'))

  rows     RowFilter(op, 'test')  PrefixFilter('p')  InclusiveStopFilter('row')  PageFilter(rows)
           FuzzyRowFilter('key', 'mask', …): mask 0 is the key's byte, 1 any; RandomRowFilter('0.1', seed)
           MultiRowRangeFilter('start', inclusive, 'stop', inclusive, …)
  columns  FamilyFilter(op, 'test')  QualifierFilter(op, 'test')  ColumnPrefixFilter('p')
           MultipleColumnPrefixFilter('p', …)  ColumnRangeFilter('min', inclusive, 'max', inclusive)
           ColumnCountGetFilter(n)  ColumnPaginationFilter(limit, offset or 'first')  FirstKeyOnlyFilter()
           FirstKeyValueMatchingQualifiersFilter('q', …)
  cells    ValueFilter(op, 'test')  ColumnValueFilter('f', 'q', op, 'test')  TimestampsFilter(t, …)
           KeyOnlyFilter([sizes])  DependentColumnFilter('f', 'q'[, drop[, op, 'test']])
  rows by  SingleColumnValueFilter('f', 'q', op, 'test'[, filterIfMissing, latestVersionOnly])
  a value  SingleColumnValueExcludeFilter, which leaves the column out
  joined   AND, OR, parentheses; SKIP filter: no row with a cell that is out; WHILE filter: up to the first
  op       <  <=  =  !=  >=  >
  test     binary:  binaryprefix:  regexstring:  regexstringnocase:  substring:  long:  bigdecimal:  null:
           binarycomponent:OFFSET:  bitand:  bitor:  bitxor:

A quote within quotes is doubled; \xHH is a byte. Names are case-sensitive, AND and OR in upper case.
)";

constexpr std::string_view kTimeTopic = R"(times: in UTC; they are stored as milliseconds since 1970

  2026-11-20   2026-11-20T18:04   2026-11-20T18:04:11.203Z   now   now-2h   now-7d
  1763748251203   5ms   LATEST (the timestamp that HBase's files use for "the time of the write")

A range is FROM..UNTIL. FROM is included, UNTIL is not, and either may be left out: --time now-1h..

A plain number is milliseconds since 1970. Numbers that could be something else are refused: a year
(2026), a month (202611), a date (20261120), a date and time (20261120180411) or seconds (1763748251).
Write 2026-01-01 for the date, or 2026ms for the milliseconds. In the shell, as in HBase's shell, and in
files that `cellar load` reads as cells, a plain number is always milliseconds.
)";

constexpr std::string_view kHBaseTopic = R"(directories of HBase: get, scan and count read them in place

  DIR                     what it is                        cellar scan DIR
  hbase/data/NS/TABLE     a table: regions, descriptor      … with the table's VERSIONS, TTL and so on
  …/TABLE/REGION          a region: families                … of its rows
  …/REGION/FAMILY         HFiles                            … of one family
  hbase/.hbase-snapshot/S a snapshot, next to archive/      … as the table was then
  DIR/FAMILY/HFILE        the layout of a bulk load         … with HBase's defaults
  hbase                   a root                            cellar scan hbase NS:TABLE

The answer is the same as HBase's from these files. Halves after a split (FILE.REGION) and links of a
clone (TABLE=REGION-FILE) are followed within the table and its root; a missing file is an error. Regions
that were split or merged are left out. Data that HBase has only in memory or in its log is missing: flush
the table, or take a snapshot. Nothing is written, and symbolic links are not followed.

Without a descriptor (.tabledesc), families have HBase's defaults. --assume d:max_versions=3,ttl_s=86400
sets other options. Commands for HFiles accept these directories, too, and read each HFile in them.
)";

std::string_view title_of(CommandGroup group) {
  switch (group) {
    case CommandGroup::kFiles:
      return "look at HFiles";
    case CommandGroup::kStore:
      return "use a store";
    case CommandGroup::kMove:
      return "move data";
    case CommandGroup::kOther:
      return "other";
  }
  return "";
}

constexpr std::string_view kPolicyTopic = R"(compaction policies: which files of a family are merged, and when

  cellar create shop orders 'd:compaction=leveled(fanout=8)'
  cellar alter shop orders 'd:compaction=tiered(runs=6, space_max=100)'

  exploring     HBase's default: of all neighbours in age of like sizes, the most files; few writes
  ratio         HBase's older selection: as exploring, from the oldest file on
  leveled       levels, each one sorted run: little room and few runs to read; more writes
  tiered        several runs for each level: fewest writes; more room and more runs to read
  lazy_leveled  tiers above one large run: few writes and little room
  unified       Cassandra's scale from tiers to levels, for each level: scaling=T4,T4,L10
  date_tiered   HBase's periods of time: for rows that come in order of time, and expire
  stripe        HBase's ranges of rows, which are compacted for themselves: for large stores
  fifo          no merges: files leave when they have expired, or when the store exceeds bytes_max
  none          no merges, except on request

  exploring, ratio, date_tiered: ratio, files_min, files_max, bytes_min, bytes_max, tombstones, expired,
    offpeak_start, offpeak_end, ratio_offpeak, bytes_max_offpeak, utc_offset_minutes
  exploring, ratio also: moves
  date_tiered also: window, windows_per_tier, age_max, tier_age_max, incoming_files_min
  stripe: stripes, level0_files_min, split_bytes, split_count, and the selection of exploring
  leveled: fanout, base_bytes, targets, file_bytes, runs_min, pick, tombstones, tombstone_age
  tiered: runs, file_bytes, space_max       lazy_leveled: runs, file_bytes
  unified: scaling, base_bytes, file_bytes  fifo: bytes_max

`cellar compact --explain` prints what the policies would do next, and why. docs/policies.md describes
each policy, its parameters and its costs.
)";

constexpr std::string_view kCacheTopic = R"(cache policies: which block leaves the cache when room is needed

  CELLAR_ENGINE='cache_policy=s3fifo,cache_bytes=1g' cellar scan shop orders

  clock      the default: a hand passes blocks that were used, and takes the first one that was not
  lru        the block that was used longest ago
  slru       HBase's shares of blocks used once, used again, and of in-memory families
  sieve      as clock, but used blocks stay in their place, so new ones leave sooner
  s3fifo     a small queue tries new blocks, and the ghosts of those that left it may return
  arc        adapts the shares of blocks used once and again by the ghosts of both
  w_tinylfu  a new block stays only if it was asked for more often than the one that it replaces

  slru: single, multi, memory (shares that make at most 100%)
  s3fifo: small, ghost (shares), counting (true, false), moves (1 to 3)
  w_tinylfu: window, protected (shares)

A program sets EngineOptions::cache_policy. CELLAR_ENGINE=block_trace=FILE records each use of the cache.
`cellar simulate cache FILE` prints how often each policy would have missed at each size. docs/caches.md
describes the policies and their costs.
)";

constexpr std::string_view kExperimentTopic = R"~(experiments: the text that `cellar experiment` reads

  {                                        // JSON, with comments
    "name": "levels or tiers",             // of the page; default: the file's
    "about": "The price of few runs.",     // a sentence for the page
    "directory": "levels.runs",            // for results and the page; --directory replaces it
    "compaction": ["exploring", "leveled", "tiered(runs=4)"],
    "compression": ["snappy", "zstd(level=3)"],
    "memtable_bytes": "1m",
    "workload": [
      {"name": "update_zipf", "rows": [50000, 200000], "value_bytes": "uniform:50-400"},
      {"name": "ycsb_a", "seconds": 20, "threads": 2, "skew": "zipf:0.8"},
      "bulk_then_read"],
    "rows": 100000,                        // of workloads that set none
    "repetitions": 3,                      // rounds over all combinations; default: 3
    "seed": 1
  }

Any option of docs/options.md may be a value or a list of values, except those that a run sets itself.
"family.files_stop" is the family's where the engine has the same name. Every combination of values runs
with every workload, once in each round. The order within a round follows from the seed.

  workloads    ycsb_a … ycsb_f, update_zipf, delete_heavy, time_series, bulk_then_read, mix
  rows         loaded before the operations (100000)
  operations   or seconds; default: a multiple of the rows that depends on the workload
  mix          read=50,update=30,insert=10,scan=10,rmw=0,delete=0
  value_bytes  100, fixed:100 or uniform:50-400       skew         uniform, zipf:0.99, latest:0.99
  scan_length  rows: fixed:100 or uniform:1-100       threads      each with rows of its own (1)

Each member of a workload may be a list, too. At the top level, it is for all workloads that lack it.
Faults are reported before the first run. A run makes a store, loads it, reads it once, performs the
operations, checks each answer, and removes the store. docs/experiments.md describes the results.
)~";

constexpr std::string_view kKeyTopic = R"(keys: names and types for the fields of row keys

  cellar alter shop views --set key_fields='user text, when int64 desc ms'
  cellar get shop views --key user=alice,when=2026-11-20T18:04:11Z
  cellar scan shop views --key user=alice
  cellar dump versions.hfile --decode 'row=key(first raw(4), rest raw)'

A table keeps the fields as KEY_FIELDS, also in a copy and on a cluster. get, scan and estimate then show
them in place of the row; json and jsonl have them as an object in the member "key". --decode row=FORM
shows rows in another form. --decode row=key needs no names: fields of HBase's OrderedBytes tell their kind.

The fields are in the order of the key, with a comma between them: NAME TYPE. The types are:

  int8 int16 int32 int64 float32 float64 decimal text blob last_blob
                     OrderedBytes, which sort like their values; desc after it: descending; may be null
  sized              two bytes with the number of bytes, then the bytes
  raw(N)  hex(N)     N bytes, as text with \xHH or in hexadecimal: a salt, a hash
  raw                all bytes to the end of the key
  zero_padded(N)     N digits
  plain_int16 plain_int32 plain_int64 plain_float32 plain_float64
                     HBase's Bytes; negative numbers sort after positive ones
  reversed_time      Long.MAX_VALUE minus the time, in eight bytes
  packed_quadkey     a tile of a map in eight bytes; shown as its quadkey

A time has its unit after the type: d, h, min, s, ms or us since 1970. It is shown as
2026-11-20T18:04:11.203Z, and is written so or as a number.

--key names the first fields in their order: user=alice,when=2026-11-20. Of scan, count, aggregate and export
it is a range of rows. get needs all fields. A value with a comma is in single quotes, \xHH is a byte, and
null without quotes is no value. aggregate --group-by user takes the rows of a user together.
)";

struct Topic {
  std::string_view name;
  std::string_view text;  // empty: made by a function
};

constexpr Topic kTopics[] = {{"formats", kFormatTopic},
                             {"filters", kFilterTopic},
                             {"times", kTimeTopic},
                             {"keys", kKeyTopic},
                             {"limits", kLimitsTopic},
                             {"hbase", kHBaseTopic},
                             {"policies", kPolicyTopic},
                             {"experiments", kExperimentTopic},
                             {"caches", kCacheTopic},
                             {"exit-codes", kExitTopic},
                             {"errors", ""},
                             {"findings", ""}};

// Returns whether a word is the path of something, and not a misspelled command.
bool is_there(const std::string& word) {
  std::error_code error;
  return word.find_first_of("/.") != word.npos && std::filesystem::exists(word, error);
}

}  // namespace

Result<std::unique_ptr<Command>> make_command(const std::string& name) {
  const std::vector<std::string> names = Registry<Command>::instance().names();
  if (std::find(names.begin(), names.end(), name) != names.end())
    return Registry<Command>::instance().make(name);
  const Status unknown = Status::invalid_argument(fmt::format("unknown command \"{}\"", escaped(name)));
  if (name == "serve")  // a plug-in of tools/serve
    return Status::not_supported("this build has no command \"serve\"")
        .hinting("build Cellar with -DCELLAR_WITH_HBASE=ON, which needs Debian's libasio-dev");
  if (is_there(name)) return unknown.hinting("the command comes first: cellar inspect " + name);
  if (const std::string nearest = nearest_name(name, names); !nearest.empty())
    return unknown.hinting(fmt::format("did you mean {}?   (cellar help)", nearest));
  if (!help_of_topic(name).empty()) return unknown.hinting("it is a topic: cellar help " + name);
  return unknown.hinting("cellar help lists the commands");
}

Status cluster_refusal(const std::string& cluster) {
  std::vector<std::string> able;
  for (const std::string& name : Registry<Command>::instance().names()) {
    const Result<std::unique_ptr<Command>> command = make_command(name);
    if (command.ok() && (*command)->takes_clusters()) able.push_back(name);
  }
  return Status::not_supported(escaped(cluster) + " is a cluster, and this command works on files")
      .hinting(fmt::format("these commands work on a cluster: {}", fmt::join(able, ", ")));
}

std::string help_of_all() {
  std::string text =
      "usage: cellar COMMAND [arguments]\n\n"
      "A storage engine with HBase's data model: a store is a directory, and its files are HBase's HFiles.\n";
  for (const CommandGroup group :
       {CommandGroup::kFiles, CommandGroup::kStore, CommandGroup::kMove, CommandGroup::kOther}) {
    text += fmt::format("\n{}\n", title_of(group));
    for (const std::string& name : Registry<Command>::instance().names()) {
      const Result<std::unique_ptr<Command>> command = make_command(name);
      if (command.ok() && (*command)->group() == group)
        text += fmt::format("  {:<11} {}\n", name, (*command)->summary());
    }
  }
  text += "\ncellar COMMAND --help shows the arguments of a command.\ncellar help TOPIC says more about: " +
          fmt::format("{}\n", fmt::join(help_topics(), ", "));
  return text;
}

std::vector<std::string> help_topics() {
  std::vector<std::string> names;
  for (const Topic& topic : kTopics) names.emplace_back(topic.name);
  return names;
}

// Adds to a topic the names that it has no line for: plug-ins of this build that were written elsewhere.
template <class Plugin>
std::string with_other_names(std::string text) {
  std::vector<std::string> others;
  for (std::string& name : Registry<Plugin>::instance().names())
    if (text.find("\n  " + name + " ") == std::string::npos) others.push_back(std::move(name));
  if (others.empty()) return text;
  text += "\nother names of this build, which their files describe:\n";
  for (const std::string& name : others) text += fmt::format("  {} \n", name);
  return text;
}

std::string help_of_topic(const std::string& topic) {
  if (topic == "errors") return help_of_errors();
  if (topic == "findings") return help_of_findings();
  if (topic == "policies") return with_other_names<CompactionPolicy>(std::string(kPolicyTopic));
  if (topic == "caches") return with_other_names<CachePolicy>(std::string(kCacheTopic));
  for (const Topic& each : kTopics)
    if (each.name == topic) return std::string(each.text);
  std::string page = help_of_error_code(topic);
  return page.empty() ? help_of_finding_code(topic) : page;
}

Status unknown_topic(const std::string& what) {
  std::vector<std::string> names = Registry<Command>::instance().names();
  for (std::string& topic : help_topics()) names.push_back(std::move(topic));
  std::string nearest = nearest_name(what, names);
  std::vector<std::string> codes = error_codes();
  for (std::string& code : finding_codes()) codes.push_back(std::move(code));
  if (nearest.empty()) nearest = nearest_name(upper_ascii(what), codes);
  return Status::invalid_argument(fmt::format("unknown command or topic \"{}\"", escaped(what)))
      .hinting(nearest.empty()
                   ? fmt::format("cellar help lists the commands; topics: {}", fmt::join(help_topics(), ", "))
                   : fmt::format("did you mean {}?", nearest));
}

}  // namespace cellar
