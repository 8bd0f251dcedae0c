// Goal: "name(key=value, …)" is parsed or refused with the reason; wrong names come with the nearest right
// one.
#include <gtest/gtest.h>

#include "cellar/plugin.h"

namespace cellar::testing {

namespace {

class Shape {
 public:
  virtual ~Shape() = default;
  virtual std::string text() const = 0;
};

class Box final : public Shape {
 public:
  explicit Box(const PluginParams& params)
      : width_(params.count("width", 2)), name_(params.text("label", "plain")) {}
  std::string text() const override { return "box " + std::to_string(width_) + " " + name_; }

 private:
  uint64_t width_;
  std::string name_;
};

CELLAR_PLUGIN(Shape, tests_box, "box", Box)

std::string refusal(std::string_view text) {
  const auto parsed = PluginParams::parse(text);
  return parsed.ok() ? "parsed" : std::string(parsed.status().message());
}

PluginParams params(std::string_view text) { return PluginParams::parse(text).value(); }

}  // namespace

TEST(PluginParams, ParsesNamesAndValues) {
  EXPECT_EQ(params("mine").name(), "mine");
  EXPECT_EQ(params(" mine ( ) ").name(), "mine");
  const PluginParams all = params("mine(files = 5,ratio=1.5, size=64k, age=2h, on=true, path=/a b)");
  EXPECT_EQ(all.count("files", 0), 5U);
  EXPECT_EQ(all.number("ratio", 0), 1.5);
  EXPECT_EQ(all.bytes("size", 0), 65536U);
  EXPECT_EQ(all.duration_ms("age", 0), 7'200'000);
  EXPECT_EQ(all.flag("on", false), true);
  EXPECT_EQ(all.text("path", ""), "/a b");
  EXPECT_EQ(all.count("missing", 7), 7U);
  EXPECT_TRUE(all.finish().ok());
}

TEST(PluginParams, RefusesWithTheReason) {
  EXPECT_EQ(refusal(""), "\"\" does not begin with a name");
  EXPECT_EQ(refusal("(a=1)"), "\"(a=1)\" does not begin with a name");
  EXPECT_EQ(refusal("m(a=1"), "\"m(a=1\" lacks the closing parenthesis at its end");
  EXPECT_EQ(refusal("m(a=1) x"), "\"m(a=1) x\" lacks the closing parenthesis at its end");
  EXPECT_EQ(refusal("m(a)"), "\"m(a)\": \"a\" is not of the form key=value");
  EXPECT_EQ(refusal("m(a=1,)"), "\"m(a=1,)\": \"\" is not of the form key=value");
  EXPECT_EQ(refusal("m(=1)"), "\"m(=1)\": \"=1\" is not of the form key=value");
  EXPECT_EQ(refusal("m(a=)"), "\"m(a=)\": a has no value");
  EXPECT_EQ(refusal("m(a=1,a=2)"), "\"m(a=1,a=2)\": a is given twice");
}

TEST(PluginParams, ValuesOfTheWrongKindAreReportedAtTheEnd) {
  const auto complaint = [](std::string_view text, auto ask) {
    const PluginParams given = params(text);
    ask(given);
    return std::string(given.finish().message());
  };
  EXPECT_EQ(complaint("m(n=x)", [](const auto& p) { EXPECT_EQ(p.count("n", 3), 3U); }),
            "n of m must be a whole number, not \"x\"");
  EXPECT_NE(complaint("m(n=-1)", [](const auto& p) { (void)p.count("n", 3); }), "");
  EXPECT_NE(complaint("m(n=1.5)", [](const auto& p) { (void)p.count("n", 3); }), "");
  EXPECT_NE(complaint("m(n=99999999999999999999)", [](const auto& p) { (void)p.count("n", 3); }), "");
  EXPECT_NE(complaint("m(n=nan)", [](const auto& p) { (void)p.number("n", 3); }), "");
  EXPECT_NE(complaint("m(n=1x)", [](const auto& p) { (void)p.number("n", 3); }), "");
  EXPECT_NE(complaint("m(n=1xb)", [](const auto& p) { (void)p.bytes("n", 3); }), "");
  EXPECT_NE(complaint("m(n=-1k)", [](const auto& p) { (void)p.bytes("n", 3); }), "");
  EXPECT_NE(complaint("m(n=99999999999g)", [](const auto& p) { (void)p.bytes("n", 3); }), "");
  EXPECT_NE(complaint("m(n=5)", [](const auto& p) { (void)p.duration_ms("n", 3); }), "");
  EXPECT_NE(complaint("m(n=maybe)", [](const auto& p) { (void)p.flag("n", true); }), "");
}

TEST(PluginParams, NumbersAndNamesWithinLimits) {
  const PluginParams given = params("m(level=9, framing=hbase)");
  EXPECT_EQ(given.count_within("level", 3, 1, 9), 9U);
  EXPECT_EQ(given.count_within("absent", 3, 1, 9), 3U);
  EXPECT_EQ(given.choice("framing", "hadoop", {"hadoop", "hbase"}), "hbase");
  EXPECT_EQ(given.choice("other", "hadoop", {"hadoop", "hbase"}), "hadoop");
  EXPECT_TRUE(given.finish().ok());
  const auto complaint = [](std::string_view text) {
    const PluginParams wrong = params(text);
    EXPECT_EQ(wrong.count_within("level", 3, 1, 9), 3U);
    EXPECT_EQ(wrong.choice("framing", "hadoop", {"hadoop", "hbase"}), "hadoop");
    return std::string(wrong.finish().message());
  };
  EXPECT_EQ(complaint("m(level=10)"), "level of m must be a whole number from 1 to 9, not \"10\"");
  EXPECT_EQ(complaint("m(level=x)"), "level of m must be a whole number, not \"x\"");
  EXPECT_EQ(complaint("m(framing=none)"), "framing of m must be hadoop or hbase, not \"none\"");
}

TEST(PluginParams, IntegersAndPartsWithinLimits) {
  const PluginParams given = params("m(offset=-330, part=0.25)");
  EXPECT_EQ(given.integer_within("offset", 0, -1440, 1440), -330);
  EXPECT_EQ(given.integer_within("absent", -5, -9, 9), -5);
  EXPECT_EQ(given.number_within("part", 0, 0, 1), 0.25);
  EXPECT_EQ(given.number_within("other", 0.5, 0, 1), 0.5);
  EXPECT_TRUE(given.finish().ok());
  const auto complaint = [](std::string_view text) {
    const PluginParams wrong = params(text);
    EXPECT_EQ(wrong.integer_within("offset", 7, -9, 9), 7);
    EXPECT_EQ(wrong.number_within("part", 0.5, 0, 1), 0.5);
    return std::string(wrong.finish().message());
  };
  EXPECT_EQ(complaint("m(offset=-10)"), "offset of m must be a whole number from -9 to 9, not \"-10\"");
  EXPECT_EQ(complaint("m(offset=1.5)"), "offset of m must be a whole number from -9 to 9, not \"1.5\"");
  EXPECT_EQ(complaint("m(part=1.01)"), "part of m must be a number from 0 to 1, not \"1.01\"");
  EXPECT_EQ(complaint("m(part=x)"), "part of m must be a number, not \"x\"");
  const PluginParams absent = params("m");
  absent.integer_within("start", -1, 0, 23);
  EXPECT_EQ(absent.finish().message(), "start of m must be a whole number from 0 to 23, and is missing");
}

TEST(PluginParams, UnitsOfSizesAndDurations) {
  const PluginParams sizes = params("m(a=4096,b=64k,c=8m,d=1g,e=1.5K)");
  EXPECT_EQ(sizes.bytes("a", 0), 4096U);
  EXPECT_EQ(sizes.bytes("b", 0), 65536U);
  EXPECT_EQ(sizes.bytes("c", 0), 8U << 20);
  EXPECT_EQ(sizes.bytes("d", 0), 1U << 30);
  EXPECT_EQ(sizes.bytes("e", 0), 1536U);
  const PluginParams words = params("m(a=1MiB,b=64KB,c=1 GB 512 MB,d=65536 B (64KB),e=2tib,f=1gib 1mb)");
  EXPECT_EQ(words.bytes("a", 0), 1U << 20);
  EXPECT_EQ(words.bytes("b", 0), 65536U);
  EXPECT_EQ(words.bytes("c", 0), 1536U << 20);
  EXPECT_EQ(words.bytes("d", 0), 65536U);
  EXPECT_EQ(words.bytes("e", 0), 2ULL << 40);
  EXPECT_EQ(words.bytes("f", 0), 1025U << 20);
  EXPECT_TRUE(words.finish().ok());
  const PluginParams wrong = params("m(a=1MiB 1GiB)");
  EXPECT_EQ(wrong.bytes("a", 7), 7U);
  EXPECT_EQ(wrong.finish().message(),
            "a of m must be a size such as 4096, 64k, 8MiB or 1 GB, not \"1MiB 1GiB\"");
  const PluginParams times = params("m(a=5ms,b=5s,c=5m,d=5h,e=5d,f=0)");
  EXPECT_EQ(times.duration_ms("a", 0), 5);
  EXPECT_EQ(times.duration_ms("b", 0), 5'000);
  EXPECT_EQ(times.duration_ms("c", 0), 300'000);
  EXPECT_EQ(times.duration_ms("d", 0), 18'000'000);
  EXPECT_EQ(times.duration_ms("e", 0), 432'000'000);
  EXPECT_EQ(times.duration_ms("f", 9), 0);
}

TEST(PluginParams, ListsHaveCommasAndOtherValuesDoNot) {
  const PluginParams given = params("m(a=T4, T4 ,L10, b=x)");
  EXPECT_EQ(given.list("a", ""), (std::vector<std::string>{"T4", "T4", "L10"}));
  EXPECT_EQ(given.list("b", ""), (std::vector<std::string>{"x"}));
  EXPECT_EQ(given.list("c", "p,q"), (std::vector<std::string>{"p", "q"}));
  EXPECT_TRUE(given.finish().ok());
  const PluginParams wrong = params("m(a=1.5, b)");
  (void)wrong.number("a", 0);
  EXPECT_EQ(wrong.finish().message(), "\"m(a=1.5, b)\": \"b\" is not of the form key=value");
  const PluginParams unknown = params("m(x=1, b)");
  EXPECT_EQ(unknown.finish().message(), "m has no parameter x; it takes none");
}

TEST(PluginParams, UnknownKeysAreReportedWithTheNearest) {
  const PluginParams given = params("mine(flies=5)");
  (void)given.count("files", 0);
  (void)given.number("ratio", 0);
  const Status status = given.finish();
  EXPECT_EQ(status.message(), "mine has no parameter flies; it takes files, ratio");
  EXPECT_EQ(status.hint(), "did you mean files?");
}

TEST(NearestName, IsNearOrNothing) {
  const std::vector<std::string> names = {"exploring", "none", "snappy", "zstd"};
  EXPECT_EQ(nearest_name("snapy", names), "snappy");
  EXPECT_EQ(nearest_name("explor", names), "exploring");
  EXPECT_EQ(nearest_name("zst", names), "zstd");
  EXPECT_EQ(nearest_name("lzma", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name("x", {"y"}), "") << "one of one letter is not near";
}

TEST(Registry, MakesByNameAndExplainsWhatItCannot) {
  cellar_plugin_tests_box();
  const auto& registry = Registry<Shape>::instance();
  EXPECT_EQ(registry.names(), std::vector<std::string>{"box"});
  EXPECT_EQ((*registry.make("box"))->text(), "box 2 plain");
  EXPECT_EQ((*registry.make("box(width=9, label=blue)"))->text(), "box 9 blue");
  EXPECT_EQ(registry.make("bo").status().hint(), "did you mean box?");
  EXPECT_EQ(registry.make("circle").status().message(), "unknown name \"circle\"; known: box");
  EXPECT_FALSE(registry.make("box(height=1)").ok());
}

}  // namespace cellar::testing
