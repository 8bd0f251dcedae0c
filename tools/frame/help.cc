// Help that follows from the registered commands, and five topics.
#include "tools/frame/help.h"

#include <fmt/format.h>

namespace cellar {

namespace {

constexpr std::string_view kExitTopic = R"(exit statuses, the same for every command

    0  fine
    1  the answer is negative: a file is damaged, files differ, the row was not found
    2  wrong usage
    3  something cannot be read, opened or locked, or is no HFile at all
    4  sound as far as seen, but not supported: a version, codec, encoding, encryption
    5  an internal error
  130  interrupted by SIGINT (Ctrl-C), after a clean stop
  143  ended by SIGTERM, after a clean stop
)";

constexpr std::string_view kLimitsTopic = R"(limits: what a file from outside may ask for

  A block of an HFile may hold 16 MiB when decompressed (HBase's largest cell has 10 MiB by default); a
  larger one is refused. Commands that look at files then stay below 256 MiB of memory, whatever a file
  says. For files you trust CELLAR_MAX_BLOCK=64m raises it, to at most 1g; memory grows with it, tenfold
  where large values are printed.

  Index and filters of an open file may take 128 MiB and a quarter of the file's size.
)";

constexpr std::string_view kFormatTopic = R"(formats: --format table|json|jsonl|csv|raw

  table  aligned columns for people; sizes and times are humanised
  json   one document; its first member is "schema", such as "cellar.list/1",
         whose form share/cellar/schema/list.json says
  jsonl  one JSON object a line; cells always in this form, which `cellar load` takes back unchanged:
         {"row":"r","family":"f","qualifier":"q","ts":1700000000000,"type":"Put","value":"v"}
         what is no list, such as `cellar status`, is one object on one line, and has no csv nor raw
  csv    a line of names, then RFC 4180
  raw    values, one a line; other lists, in the shell, as csv without the line of names

In rows, columns and values every byte but printable ASCII is \xHH, and a backslash is \x5C: as HBase
prints them, and reversible. Standard output is data; everything else (progress, warnings, errors) goes
to standard error, errors as one JSON object with --format json or jsonl.

Control characters, which `--as utf8` and names of files may hold, are \xHH in tables, and in every
format at a terminal: no file can drive it. Elsewhere csv and raw have the bytes of `--as utf8` unchanged.
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

constexpr std::string_view kTimeTopic = R"(times: milliseconds since 1970, in UTC

  1763748251203   2026-11-20   2026-11-20T18:04   2026-11-20T18:04:11.203Z   now   now-2h   now-7d

A range is FROM..UNTIL, FROM included, UNTIL not; either may be left out: --time now-1h..
)";

constexpr std::string_view kHBaseTopic = R"(directories of HBase: get, scan and count read them where they lie

  DIR                     what it is                        cellar scan DIR
  hbase/data/NS/TABLE     a table: regions, descriptor      … with the table's VERSIONS, TTL and so on
  …/TABLE/REGION          a region: families                … of its rows
  …/REGION/FAMILY         HFiles                            … of one family
  hbase/.hbase-snapshot/S a snapshot, archive/ beside       … as the table was then
  DIR/FAMILY/HFILE        what a bulk load takes            … by HBase's defaults
  hbase                   a root                            cellar scan hbase NS:TABLE

The answer is HBase's from the same files: halves that a split left (FILE.REGION) and links of a clone
(TABLE=REGION-FILE) are followed within the table and its root, and are an error where their file is
missing; a region that was split or merged away is left out. What HBase has only in memory or in its log
is not seen: flush the table, or take a snapshot. Nothing is written, and no symbolic link is followed.

Without a descriptor (.tabledesc) HBase's defaults hold: --assume d:max_versions=3,ttl_s=86400 says what
a family keeps instead. Commands for files take these directories, too, and look at each HFile in them.
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

}  // namespace

Result<std::unique_ptr<Command>> make_command(const std::string& name) {
  const std::vector<std::string> names = Registry<Command>::instance().names();
  if (std::find(names.begin(), names.end(), name) != names.end())
    return Registry<Command>::instance().make(name);
  const std::string nearest = nearest_name(name, names);
  return Status::invalid_argument(fmt::format("unknown command \"{}\"", name))
      .hinting(nearest.empty() ? "cellar help lists the commands"
                               : fmt::format("did you mean {} ?   (cellar help)", nearest));
}

std::string help_of_all() {
  std::string text =
      "usage: cellar COMMAND [arguments]\n\n"
      "A store of rows with HBase's data model, in a directory; and the HFiles it and HBase are made of.\n";
  for (const CommandGroup group :
       {CommandGroup::kFiles, CommandGroup::kStore, CommandGroup::kMove, CommandGroup::kOther}) {
    text += fmt::format("\n{}\n", title_of(group));
    for (const std::string& name : Registry<Command>::instance().names()) {
      const Result<std::unique_ptr<Command>> command = make_command(name);
      if (command.ok() && (*command)->group() == group)
        text += fmt::format("  {:<11} {}\n", name, (*command)->summary());
    }
  }
  text +=
      "\ncellar COMMAND --help shows its arguments; cellar help formats, filters, times, limits, hbase, "
      "exit-codes\nsay more\n";
  return text;
}

std::string help_of_topic(const std::string& topic) {
  if (topic == "exit-codes") return std::string(kExitTopic);
  if (topic == "limits") return std::string(kLimitsTopic);
  if (topic == "hbase") return std::string(kHBaseTopic);
  if (topic == "filters") return std::string(kFilterTopic);
  if (topic == "formats") return std::string(kFormatTopic);
  if (topic == "times") return std::string(kTimeTopic);
  return "";
}

}  // namespace cellar
