// Cells for files that are read by HBase: shapes, rows that share prefixes, values, tags, markers.
#include "tests/interop/draw_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cell/cell_order.h"

namespace cellar::interop {
namespace {

constexpr int64_t kTime = 1'700'000'000'000;

std::string random_bytes(Random& random, size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.below(256));
  return bytes;
}

// Half of them compress.
std::string draw_value(Random& random, size_t size) {
  if (random.one_in(2)) return random_bytes(random, size);
  std::string value;
  while (value.size() < size) value += fmt::format("value {} ", random.below(50));
  value.resize(size);
  return value;
}

std::vector<std::string> draw_rows(Random& random, size_t count) {
  std::vector<std::string> rows;
  const uint64_t form = random.below(3);
  for (size_t i = 0; i < count; ++i) {
    if (form == 0) {
      rows.push_back(fmt::format("row{:06}", i * 3));
    } else if (form == 1) {
      rows.push_back(random_bytes(random, 1 + random.below(30)));
    } else {  // long ones that differ at their end
      rows.push_back(fmt::format("{:a<{}}{:04}", "", 100 + random.below(3) * 50, random.below(10'000)));
    }
  }
  return rows;
}

std::vector<std::string> draw_qualifiers(Random& random, size_t count) {
  std::vector<std::string> qualifiers = {"", "a", "ab", std::string(1, '\0'), "\xff"};
  while (qualifiers.size() < count)
    qualifiers.push_back(random.one_in(2) ? fmt::format("column-{}", random.below(100'000))
                                          : random_bytes(random, random.below(20)));
  qualifiers.resize(count);
  return qualifiers;
}

std::string draw_tags(Random& random) {
  std::string tags;
  for (uint64_t left = random.below(4); left > 0; --left) {
    const bool ttl = random.one_in(4);
    // Few different ones, so that a dictionary of tags finds them again.
    append_tag(tags, ttl ? kTtlTag : static_cast<uint8_t>(64 + random.below(100)),
               ttl ? random_bytes(random, 8) : fmt::format("tag {}", random.below(20)));
  }
  if (random.one_in(100)) append_tag(tags, 65, random_bytes(random, 20'000));
  return tags;
}

CellType draw_type(Random& random) {
  constexpr std::array kMarkers = {CellType::kDelete, CellType::kDeleteColumn, CellType::kDeleteFamily,
                                   CellType::kDeleteFamilyVersion};
  return random.one_in(6) ? kMarkers[random.below(kMarkers.size())] : CellType::kPut;
}

int64_t draw_time(Random& random) {
  if (random.one_in(50)) return 0;
  if (random.one_in(50)) return INT64_MAX - 1;
  return kTime + static_cast<int64_t>(random.below(random.one_in(2) ? 5 : 1'000'000'000));
}

// How much of what a shape has.
struct Plan {
  size_t cells;
  size_t rows;
  size_t qualifiers;
};

Plan plan_of(std::string_view shape, Random& random) {
  if (shape == "empty") return {0, 1, 1};
  if (shape == "one") return {1, 1, 1 + random.below(5)};
  if (shape == "few") return {2 + random.below(30), 10, 5};
  if (shape == "many") return {2'000 + random.below(3'000), 1'500, 8};
  if (shape == "huge") return {6 + random.below(20), 8, 5};
  if (shape == "wide") return {1'500 + random.below(1'000), 2, 1'000};
  if (shape == "versions") return {1'000 + random.below(1'000), 20, 5};
  return {400 + random.below(400), 10, 3};  // equal
}

size_t draw_value_bytes(std::string_view shape, Random& random) {
  if (shape == "huge" && random.one_in(3)) return 200'000 + random.below(1'500'000);
  if (random.one_in(60)) return random.below(9'000);
  return random.below(100);
}

void sort(std::vector<OwnedCell>& cells) {
  std::ranges::stable_sort(
      cells, [](const auto& a, const auto& b) { return compare_cells(a.view(), b.view()) < 0; });
}

}  // namespace

const std::vector<std::string>& shapes() {
  static const std::vector<std::string> all = {"empty", "one",  "few",      "many",
                                               "huge",  "wide", "versions", "equal"};
  return all;
}

std::vector<OwnedCell> draw_cells(Random& random, const CellDraw& draw) {
  const Plan plan = plan_of(draw.shape, random);
  std::vector<std::string> rows = draw_rows(random, plan.rows);
  // Not where many cells would have it: an index of such keys is larger than all else.
  if (random.one_in(8) && plan.cells <= 200 * plan.rows)
    rows.back() = random_bytes(random, 1 + random.below(kRowBytesMax));
  const std::vector<std::string> qualifiers = draw_qualifiers(random, plan.qualifiers);
  const std::string family = random.one_in(4) ? "family-with-a-long-name" : "f";
  std::vector<OwnedCell> cells(plan.cells);
  for (size_t i = 0; i < cells.size(); ++i) {
    const CellType type = draw_type(random);
    cells[i].assign(rows[random.below(rows.size())], family,
                    covers_family(type) ? "" : qualifiers[random.below(qualifiers.size())], draw_time(random),
                    type, draw.mvcc ? random.below(random.one_in(2) ? 100 : 1ull << 50) : 0,
                    type == CellType::kPut ? draw_value(random, draw_value_bytes(draw.shape, random)) : "",
                    draw.tags ? draw_tags(random) : "");
    if (draw.shape == "equal" && i > 0 && random.one_in(2)) {  // the key of the one before again
      const OwnedCell again = cells[i - 1];
      const CellView& key = again.view();
      cells[i].assign(key.row(), key.family(), key.qualifier(), key.timestamp, key.type(),
                      draw.mvcc ? random.below(100) : 0, key.value_bytes(), key.tags_bytes());
    }
  }
  sort(cells);
  return cells;
}

std::vector<OwnedCell> page_views(uint64_t cells) {
  constexpr std::array kColumns = {"country", "device", "ms", "page", "referrer"};
  constexpr std::array kCountries = {"DE", "FR", "US", "IN", "BR", "JP"};
  constexpr std::array kDevices = {"phone", "desktop", "tablet"};
  Random random(1);
  std::vector<OwnedCell> views(cells);
  std::string row;
  int64_t time = kTime;
  for (uint64_t i = 0; i < cells; ++i) {
    const uint64_t column = i % kColumns.size();
    if (column == 0) {
      row = fmt::format("user{:08}/{:05}", i / 50, random.below(100) + i / 5 % 10 * 1000);
      time += static_cast<int64_t>(random.below(2'000));
    }
    const std::string value =
        column == 0   ? kCountries[random.below(kCountries.size())]
        : column == 1 ? kDevices[random.below(kDevices.size())]
        : column == 2 ? std::to_string(random.below(2'000))
        : column == 3 ? fmt::format("/shop/{}/item-{}", kColumns[random.below(5)], random.below(20'000))
                      : fmt::format("https://www.example.org/search?q={:x}", random.below(1ull << 40));
    views[i].assign(row, "v", kColumns[column], time, CellType::kPut, i / 5, value);
  }
  sort(views);
  return views;
}

std::vector<OwnedCell> table_cells(Random& random, std::string_view family, uint64_t rows) {
  std::vector<OwnedCell> cells;
  for (uint64_t r = 0; r < rows; ++r) {
    for (uint64_t column = random.below(6); column > 0; --column) {
      const std::string qualifier = fmt::format("q{}", column);
      for (int64_t version = static_cast<int64_t>(random.below(5)); version >= 0; --version) {
        const CellType type = random.one_in(8) ? draw_type(random) : CellType::kPut;
        const int64_t time = kTime + version * 100 + static_cast<int64_t>(column);
        cells.emplace_back().assign(
            fmt::format("row{:04}", r), family, covers_family(type) ? "" : qualifier, time, type, 0,
            type == CellType::kPut ? draw_value(random, draw_value_bytes("many", random)) : "");
      }
    }
  }
  sort(cells);
  return cells;
}

}  // namespace cellar::interop
