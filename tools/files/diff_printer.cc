// Lines "- ", "+ " and "! ", and the same as JSON.
#include "tools/files/diff_printer.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/text_width.h"
#include "cellar/cell.h"

namespace cellar {
namespace {

std::string quoted_or_null(const std::optional<std::string>& text) {
  return text ? json_string(*text) : "null";
}

// Long ones are cut in what people read; JSON has them whole.
std::string cut_text(std::string text, size_t bytes) {
  constexpr size_t kShown = 64;
  if (text_width(text) <= kShown) return "\"" + text + "\"";
  return fmt::format("\"{}…\" ({} B)", first_columns(text, kShown), human_count(bytes));
}

std::string tags_text(const CellView& cell) {
  return cut_text(escaped(cell.tags_bytes()), cell.tags_bytes().size());
}

std::string value_text(const CellView& cell, const ValueRules& rules) {
  std::string text;
  rules.append_value(text, cell);
  return cut_text(std::move(text), cell.value_bytes().size());
}

std::string key_words(const CellView& cell, const ValueRules& rules) {
  return fmt::format("{}  {}  {}  {}", rules.row(cell.row()), rules.column(cell.family(), cell.qualifier()),
                     time_text(cell.timestamp), type_name(cell.type()));
}

std::string line_of(const CellDifference& found, const ValueRules& rules) {
  if (found.a == nullptr || found.b == nullptr) {
    const CellView& cell = found.a != nullptr ? *found.a : *found.b;
    return fmt::format("{} {}  {}\n", found.a != nullptr ? '-' : '+', key_words(cell, rules),
                       value_text(cell, rules));
  }
  std::string line = "! " + key_words(*found.a, rules);
  if (found.value) line += fmt::format("  {} → {}", value_text(*found.a, rules), value_text(*found.b, rules));
  if (found.tags) line += fmt::format("  tags {} → {}", tags_text(*found.a), tags_text(*found.b));
  if (found.mvcc) line += fmt::format("  mvcc {} → {}", found.a->sequence, found.b->sequence);
  return line + "\n";
}

void append_member(std::string& to, std::string_view name, const CellView* cell, const ValueRules& rules) {
  to += fmt::format(",\"{}\":", name);
  if (cell == nullptr) {
    to += "null";
  } else {
    rules.append_json(to, *cell, true, true);
  }
}

std::string json_of(const CellDifference& found, const ValueRules& rules) {
  const bool both = found.a != nullptr && found.b != nullptr;
  std::string json = fmt::format("\"op\":\"{}\",\"differs\":[", both ? "!" : found.a != nullptr ? "-" : "+");
  if (found.value) json += "\"value\",";
  if (found.tags) json += "\"tags\",";
  if (found.mvcc) json += "\"mvcc\",";
  if (json.ends_with(',')) json.pop_back();
  json += "]";
  append_member(json, "a", found.a, rules);
  append_member(json, "b", found.b, rules);
  return json + "}";
}

char op_of(const MetaDifference& difference) {
  if (difference.a && difference.b) return '!';
  return difference.a ? '-' : '+';
}

}  // namespace

DiffPrinter::DiffPrinter(Output& out, Format format, const std::string& a, const std::string& b,
                         uint64_t limit, ValueRules rules)
    : out_(out), format_(format), limit_(limit), rules_(std::move(rules)) {
  if (format_ == Format::kJson)
    out_.write("{\"schema\":\"cellar.diff/1\",\"a\":" + json_string(a) + ",\"b\":" + json_string(b) +
               ",\"meta\":[");
}

void DiffPrinter::add_json(const std::string& object, bool first) {
  out_.write((first ? "\n  {" : ",\n  {") + object);
}

void DiffPrinter::add(const MetaDifference& difference) {
  ++meta_;
  if (!room()) return;
  ++printed_;
  ++printed_meta_;
  const char op = op_of(difference);
  if (format_ == Format::kTable) {
    const std::string values =
        op == '!' ? *difference.a + " → " + *difference.b : (difference.a ? *difference.a : *difference.b);
    out_.write(fmt::format("{} {}  {}\n", op, difference.name, values));
    return;
  }
  const std::string json =
      fmt::format("\"op\":\"{}\",\"name\":{},\"a\":{},\"b\":{}}}", op, json_string(difference.name),
                  quoted_or_null(difference.a), quoted_or_null(difference.b));
  if (format_ == Format::kJson) {
    add_json(json, printed_meta_ == 1);
  } else {
    out_.write("{\"kind\":\"meta\"," + json + "\n");
  }
}

void DiffPrinter::begin_cells() {
  if (format_ == Format::kJson) out_.write("],\"cells\":[");
}

void DiffPrinter::add(const CellDifference& difference) {
  if (!room()) return;
  ++printed_;
  if (format_ == Format::kTable) {
    out_.write(line_of(difference, rules_));
  } else if (format_ == Format::kJson) {
    add_json(json_of(difference, rules_), printed_ == printed_meta_ + 1);
  } else {
    out_.write("{\"kind\":\"cell\"," + json_of(difference, rules_) + "\n");
  }
}

void DiffPrinter::finish(const CellDiffTotals& totals, bool complete) {
  if (format_ == Format::kTable) return;
  const std::string members = fmt::format(
      "\"cells_a\":{},\"cells_b\":{},\"same\":{},\"only_a\":{},\"only_b\":{},\"changed\":{},"
      "\"meta_differences\":{},\"printed\":{},\"complete\":{}}}\n",
      totals.cells_a, totals.cells_b, totals.same, totals.only_a, totals.only_b, totals.changed, meta_,
      printed_, complete);
  out_.write((format_ == Format::kJson ? "]," : "{\"kind\":\"total\",") + members);
}

}  // namespace cellar
