// Goal: a Bloom type hashes what HBase hashes, is found by its names, and says no to what it cannot be.
#include "bloom/bloom_types.h"

#include <gtest/gtest.h>

#include <string>

#include "cell/cell_codec.h"

namespace cellar::testing {
namespace {

std::shared_ptr<const BloomType> type(std::string_view text) { return make_bloom_type(text).value(); }

std::string flat(std::string_view row, std::string_view qualifier) {
  std::string key;
  append_flat_key(key, row, "", qualifier, kLatestTimestamp, CellType::kMaximum);
  return key;
}

TEST(BloomTypes, KeysOfReads) {
  std::string key;
  EXPECT_TRUE(type("row")->key_of_row("some row", key));
  EXPECT_EQ(key, "some row");
  EXPECT_TRUE(type("row")->key_of_column("some row", "q", key));
  EXPECT_EQ(key, "some row");
  EXPECT_FALSE(type("rowcol")->key_of_row("some row", key));
  EXPECT_TRUE(type("ROWCOL")->key_of_column("some row", "q", key));
  EXPECT_EQ(key, flat("some row", "q"));
  const auto prefix = type("ROWPREFIX_FIXED_LENGTH(prefix_length=4)");
  EXPECT_TRUE(prefix->key_of_row("some row", key));
  EXPECT_EQ(key, "some");
  EXPECT_TRUE(prefix->key_of_row("so", key));
  EXPECT_EQ(key, "so") << "a shorter row is its own prefix";
  EXPECT_EQ(prefix->prefix_bytes(), 4u);
  EXPECT_EQ(type("row")->prefix_bytes(), 0u);
  EXPECT_EQ(type("none"), nullptr);
}

// A read of a row, column or prefix asks for the key that its cells put into the filter.
TEST(BloomTypes, KeysOfCellsAreThoseOfReads) {
  for (const char* text : {"row", "rowcol", "rowprefix_fixed_length(prefix_length=3)"}) {
    for (const std::string row : {"r", "row", "rows and more"}) {
      for (const std::string qualifier : {"", "q", "qualifier"}) {
        std::string stored;
        append_flat_key(stored, row, "family", qualifier, 17, CellType::kPut);
        CellView cell;
        ASSERT_TRUE(parse_flat_key(stored.data(), stored.size(), cell));
        std::string scratch;
        std::string key;
        ASSERT_TRUE(type(text)->key_of_column(row, qualifier, key));
        EXPECT_EQ(type(text)->key_of(cell, scratch), key) << text;
      }
    }
  }
}

TEST(BloomTypes, OfFiles) {
  EXPECT_EQ(bloom_type_of_file("ROW", 0)->name(), "ROW");
  EXPECT_EQ(bloom_type_of_file("ROW", 8)->name(), "ROW") << "a parameter that it does not have";
  EXPECT_EQ(bloom_type_of_file("ROWPREFIX_FIXED_LENGTH", 9)->prefix_bytes(), 9u);
  for (const char* name :
       {"", "NONE", "row", "ROWPREFIX_DELIMITED", "ROWPREFIX_FIXED_LENGTH", "ROW(", "(", " none"})
    EXPECT_EQ(bloom_type_of_file(name, 0), nullptr) << name;
}

TEST(BloomTypes, WhatCannotBeIsSaid) {
  const Status unknown = make_bloom_type("rowcoll").status();
  EXPECT_EQ(unknown.code(), Code::kInvalidArgument);
  EXPECT_NE(unknown.to_text().find("known: none, row, rowcol, rowprefix_fixed_length"), std::string::npos)
      << unknown.to_text();
  EXPECT_EQ(unknown.hint(), "did you mean rowcol?");
  const Status without = make_bloom_type("rowprefix_fixed_length").status();
  EXPECT_EQ(without.message(),
            "prefix_length of rowprefix_fixed_length must be a whole number from 1 to 32767, and is missing");
  EXPECT_FALSE(make_bloom_type("rowprefix_fixed_length(prefix_length=0)").ok());
  EXPECT_FALSE(make_bloom_type("rowprefix_fixed_length(prefix_length=32768)").ok());
  EXPECT_FALSE(make_bloom_type("row(prefix_length=3)").ok());
  EXPECT_EQ(bloom_hash_by_name("MURMUR3").value(), BloomHash::kMurmur3);
  EXPECT_EQ(bloom_hash_by_name("jenkins").value(), BloomHash::kJenkins);
  EXPECT_EQ(bloom_hash_by_name("murmur").value(), BloomHash::kMurmur);
  EXPECT_NE(bloom_hash_by_name("murmur4").status().to_text().find("known: jenkins, murmur, murmur3"),
            std::string::npos);
}

}  // namespace
}  // namespace cellar::testing
