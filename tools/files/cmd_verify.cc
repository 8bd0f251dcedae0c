// cellar verify: whether HFiles are sound; if not, what is damaged and which rows are at risk.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/bytes.h"
#include "cellar/environment.h"
#include "hfile/check/jobs_in_order.h"
#include "hfile/write/named_file.h"
#include "tools/files/store_check.h"
#include "tools/files/verify_report.h"
#include "tools/frame/command.h"
#include "tools/frame/progress.h"
#include "tools/hbase/hfile_paths.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;

// Paths need not be UTF-8.
std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Exit exit_of(VerifyVerdict verdict) {
  switch (verdict) {
    case VerifyVerdict::kSound:
      return Exit::kFine;
    case VerifyVerdict::kUnsound:
      return Exit::kNegative;
    case VerifyVerdict::kNotSupported:
      return Exit::kNotSupported;
    default:
      return Exit::kCannot;
  }
}

// Files up to this size are verified concurrently. A larger file is verified alone, by all threads.
constexpr uint64_t kSmallFileBytes = 8u << 20;
constexpr uint64_t kSmallFilesAhead = 8;
constexpr int64_t kRateAfterUs = 200000;  // a shorter run says nothing about speed

struct FileToVerify {
  std::string path;
  std::unique_ptr<ReadableFile> file;
  VerifyOptions options;
};

// Reports remains of an HFile as a file that lost its end, not as a file of another kind.
void judge_remains(const std::string& path, VerifyReport& report) {
  if (report.verdict != VerifyVerdict::kNotAnHFile || look_at_file(path) != FileLook::kRemains) return;
  report.verdict = VerifyVerdict::kUnsound;
  report.status = Status();
  VerifyFinding lost_end;
  lost_end.code = "V-TRAILER";
  lost_end.text = remains_refusal(path).message();
  report.findings.insert(report.findings.begin(), std::move(lost_end));
}

VerifiedFile verified(FileToVerify& to) {
  const int64_t begun = system_clock().steady_us();
  VerifiedFile file = {to.path, verify(std::move(to.file), to.options), 0};
  judge_remains(to.path, file.report);
  file.micros = system_clock().steady_us() - begun;
  return file;
}

// A small file, looked at by one thread.
class FilePiece final : public JobsInOrder::Piece {
 public:
  FilePiece(FileToVerify file, std::function<void(const VerifiedFile&)> take)
      : file_(std::move(file)), take_(std::move(take)) {}
  uint64_t bytes() const override { return 1; }
  void run() override { verified_ = verified(file_); }
  void take() override { take_(verified_); }

 private:
  FileToVerify file_;
  std::function<void(const VerifiedFile&)> take_;
  VerifiedFile verified_;
};

class VerifyCommand final : public Command {
 public:
  explicit VerifyCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kFiles; }
  std::string_view summary() const override {
    return "Check HFiles and stores for damage; exit status 1 if there is any";
  }

  void declare(Arguments& arguments) override {
    arguments
        .operands("PATH", paths_, "HFiles, directories of them, or stores (their log and manifest, too)",
                  true)
        .choice("--level", level_, {"cells", "quick", "blocks", "deep"}, "how thoroughly to check; see below")
        .option_count("--jobs", jobs_, "number of threads (default: one per processor)")
        .option_count("--max-errors", errors_max_, "print at most N errors per file (20)")
        .option_if("--junit", junit_, "FILE", "also write a JUnit report to FILE; overwrites it")
        .formats({"table", "json", "jsonl"})
        .note(
            "quick   checks trailer, file info, index root, file length\n"
            "blocks  also checks every block's checksum, back-pointer, place in the file and in the index\n"
            "cells   also checks every cell: order, family, sequences, counts, first and last key, times\n"
            "deep    also finds every key through index and Bloom filter, and compares rebuilt filters\n"
            "A store is read without its lock: another process may have it open.\n"
            "cellar help CODE explains a finding, such as V-ORDER; cellar help findings lists all codes.")
        .example("cellar verify versions.hfile --level deep", "all checks of a file")
        .example("cellar verify shop --jobs 2 --junit verified.xml --max-errors 5",
                 "a store, in a job that reads JUnit reports");
  }

  Status run(Session& session) override {
    CELLAR_TRY(check_stores(session));
    CELLAR_TRY_ASSIGN(const std::vector<std::string> files, find_files(session));
    begun_ = system_clock().steady_us();
    CELLAR_TRY(verify_all(session, files));
    if (interrupted()) return interrupted_status("the files before were verified");
    if (session.format() == Format::kJson) {
      session.out().write(
          Json{{"schema", "cellar.verify/1"}, {"stores", store_list_}, {"files", file_list_}}.dump(
              2, ' ', false, Json::error_handler_t::replace) +
          "\n");
    }
    if (junit_) CELLAR_TRY(write_junit());
    conclude(session);
    return {};
  }

 private:
  Status check_stores(Session& session) {
    for (const std::string& path : paths_) {
      if (!is_store_to_check(path)) continue;
      CELLAR_TRY_ASSIGN(StoreCheck check, check_store(session, path));
      if (session.format() == Format::kJson) store_list_.push_back(store_check_json(check));
      if (session.format() == Format::kJsonl) session.out().write(json_line(store_check_json(check)));
      if (session.format() == Format::kTable)
        session.out().write_verdict(store_check_text(check), check.sound() ? Style::kGood : Style::kBad);
      if (!check.sound()) worst_ = VerifyVerdict::kUnsound;
      stores_.push_back(std::move(check));
    }
    return {};
  }

  // A store may be sound without any file yet.
  Result<std::vector<std::string>> find_files(Session& session) const {
    Result<std::vector<std::string>> files = find_all_hfiles(session, paths_, Remains::kTake);
    if (!files.ok() && files.status().is(Code::kNotFound) && std::ranges::all_of(paths_, is_store_to_check))
      return std::vector<std::string>();
    return files;
  }

  // Returns true if all that was verified are sound stores whose manifests name no file.
  bool only_stores_without_files() const {
    return verdicts_.empty() && !stores_.empty() && std::ranges::all_of(stores_, [](const StoreCheck& each) {
             return each.sound() && each.files == 0;
           });
  }

  // The reports come in the order of the files, whichever is done first.
  Status verify_all(Session& session, const std::vector<std::string>& files) {
    const uint64_t jobs = jobs_ > 0 ? jobs_ : std::max(std::thread::hardware_concurrency(), 1u);
    std::unique_ptr<Executor> executor;
    if (jobs > 1) executor = make_thread_executor(static_cast<int>(std::min(jobs, kJobsMax)) - 1, 1);
    const uint64_t passes = level_ == "deep" ? 2 : 1;
    Progress progress(session, "verify", total_bytes(files) * passes);
    JobsInOrder small(executor.get(), kSmallFilesAhead);
    for (const std::string& path : files) {
      if (session.stopping()) break;
      Result<FileToVerify> file = open(session, path);
      if (!file.ok()) {
        small.finish();
        return file.status();
      }
      if (file->file == nullptr) continue;
      if (file->file->size() <= kSmallFileBytes) {
        small.add(std::make_unique<FilePiece>(std::move(*file), [&](const VerifiedFile& done) {
          take(session, done);
          progress.show(bytes_ * passes, cells_);
        }));
        continue;
      }
      small.finish();
      file->options.executor = executor.get();
      file->options.progress = [&](uint64_t bytes, uint64_t cells) {
        progress.show(bytes_ * passes + bytes, cells_ + cells);
        return !session.stopping();
      };
      take(session, verified(*file));
    }
    small.finish();
    return {};
  }

  static uint64_t total_bytes(const std::vector<std::string>& files) {
    uint64_t bytes = 0;
    std::error_code none;
    for (const std::string& path : files) {
      const uintmax_t size = std::filesystem::file_size(path, none);
      bytes += none ? 0 : size;
    }
    return bytes;
  }

  // Without a file: one of a store that cannot be opened.
  Result<FileToVerify> open(Session& session, const std::string& path) const {
    FileToVerify to = {path, nullptr, {}};
    to.options.name = path;
    to.options.block_payload_bytes_max = block_bytes_max();
    to.options.progress = [](uint64_t, uint64_t) { return !interrupted(); };  // on any thread
    parse_verify_level(level_, to.options.level);
    for (const StoreCheck& store : stores_)
      if (const auto range = store.sequences.find(path); range != store.sequences.end())
        to.options.sequences = range->second;
    Result<std::unique_ptr<ReadableFile>> file = open_whole_hfile(path);
    // The store is open elsewhere and has replaced it, or the check of the store has reported the fault.
    const bool said = file.status().is(Code::kNotFound) || worst_ == VerifyVerdict::kUnsound;
    if (!file.ok() && said && of_a_store(path)) {
      session.talk(fmt::format("note   left out: {}", file.status().message()));
      return to;
    }
    CELLAR_TRY_ASSIGN(to.file, std::move(file));
    return to;
  }

  bool of_a_store(const std::string& path) const {
    return std::ranges::any_of(stores_, [&](const StoreCheck& store) {
      return path.starts_with(store.path + (store.path.ends_with('/') ? "" : "/"));
    });
  }

  void take(Session& session, const VerifiedFile& file) {
    const VerifyReport& report = file.report;
    if (report.status.is(Code::kAborted)) return;
    ++verdicts_[report.verdict];
    bytes_ += report.file_bytes;
    cells_ += report.cells;
    if (worst_ == VerifyVerdict::kSound || report.verdict == VerifyVerdict::kUnsound) worst_ = report.verdict;
    if (session.format() == Format::kJson) file_list_.push_back(verify_json(file));
    if (session.format() == Format::kJsonl) session.out().write(json_line(verify_json(file)));
    if (session.format() == Format::kTable)
      session.out().write_verdict(verify_text(file, errors_max_),
                                  report.verdict == VerifyVerdict::kSound ? Style::kGood : Style::kBad);
    if (junit_) files_.push_back(file);
  }

  Status write_junit() const {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<NamedFile> file,
                      NamedFile::create(posix_file_system(), *junit_, /*replace=*/true));
    CELLAR_TRY(file->file().append(verify_junit(stores_, files_, errors_max_)));
    return file->publish();
  }

  void conclude(Session& session) const {
    session.out().flush();
    session.answer(exit_of(worst_));
    if (session.out().is_lost()) return;  // not all was verified
    const auto number_of = [&](VerifyVerdict verdict) {
      const auto found = verdicts_.find(verdict);
      return found == verdicts_.end() ? 0 : found->second;
    };
    std::string text = counted(number_of(VerifyVerdict::kSound), "file") + " sound";
    if (only_stores_without_files())
      text = stores_.size() == 1 ? "the store has no files" : "the stores have no files";
    for (const auto& [verdict, name] : {std::pair{VerifyVerdict::kUnsound, "damaged"},
                                        {VerifyVerdict::kNotSupported, "not supported by this build"},
                                        {VerifyVerdict::kNotAnHFile, "without an HFile's trailer"},
                                        {VerifyVerdict::kUnreadable, "unreadable"}})
      if (number_of(verdict) > 0) text += fmt::format(", {} {}", human_count(number_of(verdict)), name);
    const int64_t micros = system_clock().steady_us() - begun_;
    if (micros >= kRateAfterUs && level_ != "quick") {
      text += fmt::format("; {} in {}, {:.0f} MB/s", human_bytes(bytes_), human_micros(micros),
                          static_cast<double>(bytes_) / static_cast<double>(micros));
    }
    session.talk(text);
  }

  static constexpr uint64_t kJobsMax = 64;
  std::vector<std::string> paths_;
  std::string level_;
  uint64_t jobs_ = 0;
  uint64_t errors_max_ = 20;
  std::optional<std::string> junit_;
  int64_t begun_ = 0;
  VerifyVerdict worst_ = VerifyVerdict::kSound;
  std::map<VerifyVerdict, uint64_t> verdicts_;
  uint64_t bytes_ = 0;
  uint64_t cells_ = 0;
  std::vector<StoreCheck> stores_;
  std::vector<VerifiedFile> files_;  // for the JUnit report
  Json store_list_ = Json::array();
  Json file_list_ = Json::array();
};

}  // namespace

CELLAR_PLUGIN(Command, tools_files_cmd_verify, "verify", VerifyCommand)

}  // namespace cellar
