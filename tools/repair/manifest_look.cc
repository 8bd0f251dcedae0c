// The walk over a generation of the manifest, and edits in words.
#include "tools/repair/manifest_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "engine/manifest/manifest_codec.h"
#include "tools/frame/output.h"
#include "tools/repair/log_look.h"

namespace cellar {
namespace {

constexpr uint64_t kCurrentBytesMax = 4096;
const VisitEdit kNoVisit;

// Judges what stands at the end of the whole edits as the opening of a store does.
Status judge_end(RecordFile& file, const GenerationLook& look, Look at_end) {
  if (at_end == Look::kNothing) return {};
  bool witness = false;
  CELLAR_TRY(
      file.scan(look.end, [&](const RecordHeader& header) { return !(witness = header.synced > look.end); }));
  if (witness) return Status::corruption("an edit is not whole, and a later one says that it was durable");
  return at_end == Look::kDamaged ? Status::corruption("an edit does not match its checksum") : Status();
}

// One walk over a generation. A walk with a visitor keeps the state before each edit. A walk without one
// changes a single state; if an edit does not fit, a second walk ends before it.
class GenerationWalk {
 public:
  GenerationWalk(RecordFile& file, GenerationLook& look, const VisitEdit& visit)
      : file_(file), look_(look), visit_(visit) {}

  Status run(uint64_t edits_max) {
    look_.end = kFileHeaderBytes;
    uint64_t number = file_.header().first_lsn;
    uint32_t chain = file_.header_crc();
    while (look_.edits < edits_max) {
      CELLAR_TRY_ASSIGN(const Found found, file_.look(look_.end, chain, number));
      if (found.look != Look::kRecord) return end_at(found.look);
      CELLAR_TRY_ASSIGN(const bool goes_on, take(found));
      if (!goes_on) return {};
      chain = found.header.bcrc;
      number = found.header.lsn + 1;
    }
    return {};
  }

 private:
  Status end_at(Look what) {
    if (!look_.state) {
      look_.damage = Status::corruption("the first edit, which holds the whole state, is damaged");
      return {};
    }
    look_.damage = judge_end(file_, look_, what);
    return look_.damage.ok() || look_.damage.is(Code::kCorruption) ? Status() : look_.damage;
  }

  Result<bool> take(const Found& found) {
    const bool first = !look_.state.has_value();
    ManifestState before;
    if (!first && visit_ != nullptr) before = *look_.state;
    if (first) look_.state.emplace();
    Status applied =
        apply_payload(*look_.state, found.payload, first ? EditKind::kSnapshot : EditKind::kEdit);
    if (applied.ok() && look_.state->identity != file_.header().identity)
      applied = Status::corruption("the edit belongs to another store");
    if (!applied.ok()) return misfit(applied);
    const uint64_t offset = look_.end;
    look_.state->edit = found.header.lsn;
    if (first) look_.first_edit = found.header.lsn;
    look_.edits += 1;
    look_.end = found.end;
    if (visit_ == nullptr) return true;
    CELLAR_TRY_ASSIGN(const ManifestEdit edit, decode_edit(found.payload));
    return visit_(
        {look_.generation, offset, found.end - offset, found.header.lsn, first, edit, before, *look_.state});
  }

  // The state is half changed: it is made again.
  Result<bool> misfit(const Status& misfit) {
    const uint64_t fitting = look_.edits;
    look_.state.reset();
    look_.edits = 0;
    if (fitting != 0) CELLAR_TRY(GenerationWalk(file_, look_, kNoVisit).run(fitting));
    look_.damage = misfit;
    return false;
  }

  RecordFile& file_;
  GenerationLook& look_;
  const VisitEdit& visit_;
};

}  // namespace

Result<GenerationLook> look_at_generation(Directory& root, uint64_t generation, const Identity& identity,
                                          const VisitEdit& visit) {
  const std::string name = manifest_name(generation);
  GenerationLook look;
  look.generation = generation;
  Identity expected = identity;
  if (!expected.is_set()) {
    const Result<FileHeader> header = read_file_header(root, name, FileKind::kManifest);
    if (header.ok()) expected = header->identity;
    if (!header.ok() && !header.status().is(Code::kCorruption)) return header.status();
  }
  CELLAR_TRY_ASSIGN(RecordFile file, RecordFile::open(root, name, FileKind::kManifest, expected, generation));
  look.bytes = file.size();
  look.header = file.header_status();
  if (look.header.ok() && file.header().first_lsn == 0)
    look.header = Status::corruption("the first edit has no number");
  if (!look.header.ok()) {
    look.damage = look.header;
    return look;
  }
  CELLAR_TRY(GenerationWalk(file, look, visit).run(UINT64_MAX));
  return look;
}

Result<std::vector<uint64_t>> list_generations(Directory& root) {
  CELLAR_TRY_ASSIGN(const std::vector<DirectoryEntry> entries, root.list());
  std::vector<uint64_t> generations;
  for (const DirectoryEntry& entry : entries) {
    uint64_t generation = 0;
    if (!entry.is_directory && parse_manifest_name(entry.name, generation)) generations.push_back(generation);
  }
  std::ranges::sort(generations);
  return generations;
}

Result<Current> read_current_file(Directory& root) {
  CELLAR_TRY_ASSIGN(const std::unique_ptr<ReadableFile> file, root.open(kCurrentName));
  if (file->size() > kCurrentBytesMax) return Status::corruption("CURRENT is damaged").at(kCurrentName);
  std::string text(file->size(), '\0');
  CELLAR_TRY(file->read(0, text.size(), text.data()));
  return parse_current(text);
}

namespace {

// Collects changes in words.
class ChangeList {
 public:
  ChangeList(const ManifestState& before, const ManifestState& after) : before_(before), after_(after) {}

  void add_edit(const ManifestEdit& edit) {
    add_schema(edit);
    add_files(edit);
    add_numbers(edit);
    add_feeds(edit.feeds);
  }

  // The differences as the edit that would make them.
  void add_differences() {
    ManifestEdit edit;
    for (const TableRecord& table : after_.tables) {
      const TableRecord* const old = before_.table(table.id);
      if (old == nullptr || old->name != table.name || old->options != table.options)
        edit.set_tables.push_back(table);
      for (const FamilyRecord& family : table.families) compare(table, family, edit);
    }
    for (const TableRecord& table : before_.tables) {
      const bool gone = after_.table(table.id) == nullptr;
      if (gone) edit.drop_tables.push_back(table.id);
      for (const FamilyRecord& family : table.families)
        if (!gone && after_.family(family.id).second == nullptr) edit.drop_families.push_back(family.id);
    }
    if (before_.log_start != after_.log_start) edit.log_start = after_.log_start;
    if (before_.clean_close != after_.clean_close) edit.clean_close = after_.clean_close;
    for (const FeedRecord& feed : after_.feeds.feeds) {
      const FeedRecord* const old = before_.feeds.feed(feed.id);
      if (old == nullptr) edit.feeds.add.push_back(feed);
      if (old != nullptr && old->acknowledged != feed.acknowledged)
        edit.feeds.acknowledge.push_back({feed.id, feed.acknowledged});
      if (old != nullptr && old->lost != feed.lost) edit.feeds.lose.push_back(feed.id);
    }
    for (const FeedRecord& feed : before_.feeds.feeds)
      if (after_.feeds.feed(feed.id) == nullptr) edit.feeds.drop.push_back(feed.id);
    add_edit(edit);
  }

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    changes_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  std::vector<std::string> take() {
    if (changes_.empty()) changes_.emplace_back("numbers only");
    return std::move(changes_);
  }

 private:
  void compare(const TableRecord& table, const FamilyRecord& family, ManifestEdit& edit) const {
    const FamilyRecord* const old = before_.family(family.id).second;
    if (old == nullptr || old->options != family.options)
      edit.set_families.push_back({table.id, family.id, family.name, family.options});
    if (old != nullptr && old->flushed_sequence != family.flushed_sequence)
      edit.flushed.push_back({family.id, family.flushed_sequence});
    std::set<std::string_view> names;
    for (const FileRecord& file : family.files) names.insert(file.name);
    std::set<std::string_view> old_names;
    if (old != nullptr)
      for (const FileRecord& file : old->files) {
        old_names.insert(file.name);
        if (!names.contains(file.name)) edit.remove_files.push_back({family.id, file.name});
      }
    for (const FileRecord& file : family.files)
      if (!old_names.contains(file.name)) edit.add_files.push_back({family.id, file});
  }

  std::string family(uint32_t id) const {
    for (const ManifestState* state : {&after_, &before_}) {
      const auto [table, family] = state->family(id);
      if (family != nullptr) return shown_name(table->name) + "/" + shown_name(family->name);
    }
    return fmt::format("family {}", id);
  }
  std::string table(uint32_t id) const {
    for (const ManifestState* state : {&after_, &before_})
      if (const TableRecord* table = state->table(id); table != nullptr) return shown_name(table->name);
    return fmt::format("table {}", id);
  }
  std::string feed(uint64_t id) const {
    for (const ManifestState* state : {&after_, &before_})
      if (const FeedRecord* feed = state->feeds.feed(id); feed != nullptr) return shown_name(feed->name);
    return fmt::format("{}", id);
  }

  void add_schema(const ManifestEdit& edit) {
    for (const uint32_t id : edit.drop_families) add("family {} dropped", family(id));
    for (const uint32_t id : edit.drop_tables) add("table {} dropped", table(id));
    for (const TableRecord& each : edit.set_tables)
      add("table {} {}", shown_name(each.name), before_.table(each.id) == nullptr ? "created" : "altered");
    for (const ManifestEdit::NewFamily& each : edit.set_families)
      add("family {} {}", family(each.id), before_.family(each.id).second == nullptr ? "added" : "altered");
    if (!edit.forget_dropped.empty())
      add("{} of dropped families forgotten", counted(edit.forget_dropped.size(), "number"));
  }

  void add_files(const ManifestEdit& edit) {
    for (const ManifestEdit::FileName& each : edit.remove_files)
      add("file {} of {} removed", each.name, family(each.family_id));
    for (const ManifestEdit::FileChange& each : edit.add_files)
      add("file {} of {} added: {}, {}, sequences {} to {}{}", each.file.name, family(each.family_id),
          human_bytes(each.file.bytes), counted(each.file.cells, "cell"), each.file.sequence_min,
          each.file.sequence_max, each.file.adopted_as != 0 ? ", of a bulk load" : "");
    for (const ManifestEdit::FileMove& each : edit.move_files)
      add("file {} of {} moved to run {}, level {}", each.name, family(each.family_id), each.run, each.level);
    for (const ManifestEdit::Flushed& each : edit.flushed)
      add("{} flushed up to sequence {}", family(each.family_id), each.sequence);
    if (!edit.forget_obsolete.empty())
      add("{} removed from the disk", counted(edit.forget_obsolete.size(), "old file"));
  }

  void add_numbers(const ManifestEdit& edit) {
    if (edit.log_start) add("the log starts at segment {}", *edit.log_start);
    if (edit.clean_close && edit.clean_close->segment != 0)
      add("closed at segment {}, offset {}", edit.clean_close->segment, edit.clean_close->offset);
    if (edit.clean_close && edit.clean_close->segment == 0) add("{}", "opened");
    for (const SealedEnd& each : edit.seal) add("segment {} ends at {}", each.segment, each.bytes);
  }

  void add_feeds(const FeedEdit& edit) {
    for (const FeedRecord& each : edit.add) add("feed {} created", shown_name(each.name));
    for (const uint64_t id : edit.drop) add("feed {} dropped", feed(id));
    for (const FeedEdit::Acknowledged& each : edit.acknowledge)
      add("feed {} acknowledged sequence {}", feed(each.id), each.sequence);
    for (const uint64_t id : edit.lose) add("feed {} lost", feed(id));
    for (const LogSegment& each : edit.retain) add("segment {} kept for feeds", each.id);
    if (edit.release_before) add("segments before {} no longer kept for feeds", *edit.release_before);
  }

  const ManifestState& before_;
  const ManifestState& after_;
  std::vector<std::string> changes_;
};

}  // namespace

std::vector<std::string> changes_of(const SeenEdit& edit) {
  ChangeList changes(edit.before, edit.after);
  if (!edit.whole_state) {
    changes.add_edit(edit.edit);
    return changes.take();
  }
  uint64_t files = 0;
  for (const TableRecord& each : edit.after.tables)
    for (const FamilyRecord& family : each.families) files += family.files.size();
  changes.add("the whole state: {}, {}", counted(edit.after.tables.size(), "table"), counted(files, "file"));
  return changes.take();
}

std::vector<std::string> changes_between(const ManifestState& before, const ManifestState& after) {
  ChangeList changes(before, after);
  changes.add_differences();
  return changes.take();
}

}  // namespace cellar
