// BulkPlan: facts of the files, and a recipe of them.
#include "tools/transfer/bulk_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "cell/cell_key.h"
#include "cell/merging_cursor.h"
#include "hfile/block/file_parts.h"
#include "hfile/read/hfile_reader.h"
#include "tools/frame/operands.h"
#include "tools/frame/progress.h"
#include "tools/hbase/hbase_dir.h"
#include "tools/hbase/hbase_table.h"
#include "tools/hbase/hfile_paths.h"
#include "tools/store/schema_file.h"
#include "tools/store/schema_text.h"

namespace cellar {
namespace {

// Counts rows and versions of cells that come in the order of a table.
class Counter {
 public:
  explicit Counter(BulkSummary& summary) : summary_(summary) {}

  void add(const CellView& cell) {
    ++summary_.cells;
    const CellView& last = last_.view();
    const bool new_row = summary_.cells == 1 || cell.row() != last.row();
    const bool new_column = new_row || cell.family() != last.family() || cell.qualifier() != last.qualifier();
    if (new_row) ++summary_.rows;
    if (new_column) versions_ = 0;
    if (is_delete(cell.type())) {
      ++summary_.deletes;
    } else if (new_column || versions_ == 0 || cell.timestamp != last.timestamp) {
      const auto family = summary_.families.find(std::string(cell.family()));
      ++versions_;
      if (family != summary_.families.end())
        family->second.versions = std::max(family->second.versions, versions_);
    }
    last_.assign(cell.row(), cell.family(), cell.qualifier(), cell.timestamp, cell.type(), 0);
  }

 private:
  BulkSummary& summary_;
  OwnedCell last_;
  uint32_t versions_ = 0;
};

// A path that no program takes for an option.
std::string shell_path(const std::string& path) {
  return shell_word(path.starts_with('-') ? "./" + path : path);
}

// A string of Ruby's, which the HBase shell reads.
std::string ruby_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += (c == '\'' || c == '\\') ? std::string("\\") + c : std::string(1, c);
  return quoted + "'";
}

// HBase's rule: letters, digits, '_', '-', '.', one ':' after a namespace; not beginning with '.' or '-'.
bool is_table_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == ':';
  };
  return !name.empty() && std::ranges::all_of(name, allowed) && name.front() != '.' && name.front() != '-' &&
         name.front() != ':' && name.back() != ':' && std::ranges::count(name, ':') <= 1;
}

std::string family_text(const std::string& name, const BulkFamily& family) {
  std::string text = fmt::format("{{NAME => {}, VERSIONS => {}, BLOOMFILTER => '{}'", ruby_quoted(name),
                                 family.versions, family.shape.bloom);
  if (family.shape.encoding != "NONE")
    text += fmt::format(", DATA_BLOCK_ENCODING => '{}'", family.shape.encoding);
  text += fmt::format(", COMPRESSION => '{}'", family.shape.compression);
  if (family.shape.bloom_prefix > 0)
    text += fmt::format(", CONFIGURATION => {{'RowPrefixBloomFilter.prefix_length' => '{}'}}",
                        family.shape.bloom_prefix);
  return text + "}";
}

// HBase's codecs have no parameters: "zstd(level=9)" is ZSTD there.
bool leave_out_codec_parameters(TableOptions& table) {
  bool any = false;
  for (FamilyOptions& family : table.families)
    for (std::string* codec : {&family.compression, &family.compression_compact,
                               &family.compression_compact_major, &family.compression_compact_minor}) {
      const size_t parameters = codec->find('(');
      if (parameters == std::string::npos) continue;
      codec->resize(parameters);
      any = true;
    }
  return any;
}

}  // namespace

TableOptions options_of_descriptor(Session& session, const HBaseTableSchema& schema) {
  const auto set_all = [&](auto& options, const HBaseAttributes& attributes, const std::string& of) {
    for (const auto& [name, value] : attributes) {
      if (name == "NAME") continue;
      const bool key = name.find('.') != std::string::npos;  // of its configuration
      if (const Status set = set_option(options, (key ? "configuration." : "") + name, value); !set.ok())
        session.talk(fmt::format("warn   left out, {} of {}: {}", escaped(name), of, set.message()));
    }
  };
  TableOptions table;
  set_all(table, schema.attributes, "the table");
  for (const HBaseFamilySchema& each : schema.families) {
    FamilyOptions family;
    family.name = each.name;
    set_all(family, each.attributes, "family " + escaped(each.name));
    table.families.push_back(std::move(family));
  }
  return table;
}

namespace {

// The statement, and comments on what it does not know.
std::string create_text(const BulkRecipe& recipe, const BulkSchema& schema, const BulkSummary& summary) {
  std::string text;
  if (schema.source == BulkSchema::Source::kFiles) {
    text =
        "# 1. create the table (once). The files have no schema with them, so it is derived from them:\n"
        "#    VERSIONS are the most that a column has in them. TTL, MIN_VERSIONS, KEEP_DELETED_CELLS,\n"
        "#    NEW_VERSION_BEHAVIOR, all other options and families without files are not known.\n"
        "hbase shell -n <<'HB'\ncreate " +
        ruby_quoted(recipe.table);
    for (const auto& [name, family] : summary.families) text += ",\n  " + family_text(name, family);
  } else {
    TableOptions options = schema.options;
    const bool left_out = leave_out_codec_parameters(options);
    text = fmt::format("# 1. create the table (once), with the schema {}\n{}hbase shell -n <<'HB'\ncreate {}",
                       schema.source == BulkSchema::Source::kExport ? "that was exported with the files"
                                                                    : "of the HBase table of the files",
                       left_out ? "#    (without parameters of codecs, which HBase does not have)\n" : "",
                       create_arguments(recipe.table, options));
    text.pop_back();  // its line ends below
  }
  if (!recipe.splits.empty()) text += ",\n  SPLITS_FILE => " + ruby_quoted(recipe.splits);
  text += "\nHB\n";
  for (const auto& [name, family] : summary.families)
    if (family.mixed)
      text += fmt::format("# not all files of {} have these options: a major compaction rewrites them\n",
                          escaped(name));
  return text;
}

}  // namespace

std::string_view bulk_schema_source_name(BulkSchema::Source source) {
  constexpr std::string_view kNames[] = {"export", "tableinfo", "files"};
  return kNames[static_cast<size_t>(source)];
}

Result<BulkSchema> find_bulk_schema(Session& session, const std::string& directory,
                                    const BulkSummary& summary) {
  BulkSchema schema;
  CELLAR_TRY_ASSIGN(std::optional<ExportedSchema> exported, read_schema_file(directory));
  if (exported) {
    schema = {BulkSchema::Source::kExport, std::move(exported->options)};
  } else {
    Result<std::optional<HBaseTableSchema>> described = find_hbase_schema(directory);
    if (!described.ok()) return name_hbase_failure(session, described.status());
    if (!*described) return schema;
    schema = {BulkSchema::Source::kDescriptor, options_of_descriptor(session, **described)};
  }
  for (const auto& [name, family] : summary.families) {
    if (find_family(schema.options, name) != nullptr) continue;
    CELLAR_TRY_ASSIGN(FamilyOptions added, family_for(name, family));
    schema.options.families.push_back(std::move(added));
    session.talk(
        fmt::format("warn   the schema has no family {}: it is added with the options that its files show",
                    escaped(name)));
  }
  return schema;
}

Result<BulkSummary> summarise(Session& session, const BulkFiles& files) {
  BulkSummary summary;
  std::vector<MergeSource> sources;
  std::map<std::string, std::vector<BulkShape>> shapes;
  const FileCursorOptions options{.fill_cache = false, .sequential = true, .stats = nullptr};
  for (const BulkFile& file : files.files) {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<HFileReader> reader, open_hfile(session, file.path));
    CELLAR_TRY(reader->parts().encoding_status);
    summary.files += 1;
    summary.bytes += reader->file_bytes();
    shapes[file.family].push_back(shape_of(*reader));
    sources.push_back({reader->cursor(options), static_cast<uint32_t>(sources.size())});
  }
  if (summary.files == 0) return Status::not_found("no files; HBase expects DIR/<family>/<file>");
  for (const auto& [name, shapes_of_files] : shapes) {
    const auto& all = shapes_of_files;  // clang 14 captures no structured binding
    BulkFamily& family = summary.families[name];
    family.shape = *std::ranges::max_element(
        all, {}, [&](const BulkShape& each) { return std::ranges::count(all, each); });
    family.mixed = static_cast<size_t>(std::ranges::count(all, family.shape)) != all.size();
  }
  const std::unique_ptr<CellCursor> merged = make_merging_cursor(std::move(sources));
  Counter counter(summary);
  Progress progress(session, "count", 0);
  OwnedCell first;
  first_of_row(first, {});
  for (const CellView* cell = merged->seek(first.view()); cell != nullptr; cell = merged->next()) {
    if (interrupted()) return interrupted_status("nothing was changed");
    counter.add(*cell);
    progress.step(0, summary.cells);
  }
  const Status read = merged->status();
  if (!read.ok()) return name_file_failure(session, read);
  return summary;
}

Result<FamilyOptions> family_for(const std::string& name, const BulkFamily& family) {
  FamilyOptions options;
  options.name = name;
  options.max_versions = family.versions;
  options.compression = lower_ascii(family.shape.compression);
  options.encoding = lower_ascii(family.shape.encoding);
  options.bloom = lower_ascii(family.shape.bloom);
  if (family.shape.bloom_prefix > 0)
    options.bloom += fmt::format("(prefix_length={})", family.shape.bloom_prefix);
  CELLAR_TRY(validate(options).with_context("family " + name));
  return options;
}

Result<std::string> recipe_text(const BulkRecipe& recipe, const BulkSchema& schema,
                                const BulkSummary& summary) {
  if (!is_table_name(recipe.table))
    return Status::invalid_argument(fmt::format("invalid table name \"{}\"", escaped(recipe.table)))
        .hinting("letters, digits, '_', '-', '.' and one ':' after a namespace");
  if (recipe.splits.find('\n') != std::string::npos || recipe.directory.find('\n') != std::string::npos)
    return Status::invalid_argument("a path must not contain a line break");
  std::string text = create_text(recipe, schema, summary);
  const std::string staging = shell_word(recipe.staging);
  std::string families;
  for (const auto& [name, family] : summary.families)
    families += shell_path(recipe.directory + "/" + name) + " ";
  text += fmt::format(
      "# 2. copy, make writable for the hbase user\n"
      "hdfs dfs -mkdir -p {0} && hdfs dfs -put {1}{0}/ && hdfs dfs -chmod -R a+rwX {0}\n",
      staging, families);
  text += fmt::format("# 3. load\nhbase completebulkload {} {}\n", staging, shell_word(recipe.table));
  text += fmt::format("# 4. compare counts (cellar: {} in {}{})\n", counted(summary.cells, "cell"),
                      counted(summary.rows, "row"),
                      summary.deletes == 0
                          ? ""
                          : fmt::format(", {} of them delete markers, which are not counted there",
                                        human_count(summary.deletes)));
  text += fmt::format("hbase org.apache.hadoop.hbase.mapreduce.RowCounter {}\n", shell_word(recipe.table));
  return text;
}

}  // namespace cellar
