// SecondKey: what the keys of a second table are made of, read from its text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/keys.h"
#include "cellar/status.h"

namespace cellar {

// A column or a whole family.
struct SecondColumn {
  std::string family;
  std::string qualifier;
  bool whole = false;  // the family; the qualifier is empty

  bool operator==(const SecondColumn&) const = default;
};

struct SecondPart {
  enum class Source : uint8_t { kRow, kValue, kQualifiers };
  enum class Form : uint8_t { kText, kBlob, kInt64, kRaw };

  Source source = Source::kRow;
  Form form = Form::kText;
  KeyOrder order = KeyOrder::kAscending;
  SecondColumn column = {};          // of a value or of qualifiers
  size_t from = 0;                   // bytes of a row
  size_t until = std::string::npos;  // npos: to its end

  bool fixed_width() const { return source == Source::kRow && until != std::string::npos; }
};

// Reads SecondTable::key. The parts together hold the row whole: if need be the row itself follows. Error:
// kInvalidArgument with the part.
Result<std::vector<SecondPart>> parse_second_key(std::string_view text);
// Reads SecondTable::columns. kInvalidArgument with the column.
Result<std::vector<SecondColumn>> parse_second_columns(std::string_view text);

// Returns the fields of such keys as a KeySchema: "mail text, row raw".
std::string fields_of(const std::vector<SecondPart>& parts);

// Appends the bytes of a part to a key. kInvalidArgument if its form cannot hold them.
Status append_part(const SecondPart& part, std::string_view bytes, KeyBuilder& key);
// Returns the bytes of the row that the part chooses. kInvalidArgument if the row is too short.
Result<std::string_view> bytes_of_row(const SecondPart& part, std::string_view row);

}  // namespace cellar
