// Goal: lines are indented, columns stand under each other, numbers to the right.
#include "base/text_printer.h"

#include <gtest/gtest.h>

namespace cellar::testing {

TEST(TextPrinter, IndentsByTwo) {
  TextPrinter out;
  out.line("table t");
  out.indent();
  out.line("family f");
  out.indent();
  out.line("file 1");
  out.line("");
  out.outdent();
  out.outdent();
  out.line("end");
  EXPECT_EQ(out.text(), "table t\n  family f\n    file 1\n\nend\n");
}

TEST(AlignedTable, NumbersToTheRightTextToTheLeft) {
  EXPECT_EQ(aligned_table({{"name", "cells", "size", "age"},
                           {"a", "12,345", "1.5 MiB", "x1"},
                           {"größer", "7", "-", "2"},
                           {"b", "", "812 B", "long one"}}),
            "name     cells     size  age\n"
            "a       12,345  1.5 MiB  x1\n"
            "größer       7        -  2\n"
            "b                 812 B  long one\n");
  EXPECT_EQ(aligned_table({}), "");
  EXPECT_EQ(aligned_table({{"only", "heading"}}), "only  heading\n");
}

}  // namespace cellar::testing
