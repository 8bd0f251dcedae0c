// The manifest's files: generations, CURRENT, and who may write them when.
#include "engine/manifest/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/mutex.h"
#include "engine/log/record_file.h"
#include "engine/manifest/manifest_codec.h"

namespace cellar {

namespace {

// Judges a record that is not whole. Returns ok if the manifest ends there: nothing follows, or a torn last
// edit. Returns kCorruption if the manifest is damaged.
Status judge_end(RecordFile& file, uint64_t offset, const Found& found, uint64_t next_edit,
                 const Current& current) {
  CELLAR_ASSERT(found.look != Look::kRecord);
  const auto damage = [&](std::string_view what) {
    return Status::corruption(fmt::format("the manifest is damaged: {}; the last whole edit is number {}",
                                          what, next_edit - 1))
        .at(fmt::format("{}: offset {}", file.name(), offset))
        .hinting("restore the manifest from a copy");
  };
  if (next_edit <= current.edit) return damage("edits that CURRENT records are missing");
  if (found.look == Look::kNothing) return {};
  bool witness = false;
  CELLAR_TRY(
      file.scan(offset, [&](const RecordHeader& header) { return !(witness = header.synced > offset); }));
  if (witness) return damage("an edit is not whole, but a later one says that it was durable");
  return found.look == Look::kDamaged ? damage("an edit does not match its checksum") : Status();
}

// A reading of a generation: what is known of it, and what is read from there on.
struct Reading {
  std::shared_ptr<const ManifestState> known;  // null: nothing is known, and the generation is read whole
  ManifestNews news;                           // of the known state, or of the beginning
};

// Applies an edit to the state that was read, which begins as a copy of the known one.
Status take_edit(Reading& reading, std::shared_ptr<ManifestState>& state, uint64_t edit,
                 std::string_view payload) {
  const bool first = reading.known == nullptr && state == nullptr;
  if (state == nullptr)
    state = first ? std::make_shared<ManifestState>() : std::make_shared<ManifestState>(*reading.known);
  CELLAR_TRY(apply_payload(*state, payload, first ? EditKind::kSnapshot : EditKind::kEdit));
  CELLAR_ASSERT(edit > 0);
  state->edit = edit;
  if (reading.known == nullptr) return {};
  CELLAR_TRY_ASSIGN(const ManifestEdit decoded, decode_edit(payload));
  reading.news.seals = reading.news.seals || !decoded.seal.empty();
  return {};
}

// Opens the generation that CURRENT names, and checks its header.
Result<RecordFile> open_generation(Directory& root, const Current& current) {
  const std::string name = manifest_name(current.generation);
  Result<RecordFile> opened =
      RecordFile::open(root, name, FileKind::kManifest, current.identity, current.generation);
  if (opened.status().is(Code::kNotFound)) {
    return Status::corruption("the manifest that CURRENT names is missing").at(name);
  }
  if (!opened.ok()) return opened;
  if (!opened->header_status().ok()) return opened->header_status().at(name);
  if (opened->header().first_lsn == 0)
    return Status::corruption("the manifest's first edit has no number").at(name);
  return opened;
}

// Reads a generation to its last whole edit. The state of the news stays null if nothing is new.
Status read_generation(Directory& root, const Current& current, Reading& reading) {
  CELLAR_TRY_ASSIGN(RecordFile file, open_generation(root, current));
  std::shared_ptr<ManifestState> state;
  ManifestEnd& end = reading.news.end;
  uint64_t edit = 0;
  if (reading.known == nullptr) {
    end = {current.generation, kFileHeaderBytes, file.header_crc()};
    edit = file.header().first_lsn;
  } else {
    edit = reading.known->edit + 1;
    if (file.size() < end.offset)
      return Status::corruption("the manifest has become shorter").at(file.name());
  }
  CELLAR_ASSERT(end.generation == current.generation && end.offset >= kFileHeaderBytes);
  for (;; ++edit) {
    CELLAR_TRY_ASSIGN(const Found found, file.look(end.offset, end.chain, edit));
    if (found.look != Look::kRecord) {
      // The first record was durable before CURRENT named the file.
      if (end.offset == kFileHeaderBytes)
        return Status::corruption("the manifest's first record is damaged").at(file.name());
      CELLAR_TRY(judge_end(file, end.offset, found, edit, current));
      reading.news.state = std::move(state);
      return {};
    }
    CELLAR_TRY(take_edit(reading, state, edit, found.payload)
                   .at(fmt::format("{}: offset {}", file.name(), end.offset)));
    if (state->identity != current.identity) {
      return Status::corruption("the manifest belongs to another store").at(file.name());
    }
    CELLAR_ASSERT(found.end > end.offset && found.end <= file.size());
    end.offset = found.end;
    end.chain = found.header.bcrc;
  }
}

}  // namespace

// The turn: its holder writes files; the mutex is never held across I/O. `file_` to `roll_at_` belong to the
// holder.
class Manifest::Core {
 public:
  Core(Directory& root, Executor& executor, const ManifestOptions& options)
      : root_(root), options_(options), changed_(executor.make_event()), roll_at_(options.roll_bytes) {}

  Status create(ManifestState state);
  Status load();
  Result<ManifestNews> look_for_news() const;
  void take(const ManifestNews& news);
  uint64_t generation() const {
    const MutexLock lock(mutex_);
    return generation_;
  }
  // If memory is refused during an edit, the process ends: the edit may be half done, and others wait for the
  // turn.
  Result<uint64_t> commit(const ManifestEdit& edit) noexcept;
  Result<uint64_t> switch_to(ManifestState state) noexcept;
  Status resume() noexcept;
  Status sync_root() noexcept;
  ManifestState state() const;
  uint64_t next_file_number();
  void raise_file_number(uint64_t above);
  std::shared_ptr<const ManifestState> current_state() const;
  Status health() const;
  bool poisoned() const;
  uint64_t next_generation() const;

 private:
  enum class Failed : uint8_t { kNotMade, kUnknown };  // what became of the edit
  enum class Turn : uint8_t { kEdit, kResume };
  using StatePtr = std::shared_ptr<const ManifestState>;

  Status take_turn(Turn turn = Turn::kEdit);
  void give_turn();
  void install(ManifestState state);
  Status fail(const Status& failure, Failed how);
  Status commit_in_turn(ManifestState& next, const ManifestEdit& edit);
  Status append(const ManifestState& next, const ManifestEdit& edit);
  Status publish(const ManifestState& next);
  Status write_generation(uint64_t generation, const ManifestState& next);
  Status write_current_temp(const Current& current);
  Status put(WritableFile& file, const RecordCodec& codec, uint64_t edit, uint64_t sequence,
             std::string_view payload);
  void remove(std::string_view name) { static_cast<void>(root_.unlink(name).ok()); }

  Directory& root_;
  const ManifestOptions options_;
  const std::unique_ptr<Event> changed_;  // signalled when the turn is given back

  std::unique_ptr<WritableFile> file_;  // of the current generation; null after load() and after failures
  std::unique_ptr<RecordCodec> codec_;
  uint32_t chain_ = 0;
  uint64_t synced_ = 0;
  uint64_t roll_at_ = 0;

  mutable Mutex mutex_;
  bool turn_taken_ CELLAR_GUARDED_BY(mutex_) = false;
  StatePtr state_ CELLAR_GUARDED_BY(mutex_) = std::make_shared<ManifestState>();
  uint64_t generation_ CELLAR_GUARDED_BY(mutex_) = 0;
  ManifestEnd end_ CELLAR_GUARDED_BY(mutex_);  // of the reading; counts when read-only
  uint64_t file_number_ CELLAR_GUARDED_BY(mutex_) = 1;
  Status failure_ CELLAR_GUARDED_BY(mutex_);
  bool poisoned_ CELLAR_GUARDED_BY(mutex_) = false;
  uint64_t tried_generation_ CELLAR_GUARDED_BY(mutex_) =
      0;  // CURRENT may name it, if it is above generation_
};

Status Manifest::Core::take_turn(Turn turn) {
  if (options_.read_only) return Status::read_only("the store was opened read-only");
  for (;;) {
    const uint64_t seen = changed_->count();
    {
      const MutexLock lock(mutex_);
      if (poisoned_ && turn != Turn::kResume) return failure_;
      if (!turn_taken_) {
        turn_taken_ = true;
        return Status();
      }
    }
    changed_->wait(seen, -1);
  }
}

void Manifest::Core::give_turn() {
  {
    const MutexLock lock(mutex_);
    CELLAR_ASSERT(turn_taken_);
    turn_taken_ = false;
  }
  changed_->signal();
}

Manifest::Core::StatePtr Manifest::Core::current_state() const {
  const MutexLock lock(mutex_);
  return state_;
}

ManifestState Manifest::Core::state() const { return *current_state(); }

void Manifest::Core::install(ManifestState state) {
  auto shared = std::make_shared<const ManifestState>(std::move(state));
  const MutexLock lock(mutex_);
  CELLAR_ASSERT(shared->edit >= state_->edit);
  CELLAR_ASSERT(!state_->identity.is_set() || shared->identity == state_->identity);
  file_number_ = std::max(file_number_, shared->next_file_number);
  state_ = std::move(shared);
}

Status Manifest::Core::fail(const Status& failure, Failed how) {
  CELLAR_ASSERT(!failure.ok());
  file_.reset();
  const MutexLock lock(mutex_);
  CELLAR_ASSERT(turn_taken_ || generation_ == 0);  // a creation needs no turn
  if (!poisoned_) failure_ = failure.with_context("manifest");
  poisoned_ = poisoned_ || how == Failed::kUnknown;
  return failure_;
}

uint64_t Manifest::Core::next_file_number() {
  const MutexLock lock(mutex_);
  CELLAR_ASSERT(file_number_ > 0 && file_number_ >= state_->next_file_number);
  return file_number_++;
}

void Manifest::Core::raise_file_number(uint64_t above) {
  const MutexLock lock(mutex_);
  file_number_ = std::max(file_number_, above + 1);
}

Status Manifest::Core::health() const {
  const MutexLock lock(mutex_);
  return failure_;
}

bool Manifest::Core::poisoned() const {
  const MutexLock lock(mutex_);
  return poisoned_;
}

// A crash inside leaves a first generation without CURRENT, which is an interrupted creation, or a whole
// store.
Status Manifest::Core::create(ManifestState state) {
  CELLAR_TRY_ASSIGN(const StoreProbe probe, probe_store(root_));
  const bool repairs = options_.repairs_after != 0;
  CELLAR_ASSERT(!options_.read_only && (!repairs || options_.files_are_there));
  if (probe.kind == StoreKind::kStore && !repairs)
    return Status::invalid_argument("a store already exists").at(root_.path());
  if (probe.kind == StoreKind::kLost && !options_.files_are_there) return require_store(root_);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> wal, root_.directory(kWalDirectoryName, true));
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> tables, root_.directory(kTablesDirectoryName, true));
  state.edit = std::max<uint64_t>(state.edit, 1);
  CELLAR_TRY(take_turn());
  {
    const MutexLock lock(mutex_);
    generation_ = options_.repairs_after;
  }
  const Status published = publish(state);
  if (published.ok()) install(std::move(state));
  give_turn();
  return published;
}

Status Manifest::Core::load() {
  CELLAR_TRY(require_store(root_));
  CELLAR_TRY_ASSIGN(const Current current, read_current(root_));
  Reading reading;
  CELLAR_TRY(read_generation(root_, current, reading));
  CELLAR_ASSERT(reading.news.state != nullptr && generation() == 0);
  take(reading.news);
  return Status();
}

Result<ManifestNews> Manifest::Core::look_for_news() const {
  CELLAR_ASSERT(options_.read_only);
  CELLAR_TRY_ASSIGN(const Current current, read_current(root_));
  Reading reading;
  {
    const MutexLock lock(mutex_);
    CELLAR_ASSERT(state_->identity.is_set() && end_.generation == generation_);
    if (current.identity != state_->identity)
      return Status::conflict("another store has taken the place of the one that was opened")
          .at(root_.path())
          .hinting("open that store with an engine of its own");
    reading.news.new_generation = current.generation != generation_;
    reading.news.end = end_;
    if (!reading.news.new_generation) reading.known = state_;
  }
  CELLAR_TRY(read_generation(root_, current, reading));
  return std::move(reading.news);
}

// The state of a generation that was given up had edits that the next one does not have.
void Manifest::Core::take(const ManifestNews& news) {
  const MutexLock lock(mutex_);
  CELLAR_ASSERT(news.end.generation != 0 && (news.state != nullptr || !news.new_generation));
  generation_ = news.end.generation;
  end_ = news.end;
  if (news.state == nullptr) return;
  file_number_ = std::max(file_number_, news.state->next_file_number);
  state_ = news.state;
}

Result<uint64_t> Manifest::Core::commit(const ManifestEdit& edit) noexcept {
  CELLAR_TRY(take_turn());
  ManifestState next = *current_state();
  Status status = apply(next, edit);
  if (status.ok()) status = commit_in_turn(next, edit);
  const uint64_t number = next.edit;
  if (status.ok()) install(std::move(next));
  give_turn();
  if (!status.ok()) return status;
  return number;
}

Status Manifest::Core::commit_in_turn(ManifestState& next, const ManifestEdit& edit) {
  ManifestEdit stamped = edit;
  {
    const MutexLock lock(mutex_);
    CELLAR_ASSERT(turn_taken_ && next.edit == state_->edit);
    stamped.next_file_number = std::max({edit.next_file_number, next.next_file_number, file_number_});
  }
  next.next_file_number = stamped.next_file_number;
  ++next.edit;
  if (file_ == nullptr) return publish(next);
  if (file_->size() > roll_at_) {
    const Status rolled = publish(next);
    if (rolled.ok() || poisoned()) return rolled;
    roll_at_ += options_.roll_bytes;  // not now; the generation is still good
  }
  return append(next, stamped);
}

Status Manifest::Core::append(const ManifestState& next, const ManifestEdit& edit) {
  CELLAR_ASSERT(file_ != nullptr && codec_ != nullptr && synced_ <= file_->size());
  const std::string payload = encode_edit(edit);
  if (payload.size() > kManifestPayloadBytesMax) return Status::limit("an edit of more than 256 MiB");
  Status status = put(*file_, *codec_, next.edit, next.last_sequence, payload);
  // Part of the record may stand in the file now: nothing may follow it.
  if (!status.ok()) return fail(status, Failed::kNotMade);
  status = file_->sync();
  if (!status.ok()) return fail(status, Failed::kUnknown);  // it may be on the medium, or not
  synced_ = file_->size();
  return Status();
}

Status Manifest::Core::put(WritableFile& file, const RecordCodec& codec, uint64_t edit, uint64_t sequence,
                           std::string_view payload) {
  CELLAR_ASSERT(edit > 0 && synced_ <= file.size());
  RecordHeader header{.type = RecordType::kEdit, .lsn = edit, .sequence = sequence, .synced = synced_};
  std::string record(record_bytes(payload.size()), '\0');
  codec.encode(header, payload, file.size(), chain_, record.data());
  return file.append(record);
}

Result<uint64_t> Manifest::Core::switch_to(ManifestState state) noexcept {
  CELLAR_TRY(take_turn());
  const StatePtr old = current_state();
  Status status;
  if (state.identity != old->identity)
    status = Status::invalid_argument("the state belongs to another store");
  const uint64_t number = old->edit + 1;
  if (status.ok()) {
    state.edit = number;
    {
      const MutexLock lock(mutex_);
      state.next_file_number = std::max(state.next_file_number, file_number_);
    }
    status = publish(state);
  }
  if (status.ok()) install(std::move(state));
  give_turn();
  if (!status.ok()) return status;
  return number;
}

Status Manifest::Core::resume() noexcept {
  if (health().ok()) return Status();
  CELLAR_TRY(take_turn(Turn::kResume));
  const Status status = publish(*current_state());
  give_turn();
  return status;
}

Status Manifest::Core::sync_root() noexcept {
  CELLAR_TRY(take_turn());
  Status status = root_.sync();
  if (!status.ok()) status = fail(status, Failed::kUnknown);
  give_turn();
  return status;
}

// CURRENT may name a generation whose publication failed: it must stay whole until CURRENT names a later one.
uint64_t Manifest::Core::next_generation() const {
  const MutexLock lock(mutex_);
  return std::max(generation_, tried_generation_) + 1;
}

// Begins the next generation with `next`. Up to the rename the old one counts and nothing has happened. After
// a crash, the files made so far are leftovers that the next attempt replaces. From the rename until the sync
// of the directory it is unknown which one survives: a failure there poisons.
Status Manifest::Core::publish(const ManifestState& next) {
  const uint64_t generation = next_generation();
  std::unique_ptr<WritableFile> old_file = std::move(file_);
  std::unique_ptr<RecordCodec> old_codec = std::move(codec_);
  const uint32_t old_chain = chain_;
  const uint64_t old_synced = synced_;
  CELLAR_ASSERT((old_file == nullptr) || old_codec != nullptr);

  Status status = write_generation(generation, next);
  if (status.ok()) {
    if (const Status named = root_.sync(); !named.ok()) return fail(named, Failed::kUnknown);
    status = write_current_temp({next.identity, generation, next.edit});
  }
  if (!status.ok()) {
    remove(kCurrentTempName);
    file_.reset();
    remove(manifest_name(generation));
    file_ = std::move(old_file);
    codec_ = std::move(old_codec);
    chain_ = old_chain;
    synced_ = old_synced;
    return status.with_context("manifest");
  }
  {
    const MutexLock lock(mutex_);
    CELLAR_ASSERT(tried_generation_ < generation);
    tried_generation_ = generation;
  }
  status = root_.rename(kCurrentTempName, kCurrentName);
  if (status.ok()) status = root_.sync();
  if (!status.ok()) return fail(status, Failed::kUnknown);

  // The generation before stays until the next roll, for repairs by hand; those before it go.
  CELLAR_ASSERT(file_ != nullptr && codec_ != nullptr && synced_ == file_->size());
  roll_at_ = std::max(options_.roll_bytes, 2 * file_->size());
  if (const Result<std::vector<DirectoryEntry>> entries = root_.list(); entries.ok()) {
    for (const DirectoryEntry& entry : *entries) {
      uint64_t old = 0;
      if (parse_manifest_name(entry.name, old) && old + 1 < generation) remove(entry.name);
    }
  }
  const MutexLock lock(mutex_);
  CELLAR_ASSERT(generation > generation_ && (turn_taken_ || generation_ == 0));
  generation_ = generation;
  failure_ = Status();
  poisoned_ = false;
  return Status();
}

Status Manifest::Core::write_generation(uint64_t generation, const ManifestState& next) {
  CELLAR_ASSERT(file_ == nullptr && generation > 0 && next.edit > 0);
  const std::string payload = encode_snapshot(next);
  if (payload.size() > kManifestPayloadBytesMax) return Status::limit("a manifest of more than 256 MiB");
  const std::string name = manifest_name(generation);
  const Status gone = root_.unlink(name);  // of an earlier attempt
  if (!gone.ok() && !gone.is(Code::kNotFound)) return gone;
  CELLAR_TRY_ASSIGN(file_, root_.create(name, {}));
  codec_ = std::make_unique<RecordCodec>(FileKind::kManifest, next.identity, generation);
  char header[kFileHeaderBytes];
  chain_ = encode_file_header({FileKind::kManifest, next.identity, generation, next.edit, 0}, header);
  synced_ = 0;
  CELLAR_TRY(file_->append({header, sizeof header}));
  CELLAR_TRY(put(*file_, *codec_, next.edit, next.last_sequence, payload));
  CELLAR_ASSERT(file_->size() > kFileHeaderBytes);
  CELLAR_TRY(file_->sync());
  synced_ = file_->size();
  return Status();
}

Status Manifest::Core::write_current_temp(const Current& current) {
  CELLAR_DCHECK(parse_current(to_text(current)).ok());
  const Status gone = root_.unlink(kCurrentTempName);
  if (!gone.ok() && !gone.is(Code::kNotFound)) return gone;
  CELLAR_TRY_ASSIGN(std::unique_ptr<WritableFile> file, root_.create(kCurrentTempName, {}));
  CELLAR_TRY(file->append(to_text(current)));
  CELLAR_TRY(file->sync());
  return file->close();
}

Result<std::unique_ptr<Manifest>> Manifest::create(Directory& root, Executor& executor,
                                                   const ManifestState& state,
                                                   const ManifestOptions& options) {
  auto core = std::make_unique<Core>(root, executor, options);
  CELLAR_TRY(core->create(state));
  return std::unique_ptr<Manifest>(new Manifest(std::move(core)));
}

Result<std::unique_ptr<Manifest>> Manifest::load(Directory& root, Executor& executor,
                                                 const ManifestOptions& options) {
  auto core = std::make_unique<Core>(root, executor, options);
  CELLAR_TRY(core->load());
  return std::unique_ptr<Manifest>(new Manifest(std::move(core)));
}

Manifest::Manifest(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Manifest::~Manifest() = default;

Result<ManifestNews> Manifest::look_for_news() const { return core_->look_for_news(); }
void Manifest::take(const ManifestNews& news) { core_->take(news); }
uint64_t Manifest::generation() const { return core_->generation(); }
std::shared_ptr<const ManifestState> Manifest::current() const { return core_->current_state(); }
ManifestState Manifest::state() const { return core_->state(); }
uint64_t Manifest::next_file_number() { return core_->next_file_number(); }
void Manifest::raise_file_number(uint64_t above) { core_->raise_file_number(above); }
Result<uint64_t> Manifest::commit(const ManifestEdit& edit) { return core_->commit(edit); }
Result<uint64_t> Manifest::switch_to(ManifestState state) { return core_->switch_to(std::move(state)); }
Status Manifest::resume() { return core_->resume(); }
Status Manifest::sync_root() { return core_->sync_root(); }
bool Manifest::poisoned() const { return core_->poisoned(); }

}  // namespace cellar
