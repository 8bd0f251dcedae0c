// cellar verify: whether HFiles are sound; if not, what is damaged and which rows are at risk.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "hfile/verify.h"
#include "tools/command.h"
#include "tools/hfile_paths.h"
#include "tools/progress.h"
#include "tools/store.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;

std::string_view verdict_name(VerifyVerdict verdict) {
  switch (verdict) {
    case VerifyVerdict::kSound:
      return "sound";
    case VerifyVerdict::kUnsound:
      return "unsound";
    case VerifyVerdict::kNotAnHFile:
      return "not_an_hfile";
    case VerifyVerdict::kUnreadable:
      return "unreadable";
    case VerifyVerdict::kNotSupported:
      return "not_supported";
  }
  return "";
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

std::string risk_text(const VerifyFinding& finding) {
  const std::string from = fmt::format("rows from \"{}\"", escaped(finding.risk_first_row));
  if (!finding.risk_end_row) return from + " to the end of the file";
  return fmt::format("{} up to but not including \"{}\"", from, escaped(*finding.risk_end_row));
}

std::string place_text(const VerifyFinding& finding) {
  std::string text;
  if (finding.data_ordinal) text = fmt::format("data block {} ", human_count(*finding.data_ordinal));
  if (!finding.data_ordinal && !finding.block_kind.empty()) text = finding.block_kind + " block ";
  if (finding.offset) text += fmt::format("at offset {} ", human_count(*finding.offset));
  if (finding.disk_bytes) text += fmt::format("({} B on disk)", human_count(*finding.disk_bytes));
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

Json json_of(const VerifyFinding& finding) {
  Json json = {{"code", finding.code},
               {"severity", finding.severity == VerifySeverity::kError ? "error" : "warning"},
               {"text", finding.text}};
  if (finding.offset) json["offset"] = *finding.offset;
  if (finding.disk_bytes) json["disk_bytes"] = *finding.disk_bytes;
  if (!finding.block_kind.empty()) json["block_kind"] = finding.block_kind;
  if (finding.data_ordinal) json["data_ordinal"] = *finding.data_ordinal;
  if (finding.rows_at_risk) {
    json["risk_first_row"] = escaped(finding.risk_first_row);
    json["risk_end_row"] = finding.risk_end_row ? Json(escaped(*finding.risk_end_row)) : Json();
  }
  return json;
}

Json json_of(const std::string& path, const VerifyReport& report) {
  Json json = {{"path", path},
               {"verdict", verdict_name(report.verdict)},
               {"level", verify_level_name(report.level)},
               {"bytes", report.file_bytes},
               {"blocks", report.blocks},
               {"data_blocks", report.data_blocks},
               {"data_blocks_readable", report.data_blocks_readable},
               {"cells", report.cells},
               {"cells_expected", report.cells_expected},
               {"rows", report.rows}};
  if (!report.status.ok()) json["error"] = report.status.to_text();
  json["findings"] = Json::array();
  for (const VerifyFinding& finding : report.findings) json["findings"].push_back(json_of(finding));
  json["findings_left_out"] = report.findings_left_out;
  return json;
}

std::string text_of(const std::string& path, const VerifyReport& report, uint64_t errors_max) {
  const bool sound = report.verdict == VerifyVerdict::kSound;
  std::string text = fmt::format("{}  {}   {}  {}  level {}\n", sound ? "ok  " : "FAIL", path,
                                 counted(report.blocks, "block"), counted(report.cells, "cell"),
                                 verify_level_name(report.level));
  if (!report.status.ok()) text += fmt::format("      {}\n", report.status.to_text());
  uint64_t errors = 0;
  for (const VerifyFinding& finding : report.findings) {
    const bool error = finding.severity == VerifySeverity::kError;
    if (error && ++errors > errors_max) continue;
    const std::string place = place_text(finding);
    text +=
        fmt::format("      {:<12} {}{}{}\n", finding.code, place, place.empty() ? "" : ": ", finding.text);
    if (finding.rows_at_risk) text += fmt::format("      {:<12} {}\n", "at risk", risk_text(finding));
  }
  const uint64_t hidden = (errors > errors_max ? errors - errors_max : 0) + report.findings_left_out;
  if (hidden > 0) text += fmt::format("      … {} more findings\n", human_count(hidden));
  if (report.verdict == VerifyVerdict::kUnsound) {
    text += fmt::format("      {:<12} {} of {} data blocks, {} of {} cells\n", "readable",
                        human_count(report.data_blocks_readable), human_count(report.data_blocks),
                        human_count(report.cells), human_count(report.cells_expected));
  }
  return text;
}

class VerifyCommand final : public Command {
 public:
  explicit VerifyCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kFiles; }
  std::string_view summary() const override {
    return "Whether HFiles are sound; exit status 1 when one is not";
  }

  void declare(Arguments& arguments) override {
    arguments
        .operands("PATH", paths_, "HFiles, directories of them, or stores (their log and manifest, too)",
                  true)
        .choice("--level", level_, {"cells", "quick", "blocks", "deep"}, "how thorough; see below")
        .option_count("--max-errors", errors_max_, "show at most N errors of a file (20)")
        .formats({"table", "json", "jsonl"})
        .note(
            "quick   trailer, file info, index root, file length\n"
            "blocks  … and every block's checksum, back-pointer and place in the index\n"
            "cells   … and every cell: order, family, counts, first and last key, times\n"
            "deep    … and every key found again through index and Bloom filter, filters rebuilt and "
            "compared")
        .example("cellar verify versions.hfile --level deep")
        .example("cellar verify shop --format json");
  }

  Status run(Session& session) override {
    VerifyLevel level = VerifyLevel::kCells;
    if (!parse_verify_level(level_, level)) return Status::invalid_argument("unknown level " + level_);
    for (const std::string& path : paths_) {
      if (is_store(path)) CELLAR_TRY(check_store(session, path));
    }
    CELLAR_TRY_ASSIGN(const std::vector<std::string> files, find_files(session));
    Json list = Json::array();
    uint64_t unsound = 0;
    Progress progress(session, "verify", 0);
    for (const std::string& path : files) {
      if (session.stopping()) break;
      const Result<VerifyReport> report = verify_path(path, level);
      if (!report.ok()) return report.status();
      unsound += report->verdict == VerifyVerdict::kSound ? 0 : 1;
      if (worst_ == VerifyVerdict::kSound || report->verdict == VerifyVerdict::kUnsound)
        worst_ = report->verdict;
      if (session.format() == Format::kJson) list.push_back(json_of(path, *report));
      if (session.format() == Format::kJsonl) session.out().write(json_of(path, *report).dump() + "\n");
      if (session.format() == Format::kTable) session.out().write(text_of(path, *report, errors_max_));
    }
    if (interrupted()) return interrupted_status("the files before were verified");
    if (session.format() == Format::kJson)
      session.out().write(Json{{"schema", "cellar.verify/1"}, {"files", list}}.dump(2) + "\n");
    const uint64_t sound = files.size() - unsound;
    session.out().flush();
    session.talk(fmt::format("{} sound{}", counted(sound, "file"),
                             unsound == 0 ? "" : fmt::format(", {} not", unsound)));
    session.answer(exit_of(worst_));
    return {};
  }

 private:
  // A store may be sound without any file yet.
  Result<std::vector<std::string>> find_files(Session& session) const {
    Result<std::vector<std::string>> files = find_all_hfiles(session, paths_);
    if (!files.ok() && files.status().is(Code::kNotFound) && std::ranges::all_of(paths_, is_store))
      return std::vector<std::string>();
    return files;
  }

  // The manifest and the log: opening for reading checks both.
  static Status check_store(Session& session, const std::string& path) {
    Result<std::unique_ptr<Engine>> engine = open_store(session, path, OpenFor::kLooking);
    if (engine.ok()) return (*engine)->close();
    if (!engine.status().is(Code::kCorruption)) return engine.status();
    return session.name_failure("CEL-CORRUPTION", Exit::kNegative, engine.status());
  }

  static Result<VerifyReport> verify_path(const std::string& path, VerifyLevel level) {
    CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> file, posix_file_system().open_file(path));
    VerifyOptions options;
    options.name = path;
    options.level = level;
    return verify(std::move(file), options);
  }

  std::vector<std::string> paths_;
  std::string level_;
  uint64_t errors_max_ = 20;
  VerifyVerdict worst_ = VerifyVerdict::kSound;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_cmd_verify, "verify", VerifyCommand)

}  // namespace cellar
