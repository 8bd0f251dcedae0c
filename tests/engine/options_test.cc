// Goal: every option is set by its name and HBase's. An option on which a store does not act is checked and
// kept. Each other option changes the behaviour of the store. Method: options are set and read back as texts.
// An engine over files in memory shows their effect.
#include "cellar/options.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "engine/schema/option_fields.h"
#include "engine/schema/option_text.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

FamilyOptions family_of(const std::vector<std::pair<std::string, std::string>>& options) {
  FamilyOptions family;
  family.name = "f";
  for (const auto& [key, value] : options) EXPECT_OK(set_option(family, key, value));
  return family;
}

TEST(Options, WhatIsCarriedIsKeptUnderHBasesName) {
  const FamilyOptions family = family_of({{"replication_scope", "1"},
                                          {"metadata.owner", "me, myself"},
                                          {"METADATA.Is_Mob", "true"},
                                          {"configuration.made.up", "x=y"}});
  EXPECT_EQ(family.metadata,
            (CarriedTexts{{"IS_MOB", "true"}, {"REPLICATION_SCOPE", "1"}, {"owner", "me, myself"}}));
  EXPECT_EQ(family.configuration, (CarriedTexts{{"made.up", "x=y"}}));
  EXPECT_OK(validate(family));
  FamilyOptions again;
  again.name = "f";
  for (const auto& [key, value] : option_list(family)) EXPECT_OK(set_option(again, key, value));
  EXPECT_EQ(again, family);
  EXPECT_EQ(to_text(family),
            "metadata.IS_MOB=true,metadata.REPLICATION_SCOPE=1,metadata.owner=me, myself,"
            "configuration.made.up=x=y");
}

TEST(Options, WhatIsHBasesDefaultAndWhatIsEmptyIsRemoved) {
  FamilyOptions family =
      family_of({{"REPLICATION_SCOPE", "1"}, {"metadata.a", "b"}, {"configuration.c", "d"}});
  EXPECT_OK(set_option(family, "REPLICATION_SCOPE", "0"));
  EXPECT_OK(set_option(family, "metadata.a", ""));
  EXPECT_OK(set_option(family, "configuration.c", ""));
  EXPECT_EQ(to_text(family), "");
}

TEST(Options, TheValuesOfWhatIsCarriedAreHBases) {
  struct Case {
    const char* key;
    const char* good;
    const char* bad;
  };
  for (const Case& each :
       {Case{"REPLICATION_SCOPE", "1", "2"}, Case{"DFS_REPLICATION", "3", "-1"},
        Case{"IS_MOB", "TRUE", "yes"}, Case{"MOB_THRESHOLD", "200 KB", "many"},
        Case{"MOB_COMPACT_PARTITION_POLICY", "weekly", "YEARLY"},
        Case{"INDEX_BLOCK_ENCODING", "PREFIX_TREE", "DIFF"},
        Case{"IN_MEMORY_COMPACTION", "eager", "SOMETIMES"}, Case{"EVICT_BLOCKS_ON_CLOSE", "true", "1"}}) {
    FamilyOptions family = family_of({});
    EXPECT_OK(set_option(family, each.key, each.good));
    EXPECT_EQ(family.metadata.at(each.key), each.good);
    const Status refused = set_option(family, each.key, each.bad);
    EXPECT_TRUE(refused.is(Code::kInvalidArgument)) << each.key;
    EXPECT_NE(refused.message().find(each.key), std::string::npos) << refused.to_text();
    EXPECT_EQ(family.metadata.at(each.key), each.good) << "what is refused changes nothing";
    family.metadata[each.key] = each.bad;
    EXPECT_TRUE(validate(family).is(Code::kInvalidArgument)) << each.key;
  }
  for (const Case& each : {Case{"MAX_FILESIZE", "10 GB", "1 MB"}, Case{"REGION_REPLICATION", "2", "0"},
                           Case{"SPLIT_ENABLED", "false", "no"}, Case{"PRIORITY", "7", "high"}}) {
    TableOptions table;
    EXPECT_OK(set_option(table, each.key, each.good));
    EXPECT_EQ(table.metadata.at(each.key), each.good);
    EXPECT_TRUE(set_option(table, each.key, each.bad).is(Code::kInvalidArgument)) << each.key;
  }
  FamilyOptions family = family_of({});
  for (const char* key : {"ENCRYPTION", "encryption_key", "metadata.ENCRYPTION"})
    EXPECT_TRUE(set_option(family, key, "AES").is(Code::kNotSupported)) << key;
  EXPECT_TRUE(set_option(family, "MAX_FILESIZE", "10 GB").is(Code::kInvalidArgument)) << "of tables";
}

TEST(Options, KeysOfHBasesConfigurationAreOptions) {
  const FamilyOptions family = family_of({{"configuration.hbase.hstore.blockingStoreFiles", "30"},
                                          {"hbase.hregion.majorcompaction", "86400000"},
                                          {"configuration.hbase.hstore.time.to.purge.deletes", "5"},
                                          {"configuration.hbase.hstore.compaction.min", "4"},
                                          {"configuration.hbase.hstore.compaction.ratio", "1.5"},
                                          {"configuration.hbase.hstore.compaction.max.size", "1g"}});
  EXPECT_EQ(family.files_stop, 30u);
  EXPECT_EQ(family.major_compaction_interval_ms, 86'400'000);
  EXPECT_EQ(family.time_to_purge_deletes_ms, 5);
  EXPECT_EQ(family.compaction, "exploring(files_min=4, ratio=1.5, bytes_max=1g)");
  EXPECT_EQ(family.configuration, CarriedTexts{});
  EXPECT_OK(validate(family));
  EXPECT_EQ(hbase_configuration(family), (CarriedTexts{{"hbase.hregion.majorcompaction", "86400000"},
                                                       {"hbase.hstore.blockingStoreFiles", "30"},
                                                       {"hbase.hstore.compaction.max.size", "1073741824"},
                                                       {"hbase.hstore.compaction.min", "4"},
                                                       {"hbase.hstore.compaction.ratio", "1.5"},
                                                       {"hbase.hstore.time.to.purge.deletes", "5"}}));
  FamilyOptions reset = family;
  for (const auto& [key, value] : hbase_configuration(family))
    EXPECT_OK(set_option(reset, "configuration." + key, ""));
  EXPECT_EQ(reset, family_of({}));
}

// A key waits for the plug-in that it is for. The text of a plug-in replaces its parameters.
TEST(Options, ParametersFindTheirPlugin) {
  const std::string key = "configuration.RowPrefixBloomFilter.prefix_length";
  FamilyOptions family = family_of({{key, "5"}, {"BLOOMFILTER", "ROWPREFIX_FIXED_LENGTH"}});
  EXPECT_EQ(family.bloom, "rowprefix_fixed_length(prefix_length=5)");
  EXPECT_EQ(family.configuration, CarriedTexts{});
  family = family_of({{"BLOOMFILTER", "ROWPREFIX_FIXED_LENGTH"}, {key, "6"}});
  EXPECT_EQ(family.bloom, "rowprefix_fixed_length(prefix_length=6)");
  family = family_of({{key, "5"}, {"bloom", "rowprefix_fixed_length(prefix_length=7)"}});
  EXPECT_EQ(family.bloom, "rowprefix_fixed_length(prefix_length=7)") << "what the text says itself counts";
  family = family_of({{key, "5"}});
  EXPECT_EQ(family.bloom, "row");
  EXPECT_EQ(family.configuration.size(), 1u);
  EXPECT_OK(validate(family));
  family.bloom = "rowprefix_fixed_length(prefix_length=8)";
  EXPECT_TRUE(validate(family).is(Code::kInvalidArgument)) << "two lengths";
  family = family_of({{"compaction", "none"}, {"configuration.hbase.hstore.compaction.min", "4"}});
  EXPECT_EQ(family.compaction, "none");
  EXPECT_OK(set_option(family, "compaction", "exploring"));
  EXPECT_EQ(family.compaction, "exploring(files_min=4)");
  EXPECT_OK(set_option(family, "compaction", "exploring(ratio=2)"));
  EXPECT_EQ(family.compaction, "exploring(ratio=2)");
  family = family_of({{"compaction", "none"}, {"configuration.Hbase.Hstore.Compaction.Min", "4"}});
  EXPECT_EQ(family.configuration, (CarriedTexts{{"hbase.hstore.compaction.min", "4"}}));
  for (const char* value : {"4, ratio=2", "(4", "4)", "a=b"})
    EXPECT_TRUE(
        set_option(family, "configuration.hbase.hstore.compaction.min", value).is(Code::kInvalidArgument))
        << value;
}

// HBase looks for its keys among the metadata, too.
TEST(Options, KeysOfTheConfigurationCountInTheMetadata) {
  FamilyOptions family = family_of(
      {{"metadata.hbase.hstore.blockingStoreFiles", "9"}, {"metadata.hbase.hstore.compaction.min", "5"}});
  EXPECT_EQ(family.files_stop, 9u);
  EXPECT_EQ(family.compaction, "exploring(files_min=5)");
  EXPECT_EQ(family.metadata, CarriedTexts{});
  family.metadata["hbase.hstore.blockingStoreFiles"] = "9";
  EXPECT_TRUE(validate(family).is(Code::kInvalidArgument));
  TableOptions table;
  EXPECT_TRUE(set_option(table, "metadata.hbase.hstore.blockingStoreFiles", "9").is(Code::kInvalidArgument));
}

TEST(Options, CarriedTextsHaveOneForm) {
  const auto fault_of = [](const std::string& key, const std::string& value) {
    FamilyOptions family = family_of({});
    family.metadata = {{key, value}};
    return std::string(validate(family).message());
  };
  EXPECT_NE(fault_of("is_mob", "true").find("metadata is_mob is written IS_MOB"), std::string::npos);
  EXPECT_NE(fault_of("IS_MOB", "false").find("is HBase's default, which is not kept"), std::string::npos);
  EXPECT_NE(fault_of("MOB_THRESHOLD", "100 KB").find("is HBase's default"), std::string::npos);
  EXPECT_NE(fault_of("note", "\xff").find("metadata note is not UTF-8"), std::string::npos);
  EXPECT_NE(fault_of("\xc3", "x").find("is not UTF-8"), std::string::npos);
  EXPECT_EQ(fault_of("note",
                     "gr\xc3\xbc\xc3\x9f"
                     "e\n\x01"),
            "");
}

TEST(Options, WhatIsAnOptionIsNotCarried) {
  FamilyOptions family = family_of({{"metadata.VERSIONS", "3"}});
  EXPECT_EQ(family.max_versions, 3u);
  family.metadata["VERSIONS"] = "4";
  family.configuration["hbase.hstore.blockingStoreFiles"] = "4";
  family.metadata[""] = "x";
  family.configuration["y"] = "";
  const Status refused = validate(family);
  for (const char* said : {"metadata VERSIONS is the option max_versions",
                           "configuration hbase.hstore.blockingStoreFiles is the option files_stop",
                           "a key in metadata is empty", "configuration y has no value"})
    EXPECT_NE(refused.message().find(said), std::string::npos) << refused.to_text();
  TableOptions table{.families = {family_of({})}};
  table.metadata["READONLY"] = "true";
  EXPECT_NE(validate(table).message().find("metadata READONLY is the option read_only"), std::string::npos);
  table = {.families = {family_of({})}, .metadata = {{"notes", std::string(2 << 20, 'n')}}};
  EXPECT_NE(validate(table).message().find("more than 1 MiB"), std::string::npos);
}

TEST(Options, TheConfigurationOfATableIsNotItsFamilies) {
  TableOptions table{.families = {family_of({})}};
  for (const char* key : {"hbase.hstore.blockingStoreFiles", "HBASE.hstore.compaction.min"}) {
    const Status refused = set_option(table, std::string("configuration.") + key, "4");
    EXPECT_TRUE(refused.is(Code::kInvalidArgument));
    EXPECT_NE(refused.message().find("of families"), std::string::npos) << refused.to_text();
    table.configuration = {{key, "4"}};
    EXPECT_EQ(validate(table).message(), refused.message());
    table.configuration = {};
  }
  EXPECT_OK(set_option(table, "configuration.hbase.hregion.memstore.mslab.enabled", "true"));
}

TEST(Options, NamesAreGuessed) {
  FamilyOptions family = family_of({});
  TableOptions table;
  EXPECT_EQ(set_option(family, "versiosn", "3").hint(), "did you mean VERSIONS?");
  EXPECT_EQ(set_option(family, "max_version", "3").hint(), "did you mean max_versions?");
  EXPECT_EQ(set_option(family, "replication_scop", "1").hint(), "did you mean REPLICATION_SCOPE?");
  EXPECT_EQ(set_option(table, "ownr", "me").hint(), "did you mean OWNER?");
}

TEST(Options, TextsOfPluginsAreEditedInPlace) {
  EXPECT_EQ(with_parameter("exploring", "files_min", "4"), "exploring(files_min=4)");
  EXPECT_EQ(with_parameter("exploring( ratio = 1.2 ,files_min=3)", "files_min", "4"),
            "exploring(ratio=1.2, files_min=4)");
  EXPECT_EQ(with_parameter("exploring(files_min=3)", "files_min", ""), "exploring");
  EXPECT_EQ(with_parameter("exploring(", "ratio", "2"), "exploring(ratio=2)");
  EXPECT_EQ(parameter_in("a(b=c, d=e)", "d"), "e");
  EXPECT_EQ(parameter_in("a", "d"), "");
  EXPECT_EQ(parameter_in("a(b=T4, T4 ,L10, d=e)", "b"), "T4, T4 ,L10") << "a list keeps its commas";
  EXPECT_EQ(with_parameter("a(b=T4,L10, d=e)", "d", "f"), "a(b=T4,L10, d=f)");
  EXPECT_EQ(with_parameter("a(b, c)", "d", "f"), "a(b=, c=, d=f)") << "reported when the plug-in is made";
  EXPECT_EQ(plugin_in(" a (b=c)"), "a");
}

std::string random_text(Random& random, size_t bytes) {
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random.below(256));
  return text;
}

class FamilyOptionsTest : public EngineFixture {
 protected:
  // Compressions of the files of t's only family, by what their trailers say.
  Texts codecs() {
    Texts found;
    const TableInfo info = engine_->open_table("t").value()->info();
    for (const StoreFileInfo& file : info.families[0].files) {
      const std::string path = fmt::format("store/tables/{}/f/{}", info.id, file.name);
      const auto file_there = HFile::open(*files_, path);
      EXPECT_OK(file_there.status());
      if (file_there.ok()) found.push_back(file_there->facts().compression);
    }
    return found;
  }
};

TEST_F(FamilyOptionsTest, EachRewriteHasItsCompression) {
  open({.automatic_compaction = false});
  const auto table =
      make_table("t", {family_of({{"COMPRESSION", "NONE"},
                                  {"COMPRESSION_COMPACT", "GZ"},
                                  {"COMPRESSION_COMPACT_MINOR", "snappy"},
                                  {"compaction", "exploring(files_min=2, files_max=2, bytes_min=1)"}})});
  Random random(7);
  for (const size_t bytes : {10'000u, 10'000u, 10u}) {
    EXPECT_OK(table->put(Put("r").add("f", "q" + std::to_string(bytes), random_text(random, bytes))));
    EXPECT_OK(table->flush());
  }
  EXPECT_EQ(codecs(), (Texts{"NONE", "NONE", "NONE"}));
  EXPECT_OK(table->compact());
  EXPECT_EQ(codecs(), (Texts{"SNAPPY", "NONE"})) << "of some files";
  EXPECT_OK(table->major_compact());
  EXPECT_EQ(codecs(), Texts{"GZ"}) << "of all files: having none of its own, as COMPRESSION_COMPACT";
  EXPECT_OK(
      engine_->alter_table("t", {.set_families = {family_of({{"compression_compact_major", "zstd"}})}}));
  EXPECT_OK(table->major_compact());
  EXPECT_EQ(codecs(), Texts{"ZSTD"});
  EXPECT_OK(engine_->alter_table("t", {.set_families = {family_of({{"compression", "lz4"}})}}));
  EXPECT_OK(table->major_compact());
  EXPECT_EQ(codecs(), Texts{"LZ4"}) << "none but its own: as COMPRESSION";
}

// A policy that requests more files than the limit allows gives in at the limit.
TEST_F(FamilyOptionsTest, AFamilyHasALimitOfFilesOfItsOwn) {
  open({.files_slow = 3, .files_stop = 4});
  const std::string patient = "exploring(files_min=20, files_max=30)";
  const auto table = make_table("t", {family_of({{"files_stop", "8"}, {"compaction", patient}})});
  const auto files = [&] { return table->info().families[0].files.size(); };
  const auto add_file = [&] {
    EXPECT_OK(table->put(Put("r").add("f", "q", "v")));
    EXPECT_OK(table->flush());
    EXPECT_OK(engine_->wait_for_background());
  };
  for (size_t i = 1; i < 8; ++i) {
    add_file();
    EXPECT_EQ(files(), i);
  }
  add_file();
  EXPECT_EQ(files(), 1u) << "its own limit";
  EXPECT_OK(engine_->alter_table("t", {.set_families = {family_of({{"compaction", patient}})}}));
  for (size_t i = 2; i < 4; ++i) {
    add_file();
    EXPECT_EQ(files(), i);
  }
  add_file();
  EXPECT_EQ(files(), 1u) << "the engine's again";
}

// Writers would wait for a compaction that nothing begins.
TEST_F(FamilyOptionsTest, WritersNeverWaitForACompactionThatNobodyWants) {
  open({.stall_ms_max = 60'000});
  const auto table = make_table("t", {family_of({{"files_stop", "2"}})});  // fewer than files_min
  const auto add_file = [&] {
    EXPECT_OK(table->put(Put("r").add("f", "q", "v")));
    EXPECT_OK(table->flush());
  };
  for (int i = 0; i < 6; ++i) add_file();
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_GE(engine_->status().compactions, 1u);
  const auto alter = [&](const FamilyOptions& family) {
    EXPECT_OK(engine_->alter_table("t", {.set_families = {family}}));
  };
  alter(family_of({{"compaction", "exploring(files_min=10)"}}));
  EXPECT_OK(engine_->wait_for_background());
  while (table->info().families[0].files.size() < 5) add_file();
  alter(family_of({{"files_stop", "4"}}));
  EXPECT_OK(table->put(Put("r").add("f", "q", "v")));
}

TEST_F(FamilyOptionsTest, AFamilyHasAnIntervalOfMajorCompactionsOfItsOwn) {
  open({.major_compaction_interval_s = 100});
  const auto table =
      make_table("t", {family_of({{"major_compaction_interval_ms", "5000"}, {"files_stop", "1000"}})});
  const auto files_after_ms = [&](int64_t ms) {
    clock_.advance_ms(ms);
    EXPECT_OK(table->put(Put("r").add("f", "q", "v")));
    EXPECT_OK(table->flush());
    EXPECT_OK(engine_->wait_for_background());
    return table->info().families[0].files.size();
  };
  EXPECT_EQ(files_after_ms(0), 1u);
  EXPECT_EQ(files_after_ms(1000), 2u);
  EXPECT_EQ(files_after_ms(4001), 1u);
  EXPECT_OK(
      engine_->alter_table("t", {.set_families = {family_of({{"major_compaction_interval_ms", "0"}})}}));
  EXPECT_EQ(files_after_ms(1'000'000), 2u) << "only on request";
  EXPECT_OK(engine_->alter_table("t", {.set_families = {family_of({})}}));
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(table->info().families[0].files.size(), 1u) << "the engine's again, at once";
}

TEST_F(FamilyOptionsTest, JitterSpreadsMajorCompactions) {
  const EngineOptions options{.major_compaction_interval_s = 100, .major_compaction_jitter_percent = 50};
  open(options);
  FamilyOptions family = family_of({{"compaction", "none"}, {"files_stop", "1000"}});
  std::vector<FamilyOptions> families;
  // The names of files are drawn. That a quarter of the time has none of 60 is one case in 30 million.
  constexpr size_t kFamilies = 60;
  for (size_t i = 0; i < kFamilies; ++i) {
    family.name = "f" + std::to_string(i);
    families.push_back(family);
  }
  std::shared_ptr<Table> table = make_table("t", families);
  const auto flush = [&] {
    Put put("r");
    for (const FamilyOptions& each : families) put.add(each.name, "q", "v");
    EXPECT_OK(table->put(std::move(put)));
    EXPECT_OK(table->flush());
    EXPECT_OK(engine_->wait_for_background());
  };
  const auto compacted = [&] {
    size_t count = 0;
    for (const FamilyInfo& each : table->info().families) count += each.files.front().major ? 1 : 0;
    return count;
  };
  flush();
  clock_.advance_ms(49'999);
  flush();
  EXPECT_EQ(compacted(), 0u);
  size_t before = 0;
  for (const int64_t ms : {75'000, 100'000, 125'000}) {
    clock_.advance_ms(ms == 75'000 ? 25'001 : 25'000);
    flush();
    EXPECT_GT(compacted(), before) << ms;
    before = compacted();
    flush();
    EXPECT_EQ(compacted(), before) << "nothing new is due";
  }
  EXPECT_LT(before, kFamilies);
  clock_.advance_ms(25'001);
  flush();
  EXPECT_EQ(compacted(), kFamilies);
}

TEST_F(FamilyOptionsTest, AFileThatAWrongClockDatedAheadIsDueForAMajorCompaction) {
  open();
  const auto table =
      make_table("t", {family_of({{"major_compaction_interval_ms", "5000"}, {"files_stop", "1000"}})});
  const auto files_after_flush = [&] {
    EXPECT_OK(table->put(Put("r").add("f", "q", "v")));
    EXPECT_OK(table->flush());
    EXPECT_OK(engine_->wait_for_background());
    return table->info().families[0].files.size();
  };
  const int64_t right = clock_.wall_ms();
  clock_.set_wall_ms(right + 4000);
  EXPECT_EQ(files_after_flush(), 1u);
  clock_.set_wall_ms(right);
  EXPECT_EQ(files_after_flush(), 2u) << "a file from slightly ahead waits for its time";
  EXPECT_OK(table->major_compact());
  clock_.set_wall_ms(right + int64_t{10} * 365 * 86'400'000);
  EXPECT_OK(table->put(Put("r").add("f", "q", "v")));
  EXPECT_OK(table->flush());
  EXPECT_OK(table->major_compact());
  EXPECT_EQ(table->info().families[0].files.size(), 1u);
  clock_.set_wall_ms(right);
  EXPECT_EQ(files_after_flush(), 1u) << "the files of the wrong clock do not wait for its time";
  EXPECT_LT(table->info().families[0].files[0].created_ms, right + 5000);
}

TEST_F(FamilyOptionsTest, WhatIsCarriedOutlivesTheEngine) {
  open();
  TableOptions options{.families = {family_of({{"IS_MOB", "true"}, {"configuration.made.up", "x"}})}};
  EXPECT_OK(set_option(options, "OWNER", "me"));
  EXPECT_OK(set_option(options, "COPROCESSOR$1", "|x.Y|1|"));
  EXPECT_OK(engine_->create_table("t", options).status());
  EXPECT_OK(engine_->alter_table("t", {.configuration = CarriedTexts{{"a", "b"}}}));
  options.configuration = {{"a", "b"}};
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(engine_->open_table("t").value()->info().options, options);
    open();
  }
  EXPECT_OK(engine_->alter_table("t", {.set_families = {family_of({})}, .metadata = CarriedTexts{}}));
  options = {.families = {family_of({})}, .configuration = {{"a", "b"}}};
  EXPECT_EQ(engine_->open_table("t").value()->info().options, options);
  EXPECT_TRUE(
      engine_->alter_table("t", {.metadata = CarriedTexts{{"PRIORITY", "high"}}}).is(Code::kInvalidArgument));
}

}  // namespace
}  // namespace cellar::testing
