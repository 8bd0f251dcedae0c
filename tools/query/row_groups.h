// RowGroups: the rows that --group-by takes together: those with the same first part.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cellar/key_schema.h"
#include "cellar/status.h"

namespace cellar {

// A value type.
class RowGroups {
 public:
  // Parses "bytes:8", "fields:2", "until:/" or the name of a field of the schema. A name stands for the
  // fields up to this one. kInvalidArgument, with the nearest word as the hint.
  static Result<RowGroups> parse(std::string_view text, const std::optional<KeySchema>& schema);

  // Returns how many of the first bytes of a row are its group.
  Result<size_t> bytes_of(std::string_view row) const { return bytes_of_(row); }
  // Returns true if groups are fields that tell their kind.
  bool of_plain_fields() const { return of_plain_fields_; }

 private:
  using BytesOf = std::function<Result<size_t>(std::string_view)>;
  explicit RowGroups(BytesOf bytes_of) : bytes_of_(std::move(bytes_of)) {}
  static Result<RowGroups> of_bytes(std::string_view number);
  static Result<RowGroups> of_separator(std::string_view text);

  BytesOf bytes_of_;
  bool of_plain_fields_ = false;
};

}  // namespace cellar
