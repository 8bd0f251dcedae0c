// The tags of manifest edits, their encoding, and the decoder that trusts nothing.
#include "engine/manifest/manifest_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "engine/manifest/edit_fields.h"

namespace cellar {

namespace {

// An edit is a sequence of: u8 tag | varint length | that many bytes of fields. Numbers are varints (signed
// ones zigzag), strings a varint length and bytes. Tags are never used again; a reader refuses tags it does
// not know.
enum class Tag : uint8_t {
  kSnapshot = 1,         // identity: two numbers. First in a generation's first record, and nowhere else
  kTable = 2,            // id, name, durability + 1 or 0
  kFamily = 3,           // table id, id, name, pairs of name and value to the end
  kRemoveFile = 4,       // family id, name
  kAddFile = 5,          // family id, FileRecord
  kFlushed = 6,          // family id, sequence
  kDropFamily = 7,       // id
  kDropTable = 8,        // id
  kForgetDropped = 9,    // family id
  kForgetObsolete = 10,  // table id, family, name, bytes
  kNextIds = 11,         // table, family, file
  kLastSequence = 12,    // sequence
  kTimeHigh = 13,        // milliseconds; read, and not used or written any more
  kWall = 14,            // milliseconds
  kLogStart = 15,        // segment
  kLogSynced = 16,       // position
  kCleanClose = 17,      // position
  kSeal = 18,            // segment, bytes
  kDropped = 19,         // family id: snapshots only
  kObsolete = 20,        // table id, family, name, bytes: snapshots only
  kAdoptFile = 21,       // family id, the sequence of all its cells, FileRecord
  kFeed = 22,           // id, name, acknowledged, bytes at most, lost; tables: name, how many families, names
  kDropFeed = 23,       // id
  kAcknowledge = 24,    // feed id, sequence
  kLoseFeed = 25,       // id
  kRetain = 26,         // segment, bytes, last sequence
  kReleaseBefore = 27,  // segment
  kDroppedName = 28,    // family id, table, family, sequence: snapshots only
  kUnloggedNote = 29,   // sequence, family id, file, bytes, cells: snapshots only
  kNamedSnapshot = 31,  // name: snapshots only, and only of named ones
  kDoubted = 32,        // milliseconds; after kWall
  kUniqueTime = 33,     // microseconds; only in stores that have given out unique times
  kPlaceFile = 34,      // family id, name, run, level: of the file added just before it, or of one that moves
  kWork = 35,           // family id, FamilyTotals: is added to those of the family
  kSecond = 36,         // id of a second table, its source, key and columns, 1 if it is built
  kTableOptions = 30,  // id of a table before it, pairs of name and value to the end: those that kTable lacks
};

void write_file(FieldWriter& to, const FileRecord& file) {
  CELLAR_ASSERT(is_store_file_name(file.name));
  to.text(file.name).number(file.bytes).number(file.cells).number(file.puts).number(file.deletes);
  to.number(file.family_deletes).text(file.first_key).text(file.last_key);
  to.signed_number(file.time_min).signed_number(file.time_max).signed_number(file.earliest_put);
  to.number(file.sequence_min).number(file.sequence_max).signed_number(file.created_ms);
  to.number(file.rewritten_at).number(file.trailer_crc).number(file.major ? 1 : 0);
  to.text(file.encoding).text(file.compression);
  if (file.version_deletes != 0) to.number(file.version_deletes);
}

FileRecord read_file(FieldReader& from) {
  FileRecord file;
  file.name = from.text();
  file.bytes = from.number();
  file.cells = from.number();
  file.puts = from.number();
  file.deletes = from.number();
  file.family_deletes = from.number();
  file.first_key = from.text();
  file.last_key = from.text();
  file.time_min = from.signed_number();
  file.time_max = from.signed_number();
  file.earliest_put = from.signed_number();
  file.sequence_min = from.number();
  file.sequence_max = from.number();
  file.created_ms = from.signed_number();
  file.rewritten_at = from.number();
  file.trailer_crc = from.number32();
  file.major = from.number() != 0;
  file.encoding = from.text();
  file.compression = from.text();
  if (from.more()) file.version_deletes = from.number();
  return file;
}

void write_stored(FieldWriter& to, const StoredFile& file) {
  to.number(file.table_id).text(file.family).text(file.name).number(file.bytes);
}

StoredFile read_stored(FieldReader& from) {
  StoredFile file;
  file.table_id = from.number32();
  file.family = from.text();
  file.name = from.text();
  file.bytes = from.number();
  return file;
}

void write_position(FieldWriter& to, const LogPosition& position) {
  to.number(position.segment).number(position.offset).number(position.lsn).number(position.chain);
}

LogPosition read_position(FieldReader& from) {
  LogPosition position;
  position.segment = from.number();
  position.offset = from.number();
  position.lsn = from.number();
  position.chain = from.number32();
  return position;
}

void write_feed(FieldWriter& to, const FeedRecord& feed) {
  CELLAR_ASSERT(feed.id != 0 && !feed.name.empty());
  to.number(feed.id).text(feed.name).number(feed.acknowledged).number(feed.retained_bytes_max);
  to.number(feed.lost ? 1 : 0);
  for (const auto& [table, families] : feed.tables) {
    to.text(table).number(families.size());
    for (const std::string& family : families) to.text(family);
  }
}

FeedRecord read_feed(FieldReader& from) {
  FeedRecord feed;
  feed.id = from.number();
  feed.name = from.text();
  feed.acknowledged = from.number();
  feed.retained_bytes_max = from.number();
  feed.lost = from.number() != 0;
  while (from.more()) {
    std::vector<std::string>& families = feed.tables[std::string(from.text())];
    for (uint64_t left = from.number(); left > 0 && from.sound(); --left) families.push_back(from.text());
  }
  return feed;
}

void write_feeds(FieldWriter& to, const FeedEdit& edit) {
  for (const FeedRecord& feed : edit.add) {
    write_feed(to, feed);
    to.end(Tag::kFeed);
  }
  for (const uint64_t id : edit.drop) to.number(id).end(Tag::kDropFeed);
  for (const FeedEdit::Acknowledged& each : edit.acknowledge)
    to.number(each.id).number(each.sequence).end(Tag::kAcknowledge);
  for (const uint64_t id : edit.lose) to.number(id).end(Tag::kLoseFeed);
  for (const LogSegment& each : edit.retain)
    to.number(each.id).number(each.bytes).number(each.last_sequence).end(Tag::kRetain);
  if (edit.release_before) to.number(*edit.release_before).end(Tag::kReleaseBefore);
}

// A table with none of them stays readable for a Cellar that knows none.
void write_table_options(FieldWriter& to, const TableRecord& table) {
  const auto defaults = option_list(TableOptions());
  OptionTexts set;
  for (const auto& each : option_list(table.options))
    if (each.first != "durability" && std::ranges::find(defaults, each) == defaults.end())
      set.push_back(each);
  if (set.empty()) return;
  to.number(table.id);
  for (const auto& [name, value] : set) to.text(name).text(value);
  to.end(Tag::kTableOptions);
}

// A Cellar that would not keep the table must not write to its source: a tag that it does not know.
void write_second(FieldWriter& to, const ManifestEdit::Second& each) {
  CELLAR_ASSERT(each.table_id != 0 && !each.second.of.empty());
  to.number(each.table_id).text(each.second.of).text(each.second.key).text(each.second.columns);
  to.number(each.second.built ? 1 : 0).end(Tag::kSecond);
}

ManifestEdit::Second read_second(FieldReader& from) {
  ManifestEdit::Second each;
  each.table_id = from.number32();
  each.second.of = from.text();
  each.second.key = from.text();
  each.second.columns = from.text();
  each.second.built = from.number() != 0;
  return each;
}

// A Cellar that knows no runs must not read the family: to it the order of the files would be their age.
void write_place(FieldWriter& to, const ManifestEdit::FileMove& place) {
  CELLAR_ASSERT(place.run != 0);
  to.number(place.family_id).text(place.name).number(place.run).number(place.level).end(Tag::kPlaceFile);
}

void write_work(FieldWriter& to, const ManifestEdit::Work& work) {
  const FamilyTotals& totals = work.totals;
  if (totals == FamilyTotals()) return;
  CELLAR_ASSERT(work.family_id != 0);
  to.number(work.family_id).number(totals.bytes_put).number(totals.bytes_flushed);
  to.number(totals.bytes_compacted).number(totals.bytes_compacted_from);
  to.number(totals.flushes).number(totals.compactions).end(Tag::kWork);
}

ManifestEdit::Work read_work(FieldReader& from) {
  ManifestEdit::Work work;
  work.family_id = from.number32();
  work.totals.bytes_put = from.number();
  work.totals.bytes_flushed = from.number();
  work.totals.bytes_compacted = from.number();
  work.totals.bytes_compacted_from = from.number();
  work.totals.flushes = from.number();
  work.totals.compactions = from.number();
  return work;
}

void write_edit(FieldWriter& to, const ManifestEdit& edit) {
  for (const TableRecord& table : edit.set_tables) {
    to.number(table.id).text(table.name);
    const std::optional<Durability>& durability = table.options.durability;
    to.number(durability ? static_cast<uint64_t>(*durability) + 1 : 0).end(Tag::kTable);
    write_table_options(to, table);
  }
  for (const ManifestEdit::Second& each : edit.set_seconds) write_second(to, each);
  for (const ManifestEdit::NewFamily& family : edit.set_families) {
    CELLAR_ASSERT(family.id != 0 && family.table_id != 0);
    to.number(family.table_id).number(family.id).text(family.name);
    for (const auto& [name, value] : family.options) to.text(name).text(value);
    to.end(Tag::kFamily);
  }
  for (const ManifestEdit::FileName& file : edit.remove_files) {
    to.number(file.family_id).text(file.name).end(Tag::kRemoveFile);
  }
  for (const ManifestEdit::FileChange& change : edit.add_files) {
    // A Cellar that would not give its cells their sequence must not read the file: a tag it does not know.
    const bool adopted = change.file.adopted_as != 0;
    to.number(change.family_id);
    if (adopted) to.number(change.file.adopted_as);
    write_file(to, change.file);
    to.end(adopted ? Tag::kAdoptFile : Tag::kAddFile);
    CELLAR_ASSERT(change.file.run != 0 || change.file.level == 0);
    if (change.file.run != 0)
      write_place(to, {change.family_id, change.file.name, change.file.run, change.file.level});
  }
  for (const ManifestEdit::FileMove& move : edit.move_files) write_place(to, move);
  for (const ManifestEdit::Flushed& flushed : edit.flushed) {
    to.number(flushed.family_id).number(flushed.sequence).end(Tag::kFlushed);
  }
  for (const ManifestEdit::Work& work : edit.work) write_work(to, work);
  for (const uint32_t id : edit.drop_families) to.number(id).end(Tag::kDropFamily);
  for (const uint32_t id : edit.drop_tables) to.number(id).end(Tag::kDropTable);
  for (const uint32_t id : edit.forget_dropped) to.number(id).end(Tag::kForgetDropped);
  for (const StoredFile& file : edit.forget_obsolete) {
    write_stored(to, file);
    to.end(Tag::kForgetObsolete);
  }
  if ((edit.next_table_id | edit.next_family_id | edit.next_file_number) != 0) {
    to.number(edit.next_table_id)
        .number(edit.next_family_id)
        .number(edit.next_file_number)
        .end(Tag::kNextIds);
  }
  if (edit.last_sequence != 0) to.number(edit.last_sequence).end(Tag::kLastSequence);
  if (edit.wall_ms) to.signed_number(*edit.wall_ms).end(Tag::kWall);
  if (edit.wall_ms && edit.doubted_ms != 0) to.signed_number(edit.doubted_ms).end(Tag::kDoubted);
  if (edit.unique_time_us) to.signed_number(*edit.unique_time_us).end(Tag::kUniqueTime);
  if (edit.log_start) to.number(*edit.log_start).end(Tag::kLogStart);
  if (edit.log_synced) {
    write_position(to, *edit.log_synced);
    to.end(Tag::kLogSynced);
  }
  if (edit.clean_close) {
    write_position(to, *edit.clean_close);
    to.end(Tag::kCleanClose);
  }
  for (const SealedEnd& sealed : edit.seal) to.number(sealed.segment).number(sealed.bytes).end(Tag::kSeal);
  write_feeds(to, edit.feeds);
}

// Decoded: a payload's changes, and what only snapshots hold.
struct Decoded {
  ManifestEdit edit;
  Identity identity;
  bool is_snapshot = false;
  std::string named_snapshot;
  std::vector<uint32_t> dropped;
  std::vector<StoredFile> obsolete;
  std::vector<DroppedFamily> dropped_names;
  std::vector<UnloggedNote> unlogged;

  bool of_snapshots() const {
    return !(named_snapshot.empty() && dropped.empty() && obsolete.empty() && dropped_names.empty() &&
             unlogged.empty());
  }
};

void read_table(FieldReader& from, ManifestEdit& edit, bool& fits) {
  TableRecord table;
  table.id = from.number32();
  table.name = from.text();
  const uint64_t durability = from.number();
  fits = durability <= static_cast<uint64_t>(Durability::kFsyncWal) + 1;
  if (fits && durability != 0) table.options.durability = static_cast<Durability>(durability - 1);
  edit.set_tables.push_back(std::move(table));
}

void read_table_options(FieldReader& from, ManifestEdit& edit, bool& fits) {
  const uint32_t id = from.number32();
  const auto table = std::ranges::find(edit.set_tables, id, &TableRecord::id);
  fits = table != edit.set_tables.end();
  while (from.more()) {
    const std::string name = from.text();
    const std::string value = from.text();
    fits = fits && set_option(table->options, name, value).ok();
  }
}

void read_family(FieldReader& from, ManifestEdit& edit) {
  ManifestEdit::NewFamily family;
  family.table_id = from.number32();
  family.id = from.number32();
  family.name = from.text();
  while (from.more()) {
    std::string name = from.text();
    std::string value = from.text();
    family.options.emplace_back(std::move(name), std::move(value));
  }
  edit.set_families.push_back(std::move(family));
}

ManifestEdit::FileChange read_adopted(FieldReader& from) {
  ManifestEdit::FileChange change;
  change.family_id = from.number32();
  const uint64_t adopted_as = from.number();
  change.file = read_file(from);
  change.file.adopted_as = adopted_as;
  return change;
}

// Reads the place of a file that was added just before, or a move.
void read_place(FieldReader& from, ManifestEdit& edit) {
  ManifestEdit::FileMove place;
  place.family_id = from.number32();
  place.name = from.text();
  place.run = from.number();
  place.level = from.number32();
  if (edit.add_files.empty() || edit.add_files.back().family_id != place.family_id ||
      edit.add_files.back().file.name != place.name) {
    edit.move_files.push_back(std::move(place));
    return;
  }
  edit.add_files.back().file.run = place.run;
  edit.add_files.back().file.level = place.level;
}

// Reads the changes of feeds. Returns false for any other tag.
bool read_feeds(Tag tag, FieldReader& from, Decoded& decoded) {
  FeedEdit& edit = decoded.edit.feeds;
  switch (tag) {
    case Tag::kFeed:
      edit.add.push_back(read_feed(from));
      return true;
    case Tag::kDropFeed:
      edit.drop.push_back(from.number());
      return true;
    case Tag::kAcknowledge: {
      const uint64_t id = from.number();
      edit.acknowledge.push_back({id, from.number()});
      return true;
    }
    case Tag::kLoseFeed:
      edit.lose.push_back(from.number());
      return true;
    case Tag::kRetain: {
      LogSegment& segment = edit.retain.emplace_back();
      segment.id = from.number();
      segment.bytes = from.number();
      segment.last_sequence = from.number();
      return true;
    }
    case Tag::kReleaseBefore:
      edit.release_before = from.number();
      return true;
    default:
      return false;
  }
}

// Reads the fields that only whole states hold. Returns false for any other tag.
bool read_of_snapshots(Tag tag, FieldReader& from, Decoded& decoded) {
  switch (tag) {
    case Tag::kDropped:
      decoded.dropped.push_back(from.number32());
      return true;
    case Tag::kObsolete:
      decoded.obsolete.push_back(read_stored(from));
      return true;
    case Tag::kNamedSnapshot:
      decoded.named_snapshot = from.text();
      return true;
    case Tag::kDroppedName: {
      DroppedFamily& family = decoded.dropped_names.emplace_back();
      family.id = from.number32();
      family.table = from.text();
      family.family = from.text();
      family.sequence = from.number();
      return true;
    }
    case Tag::kUnloggedNote: {
      UnloggedNote& note = decoded.unlogged.emplace_back();
      note.sequence = from.number();
      note.family_id = from.number32();
      note.file = from.text();
      note.bytes = from.number();
      note.cells = from.number();
      return true;
    }
    default:
      return false;
  }
}

// Reads a change of files, or what was written for them. Returns false for another tag.
bool read_files(Tag tag, FieldReader& from, ManifestEdit& edit) {
  const auto id_and = [&](auto make) { return make(from.number32()); };
  switch (tag) {
    case Tag::kRemoveFile:
      edit.remove_files.push_back(id_and([&](uint32_t id) {
        return ManifestEdit::FileName{id, from.text()};
      }));
      return true;
    case Tag::kAddFile:
      edit.add_files.push_back(id_and([&](uint32_t id) {
        return ManifestEdit::FileChange{id, read_file(from)};
      }));
      return true;
    case Tag::kAdoptFile:
      edit.add_files.push_back(read_adopted(from));
      return true;
    case Tag::kPlaceFile:
      read_place(from, edit);
      return true;
    case Tag::kWork:
      edit.work.push_back(read_work(from));
      return true;
    default:
      return false;
  }
}

// Reads a change of files, numbers or the log. Returns false for another tag.
bool read_fields(Tag tag, FieldReader& from, Decoded& decoded) {
  ManifestEdit& edit = decoded.edit;
  const auto id_and = [&](auto make) { return make(from.number32()); };
  switch (tag) {
    case Tag::kFlushed:
      edit.flushed.push_back(id_and([&](uint32_t id) { return ManifestEdit::Flushed{id, from.number()}; }));
      return true;
    case Tag::kDropFamily:
      edit.drop_families.push_back(from.number32());
      return true;
    case Tag::kDropTable:
      edit.drop_tables.push_back(from.number32());
      return true;
    case Tag::kForgetDropped:
      edit.forget_dropped.push_back(from.number32());
      return true;
    case Tag::kForgetObsolete:
      edit.forget_obsolete.push_back(read_stored(from));
      return true;
    case Tag::kNextIds:
      edit.next_table_id = from.number32();
      edit.next_family_id = from.number32();
      edit.next_file_number = from.number();
      return true;
    case Tag::kLastSequence:
      edit.last_sequence = from.number();
      return true;
    case Tag::kTimeHigh:
      static_cast<void>(from.signed_number());  // what stores before remembered of their clock
      return true;
    case Tag::kWall:
      edit.wall_ms = from.signed_number();
      return true;
    case Tag::kDoubted:
      edit.doubted_ms = from.signed_number();
      return true;
    case Tag::kSecond:
      edit.set_seconds.push_back(read_second(from));
      return true;
    case Tag::kUniqueTime:
      edit.unique_time_us = from.signed_number();
      return true;
    case Tag::kLogStart:
      edit.log_start = from.number();
      return true;
    case Tag::kLogSynced:
      edit.log_synced = read_position(from);
      return true;
    case Tag::kCleanClose:
      edit.clean_close = read_position(from);
      return true;
    case Tag::kSeal: {
      const uint64_t segment = from.number();
      edit.seal.push_back({segment, from.number()});
      return true;
    }
    default:
      return read_files(tag, from, edit);
  }
}

Status decode(std::string_view payload, Decoded& decoded) {
  ByteReader reader(payload);
  const auto damaged = [&] {
    return Status::corruption(fmt::format("an invalid change, {} bytes from the end", reader.left()));
  };
  while (!reader.empty()) {
    uint8_t tag = 0;
    uint64_t size = 0;
    std::string_view bytes;
    if (!reader.take_u8(tag) || !reader.take_varint(size) || size > reader.left() ||
        !reader.take_bytes(size, bytes)) {
      return damaged();
    }
    FieldReader fields(bytes);
    bool fits = true;
    switch (static_cast<Tag>(tag)) {
      case Tag::kSnapshot:
        fits = bytes.data() == payload.data() + 2;  // the first change
        decoded.is_snapshot = true;
        decoded.identity.high = fields.any_number();
        decoded.identity.low = fields.any_number();
        break;
      case Tag::kTable:
        read_table(fields, decoded.edit, fits);
        break;
      case Tag::kTableOptions:
        read_table_options(fields, decoded.edit, fits);
        break;
      case Tag::kFamily:
        read_family(fields, decoded.edit);
        break;
      default:
        if (!read_fields(static_cast<Tag>(tag), fields, decoded) &&
            !read_feeds(static_cast<Tag>(tag), fields, decoded) &&
            !read_of_snapshots(static_cast<Tag>(tag), fields, decoded)) {
          return Status::not_supported(fmt::format(
              "the manifest holds a change of kind {}, which a newer version of Cellar wrote", tag));
        }
    }
    if (!fits || !fields.ok()) return damaged();
  }
  return Status();
}

[[maybe_unused]] bool reads_back(std::string_view payload) {
  Decoded decoded;
  return decode(payload, decoded).ok();
}

}  // namespace

std::string encode_edit(const ManifestEdit& edit) {
  FieldWriter to;
  write_edit(to, edit);
  std::string bytes = to.take();
  CELLAR_DCHECK(reads_back(bytes));
  return bytes;
}

std::string encode_snapshot(const ManifestState& state) {
  FieldWriter to;
  to.any_number(state.identity.high).any_number(state.identity.low).end(Tag::kSnapshot);
  if (!state.snapshot.empty()) to.text(state.snapshot).end(Tag::kNamedSnapshot);
  ManifestEdit edit;
  edit.next_table_id = state.next_table_id;
  edit.next_family_id = state.next_family_id;
  edit.next_file_number = state.next_file_number;
  edit.last_sequence = state.last_sequence;
  edit.wall_ms = state.wall_ms;
  edit.doubted_ms = state.doubted_ms;
  if (state.unique_time_us != 0) edit.unique_time_us = state.unique_time_us;
  edit.log_start = state.log_start;
  edit.log_synced = state.log_synced;
  edit.clean_close = state.clean_close;
  edit.seal = state.sealed;
  edit.feeds.add = state.feeds.feeds;
  edit.feeds.retain = state.feeds.retained;
  for (const TableRecord& table : state.tables) {
    edit.set_tables.push_back({table.id, table.name, table.options, {}, {}});
    if (table.second) edit.set_seconds.push_back({table.id, *table.second});
    for (const FamilyRecord& family : table.families) {
      edit.set_families.push_back({table.id, family.id, family.name, family.options});
      edit.flushed.push_back({family.id, family.flushed_sequence});
      edit.work.push_back({family.id, family.totals});
      for (const FileRecord& file : family.files) edit.add_files.push_back({family.id, file});
    }
  }
  write_edit(to, edit);
  for (const uint32_t id : state.dropped_families) to.number(id).end(Tag::kDropped);
  for (const StoredFile& file : state.obsolete) {
    write_stored(to, file);
    to.end(Tag::kObsolete);
  }
  for (const DroppedFamily& each : state.feeds.dropped)
    to.number(each.id).text(each.table).text(each.family).number(each.sequence).end(Tag::kDroppedName);
  for (const UnloggedNote& each : state.feeds.unlogged) {
    to.number(each.sequence).number(each.family_id).text(each.file).number(each.bytes).number(each.cells);
    to.end(Tag::kUnloggedNote);
  }
  std::string bytes = to.take();
  CELLAR_DCHECK(reads_back(bytes));
  return bytes;
}

Result<ManifestEdit> decode_edit(std::string_view payload) {
  Decoded decoded;
  CELLAR_TRY(decode(payload, decoded));
  return std::move(decoded.edit);
}

Status apply_payload(ManifestState& state, std::string_view payload, EditKind kind) {
  Decoded decoded;
  CELLAR_TRY(decode(payload, decoded));
  const bool is_snapshot = kind == EditKind::kSnapshot;
  if (decoded.is_snapshot != is_snapshot || (!is_snapshot && decoded.of_snapshots())) {
    return Status::corruption(is_snapshot ? "the first record is not a whole state"
                                          : "a whole state follows an edit");
  }
  if (is_snapshot) {
    state = ManifestState();
    state.identity = decoded.identity;
  }
  const Status status = apply(state, decoded.edit);
  if (!status.ok())
    return Status::corruption(fmt::format("an edit contradicts the state: {}", status.message()));
  if (is_snapshot) {
    state.snapshot = std::move(decoded.named_snapshot);
    state.dropped_families = std::move(decoded.dropped);
    state.obsolete = std::move(decoded.obsolete);
    state.feeds.dropped = std::move(decoded.dropped_names);
    state.feeds.unlogged = std::move(decoded.unlogged);
  }
  return Status();
}

}  // namespace cellar
