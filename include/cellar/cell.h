// CellView and Cell: one cell of the data model, borrowed and owned.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellar/visibility.h"

namespace CELLAR_PUBLIC cellar {

// CellType: what a cell does. The codes are those of HBase's KeyValue.Type. At equal timestamps a higher code
// sorts first.
enum class CellType : uint8_t {
  kMinimum = 0,  // search keys only
  kPut = 4,
  kDelete = 8,                // hides the put of its column at exactly its timestamp
  kDeleteFamilyVersion = 10,  // hides the puts of all columns of the family at exactly its timestamp
  kDeleteColumn = 12,         // hides the puts of its column at its timestamp and before
  kDeleteFamily = 14,         // hides the puts of all columns of the family at its timestamp and before
  kMaximum = 255,             // search keys only
};

constexpr bool is_delete(CellType type) { return type != CellType::kPut; }
// Returns whether the marker acts on every column of the family. It then has an empty qualifier.
constexpr bool covers_family(CellType type) {
  return type == CellType::kDeleteFamily || type == CellType::kDeleteFamilyVersion;
}
// The types that stored cells have, in the order of their codes.
inline constexpr CellType kStoredTypes[] = {CellType::kPut, CellType::kDelete, CellType::kDeleteFamilyVersion,
                                            CellType::kDeleteColumn, CellType::kDeleteFamily};
// Returns whether a stored cell may have this type.
constexpr bool is_stored_type(CellType type) {
  return type == CellType::kPut || type == CellType::kDelete || type == CellType::kDeleteFamilyVersion ||
         type == CellType::kDeleteColumn || type == CellType::kDeleteFamily;
}
// Returns "Put", "Delete", "DeleteFamilyVersion", "DeleteColumn", "DeleteFamily", "Minimum", "Maximum" or
// "Unknown".
std::string_view type_name(CellType type);
// Sets `type` to the stored type of this name. Returns false for any other name.
bool parse_type(std::string_view name, CellType& type);

constexpr int64_t kLatestTimestamp = INT64_MAX;  // in a request: now; Cellar never stores it
constexpr int64_t kOldestTimestamp = INT64_MIN;  // search keys only
constexpr uint64_t kLatestSequence =
    UINT64_MAX;  // search keys only: before every stored cell of its coordinates

constexpr size_t kRowBytesMax = 32767;
constexpr size_t kFamilyBytesMax = 127;
constexpr size_t kTagsBytesMax = 32767;  // written; up to 65,535 are read
constexpr uint8_t kTtlTag = 8;           // tag type: time to live, 8 bytes big-endian, milliseconds

// Families, each with its qualifiers. No qualifiers: the whole family.
using ColumnMap = std::map<std::string, std::vector<std::string>, std::less<>>;

// CellView: a cell that is seen in place. Its bytes belong to the object that returned it. 56 bytes,
// trivially copyable.
struct CellView {
  const char* key =
      nullptr;  // u16 row size | row | u8 family size | family | qualifier | u64 timestamp | u8 type
  const char* value = nullptr;
  const char* tags = nullptr;  // HBase's list of tags: each u16 size, u8 type, size - 1 bytes
  uint64_t sequence = 0;       // number of the write; 0 if it no longer matters
  int64_t timestamp = 0;       // milliseconds since the epoch, decoded from the key
  uint32_t key_size = 0;
  uint32_t value_size = 0;
  uint16_t row_size = 0;
  uint16_t tags_size = 0;
  uint8_t family_size = 0;
  CellType cell_type = CellType::kPut;
  bool key_in_scratch = false;  // the engine's: key and tags must be copied to be kept

  std::string_view row() const { return {key + 2, row_size}; }
  std::string_view family() const { return {key + 3 + row_size, family_size}; }
  std::string_view qualifier() const {
    return {key + 3 + row_size + family_size, key_size - 12u - row_size - family_size};
  }
  // Returns family and qualifier, which are adjacent. In one store, where all families are equal, comparing
  // it compares qualifiers.
  std::string_view column() const { return {key + 3 + row_size, key_size - 12u - row_size}; }
  CellType type() const { return cell_type; }
  std::string_view key_bytes() const { return {key, key_size}; }
  std::string_view value_bytes() const { return {value, value_size}; }
  std::string_view tags_bytes() const { return {tags, tags_size}; }
  // Returns the number of a counter (Increment, plain_int64), or nothing if the value has not eight bytes.
  std::optional<int64_t> counter() const {
    if (value_size != sizeof(uint64_t)) return std::nullopt;
    uint64_t number = 0;
    for (const char byte : value_bytes()) number = number << 8 | static_cast<uint8_t>(byte);
    return static_cast<int64_t>(number);
  }
};

// Cell: a cell that owns its bytes. A value, like std::string.
struct Cell {
  std::string row;
  std::string family;
  std::string qualifier;
  int64_t timestamp = 0;
  CellType type = CellType::kPut;
  std::string value;
  std::string tags;  // in CellView's form
  uint64_t sequence = 0;

  Cell() = default;
  Cell(std::string row_, std::string family_, std::string qualifier_, int64_t timestamp_, CellType type_,
       std::string value_)
      : row(std::move(row_)),
        family(std::move(family_)),
        qualifier(std::move(qualifier_)),
        timestamp(timestamp_),
        type(type_),
        value(std::move(value_)) {}
  explicit Cell(const CellView& view)
      : row(view.row()),
        family(view.family()),
        qualifier(view.qualifier()),
        timestamp(view.timestamp),
        type(view.type()),
        value(view.value_bytes()),
        tags(view.tags_bytes()),
        sequence(view.sequence) {}

  bool operator==(const Cell&) const = default;
};

// Appends the cell, a JSON object without a newline. All cell streams of the program have this form. The keys
// are row, family, qualifier, ts, type, value, mvcc (the sequence) and tags. The last three are written if
// their argument is true.
void append_json(std::string& to, const CellView& cell, bool mvcc = false, bool tags = false,
                 bool value = true);

// Appends one tag to a list of tags. `value` is at most 65,534 bytes.
void append_tag(std::string& tags, uint8_t type, std::string_view value);
// Sets `value` to the first tag of a type. Returns false if no tag has that type. `tags` must be well formed;
// readers check it.
bool find_tag(std::string_view tags, uint8_t type, std::string_view& value);

}  // namespace cellar
