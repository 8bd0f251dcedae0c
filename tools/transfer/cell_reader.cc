// Lines to cells.
#include "tools/transfer/cell_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "cellar/plugin.h"

namespace cellar {

namespace {

using ReadJson = nlohmann::json;

constexpr std::string_view kTypesExpected =
    "expected Put, Delete, DeleteFamilyVersion, DeleteColumn or DeleteFamily";

Status bad_line(std::string text, std::string_view hint = {}) {
  return Status::invalid_argument(std::move(text)).hinting(hint);
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Splits a CSV record. False when a quote is still open: the record goes on in the next line.
bool split_csv(std::string_view line, std::vector<std::string>& fields) {
  fields.clear();
  fields.emplace_back();
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (quoted) {
      quoted = c != '"';
      if (quoted) fields.back() += c;
    } else if (c == '"' && fields.back().empty()) {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return !quoted;
}

void split_tsv(std::string_view line, std::vector<std::string>& fields) {
  fields.clear();
  for (size_t at = 0; at <= line.size();) {
    const size_t tab = std::min(line.find('\t', at), line.size());
    fields.emplace_back(line.substr(at, tab - at));
    at = tab + 1;
  }
}

Status text_member(const ReadJson& object, const char* name, std::string& to) {
  const auto found = object.find(name);
  if (found == object.end()) return bad_line(fmt::format("\"{}\" is missing", name));
  if (!found->is_string()) return bad_line(fmt::format("\"{}\" is not a string", name));
  CELLAR_TRY_ASSIGN(to, parse_bytes(found->get_ref<const std::string&>()));
  return {};
}

Status tags_member(const ReadJson& tags, std::string& to) {
  if (!tags.is_array()) return bad_line("\"tags\" is not a list");
  for (const ReadJson& tag : tags) {
    if (!tag.is_array() || tag.size() != 2 || !tag[0].is_number_unsigned() || tag[0].get<uint64_t>() > 255 ||
        !tag[1].is_string()) {
      return bad_line("a tag is not [type, \"value\"]");
    }
    CELLAR_TRY_ASSIGN(const std::string value, parse_bytes(tag[1].get_ref<const std::string&>()));
    if (value.size() > kTagsBytesMax)
      return bad_line(
          fmt::format("a tag of {} bytes: all tags of a cell have at most {}", value.size(), kTagsBytesMax));
    append_tag(to, static_cast<uint8_t>(tag[0].get<uint64_t>()), value);
  }
  return {};
}

Status check_members(const ReadJson& object) {
  // The fields of "key" say what "row" says.
  static const std::vector<std::string> known = {"row",   "family", "qualifier", "ts", "type",
                                                 "value", "mvcc",   "tags",      "key"};
  for (const auto& [name, value] : object.items()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string nearest = nearest_name(name, known);
    return bad_line(fmt::format("unknown member \"{}\"", escaped(name)),
                    nearest.empty() ? "" : fmt::format("did you mean {}?", nearest));
  }
  return {};
}

}  // namespace

Result<CellMap> parse_cell_map(std::string_view text) {
  CellMap map;
  const std::string_view hint = "write --map 'row=id, d:name=name, ts=updated'";
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view part = trimmed(text.substr(at, comma - at));
    at = comma + 1;
    const size_t equals = part.rfind('=');
    if (equals == std::string_view::npos)
      return bad_line(fmt::format("\"{}\" is not TARGET=COLUMN", escaped(part)), hint);
    const std::string target(trimmed(part.substr(0, equals)));
    std::string source(trimmed(part.substr(equals + 1)));
    if (target == "row") {
      map.row = std::move(source);
    } else if (target == "ts") {
      map.time = std::move(source);
    } else {
      CELLAR_TRY_ASSIGN(ColumnOperand column, parse_one_column(target));
      map.columns.emplace_back(std::move(column), std::move(source));
    }
  }
  if (map.row.empty()) return bad_line("no column is mapped to row", hint);
  if (map.columns.empty()) return bad_line("no column is mapped to a cell", hint);
  return map;
}

CellReader::CellReader(LineReader& lines, CellReaderOptions options)
    : lines_(lines), options_(std::move(options)) {}

CellReader::Step CellReader::bad(Status status) {
  problem_ = status.at(fmt::format("{}:{}", lines_.path(), record_line_));
  return Step::kBadLine;
}

CellReader::Step CellReader::next(std::vector<Cell>& cells) {
  const size_t before = cells.size();
  while (lines_.next(line_)) {
    record_line_ = lines_.line();
    if (line_.empty()) continue;
    Status status = begun_ ? Status() : check_front(line_);
    begun_ = true;
    if (!status.ok()) {
      problem_ = status;
      return Step::kFailed;
    }
    std::vector<std::string> fields;
    if (options_.source == CellSource::kJsonl) {
      status = cells_of_json(line_, cells);
    } else {
      status = read_record(line_, fields);
      if (status.ok() && !header_read_) {
        status = read_header(line_);
        if (status.ok()) continue;
        problem_ = status.at(fmt::format("{}:{}", lines_.path(), record_line_));
        return Step::kFailed;
      }
      if (status.ok()) status = options_.map ? cells_of_map(fields, cells) : cells_of_columns(fields, cells);
    }
    if (status.ok()) return Step::kCells;
    cells.resize(before);
    return bad(status);
  }
  problem_ = lines_.status();
  return problem_.ok() ? Step::kEnd : Step::kFailed;
}

// Returns kInvalidArgument if the input is one JSON document, or JSON where CSV is expected. `line` is its
// first line that is not empty.
Status CellReader::check_front(const std::string& line) const {
  const std::string_view text = trimmed(line);
  const bool object = text.starts_with('{');
  if (options_.source != CellSource::kJsonl) {
    if (!object || !text.ends_with('}') || !ReadJson::accept(text)) return {};
    return bad_line(fmt::format("{} is JSON Lines, not CSV or TSV", lines_.path()),
                    "read it with --from jsonl, without --map");
  }
  const bool list = text == "[" || text.starts_with("[{") || text.starts_with("[ {");
  const bool of_ours = text.starts_with("{\"schema\":\"cellar.");
  if (of_ours || text == "{" || list) {
    return bad_line(
        fmt::format("{} is one JSON document; load reads JSON Lines, one object per line", lines_.path()),
        of_ours || !list ? "write it with --format jsonl; or: jq -c '.cells[]' FILE | cellar load STORE "
                           "TABLE -"
                         : "jq -c '.[]' FILE | cellar load STORE TABLE -");
  }
  if (object || text.starts_with('[') || text.find(',') == text.npos) return {};
  const std::string_view first = text.substr(0, text.find(','));
  if (first != "row" && first != "\"row\"") return {};
  return bad_line(fmt::format("{} is CSV, not JSON Lines", lines_.path()), "read it with --from csv");
}

// A record may span lines; `line` becomes all of it.
Status CellReader::read_record(std::string& line, std::vector<std::string>& fields) {
  if (options_.source == CellSource::kTsv) {
    split_tsv(line, fields);
    return {};
  }
  constexpr size_t kRecordBytesMax = 64u << 20;
  while (!split_csv(line, fields)) {
    std::string more;
    if (line.size() > kRecordBytesMax || !lines_.next(more))
      return bad_line("a quote is opened and never closed", "a quote within quotes is doubled: \"\"");
    line += "\n" + more;
  }
  return {};
}

Status CellReader::read_header(const std::string& line) {
  std::vector<std::string> names;
  if (options_.source == CellSource::kTsv) {
    split_tsv(line, names);
  } else {
    split_csv(line, names);
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (!header_.emplace(names[i], i).second)
      return bad_line(fmt::format("the first line names the column \"{}\" twice", escaped(names[i])));
  }
  std::vector<std::string> wanted = {"row", "family", "qualifier", "ts", "type", "value"};
  if (options_.map) {
    wanted = {options_.map->row};
    if (!options_.map->time.empty()) wanted.push_back(options_.map->time);
    for (const auto& [cell, name] : options_.map->columns) wanted.push_back(name);
  }
  header_read_ = true;
  for (const std::string& name : wanted) {
    if (header_.contains(name)) continue;
    const std::string nearest = nearest_name(name, names);
    return bad_line(fmt::format("the first line names no column \"{}\"", escaped(name)),
                    !nearest.empty() ? fmt::format("did you mean {}?", nearest)
                    : options_.map   ? ""
                                     : "say what the columns are: --map 'row=id, d:name=name'");
  }
  return {};
}

Status CellReader::complete(Cell& cell, bool has_timestamp) const {
  if (cell.row.empty()) return bad_line("the row is empty");
  if (cell.family.empty()) cell.family = options_.family;
  if (cell.family.empty()) return bad_line("the family is empty", "--family NAME gives such cells a family");
  if (!has_timestamp) {
    cell.timestamp = options_.timestamp.value_or(options_.now_ms);
  } else if (cell.timestamp == kLatestTimestamp) {
    if (!options_.timestamp)
      return bad_line("the timestamp is LATEST", "--ts TIME gives such cells a timestamp");
    cell.timestamp = *options_.timestamp;
  }
  if (cell.timestamp < 0) return bad_line(fmt::format("the timestamp {} is negative", cell.timestamp));
  return {};
}

Status CellReader::cells_of_json(const std::string& line, std::vector<Cell>& cells) {
  const ReadJson object = ReadJson::parse(line, nullptr, false);
  if (object.is_discarded())
    return bad_line("the line is not JSON", "load reads one JSON object per line, or CSV and TSV (--from)");
  if (!object.is_object()) return bad_line("the line is JSON, but not a JSON object");
  CELLAR_TRY(check_members(object));
  Cell cell;
  CELLAR_TRY(text_member(object, "row", cell.row));
  CELLAR_TRY(text_member(object, "family", cell.family));
  CELLAR_TRY(text_member(object, "qualifier", cell.qualifier));
  if (object.contains("value")) CELLAR_TRY(text_member(object, "value", cell.value));
  const auto time = object.find("ts");
  if (time != object.end()) {
    if (!time->is_number_integer()) return bad_line("\"ts\" is not a whole number");
    cell.timestamp = time->get<int64_t>();
  }
  const auto type = object.find("type");
  if (type != object.end() &&
      (!type->is_string() || !parse_type(type->get_ref<const std::string&>(), cell.type)))
    return bad_line(fmt::format("invalid \"type\": {}", kTypesExpected));
  const auto tags = object.find("tags");
  if (tags != object.end()) CELLAR_TRY(tags_member(*tags, cell.tags));
  CELLAR_TRY(complete(cell, time != object.end()));
  cells.push_back(std::move(cell));
  return {};
}

Result<size_t> CellReader::column(const std::string& name) const {
  const auto found = header_.find(name);
  if (found == header_.end()) return bad_line(fmt::format("the first line names no column \"{}\"", name));
  return found->second;
}

Status CellReader::cells_of_map(const std::vector<std::string>& fields, std::vector<Cell>& cells) {
  if (fields.size() != header_.size())
    return bad_line(
        fmt::format("the line has {} fields, the first line has {}", fields.size(), header_.size()));
  const auto is_null = [&](const std::string& field) {
    return field.empty() || (options_.null && field == *options_.null);
  };
  const CellMap& map = *options_.map;
  CELLAR_TRY_ASSIGN(const size_t row_at, column(map.row));
  if (fields[row_at].empty()) return bad_line("the row is empty");
  bool has_timestamp = false;
  int64_t timestamp = 0;
  if (!map.time.empty()) {
    CELLAR_TRY_ASSIGN(const size_t time_at, column(map.time));
    if (!is_null(fields[time_at])) {
      CELLAR_TRY_ASSIGN(timestamp, for_argument(map.time, parse_time(fields[time_at])));
      has_timestamp = true;
    }
  }
  for (const auto& [target, name] : map.columns) {
    CELLAR_TRY_ASSIGN(const size_t at, column(name));
    if (is_null(fields[at])) continue;
    Cell cell(fields[row_at], target.family, target.qualifier.value_or(""), timestamp, CellType::kPut,
              fields[at]);
    CELLAR_TRY(complete(cell, has_timestamp));
    cells.push_back(std::move(cell));
  }
  return {};
}

Status CellReader::cells_of_columns(const std::vector<std::string>& fields, std::vector<Cell>& cells) {
  if (fields.size() != header_.size())
    return bad_line(
        fmt::format("the line has {} fields, the first line has {}", fields.size(), header_.size()));
  const auto field = [&](std::string_view name) -> const std::string& {
    return fields[header_.find(name)->second];
  };
  Cell cell;
  CELLAR_TRY_ASSIGN(cell.row, parse_bytes(field("row")));
  CELLAR_TRY_ASSIGN(cell.family, parse_bytes(field("family")));
  CELLAR_TRY_ASSIGN(cell.qualifier, parse_bytes(field("qualifier")));
  CELLAR_TRY_ASSIGN(cell.value, parse_bytes(field("value")));
  if (!field("ts").empty()) {
    CELLAR_TRY_ASSIGN(cell.timestamp, parse_written_time(field("ts")));
  }
  if (!parse_type(field("type"), cell.type))
    return bad_line(fmt::format("invalid type \"{}\": {}", escaped(field("type")), kTypesExpected));
  const auto tags = header_.find("tags");
  if (tags != header_.end()) {
    CELLAR_TRY_ASSIGN(cell.tags, parse_bytes(fields[tags->second]));
  }
  CELLAR_TRY(complete(cell, !field("ts").empty()));
  cells.push_back(std::move(cell));
  return {};
}

}  // namespace cellar
