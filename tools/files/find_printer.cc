// Places and cells as text and JSON. The JSON is written piece by piece: a row may have any number of cells.
#include "tools/files/find_printer.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/text_width.h"

namespace cellar {
namespace {

std::string target_column(const RowTarget& target) {
  if (!target.column) return "null";
  const std::string family = escaped(target.column->family);
  return json_string(target.column->qualifier ? family + ":" + escaped(*target.column->qualifier) : family);
}

// Why nothing was found in a file, or that something was.
std::string sentence_of(const FileSearch& search) {
  switch (search.verdict) {
    case FindVerdict::kEmptyFile:
      return "has no cells";
    case FindVerdict::kOutside:
      return "outside its range of keys";
    case FindVerdict::kBloomNo:
      return "denied by the Bloom filter";
    case FindVerdict::kFound:
      return search.bloom_lies() ? "BLOOM FILTER DENIES THE ROW: the filter is wrong (V-BLOOM-MISS)" : "";
    case FindVerdict::kNotThere:
      break;
  }
  switch (search.bloom) {
    case BloomWord::kNo:
      return "denied by the Bloom filter, confirmed by reading";
    case BloomWord::kMaybe:
      return "not there after a look: a false positive of the Bloom filter";
    case BloomWord::kUnreadable:
      return "not there after a look; the Bloom filter is damaged";
    case BloomWord::kNone:
      break;
  }
  return "not there after a look";
}

}  // namespace

FindPrinter::FindPrinter(Output& out, Format format, const RowTarget& target, size_t path_width,
                         ValueRules rules)
    : out_(out), format_(format), target_(target), path_width_(path_width), rules_(std::move(rules)) {
  if (format_ != Format::kJson) return;
  out_.write("{\"schema\":\"cellar.find/1\",\"row\":" + json_string(escaped(target_.row)) +
             rules_.key_member(target_.row) + ",\"column\":" + target_column(target_) + ",\"places\":[");
}

void FindPrinter::begin(const FindPlace& place) {
  place_ = place;
  cells_ = 0;
  ++places_;
  if (format_ == Format::kJson)
    out_.write(std::string(places_ == 1 ? "\n" : ",\n") +
               "{\"kind\":" + (place.log ? "\"log\"" : "\"file\"") + ",\"path\":" + json_string(place.path) +
               ",\"cells\":[");
}

void FindPrinter::line(const std::string& text) {
  std::string& to = out_.buffer();
  to += place_.path;
  const size_t width = text_width(place_.path);
  to.append((width < path_width_ ? path_width_ - width : 0) + 2, ' ');
  if (!place_.table.empty()) to += escaped(place_.table) + "  ";
  to += text + "\n";
  out_.commit();
}

void FindPrinter::add_cell(const CellView& cell, const std::string& members, const std::string& where,
                           const std::string& remark) {
  ++cells_;
  if (format_ == Format::kTable) {
    line(fmt::format("{}  {} {} @{}  {} B{}", where, type_name(cell.type()),
                     rules_.column(cell.family(), cell.qualifier()), time_text(cell.timestamp),
                     human_count(cell.value_size), remark));
    return;
  }
  const std::string json = fmt::format(
      "{},\"family\":{},\"qualifier\":{},\"ts\":{},\"type\":\"{}\",\"mvcc\":{},\"value_bytes\":{}}}", members,
      json_string(escaped(cell.family())), json_string(escaped(cell.qualifier())), cell.timestamp,
      type_name(cell.type()), cell.sequence, cell.value_size);
  if (format_ == Format::kJson) {
    out_.write((cells_ == 1 ? "\n  {" : ",\n  {") + json);
  } else {
    out_.write("{\"kind\":\"cell\",\"path\":" + json_string(place_.path) + "," + json + "\n");
  }
}

void FindPrinter::add(const FoundCell& found) {
  add_cell(found.cell, fmt::format("\"block\":{},\"offset\":{}", found.block, found.offset),
           fmt::format("block {} at {}", human_count(found.block), human_count(found.offset)), "");
}

void FindPrinter::add(const LogMention& mention) {
  const std::string table = mention.table == nullptr ? "null" : json_string(escaped(mention.table->name));
  const std::string members =
      fmt::format("\"segment\":\"{}\",\"offset\":{},\"table\":{},\"state\":\"{}\"", mention.segment,
                  mention.offset, table, log_state_word(mention.state));
  static constexpr std::string_view kRemarks[] = {"  in no file yet", "  flushed", "  of a dropped family"};
  const std::string name = mention.table == nullptr ? "" : escaped(mention.table->name) + "  ";
  add_cell(mention.cell, members, fmt::format("{}{} @{}", name, mention.segment, human_count(mention.offset)),
           std::string(kRemarks[static_cast<size_t>(mention.state)]));
}

std::string_view FindPrinter::verdict_or_unknown(std::string_view verdict, const Status& status) const {
  return status.ok() || cells_ > 0 ? verdict : "unknown";
}

void FindPrinter::end(const FileSearch& search, const Status& status) {
  std::string members = fmt::format("\"verdict\":\"{}\",\"bloom\":\"{}\",\"bloom_lies\":{},\"looked\":{}",
                                    verdict_or_unknown(verdict_word(search.verdict), status),
                                    bloom_word(search.bloom), search.bloom_lies(), search.looked);
  members += fmt::format(",\"blocks_read\":{},\"table\":{},\"family\":{}", search.blocks_read,
                         place_.table.empty() ? "null" : json_string(escaped(place_.table)),
                         place_.table.empty() ? "null" : json_string(escaped(place_.family)));
  end_place(members, sentence_of(search), status);
}

void FindPrinter::end_log(const Status& status) {
  const bool found = cells_ > 0;
  const std::string_view verdict = found ? "found" : "not_there";
  end_place(fmt::format("\"verdict\":\"{}\"", verdict_or_unknown(verdict, status)),
            found ? "" : "not in the log", status);
}

void FindPrinter::end_place(const std::string& members, const std::string& sentence, const Status& status) {
  if (format_ == Format::kTable) {
    if (!status.ok()) {
      line("DAMAGED OR NOT READABLE: " + std::string(status.message()));
    } else if (!sentence.empty()) {
      line(sentence);
    }
    return;
  }
  const std::string rest = fmt::format("{},\"found\":{},\"error\":{}}}", members, cells_,
                                       status.ok() ? "null" : json_string(status.to_text()));
  if (format_ == Format::kJson) {
    out_.write((cells_ == 0 ? "]," : "\n],") + rest);
  } else {
    out_.write(
        fmt::format("{{\"kind\":\"{}\",\"path\":{},", place_.log ? "log" : "file", json_string(place_.path)) +
        rest + "\n");
  }
}

void FindPrinter::finish(const FindTotals& totals) {
  if (format_ == Format::kTable) return;
  const std::string members =
      fmt::format("\"files\":{},\"files_outside\":{},\"files_denied\":{},\"found\":{},\"complete\":{}",
                  totals.files, totals.files_outside, totals.files_denied, totals.found, totals.complete);
  if (format_ == Format::kJson) {
    out_.write((places_ == 0 ? "]," : "\n],") + members + "}\n");
  } else {
    out_.write("{\"kind\":\"total\",\"row\":" + json_string(escaped(target_.row)) +
               rules_.key_member(target_.row) + ",\"column\":" + target_column(target_) + "," + members +
               "}\n");
  }
}

}  // namespace cellar
