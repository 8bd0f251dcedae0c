// Rendering of verification reports.
#include "tools/files/verify_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/text_width.h"
#include "engine/log/directory.h"
#include "tools/frame/operands.h"
#include "tools/frame/output.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;

std::string risk_text(const VerifyFinding& finding) {
  const std::string from = fmt::format("rows from \"{}\"", readable(finding.risk_first_row));
  if (!finding.risk_end_row) return from + " to the end of the file";
  return fmt::format("{} up to but not including \"{}\"", from, readable(*finding.risk_end_row));
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

std::string line_of(std::string_view name, const std::string& text) {
  return fmt::format("      {:<12} {}\n", name, text);
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

// Everything below the first line.
std::string details_of(const VerifyReport& report, uint64_t errors_max) {
  std::string text;
  const bool other = report.verdict == VerifyVerdict::kNotAnHFile;
  if (!report.status.ok())
    text += fmt::format("      {}\n", other ? std::string(report.status.message()) : report.status.to_text());
  uint64_t errors = 0;
  for (const VerifyFinding& finding : report.findings) {
    const bool error = finding.severity == VerifySeverity::kError;
    if (error && ++errors > errors_max) continue;
    const std::string place = place_text(finding);
    text += line_of(finding.code, place + (place.empty() ? "" : ": ") + finding.text);
    if (finding.rows_at_risk) text += line_of("at risk", risk_text(finding));
  }
  const uint64_t hidden = (errors > errors_max ? errors - errors_max : 0) + report.findings_left_out;
  if (hidden > 0) text += fmt::format("      … {} more findings\n", human_count(hidden));
  if (report.verdict == VerifyVerdict::kUnsound) {
    text += line_of("readable",
                    fmt::format("{} of {} data blocks, {} of {} cells",
                                human_count(report.data_blocks_readable), human_count(report.data_blocks),
                                human_count(report.cells), human_count(report.cells_expected)));
  }
  return text;
}

// Returns the line that says what to do with a damaged file; empty for other files. Where only filters are
// wrong, a new file with the same cells mends them.
std::string hint_of(const VerifiedFile& file) {
  if (file.report.verdict != VerifyVerdict::kUnsound) return {};
  const bool filters_only = std::ranges::all_of(file.report.findings, [](const VerifyFinding& finding) {
    return finding.severity != VerifySeverity::kError || finding.code.starts_with("V-BLOOM");
  });
  const std::string path = shell_word(shown_name(file.path));
  return line_of("hint", filters_only && file.report.status.ok()
                             ? fmt::format("cellar rewrite {} -o NEW builds new Bloom filters", path)
                             : fmt::format("cellar salvage {} -o NEW copies the readable cells", path));
}

std::string faults_of(const StoreCheck& check) {
  std::string text;
  for (const StoreFault& fault : check.faults)
    text += line_of(fault.code, fault.place + (fault.place.empty() ? "" : ": ") + fault.text);
  return text;
}

// How the log of a store ends that was not closed, and what becomes of it.
std::string log_of(const StoreCheck& check) {
  if (check.clean_close) return {};
  std::string text =
      line_of("log", "the store was not closed: another process has it open, or its process was killed");
  const std::string segment = fmt::format("wal/{}", segment_name(check.log_end_segment));
  if (check.log_end_segment == 0) {
    text += line_of("log", "the log has no complete record");
  } else if (check.log_end_record == 0) {
    text += line_of("log", fmt::format("{}: the segment has no complete record", segment));
  } else {
    text += line_of("log", fmt::format("{}: the last complete record, number {}, ends at offset {}", segment,
                                       human_count(check.log_end_record), human_count(check.log_end_offset)));
  }
  if (check.log_torn_bytes > 0) {
    text += line_of("torn", fmt::format("{}, from offset {} on: {} are not part of a complete record: their "
                                        "write was torn",
                                        segment, human_count(check.log_end_offset),
                                        counted(check.log_torn_bytes, "byte")));
  }
  return text + line_of("recovery", fmt::format("the next open recovers {} with {}",
                                                counted(check.recovered_records, "record"),
                                                counted(check.recovered_cells, "cell")));
}

// Returns the text escaped for an XML document. Control characters except the newline, and bytes that are not
// ASCII, become \xHH.
std::string xml(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        if (c == '\n' || (byte >= 0x20 && byte < 0x7f)) {
          safe += c;
        } else {
          safe += fmt::format("\\x{:02X}", byte);
        }
    }
  }
  return safe;
}

// `element` is failure, error or skipped, or empty: all is well.
std::string test_case(std::string_view kind, std::string_view name, int64_t micros, std::string_view element,
                      std::string_view message, std::string_view details) {
  std::string text = fmt::format("  <testcase classname=\"cellar.verify.{}\" name=\"{}\" time=\"{:.6f}\"",
                                 kind, xml(name), static_cast<double>(micros) / 1e6);
  if (element.empty()) return text + "/>\n";
  return text + fmt::format(">\n    <{0} message=\"{1}\">{2}</{0}>\n  </testcase>\n", element, xml(message),
                            xml(details));
}

std::string_view element_of(VerifyVerdict verdict) {
  switch (verdict) {
    case VerifyVerdict::kSound:
      return "";
    case VerifyVerdict::kUnsound:
      return "failure";
    case VerifyVerdict::kNotSupported:
      return "skipped";
    default:
      return "error";
  }
}

// Returns the first error, else the status on which the verdict rests.
std::string message_of(const VerifyReport& report) {
  for (const VerifyFinding& finding : report.findings) {
    if (finding.severity == VerifySeverity::kError) return finding.code + ": " + finding.text;
  }
  return report.status.to_text();
}

}  // namespace

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

std::string verify_text(const VerifiedFile& file, uint64_t errors_max) {
  const VerifyReport& report = file.report;
  const std::string_view label = report.verdict == VerifyVerdict::kSound          ? "ok  "
                                 : report.verdict == VerifyVerdict::kNotSupported ? "unsupported"
                                                                                  : "FAIL";
  return fmt::format("{}  {}   {}  {}  level {}\n", label, shown_name(file.path),
                     counted(report.blocks, "block"), counted(report.cells, "cell"),
                     verify_level_name(report.level)) +
         details_of(report, errors_max) + hint_of(file);
}

Json verify_json(const VerifiedFile& file) {
  const VerifyReport& report = file.report;
  Json json = {{"kind", "file"},
               {"path", file.path},
               {"verdict", verdict_name(report.verdict)},
               {"level", verify_level_name(report.level)},
               {"bytes", report.file_bytes},
               {"blocks", report.blocks},
               {"data_blocks", report.data_blocks},
               {"data_blocks_readable", report.data_blocks_readable},
               {"cells", report.cells},
               {"cells_expected", report.cells_expected},
               {"rows", report.rows},
               {"micros", file.micros}};
  if (!report.status.ok()) json["error"] = report.status.to_text();
  json["findings"] = Json::array();
  for (const VerifyFinding& finding : report.findings) json["findings"].push_back(json_of(finding));
  json["findings_left_out"] = report.findings_left_out;
  return json;
}

std::string store_check_text(const StoreCheck& check) {
  std::string text = fmt::format("{}  {}   {}, {}   log: {}, {}{}\n", check.sound() ? "ok  " : "FAIL",
                                 shown_name(check.path), counted(check.tables, "table"),
                                 counted(check.files, "file"), counted(check.log_segments, "segment"),
                                 counted(check.log_cells, "cell"), check.clean_close ? "" : ", not closed");
  // The figures of the log are valid only if it was read to its end.
  const bool read = std::ranges::none_of(check.faults, [](const StoreFault& fault) {
    return fault.code == "V-LOG" || fault.code == "V-CURRENT";
  });
  return text + faults_of(check) + (read ? log_of(check) : "");
}

Json store_check_json(const StoreCheck& check) {
  Json json = {{"kind", "store"},
               {"path", check.path},
               {"verdict", check.sound() ? "sound" : "unsound"},
               {"tables", check.tables},
               {"families", check.families},
               {"files", check.files},
               {"log",
                {{"segments", check.log_segments},
                 {"records", check.log_records},
                 {"cells", check.log_cells},
                 {"torn_bytes", check.log_torn_bytes},
                 {"end_segment", check.log_end_segment},
                 {"end_offset", check.log_end_offset},
                 {"end_record", check.log_end_record},
                 {"recovered_records", check.recovered_records},
                 {"recovered_cells", check.recovered_cells},
                 {"closed", check.clean_close}}}};
  json["findings"] = Json::array();
  for (const StoreFault& fault : check.faults) {
    json["findings"].push_back(
        {{"code", fault.code}, {"severity", "error"}, {"text", fault.text}, {"place", fault.place}});
  }
  return json;
}

std::string verify_junit(const std::vector<StoreCheck>& stores, const std::vector<VerifiedFile>& files,
                         uint64_t errors_max) {
  size_t failures = 0;
  size_t errors = 0;
  size_t skipped = 0;
  int64_t micros = 0;
  std::string cases;
  for (const StoreCheck& check : stores) {
    failures += check.sound() ? 0 : 1;
    cases += test_case("store", check.path, 0, check.sound() ? "" : "failure",
                       check.sound() ? "" : check.faults.front().code + ": " + check.faults.front().text,
                       faults_of(check));
  }
  for (const VerifiedFile& file : files) {
    const std::string_view element = element_of(file.report.verdict);
    failures += element == "failure" ? 1 : 0;
    errors += element == "error" ? 1 : 0;
    skipped += element == "skipped" ? 1 : 0;
    micros += file.micros;
    cases += test_case("file", file.path, file.micros, element, message_of(file.report),
                       details_of(file.report, errors_max));
  }
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.6f}\"",
                  stores.size() + files.size(), failures, errors, skipped, static_cast<double>(micros) / 1e6);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n<testsuite name=\"cellar verify\" "
      "{0}>\n{1}</testsuite>\n</testsuites>\n",
      counts, cases);
}

}  // namespace cellar
