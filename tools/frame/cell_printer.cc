// Cells in five formats.
#include "tools/frame/cell_printer.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/text_width.h"

namespace cellar {

namespace {

constexpr size_t kRowsHeld = 128;
constexpr size_t kBytesHeld = 1 << 20;
constexpr size_t kWidthMax = 72;
constexpr size_t kValueWidthMin = 16;  // of a value that is cut, however long its row and column are

}  // namespace

CellPrinter::Columns CellPrinter::heading() const {
  Columns columns = {"row", "column", "time"};
  if (options_.types) columns.emplace_back("type");
  if (options_.mvcc) columns.emplace_back("mvcc");
  if (options_.tags) columns.emplace_back("tags");
  if (options_.values) columns.emplace_back("value");
  return columns;
}

CellPrinter::Columns CellPrinter::columns_of(const CellView& cell) const {
  Columns columns(2);
  options_.rules.append_row(columns[0], cell.row());
  options_.rules.append_column(columns[1], cell.family(), cell.qualifier());
  columns.push_back(time_text(cell.timestamp));
  if (options_.types) columns.emplace_back(type_name(cell.type()));
  if (options_.mvcc) columns.push_back(std::to_string(cell.sequence));
  if (options_.tags) columns.push_back(escaped(cell.tags_bytes()));
  if (options_.values) {
    options_.rules.append_value(columns.emplace_back(), cell);
    columns.back().resize(first_columns(columns.back(), options_.value_width).size());
  }
  return columns;
}

void CellPrinter::begin() {
  if (begun_) return;
  begun_ = true;
  if (options_.format == Format::kJson) out_.write("{\"schema\":\"" + options_.schema + "\",\"cells\":[");
  if (options_.format != Format::kCsv) return;
  std::string line = "row,family,qualifier,ts,type";
  if (options_.values) line += ",value";
  if (options_.mvcc) line += ",mvcc";
  if (options_.tags) line += ",tags";
  out_.write(line + "\n");
}

void CellPrinter::add(const CellView& cell) {
  begin();
  ++cells_;
  std::string& to = out_.buffer();
  switch (options_.format) {
    case Format::kJson:
      to += cells_ == 1 ? "\n" : ",\n";
      options_.rules.append_json(to, cell, options_.mvcc, options_.tags, options_.values);
      break;
    case Format::kJsonl:
      options_.rules.append_json(to, cell, options_.mvcc, options_.tags, options_.values);
      to += '\n';
      break;
    case Format::kCsv:
      add_csv(cell);
      break;
    case Format::kRaw:
      options_.rules.append_value(to, cell);
      to += '\n';
      break;
    case Format::kTable:
      if (holding_) {
        held_.push_back(columns_of(cell));
        for (const std::string& text : held_.back()) held_bytes_ += text.size();
        if (held_.size() >= kRowsHeld || held_bytes_ >= kBytesHeld) print_held();
      } else {
        print_row(columns_of(cell));
      }
      break;
  }
  out_.commit();
}

void CellPrinter::add_csv(const CellView& cell) {
  std::string& to = out_.buffer();
  std::string field;
  options_.rules.append_row(field, cell.row());
  append_csv(to, field);
  to += ',';
  field.clear();
  options_.rules.append_family(field, cell.family());
  append_csv(to, field);
  to += ',';
  field.clear();
  options_.rules.append_qualifier(field, cell.qualifier());
  append_csv(to, field);
  to += ',' + std::to_string(cell.timestamp) + ',';
  to += type_name(cell.type());
  if (options_.values) {
    field.clear();
    options_.rules.append_value(field, cell);
    to += ',';
    append_csv(to, field);
  }
  if (options_.mvcc) to += ',' + std::to_string(cell.sequence);
  if (options_.tags) {
    to += ',';
    append_csv(to, escaped(cell.tags_bytes()));
  }
  to += '\n';
}

void CellPrinter::print_row(const Columns& row) {
  std::string& to = out_.buffer();
  size_t used = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    if (i > 0) to += "  ";
    const bool repeated = i == 0 && begun_ && row[0] == last_row_;
    const size_t width = repeated ? 0 : text_width(row[i]);
    const bool last = i + 1 == row.size();
    if (last && options_.values) {
      append_cut(row[i], width, used);
    } else if (!repeated) {
      to += row[i];
    }
    if (last) break;
    if (width < widths_[i]) to.append(widths_[i] - width, ' ');
    used += std::max(width, widths_[i]) + 2;
  }
  to += '\n';
  last_row_ = row[0];
}

void CellPrinter::append_cut(std::string_view value, size_t width, size_t used) {
  const size_t room =
      options_.line_width == SIZE_MAX
          ? SIZE_MAX
          : std::max(kValueWidthMin, options_.line_width - std::min(used, options_.line_width));
  std::string& to = out_.buffer();
  if (width <= room) {
    to += value;
    return;
  }
  std::string cut(value);
  cut_to_columns(cut, room);
  to += cut;
  has_cut_ = true;
}

void CellPrinter::print_held() {
  holding_ = false;
  if (held_.empty()) return;
  const Columns names = heading();
  for (const std::string& name : names) widths_.push_back(name.size());
  for (const Columns& row : held_) {
    for (size_t i = 0; i < row.size(); ++i)
      widths_[i] = std::max(widths_[i], std::min(text_width(row[i]), kWidthMax));
  }
  out_.set_style(Style::kHeading);
  print_row(names);
  out_.set_style(Style::kPlain);
  last_row_.clear();
  for (const Columns& row : held_) print_row(row);
  held_.clear();
}

void CellPrinter::finish(std::string_view members) {
  begin();
  if (options_.format == Format::kTable && holding_) print_held();
  if (options_.format != Format::kJson) return;
  out_.write(cells_ == 0 ? "]" : "\n]");
  if (!members.empty()) {
    out_.write(",");
    out_.write(members);
  }
  out_.write("}\n");
}

void tell_of_cut_values(const Session& session, const CellPrinter& printer) {
  if (printer.has_cut())
    session.talk(
        "note   values are cut to the width of the terminal; --full (.full on in the shell) shows them "
        "whole");
}

}  // namespace cellar
