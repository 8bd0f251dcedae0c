// Goal: the filter language means what HBase's does, prints what it parsed, and names what is wrong. Method:
// texts and their printed form; faulty texts and the place of the fault. In other texts random bytes are
// changed. Such a text must parse or fail, and if it parses, its printed form must parse to the same.
#include <gtest/gtest.h>

#include "base/random.h"
#include "cellar/filter.h"

namespace cellar::testing {
namespace {

std::string printed(const std::string& text) {
  const Result<FilterPtr> filter = parse_filter(text);
  return filter.ok() ? (*filter)->to_text() : filter.status().to_text();
}

const std::vector<std::string>& plain_texts() {
  static const std::vector<std::string> texts = {
      "FirstKeyOnlyFilter()",
      "FilterList()",
      "PrefixFilter('it''s')",
      "PageFilter(10)",
      "KeyOnlyFilter(true)",
      "ColumnCountGetFilter(3)",
      "ColumnPaginationFilter(3, 5)",
      "ColumnPaginationFilter(3, 'c')",
      "InclusiveStopFilter('row')",
      "TimestampsFilter(1, 5)",
      "TimestampsFilter(1, 5, true)",
      "RowFilter(>=, 'binary:a:b')",
      "FamilyFilter(!=, 'binaryprefix:f')",
      "QualifierFilter(=, 'regexstring:^a.c$')",
      "ValueFilter(=, 'regexstringnocase:x')",
      "ValueFilter(!=, 'substring:mail')",
      "ValueFilter(<, 'long:-7')",
      "ValueFilter(>, 'bigdecimal:12.50')",
      "ValueFilter(=, 'null:')",
      "ValueFilter(=, 'bitand:ab')",
      "ValueFilter(=, 'bitor:ab')",
      "ValueFilter(=, 'bitxor:ab')",
      "ValueFilter(<=, 'binarycomponent:4:ab')",
      "ColumnRangeFilter('a', true, '', false)",
      "MultipleColumnPrefixFilter('a', 'b')",
      "FirstKeyValueMatchingQualifiersFilter('a', 'b')",
      "SingleColumnValueFilter('f', 'q', =, 'binary:v', true, false)",
      "SingleColumnValueExcludeFilter('f', 'q', =, 'binary:v', false, true)",
      "DependentColumnFilter('f', 'q', false)",
      "DependentColumnFilter('f', 'q', true, =, 'binary:v')",
      "ColumnValueFilter('f', 'q', <, 'binary:v')",
      "FuzzyRowFilter('a_c', '010', 'b', '0')",
      "MultiRowRangeFilter('a', true, 'b', false, 'x', false, '', false)",
      "RandomRowFilter('0.25', 7)",
      "SKIP (PageFilter(1))",
      "WHILE (PageFilter(1) OR PageFilter(2))",
      "PageFilter(1) AND PageFilter(2) AND PageFilter(3)",
      "(PageFilter(1) AND PageFilter(2)) OR SKIP (SKIP (PageFilter(3)))",
      "(PageFilter(1) AND (PageFilter(2) AND PageFilter(3))) OR PageFilter(4)"};
  return texts;
}

TEST(FilterLanguage, PrintsWhatItParsed) {
  for (const std::string& text : plain_texts()) EXPECT_EQ(printed(text), text);
}

TEST(FilterLanguage, ReadsShortAndLooseForms) {
  EXPECT_EQ(printed("\t PageFilter ( 1 )OR(PageFilter(2)AND PageFilter(3)) "),
            "PageFilter(1) OR (PageFilter(2) AND PageFilter(3))");
  EXPECT_EQ(printed("PageFilter(1) OR PageFilter(2) AND PageFilter(3)"),
            "PageFilter(1) OR (PageFilter(2) AND PageFilter(3))");
  EXPECT_EQ(printed("(PageFilter(1) OR PageFilter(2) AND SKIP PageFilter(3))"),
            "PageFilter(1) OR (PageFilter(2) AND SKIP (PageFilter(3)))")
      << "HBase's own parser refuses this one";
  EXPECT_EQ(printed("KeyOnlyFilter()"), "KeyOnlyFilter(false)");
  EXPECT_EQ(printed("SingleColumnValueFilter('f','q',=,'binary:v')"),
            "SingleColumnValueFilter('f', 'q', =, 'binary:v', false, true)");
  EXPECT_EQ(printed("SingleColumnValueFilter('f','q',=,'binary:v',TRUE,False)"),
            "SingleColumnValueFilter('f', 'q', =, 'binary:v', true, false)");
  EXPECT_EQ(printed("TimestampsFilter(5, 1, 5)"), "TimestampsFilter(1, 5)");
  EXPECT_EQ(printed("PrefixFilter('AND OR (')"), "PrefixFilter('AND OR (')");
}

TEST(FilterLanguage, TakesSkipAndWhileAnywhere) {
  EXPECT_EQ(printed("SKIP SKIP PageFilter(1)"), "SKIP (SKIP (PageFilter(1)))");
  EXPECT_EQ(printed("SKIP WHILE PageFilter(1) AND WHILE SKIP PageFilter(2)"),
            "SKIP (WHILE (PageFilter(1))) AND WHILE (SKIP (PageFilter(2)))");
  const std::string refused_by_hbase[] = {
      "WHILE (PageFilter(1) OR SKIP (PageFilter(2)))",
      "SKIP (PageFilter(1) AND WHILE (PageFilter(2)))",
      "PageFilter(1) OR (WHILE (WHILE (PageFilter(2))) AND SKIP (PageFilter(3)))",
  };
  for (const std::string& text : refused_by_hbase) EXPECT_EQ(printed(text), text);
  const auto skips = [](size_t count) {
    std::string text;
    while (count-- > 0) text += "SKIP ";
    return printed(text + "PageFilter(1)");
  };
  EXPECT_EQ(printed(skips(kFilterDepthMax)), skips(kFilterDepthMax));
  EXPECT_NE(skips(kFilterDepthMax + 2).find("more than 32 nested SKIP and WHILE"), std::string::npos);
}

// HBase's language takes them in a DependentColumnFilter, where a value that does not match counts as
// smaller.
TEST(FilterLanguage, RefusesAnOrderOfTextsInEveryFilter) {
  for (const std::string op : {"<", "<=", ">=", ">"}) {
    for (const std::string text : {"'substring:2'", "'regexstring:2'"}) {
      const std::string compared = op + ", " + text + ")";
      for (const std::string& filter :
           {"DependentColumnFilter('f', 'p', false, " + compared, "ValueFilter(" + compared,
            "SingleColumnValueFilter('f', 'p', " + compared, "ColumnValueFilter('f', 'p', " + compared})
        EXPECT_NE(printed(filter).find("has no order"), std::string::npos) << filter;
    }
  }
}

TEST(FilterLanguage, SaysWhatIsWrongAndWhere) {
  const auto complaint = [](const std::string& text) {
    const Result<FilterPtr> filter = parse_filter(text);
    return filter.ok() ? "none" : filter.status().to_text();
  };
  const std::pair<std::string, std::string> faults[] = {
      {"", "a filter is expected"},
      {"PrefxFilter('a')", "did you mean PrefixFilter?"},
      {"pagefilter(1)", "byte 1 "},
      {"PageFilter(1) PageFilter(2)", "byte 15 (at PageFilter(2)): AND or OR is expected here"},
      {"PageFilter(1) and PageFilter(2)", "AND or OR is expected here"},
      {"PageFilter(1)\nAND PageFilter(2)", "AND or OR is expected here"},
      {"PageFilter(1) AND", "byte 18 (at the end): a filter is expected here"},
      {"PageFilter(1) OR ", "a filter is expected here"},
      {"SKIP", "a filter is expected here"},
      {"AND PageFilter(1)", "a filter must stand on both sides of AND"},
      {"(PageFilter(1)", "a closing ) is missing"},
      {"PageFilter(1))", "unexpected )"},
      {"PageFilter", "( is expected after PageFilter"},
      {"PageFilter(1", "a comma or ) is expected"},
      {"PageFilter('1')", "expected a number"},
      {"PageFilter(-1)", "expected a number"},
      {"PageFilter(99999999999999999999)", "expected a number"},
      {"PageFilter(1, 2)", "2 arguments"},
      {"PrefixFilter(a)", "expected bytes in quotes"},
      {"PrefixFilter('a)", "the quote is not closed"},
      {"PrefixFilter(,)", "an argument of PrefixFilter is expected"},
      {"ValueFilter(==, 'binary:a')", "expected an operator"},
      {"ValueFilter(=, 'binry:a')", "did you mean binary:?"},
      {"ValueFilter(=, 'a')", "a comparator is 'type:value'"},
      {"ValueFilter(<, 'substring:a')", "use = or !="},
      {"ValueFilter(=, 'regexstring:(')", "invalid regular expression"},
      {"ValueFilter(=, 'bigdecimal:1x')", "is not a decimal number"},
      {"SingleColumnValueFilter('f', 'q', =, 'binary:v', true)", "5 arguments"},
      {"DependentColumnFilter('f', 'q', true, =)", "4 arguments"},
      {"ColumnRangeFilter('a', yes, 'b', true)", "expected true or false"},
      {"FuzzyRowFilter('a', '00')", "has 1 bytes and its mask 2"},
      {"FuzzyRowFilter('a', '2')", "a mask of 0"},
      {"FuzzyRowFilter()", "a FuzzyRowFilter needs at least one key"},
      {"MultiRowRangeFilter('b', true, 'a', true)", "after its stop"},
  };
  for (const auto& [text, what] : faults)
    EXPECT_NE(complaint(text).find(what), std::string::npos) << text << "\n" << complaint(text);
  EXPECT_EQ(complaint(std::string(32, '(') + "PageFilter(1)" + std::string(32, ')')), "none");
  EXPECT_NE(complaint(std::string(33, '(') + "PageFilter(1)" + std::string(33, ')')).find("more than 32"),
            std::string::npos);
  EXPECT_NE(complaint("PrefixFilter('" + std::string(kFilterTextBytesMax, 'a') + "')").find("the limit is"),
            std::string::npos);
}

TEST(FilterLanguage, TakesNamesOfTheUser) {
  add_filter_name("FirstRows", [](std::span<const FilterArgument> arguments) -> Result<FilterPtr> {
    if (arguments.size() != 1) return Status::invalid_argument("one argument");
    return page_filter(static_cast<uint64_t>(arguments[0].text.size()));
  });
  EXPECT_EQ(printed("FirstRows('abc') OR PageFilter(1)"), "PageFilter(3) OR PageFilter(1)");
  EXPECT_NE(printed("FirstRows()").find("FirstRows: one argument"), std::string::npos);
}

TEST(FilterLanguage, ChangedTextsParseOrFail) {
  Random random(7);
  const std::string pieces[] = {"(",     ")",      "'",
                                ",",     " AND ",  " OR ",
                                "SKIP ", "WHILE ", "PageFilter(1)",
                                "true",  "=",      std::string(1, '\0')};
  int parsed = 0;
  for (int i = 0; i < 60'000; ++i) {
    const auto& texts = plain_texts();
    std::string text = texts[random.below(texts.size())];
    if (random.below(3) == 0)
      text += (random.below(2) == 0 ? " AND " : " OR ") + texts[random.below(texts.size())];
    for (size_t change = random.below(4); change > 0; --change) {
      const size_t at = random.below(text.size() + 1);
      switch (random.below(3)) {
        case 0:
          text.erase(at, random.below(4));
          break;
        case 1:
          text.insert(at, pieces[random.below(std::size(pieces))]);
          break;
        default:
          if (at < text.size()) text[at] = static_cast<char>(random.below(256));
      }
    }
    const Result<FilterPtr> filter = parse_filter(text);
    if (!filter.ok()) {
      ASSERT_EQ(filter.status().code(), Code::kInvalidArgument) << text;
      continue;
    }
    ++parsed;
    const std::string once = (*filter)->to_text();
    ASSERT_EQ(printed(once), once) << text;
  }
  EXPECT_GT(parsed, 10'000);
  EXPECT_LT(parsed, 55'000);
}

// ---- Comparators ----

TEST(Comparators, NumbersAreOrderedAsNumbers) {
  const std::string minus_one(8, '\xff');
  EXPECT_TRUE(passes(CompareOp::kLess, *long_number(0), minus_one));
  EXPECT_TRUE(passes(CompareOp::kEqual, *long_number(-1), minus_one));
  EXPECT_TRUE(passes(CompareOp::kNotEqual, *long_number(-1), "short"));
  EXPECT_FALSE(passes(CompareOp::kLess, *long_number(-1), "short"));
  EXPECT_FALSE(passes(CompareOp::kNoOp, *binary("a"), "a"));
}

TEST(Comparators, DecimalsOfAnySize) {
  const auto stored = [](int32_t scale, const std::string& unscaled) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(scale >> shift);
    return bytes + unscaled;
  };
  const auto order = [](const std::string& given, const std::string& bytes) {
    return (*big_decimal(given))->compare(bytes);
  };
  EXPECT_TRUE(order("-12.50", stored(1, "\x83")) == 0) << "-125 with one digit behind the point";
  EXPECT_TRUE(order("12.5", stored(3, std::string("\x30\xd4", 2))) == 0) << "12500 with three";
  EXPECT_TRUE(order("1e3", stored(-3, "\1")) == 0);
  EXPECT_TRUE(order("0", stored(5, std::string(1, '\0'))) == 0);
  EXPECT_TRUE(order("0.00", stored(0, "\xff")) < 0);
  EXPECT_TRUE(order("-2", stored(0, "\xff")) > 0);
  EXPECT_TRUE(order("99.9", stored(0, "\x64")) > 0);
  EXPECT_TRUE(order("-128", stored(0, "\x80")) == 0);
  EXPECT_TRUE(order("18446744073709551616", stored(0, std::string("\1\0\0\0\0\0\0\0\0", 9))) == 0);
  EXPECT_TRUE(order("-18446744073709551616", stored(0, std::string("\xff\0\0\0\0\0\0\0\0", 9))) == 0);
  EXPECT_TRUE(order("1", "shrt") == std::partial_ordering::unordered);
  for (const char* text : {"", "-", ".", "1e", "1.2.3", "1e99999999999", "x"})
    EXPECT_FALSE(big_decimal(text).ok()) << text;
}

TEST(Comparators, PartsBitsAndTexts) {
  EXPECT_TRUE(passes(CompareOp::kEqual, *binary_prefix("ab"), "abc"));
  EXPECT_TRUE(passes(CompareOp::kLess, *binary_prefix("ab"), "a"));
  EXPECT_TRUE(passes(CompareOp::kEqual, *binary_component("bc", 1), "abcd"));
  EXPECT_TRUE(passes(CompareOp::kLess, *binary_component("bc", 9), "abcd"));
  EXPECT_TRUE(passes(CompareOp::kEqual, *bits_and("\1\2"), "\2\2"));
  EXPECT_TRUE(passes(CompareOp::kNotEqual, *bits_xor("\1\2"), "\1\2"));
  EXPECT_TRUE(passes(CompareOp::kNotEqual, *bits_or("\1"), "\1\1"));
  EXPECT_FALSE(passes(CompareOp::kEqual, *null_value(), ""));
  EXPECT_TRUE(passes(CompareOp::kEqual, *substring("MaIl"), "a mAil"));
  EXPECT_TRUE(passes(CompareOp::kEqual, **regex("a.c"), "xa\ncx"));
  EXPECT_TRUE(passes(CompareOp::kNotEqual, **regex("A"), "a"));
  EXPECT_TRUE(passes(CompareOp::kEqual, **regex_ignoring_case("A"), "a"));
}

}  // namespace
}  // namespace cellar::testing
