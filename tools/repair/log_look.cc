// The look at one segment: the sound records first, then what can be found after the damage.
#include "tools/repair/log_look.h"

#include <algorithm>
#include <utility>

#include "base/coding.h"
#include "engine/log/directory.h"

namespace cellar {

void RecordRange::add(const RecordHeader& header) {
  if (first_number == 0) first_number = header.lsn;
  last_number = std::max(last_number, header.lsn);
  if (header.type != RecordType::kData) return;
  records += 1;
  cells += header.count;
  if (first_sequence == 0) first_sequence = header.sequence;
  last_sequence = std::max(last_sequence, header.sequence);
}

void RecordRange::add(const RecordRange& other) {
  records += other.records;
  cells += other.cells;
  if (first_number == 0) first_number = other.first_number;
  last_number = std::max(last_number, other.last_number);
  if (first_sequence == 0) first_sequence = other.first_sequence;
  last_sequence = std::max(last_sequence, other.last_sequence);
}

namespace {

class SegmentWalk {
 public:
  SegmentWalk(RecordFile& file, SegmentLook& look, const VisitRecord& visit)
      : file_(file), look_(look), visit_(visit) {}

  Status run() {
    look_.end = kFileHeaderBytes;
    look_.chain = file_.header_crc();
    uint64_t number = look_.facts.first_lsn;
    if (number != 0) look_.before = look_.facts.first_sequence;
    while (!look_.next) {
      CELLAR_TRY_ASSIGN(const Found found, file_.look(look_.end, look_.chain, number));
      look_.at_end = found.look;
      if (found.look != Look::kRecord)
        return look_.has_bytes_after_end() ? after_damage(look_.end, std::nullopt) : Status();
      take(found);
      if (!show({look_.id, look_.end, found.header, found.payload, true, false})) return {};
      look_.end = found.end;
      look_.chain = found.header.bcrc;
      number = found.header.lsn + 1;
    }
    look_.at_end = look_.has_bytes_after_end() ? Look::kDamaged : Look::kNothing;
    return {};
  }

  // Looks for records from `at` on. A record can be checked if the checksum before it is known: the header
  // of the record before it holds that.
  Status after_damage(uint64_t at, std::optional<uint32_t> chain) {
    while (at < file_.size()) {
      RecordHeader header;
      CELLAR_TRY_ASSIGN(const uint64_t found_at, file_.find_header(at, header));
      if (found_at >= file_.size()) return {};
      if (found_at != at) chain.reset();
      Found found;
      if (chain) {
        CELLAR_TRY_ASSIGN(found, file_.look(found_at, *chain, header.lsn));
      }
      const bool readable = found.look == Look::kRecord && chain.has_value();
      look_.later.add(header);
      look_.newest_edit = std::max<uint64_t>(look_.newest_edit, header.edit);
      if (!readable && header.type == RecordType::kData) look_.unreadable += 1;
      const std::string_view payload = readable ? found.payload : std::string_view();
      if (!show({look_.id, found_at, header, payload, readable, true})) return {};
      chain = header.bcrc;
      at = std::min(found_at + record_bytes(header.len), file_.size());
    }
    return {};
  }

 private:
  bool show(const SeenRecord& record) { return visit_ == nullptr || visit_(record); }

  void take(const Found& found) {
    look_.sound.add(found.header);
    look_.newest_edit = std::max<uint64_t>(look_.newest_edit, found.header.edit);
    PrevFacts prev;
    if (found.header.type == RecordType::kPrev && decode_prev(found.payload, prev)) {
      look_.continues = prev;
      look_.before = found.header.sequence;
    }
    if (found.header.type == RecordType::kClose && found.payload.size() >= kClosePayloadBytes)
      look_.next = load_le64(found.payload.data());
  }

  RecordFile& file_;
  SegmentLook& look_;
  const VisitRecord& visit_;
};

}  // namespace

Result<SegmentLook> look_at_segment(Directory& wal, const std::string& name, const Identity& identity,
                                    uint64_t id, const VisitRecord& visit) {
  CELLAR_TRY_ASSIGN(RecordFile file, RecordFile::open(wal, name, FileKind::kLog, identity, id));
  SegmentLook look;
  look.id = id;
  look.bytes = file.size();
  look.header = file.header_status();
  CELLAR_TRY_ASSIGN(look.written_end, file.written_end(0));
  if (!look.header.ok()) {
    // The checksum in the header may be sound although something else in it is not.
    look.at_end = Look::kDamaged;
    if (file.size() > kFileHeaderBytes)
      CELLAR_TRY(SegmentWalk(file, look, visit).after_damage(kFileHeaderBytes, file.header_crc()));
    return look;
  }
  look.facts = file.header();
  CELLAR_TRY(SegmentWalk(file, look, visit).run());
  return look;
}

Result<FileHeader> read_file_header(Directory& directory, const std::string& name, FileKind kind) {
  CELLAR_TRY_ASSIGN(const std::unique_ptr<ReadableFile> file, directory.open(name));
  if (file->size() < kFileHeaderBytes)
    return Status::corruption("the file is too short to have a header").at(name);
  char bytes[kFileHeaderBytes];
  CELLAR_TRY(file->read(0, sizeof bytes, bytes));
  FileHeader header;
  uint32_t sum = 0;
  CELLAR_TRY(decode_file_header(kind, bytes, header, sum).at(name));
  return header;
}

std::string_view look_text(Look look) {
  switch (look) {
    case Look::kRecord:
      return "a record";
    case Look::kNothing:
      return "nothing";
    case Look::kTorn:
      return "a record that is not complete";
    case Look::kDamaged:
      return "a damaged record";
  }
  return "";
}

}  // namespace cellar
