// JudgeCases.
#include "tests/cell/judge_cases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

namespace cellar::testing {
namespace {

int64_t number(const Case& c, std::string_view key, int64_t otherwise) {
  const auto text = c.value(key);
  return text ? std::strtoll(text->c_str(), nullptr, 10) : otherwise;
}

std::vector<std::string> list(const Case& c, std::string_view key) {
  std::vector<std::string> items;
  std::string text = c.value(key).value_or("");
  while (!text.empty()) {
    const size_t comma = text.find(',');
    items.push_back(text.substr(0, comma));
    text = comma == std::string::npos ? "" : text.substr(comma + 1);
  }
  return items;
}

std::string_view drop_name(Drop drop) {
  switch (drop) {
    case Drop::kKeep:
      return "kept";
    case Drop::kExpired:
      return "expired";
    case Drop::kCellTtl:
      return "cell expired";
    case Drop::kMasked:
      return "deleted";
    case Drop::kDuplicate:
      return "overwritten";
    case Drop::kVersions:
      return "over the version limit";
    case Drop::kMarker:
      return "delete marker no longer needed";
  }
  return "unknown";
}

FamilyRules rules_of(const Case& c) {
  FamilyRules rules;
  rules.max_versions = static_cast<uint32_t>(c.count("versions", 1));
  rules.min_versions = static_cast<uint32_t>(c.count("min_versions", 0));
  rules.ttl_ms = number(c, "ttl", kTtlForeverMs);
  const std::string keep = c.value("keep_deleted").value_or("false");
  if (keep == "true") rules.keep_deleted_cells = KeepDeleted::kTrue;
  if (keep == "ttl") rules.keep_deleted_cells = KeepDeleted::kTtl;
  if (c.value("order") == "sequence") rules.delete_order = MarkerOrder::kSequence;
  return rules;
}

}  // namespace

std::string JudgeCases::answer(const Case& c) {
  if (c.command == "family") {
    family_ = rules_of(c);
    sources_.clear();
    return "";
  }
  if (c.command == "source") {
    sources_.insert(sources_.begin(), sorted(parse_cells(c.input)));
    return "";
  }
  if (c.command == "read") return read(c);
  if (c.command == "rewrite") return rewrite(c);
  return unknown(c);
}

std::string JudgeCases::read(const Case& c) const {
  ModelQuery query;
  query.versions = c.value("versions") == "all" ? UINT32_MAX : static_cast<uint32_t>(c.count("versions", 1));
  query.time_from = number(c, "from", 0);
  query.time_until = number(c, "until", kLatestTimestamp);
  query.read_point = c.count("point", UINT64_MAX);
  query.now_ms = number(c, "now", 1000);
  query.raw = c.has("raw");
  for (const std::string& column : list(c, "columns")) query.columns.insert(column == "-" ? "" : column);
  const std::string text = print_cells(read_through(sources_, family_, query, c.has("reversed")));
  EXPECT_EQ(text, print_cells(read_by_model(sources_, family_, query, c.has("reversed"))))
      << "the model, at " << c.file << ":" << c.line;
  return text;
}

std::string JudgeCases::rewrite(const Case& c) {
  ModelRewrite how;
  how.now_ms = number(c, "now", 1000);
  how.read_point = c.count("point", UINT64_MAX);
  how.purge_deletes_ms = number(c, "purge", 0);
  how.earliest_outside = number(c, "outside", INT64_MAX);
  how.keep_versions = c.has("keep_versions");
  how.oldest_put_known = c.has("oldest_put");
  for (const std::string& point : list(c, "snapshots"))
    how.snapshots.push_back(std::strtoull(point.c_str(), nullptr, 10));
  Rewritten result = rewrite_through(sources_, family_, c.has("all"), how);
  std::string text = print_cells(result.kept);
  EXPECT_EQ(text, print_cells(ModelStore::rewritten(sources_, family_, c.has("all"), how)))
      << "the model, at " << c.file << ":" << c.line;
  for (size_t i = 1; i < kDropReasons; ++i)
    if (result.dropped[i] != 0)
      text += fmt::format("dropped {}: {}\n", result.dropped[i], drop_name(static_cast<Drop>(i)));
  if (c.has("apply")) sources_ = {std::move(result.kept)};
  return text;
}

}  // namespace cellar::testing
