// The members of a manifest's state, one after the other.
#include "tools/repair/manifest_json.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "engine/manifest/file_order.h"
#include "tools/frame/output.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;

Json position_json(const LogPosition& position) {
  if (position.segment == 0) return nullptr;
  return {{"segment", position.segment}, {"offset", position.offset}, {"record", position.lsn}};
}

Json file_json(const FileRecord& file) {
  return {{"name", file.name},
          {"bytes", file.bytes},
          {"cells", file.cells},
          {"puts", file.puts},
          {"deletes", file.deletes},
          {"first_row", escaped(first_row_of(file))},
          {"last_row", escaped(last_row_of(file))},
          {"first_time", file.time_min},
          {"last_time", file.time_max},
          {"first_sequence", file.sequence_min},
          {"last_sequence", file.sequence_max},
          {"bulk_load_sequence", file.adopted_as},
          {"created", file.created_ms},
          {"end_sum", fmt::format("{:08x}", file.trailer_crc)},
          {"major", file.major},
          {"run", file.run},
          {"level", file.level},
          {"encoding", file.encoding},
          {"compression", file.compression}};
}

Json family_json(const FamilyRecord& family) {
  Json options = Json::object();
  for (const auto& [name, value] : family.options) options[escaped(name)] = escaped(value);
  Json files = Json::array();
  for (const FileRecord& file : family.files) files.push_back(file_json(file));
  return {{"id", family.id},
          {"name", escaped(family.name)},
          {"options", std::move(options)},
          {"flushed_sequence", family.flushed_sequence},
          {"bytes_put", family.totals.bytes_put},
          {"bytes_flushed", family.totals.bytes_flushed},
          {"bytes_compacted", family.totals.bytes_compacted},
          {"files", std::move(files)}};
}

Json table_json(const TableRecord& table) {
  Json families = Json::array();
  for (const FamilyRecord& family : table.families) families.push_back(family_json(family));
  return {{"id", table.id},
          {"name", escaped(table.name)},
          {"options", escaped(to_text(table.options))},
          {"families", std::move(families)}};
}

Json feeds_json(const FeedBook& book) {
  Json feeds = Json::array();
  for (const FeedRecord& feed : book.feeds)
    feeds.push_back({{"id", feed.id},
                     {"name", escaped(feed.name)},
                     {"acknowledged", feed.acknowledged},
                     {"lost", feed.lost}});
  return feeds;
}

}  // namespace

nlohmann::ordered_json manifest_json(const ManifestState& state) {
  Json tables = Json::array();
  for (const TableRecord& table : state.tables) tables.push_back(table_json(table));
  Json sealed = Json::array();
  for (const SealedEnd& each : state.sealed)
    sealed.push_back({{"segment", each.segment}, {"bytes", each.bytes}});
  Json retained = Json::array();
  for (const LogSegment& each : state.feeds.retained)
    retained.push_back({{"segment", each.id}, {"bytes", each.bytes}, {"last_sequence", each.last_sequence}});
  Json obsolete = Json::array();
  for (const StoredFile& each : state.obsolete) obsolete.push_back(escaped(to_text(each)));
  return {{"identity", state.identity.hex()},
          {"edit", state.edit},
          {"snapshot", escaped(state.snapshot)},
          {"last_sequence", state.last_sequence},
          {"next_table_id", state.next_table_id},
          {"next_family_id", state.next_family_id},
          {"next_file_number", state.next_file_number},
          {"last_used", state.wall_ms},
          {"log_start", state.log_start},
          {"log_synced", position_json(state.log_synced)},
          {"clean_close", position_json(state.clean_close)},
          {"sealed", std::move(sealed)},
          {"tables", std::move(tables)},
          {"dropped_families", state.dropped_families},
          {"obsolete", std::move(obsolete)},
          {"feeds", feeds_json(state.feeds)},
          {"retained", std::move(retained)}};
}

namespace {

std::string file_line(const FileRecord& file) {
  return fmt::format("    {}  {}, {}, rows {} to {}, sequences {} to {}{}{}\n", file.name,
                     human_bytes(file.bytes), counted(file.cells, "cell"), escaped(first_row_of(file)),
                     escaped(last_row_of(file)), file.sequence_min, file.sequence_max,
                     file.run != 0 ? fmt::format(", run {} of level {}", file.run, file.level) : "",
                     file.adopted_as != 0 ? fmt::format(", of a bulk load at {}", file.adopted_as) : "");
}

std::string position_text(const LogPosition& position) {
  return fmt::format("segment {}, offset {}, record {}", position.segment, position.offset, position.lsn);
}

}  // namespace

std::string manifest_text(const ManifestState& state) {
  std::string text = fmt::format("edit {} of store {}\n", state.edit, state.identity.hex());
  if (!state.snapshot.empty()) text += fmt::format("snapshot {}\n", shown_name(state.snapshot));
  text += fmt::format("last sequence {}, next file {}, next table {}, next family {}\n", state.last_sequence,
                      state.next_file_number, state.next_table_id, state.next_family_id);
  text += fmt::format("log starts at segment {}\n", state.log_start);
  if (state.log_synced.segment != 0)
    text += fmt::format("log durable up to {}\n", position_text(state.log_synced));
  if (state.clean_close.segment != 0) text += fmt::format("closed at {}\n", position_text(state.clean_close));
  for (const SealedEnd& each : state.sealed)
    text += fmt::format("segment {} ends at {}\n", each.segment, each.bytes);
  for (const TableRecord& table : state.tables) {
    text += fmt::format("table {} (number {})  {}\n", shown_name(table.name), table.id,
                        escaped(to_text(table.options)));
    for (const FamilyRecord& family : table.families) {
      text += fmt::format("  family {} (number {})  flushed up to sequence {}, {}\n", shown_name(family.name),
                          family.id, family.flushed_sequence, counted(family.files.size(), "file"));
      for (const FileRecord& file : family.files) text += file_line(file);
    }
  }
  for (const FeedRecord& feed : state.feeds.feeds)
    text += fmt::format("feed {} (number {})  acknowledged up to sequence {}{}\n", shown_name(feed.name),
                        feed.id, feed.acknowledged, feed.lost ? ", lost" : "");
  for (const LogSegment& each : state.feeds.retained)
    text += fmt::format("segment {} kept for feeds, up to {}\n", each.id, each.bytes);
  if (!state.dropped_families.empty())
    text +=
        fmt::format("{} may still be in the log\n", counted(state.dropped_families.size(), "dropped family"));
  if (!state.obsolete.empty())
    text += fmt::format("{} not yet removed\n", counted(state.obsolete.size(), "old file"));
  return text;
}

}  // namespace cellar
