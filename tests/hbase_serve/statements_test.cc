// Statements: tables, families, namespaces, and what a server knows after a restart.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "cellar/keys.h"
#include "hbase/wire/common.pb.h"
#include "tests/hbase_serve/serve_fixture.h"

namespace cellar::testing {
namespace {

namespace java = hbase::serve::java;
using ::testing::ElementsAre;

class StatementsTest : public ServeFixture {
 protected:
  TableOptions described(const std::string& table) {
    hbase::wire::GetTableDescriptorsRequest request;
    hbase::wire::to_wire_name(table, *request.add_table_names());
    const auto response =
        master("GetTableDescriptors", request).as<hbase::wire::GetTableDescriptorsResponse>();
    EXPECT_EQ(response.table_schemas_size(), 1);
    auto options = hbase::wire::from_wire_schema(response.table_schemas(0));
    EXPECT_TRUE(options.ok()) << options.status();
    return options.ok() ? *options : TableOptions();
  }
  std::vector<std::string> tables(const std::string& regex = "", bool system = false) {
    hbase::wire::GetTableNamesRequest request;
    request.set_regex(regex);
    request.set_include_sys_tables(system);
    const auto response = master("GetTableNames", request).as<hbase::wire::GetTableNamesResponse>();
    std::vector<std::string> names;
    for (const auto& each : response.table_names())
      names.push_back(hbase::wire::from_wire_name(each).value());
    return names;
  }
  std::string create_namespace(const std::string& name) {
    hbase::wire::NamespaceRequest request;
    request.mutable_descriptor()->set_name(name);
    return master("CreateNamespace", request).exception;
  }
};

TEST_F(StatementsTest, ATableLivesAndDies) {
  EXPECT_EQ(create("t").exception, "");
  EXPECT_EQ(create("t").exception, java::kTableExists);
  EXPECT_EQ(statement("DeleteTable", "t").exception, java::kTableNotDisabled);
  EXPECT_EQ(statement("EnableTable", "t").exception, java::kTableNotDisabled);
  put("t", "row", "1");
  EXPECT_EQ(statement("DisableTable", "t").exception, "");
  EXPECT_EQ(statement("DisableTable", "t").exception, java::kTableNotEnabled);
  EXPECT_EQ(get("t", "row").exception, java::kNotServingRegion);
  EXPECT_EQ(statement("EnableTable", "t").exception, "");
  EXPECT_THAT(get("t", "row").cells(), ElementsAre("row/f:q=1"));
  EXPECT_EQ(statement("DisableTable", "t").exception, "");
  EXPECT_EQ(statement("truncateTable", "t").exception, "");
  EXPECT_THAT(get("t", "row").cells(), ElementsAre());
  EXPECT_EQ(statement("DisableTable", "t").exception, "");
  EXPECT_EQ(statement("DeleteTable", "t").exception, "");
  EXPECT_EQ(statement("DeleteTable", "t").exception, java::kTableNotFound);
  EXPECT_THAT(tables(), ElementsAre());
}

TEST_F(StatementsTest, ATableIsThereWhileItChanges) {
  ASSERT_EQ(create("t", {"m"}).exception, "");
  std::atomic<bool> over = false;
  std::thread statements([&] {
    for (int round = 0; round < 30; ++round) {
      EXPECT_EQ(statement("DisableTable", "t").exception, "");
      EXPECT_EQ(statement("EnableTable", "t").exception, "");
    }
    over = true;
  });
  size_t looks = 0;
  do {
    hbase::serve::Call call("", {}, 0, true);
    const auto table = catalog_->table(call, "t");
    EXPECT_TRUE(table.ok()) << table.status();
    const auto state = catalog_->meta_region().table->get_row(Get("t"));
    EXPECT_TRUE(state.ok() && !state.value().empty());
    const auto scanner = catalog_->meta_region().table->scan(Scan(keys_with_prefix("t,")));
    ASSERT_TRUE(scanner.ok()) << scanner.status();
    size_t rows = 0;
    while (scanner.value()->next()) ++rows;
    EXPECT_EQ(rows, 2u);
  } while (++looks < 10 || !over);
  statements.join();
  // Truncating makes other regions, whose rows replace those of before.
  EXPECT_EQ(statement("DisableTable", "t").exception, "");
  EXPECT_EQ(statement("truncateTable", "t").exception, "");
  const auto scanner = catalog_->meta_region().table->scan(Scan(keys_with_prefix("t,")));
  ASSERT_TRUE(scanner.ok() && scanner.value()->next());
  EXPECT_FALSE(scanner.value()->next());
}

TEST_F(StatementsTest, ARestartKeepsStatesAndRegions) {
  EXPECT_EQ(create("cut", {"m"}).exception, "");
  EXPECT_EQ(create("off").exception, "");
  put("cut", "z", "1");
  EXPECT_EQ(statement("DisableTable", "off").exception, "");
  close();
  open();
  EXPECT_THAT(get("cut", "z").cells(), ElementsAre("z/f:q=1"));
  EXPECT_EQ(get("off", "row").exception, java::kNotServingRegion);
  hbase::serve::Call call("", {}, 0, true);
  EXPECT_EQ(catalog_->table(call, "cut").value()->regions.size(), 2u);
  EXPECT_TRUE(catalog_->table(call, "off").value()->disabled);
  // The notes of the catalog are not shown.
  EXPECT_TRUE(described("cut").metadata.empty());
}

TEST_F(StatementsTest, ASchemaComesBackAsItWasSent) {
  TableOptions sent;
  FamilyOptions family{
      .name = "f", .max_versions = 7, .ttl_s = 3600, .keep_deleted_cells = KeepDeleted::kTtl};
  family.delete_order = MarkerOrder::kSequence;
  family.compression = "zstd(level=9)";
  family.bloom = "rowprefix_fixed_length(prefix_length=8)";
  family.compaction = "leveled";
  family.stamps = Stamps::kRising;
  family.metadata["owner"] = "me";
  sent.families = {family, {.name = "g"}};
  sent.durability = Durability::kFsyncWal;
  sent.metadata["OWNER"] = "me";
  hbase::wire::CreateTableRequest request;
  hbase::wire::to_wire_schema("shop_t", sent, *request.mutable_table_schema());
  ASSERT_EQ(master("CreateTable", request).exception, "");
  EXPECT_EQ(described("shop_t"), sent);
  // A change by a Java client counts, also where Cellar keeps more than the client sees.
  for (hbase::BytesBytesPair& pair :
       *request.mutable_table_schema()->mutable_column_families(0)->mutable_attributes())
    if (pair.first() == "COMPRESSION") pair.set_second("GZ");
  const auto changed = hbase::wire::from_wire_schema(request.table_schema());
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ(changed.value().families[0].compression, "gz");
}

TEST_F(StatementsTest, FamiliesInheritKeysOfTheirTable) {
  TableOptions sent;
  sent.families = {{.name = "f"}, {.name = "g"}};
  hbase::wire::CreateTableRequest request;
  hbase::wire::to_wire_schema("t", sent, *request.mutable_table_schema());
  const auto add = [](auto& to, const char* value) {
    hbase::NameStringPair& pair = *to.add_configuration();
    pair.set_name("hbase.hstore.blockingStoreFiles");
    pair.set_value(value);
  };
  add(*request.mutable_table_schema(), "100");
  for (auto& family : *request.mutable_table_schema()->mutable_column_families()) {
    family.clear_configuration();
    if (family.name() == "g") add(family, "50");
  }
  // A client can read such a table of a cluster.
  const auto read = hbase::wire::from_wire_schema(request.table_schema());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read.value().configuration.at("hbase.hstore.blockingStoreFiles"), "100");
  const Answered made = master("CreateTable", request);
  ASSERT_EQ(made.exception, "") << made.text;
  const auto value = [&](size_t family) {
    hbase::ColumnFamilySchema schema;
    hbase::wire::to_wire_family(described("t").families.at(family), schema);
    for (const hbase::NameStringPair& each : schema.configuration())
      if (each.name() == "hbase.hstore.blockingStoreFiles") return each.value();
    return std::string("none");
  };
  EXPECT_EQ(value(0), "100");
  EXPECT_EQ(value(1), "50");
  close();
  open();
  EXPECT_EQ(value(0), "100");
}

TEST_F(StatementsTest, AnEncryptedFamilyIsRefused) {
  hbase::wire::CreateTableRequest request;
  hbase::wire::to_wire_schema("t", {.families = {{.name = "f"}}}, *request.mutable_table_schema());
  hbase::BytesBytesPair& pair = *request.mutable_table_schema()->mutable_column_families(0)->add_attributes();
  pair.set_first("ENCRYPTION");
  pair.set_second("AES");
  EXPECT_TRUE(hbase::wire::from_wire_schema(request.table_schema()).ok());
  EXPECT_EQ(master("CreateTable", request).exception, java::kDoNotRetry);
}

TEST_F(StatementsTest, FamiliesAreAddedChangedAndRemoved) {
  EXPECT_EQ(create("t").exception, "");
  hbase::wire::FamilyRequest request;
  hbase::wire::to_wire_name("t", *request.mutable_table_name());
  hbase::wire::to_wire_family({.name = "g", .max_versions = 2}, *request.mutable_family());
  EXPECT_EQ(master("ModifyColumn", request).exception, java::kInvalidFamily);
  EXPECT_EQ(master("AddColumn", request).exception, "");
  EXPECT_EQ(master("AddColumn", request).exception, java::kInvalidFamily);
  EXPECT_EQ(described("t").families.size(), 2u);
  hbase::wire::DeleteFamilyRequest remove;
  hbase::wire::to_wire_name("t", *remove.mutable_table_name());
  remove.set_family("f");
  EXPECT_EQ(master("DeleteColumn", remove).exception, "");
  EXPECT_EQ(master("DeleteColumn", remove).exception, java::kInvalidFamily);
  remove.set_family("g");
  EXPECT_EQ(master("DeleteColumn", remove).exception, java::kInvalidFamily);  // the only one
}

TEST_F(StatementsTest, NamespacesHoldTables) {
  EXPECT_EQ(create("shop:t").exception, java::kNamespaceNotFound);
  EXPECT_EQ(create_namespace("shop"), "");
  EXPECT_EQ(create_namespace("shop"), java::kNamespaceExists);
  EXPECT_EQ(create_namespace("no name"), java::kDoNotRetry);
  EXPECT_EQ(create("shop:t").exception, "");
  EXPECT_EQ(create("t").exception, "");
  close();
  open();
  EXPECT_THAT(tables(), ElementsAre("shop:t", "t"));
  EXPECT_THAT(tables("shop:.*"), ElementsAre("shop:t"));
  EXPECT_THAT(tables("default:.*"), ElementsAre("t"));
  EXPECT_THAT(tables("", true), ElementsAre("hbase:namespace", "shop:t", "t", "hbase:meta"));
  hbase::wire::DeleteNamespaceRequest drop;
  drop.set_name("shop");
  EXPECT_EQ(master("DeleteNamespace", drop).exception, java::kConstraint);
  EXPECT_EQ(statement("DisableTable", "shop:t").exception, "");
  EXPECT_EQ(statement("DeleteTable", "shop:t").exception, "");
  EXPECT_EQ(master("DeleteNamespace", drop).exception, "");
  EXPECT_EQ(master("DeleteNamespace", drop).exception, java::kNamespaceNotFound);
  EXPECT_EQ(statement("DisableTable", "hbase:namespace").exception, java::kDoNotRetry);
}

}  // namespace
}  // namespace cellar::testing
