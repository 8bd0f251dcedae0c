// Goal: each option has an example that can be set, and reads back as it was set. Method: each option's
// example goes through set_option, as text and back. A table still has it after the store is opened again,
// and an engine opens with it.
#include "engine/schema/option_fields.h"

#include <algorithm>

#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class OptionExamples : public EngineFixture {
 protected:
  // These options with the example of one of them, if it is one.
  template <class Options>
  static Options with_example(const std::string& name, Options options = {}) {
    const Options before = options;
    const std::string example = option_example(options, name);
    EXPECT_NE(example, "") << name;
    EXPECT_OK(set_option(options, name, example));
    EXPECT_NE(to_text(options), to_text(before)) << name << "=" << example << " is the default";
    return options;
  }

  // The only option that differs from its default, as to_text says it, is that one; reading it comes to the
  // same.
  template <class Options>
  static void expect_text(const std::string& name, const Options& options) {
    const std::string text = to_text(options);
    ASSERT_TRUE(text.starts_with(name + "=")) << text;
    Options read;
    EXPECT_OK(set_option(read, name, text.substr(name.size() + 1)));
    EXPECT_EQ(to_text(read, true), to_text(options, true));
    EXPECT_NE(to_text(options, true).find(text), std::string::npos) << to_text(options, true);
  }
};

TEST_F(OptionExamples, AFamilyHasWhatWasSetAfterTheStoreWasOpenedAnew) {
  std::vector<FamilyOptions> families;
  for (const auto& [name, value] : option_list(FamilyOptions())) {
    const auto options = with_example<FamilyOptions>(name);
    expect_text(name, options);
    families.push_back(options);
    families.back().name = name;
    EXPECT_OK(validate(families.back()));
  }
  EXPECT_GE(families.size(), 25u);
  open();
  make_table("t", families);
  open();
  const auto table = engine_->open_table("t");
  ASSERT_TRUE(table.ok()) << table.status().to_text();
  EXPECT_EQ((*table)->info().families.size(), families.size());
  for (const FamilyInfo& found : (*table)->info().families) {
    const auto made = std::ranges::find(families, found.options.name, &FamilyOptions::name);
    ASSERT_NE(made, families.end()) << found.options.name;
    EXPECT_EQ(found.options, *made) << to_text(found.options);
  }
}

TEST_F(OptionExamples, ATableHasWhatWasSetAfterTheStoreWasOpenedAnew) {
  std::vector<std::pair<std::string, std::string>> made;  // name and text
  open();
  for (const auto& [name, value] : option_list(TableOptions())) {
    auto options = with_example<TableOptions>(name);
    expect_text(name, options);
    made.emplace_back(name, to_text(options, true));
    options.families = {family("f")};
    EXPECT_OK(engine_->create_table(name, options).status());
  }
  EXPECT_GE(made.size(), 4u);
  open();
  for (const auto& [name, text] : made) {
    const auto table = engine_->open_table(name);
    ASSERT_TRUE(table.ok()) << table.status().to_text();
    TableOptions found = (*table)->info().options;
    EXPECT_EQ(to_text(found, true), text) << name;
  }
}

TEST_F(OptionExamples, AnEngineOpensWithEach) {
  size_t options = 0;
  for (const auto& [name, value] : option_list(EngineOptions())) {
    const auto with = with_example<EngineOptions>(name);
    expect_text(name, with);
    ++options;
    if (name == "without_files") continue;  // a store must have the file: tests/tools/without_files_test.cc
    EXPECT_OK(validate(with));
    engine_.reset();
    files_ = make_memory_file_system();
    if (!with.error_if_exists) open();  // so that there is a store
    open(with);
    ASSERT_NE(engine_, nullptr) << name;
    EXPECT_EQ(engine_->status().read_only, name == "read_only");
  }
  EXPECT_GE(options, 28u);
}

TEST_F(OptionExamples, AnEngineRefusesWhatIsNone) {
  EngineOptions options;
  const Status unknown = set_option(options, "memtable_byte", "1");
  EXPECT_TRUE(unknown.is(Code::kInvalidArgument));
  EXPECT_NE(unknown.to_text().find("memtable_bytes"), std::string::npos) << unknown.to_text();
  for (const auto& [name, value] : {std::pair("durability", "none"), std::pair("read_only", "yes"),
                                    std::pair("files_slow", "many"), std::pair("cache_shards", "-1")}) {
    const Status unfit = set_option(options, name, value);
    EXPECT_TRUE(unfit.is(Code::kInvalidArgument)) << name;
    EXPECT_NE(unfit.to_text().find(name), std::string::npos) << unfit.to_text();
  }
  EXPECT_EQ(to_text(options), "");
}

}  // namespace
}  // namespace cellar::testing
