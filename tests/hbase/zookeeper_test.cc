// Goal: a cluster is found by ZooKeeper, and every way in which that fails is told apart. Method: znodes
// byte by byte, and the client against a small server of ZooKeeper's protocol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "base/coding.h"
#include "base/random.h"
#include "cellar/cellar.h"
#include "hbase/client/cluster_engine.h"
#include "hbase/client/cluster_name.h"
#include "hbase/client/registry.h"
#include "hbase/client/znodes.h"
#include "hbase/wire/common.pb.h"
#include "hbase/wire/registry.pb.h"
#include "tests/hbase/fake_cluster.h"
#include "tests/hbase/fake_zookeeper.h"

// AddressSanitizer asks this function. ZooKeeper's library (3.8) can lose the questions that are open when a
// session is closed: the thread that would fail them ends at once. A lookup that is ended early loses a
// kilobyte. Its close would take seconds if it waited for the answers.
extern "C" const char* __lsan_default_suppressions() { return "leak:libzookeeper_mt"; }

namespace cellar {
namespace {

using testing::FakeCluster;
using testing::FakeZooKeeper;
using ::testing::HasSubstr;
using testing::znode_content;
namespace wire = hbase::wire;
using ServerAddress = hbase::ServerAddress;

constexpr const char* kIdentity = "01234567-89ab-cdef-0123-456789abcdef";

// ---- Names

TEST(ZooKeeperNames, AreTakenApart) {
  const auto name = hbase::parse_cluster_name("hbase+zk://one:2182,two,[::1]:5/a/b-c?timeout_ms=10&user=ada");
  ASSERT_TRUE(name.ok()) << name.status();
  EXPECT_TRUE(name->masters.empty());
  ASSERT_EQ(name->quorum.size(), 3u);
  EXPECT_EQ(name->quorum[0], (ServerAddress{"one", 2182}));
  EXPECT_EQ(name->quorum[1], (ServerAddress{"two", 2181}));
  EXPECT_EQ(name->quorum[2], (ServerAddress{"::1", 5}));
  EXPECT_EQ(name->znode, "/a/b-c");
  EXPECT_EQ(name->timeout_ms, 10);
  EXPECT_EQ(name->user, "ada");
  for (const char* const usual :
       {"hbase+zk://a", "hbase+zk://a/", "hbase+zk://a/hbase", "hbase+zk://a/hbase/"})
    EXPECT_EQ(hbase::parse_cluster_name(usual)->znode, "/hbase") << usual;
}

TEST(ZooKeeperNames, OfAnotherFormAreRefusedWithTheForm) {
  for (const char* const wrong :
       {"hbase+zk://", "hbase+zk:///hbase", "hbase+zk://a:0/hbase", "hbase+zk://a:x", "hbase+zk://a:70000/h",
        "hbase+zk://a,,b/hbase", "hbase+zk://a//hbase", "hbase+zk://a/h//b", "hbase+zk://a/../b",
        "hbase+zk://a/./b", "hbase+zk://a/h\x01", "hbase+zk://a/h\xff", "hbase+zk://a/hbase?timeout=1",
        "hbase+zk://a/hbase?user="}) {
    const Status refused = hbase::parse_cluster_name(wrong).status();
    EXPECT_TRUE(refused.is(Code::kInvalidArgument)) << wrong;
    EXPECT_FALSE(refused.hint().empty()) << wrong;
  }
  EXPECT_THAT(hbase::parse_cluster_name("hbase+zk://a:0").status().hint(),
              HasSubstr("hbase+zk://host1:2181"));
}

#ifndef CELLAR_WITH_ZOOKEEPER
TEST(ZooKeeperNames, ABuildWithoutZooKeeperSaysSo) {
  hbase::register_cluster_engine();
  const Status refused = Engine::open("hbase+zk://127.0.0.1:1/hbase").status();
  EXPECT_TRUE(refused.is(Code::kNotSupported)) << refused;
  EXPECT_THAT(refused.hint(), HasSubstr("libzookeeper-mt-dev"));
}
#endif

// ---- Znodes

std::string server_bytes(const std::string& host, uint32_t port) {
  wire::MasterNode node;
  node.mutable_master()->set_host_name(host);
  node.mutable_master()->set_port(port);
  node.mutable_master()->set_start_code(1'700'000'000'000);
  return node.SerializeAsString();
}

std::string meta_bytes(const std::string& host, uint32_t port, int state) {
  wire::MetaNode node;
  node.mutable_server()->set_host_name(host);
  node.mutable_server()->set_port(port);
  if (state >= 0) node.set_state(static_cast<uint32_t>(state));
  return node.SerializeAsString();
}

std::string identity_bytes() {
  wire::ClusterIdNode node;
  node.set_cluster_id(kIdentity);
  return node.SerializeAsString();
}

TEST(Znodes, AreReadWithAndWithoutAHeader) {
  const ServerAddress there{"rs1.example.org", 16020};
  EXPECT_EQ(*hbase::parse_master_znode(znode_content(server_bytes("rs1.example.org", 16020))), there);
  EXPECT_EQ(*hbase::parse_master_znode("PBUF" + server_bytes("rs1.example.org", 16020)), there);
  EXPECT_EQ(*hbase::parse_meta_znode(znode_content(meta_bytes("rs1.example.org", 16020, 3))), there);
  EXPECT_EQ(*hbase::parse_meta_znode(znode_content(meta_bytes("rs1.example.org", 16020, -1))), there);
  EXPECT_EQ(*hbase::parse_identity_znode(znode_content(identity_bytes())),
            "0123456789abcdef0123456789abcdef");
}

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

// HBase 2.6.4 wrote these bytes.
TEST(Znodes, OfHBaseAreRead) {
  const std::string header = "ff000000146d61737465723a3432383833";
  EXPECT_EQ(*hbase::parse_identity_znode(
                bytes_of(header + "680f2632b87f6e5d504255460a2465393164626564652d376531612d343764322d"
                                  "383033302d356564656661643430333239")),
            "e91dbede7e1a47d280305edefad40329");
  EXPECT_EQ(*hbase::parse_master_znode(
                bytes_of(header + "9e8978e05c027fb2504255460a160a096c6f63616c686f73741083cf0218cc8be0daa1"
                                  "34100018ffffffff0f")),
            (ServerAddress{"localhost", 42883}));
  EXPECT_EQ(*hbase::parse_meta_znode(bytes_of(
                header + "4e70b404aea95a9a504255460a160a096c6f63616c686f737410e7b00218b1b2e0daa13410001803")),
            (ServerAddress{"localhost", 39015}));
}

TEST(Znodes, AMetaRegionThatIsNotOpenIsNamedWithItsState) {
  const Status opening = hbase::parse_meta_znode(znode_content(meta_bytes("a", 1, 2))).status();
  EXPECT_TRUE(opening.is(Code::kBusy)) << opening;
  EXPECT_THAT(std::string(opening.message()), HasSubstr("OPENING"));
  const Status unknown = hbase::parse_meta_znode(znode_content(meta_bytes("a", 1, 4711))).status();
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("4711"));
}

TEST(Znodes, OfAnotherFormAreCorrupt) {
  std::string long_header = "\xff";
  append_be32(long_header, 0xfffffff0);
  for (const std::string& wrong :
       {std::string(), std::string("\xff"), std::string("\xff\0\0", 3), long_header, long_header + "PBUF",
        std::string("PBU"), std::string("PBUF"), std::string("master:16000"), "PBUF" + std::string(9, '\xff'),
        "PBUF" + server_bytes("", 5), "PBUF" + server_bytes("a", 0), "PBUF" + server_bytes("a", 65536)}) {
    EXPECT_TRUE(hbase::parse_master_znode(wrong).status().is(Code::kCorruption)) << wrong;
    EXPECT_TRUE(hbase::parse_meta_znode(wrong).status().is(Code::kCorruption)) << wrong;
  }
  for (const std::string& wrong : {std::string(), long_header, std::string("PBUF"), std::string(kIdentity)})
    EXPECT_TRUE(hbase::parse_identity_znode(wrong).status().is(Code::kCorruption)) << wrong;
}

TEST(Znodes, WithChangedBytesNeverCrash) {
  Random random(20261127);
  const std::string whole[] = {znode_content(server_bytes("host.example.org", 16000)),
                               znode_content(meta_bytes("host.example.org", 16020, 3)),
                               znode_content(identity_bytes())};
  for (int i = 0; i < 30'000; ++i) {
    std::string bytes = whole[i % 3];
    for (uint64_t n = random.below(3) + 1; n > 0; --n)
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    bytes.resize(random.below(bytes.size() + 1));
    for (const auto& server : {hbase::parse_master_znode(bytes), hbase::parse_meta_znode(bytes)}) {
      EXPECT_TRUE(!server.ok() || (!server->host.empty() && server->port != 0));
    }
    static_cast<void>(hbase::parse_identity_znode(bytes).ok());
  }
}

// ---- The client

#ifdef CELLAR_WITH_ZOOKEEPER

class ZooKeeperClient : public ::testing::Test {
 protected:
  void SetUp() override { set_all(); }
  std::map<std::string, std::string> all() const {
    return {{"/hbase", ""},
            {"/hbase/hbaseid", znode_content(identity_bytes())},
            {"/hbase/master", znode_content(server_bytes("127.0.0.1", server_.port()))},
            {"/hbase/meta-region-server", znode_content(meta_bytes("127.0.0.1", server_.port(), 3))}};
  }
  void set_all() { zookeeper_.set_znodes(all()); }
  void set_all_but(const std::string& path, const std::string& content = {}) {
    auto znodes = all();
    znodes.erase(path);
    if (!content.empty()) znodes[path] = content;
    zookeeper_.set_znodes(znodes);
  }
  std::string name(const std::string& rest = "/hbase?timeout_ms=5000") const {
    return "hbase+zk://127.0.0.1:" + std::to_string(zookeeper_.port()) + rest;
  }
  static Status open(const std::string& name) { return hbase::open_cluster(name, {}).status(); }

  FakeCluster server_;
  FakeZooKeeper zookeeper_;
};

TEST_F(ZooKeeperClient, OneSessionTellsEverythingAndIsClosed) {
  const auto engine = hbase::open_cluster(name(), {});
  ASSERT_TRUE(engine.ok()) << engine.status();
  EXPECT_EQ((*engine)->status().identity, "0123456789abcdef0123456789abcdef");
  const auto table = (*engine)->open_table("t");
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_TRUE((*table)->put(Put("apple").add("f", "q", "1")).ok());
  EXPECT_TRUE(*(*table)->exists(Get("apple")));
  EXPECT_EQ(server_.calls("GetClusterId") + server_.calls("GetActiveMaster") +
                server_.calls("GetMetaRegionLocations"),
            0);
  ASSERT_TRUE((*engine)->close().ok());
  EXPECT_EQ(zookeeper_.sessions(), 1);
  for (int i = 0; i < 200 && zookeeper_.closed() == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(zookeeper_.closed(), 1);
}

TEST_F(ZooKeeperClient, ServersThatMovedAreLookedUpAgain) {
  const auto engine = hbase::open_cluster(name(), {});
  ASSERT_TRUE(engine.ok()) << engine.status();
  // The master is the active one no longer, and the region of meta has moved. Each is looked up again.
  server_.fail("GetTableDescriptors", FakeCluster::Fault::kException,
               "org.apache.hadoop.hbase.ipc.ServerNotRunningYetException");
  const auto table = (*engine)->open_table("t");
  ASSERT_TRUE(table.ok()) << table.status();
  server_.fail("Meta", FakeCluster::Fault::kException, "org.apache.hadoop.hbase.NotServingRegionException");
  ASSERT_TRUE((*table)->put(Put("apple").add("f", "q", "1")).ok());
  EXPECT_EQ(zookeeper_.sessions(), 3);
}

TEST_F(ZooKeeperClient, LostConnectionsAreReplaced) {
  zookeeper_.fail(FakeZooKeeper::Fault::kDrop, 1);
  const Status status = open(name());
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(zookeeper_.sessions(), 2);
}

TEST_F(ZooKeeperClient, APathThatIsNotThereIsNamedAtOnceWithThoseThatAre) {
  const auto begin = std::chrono::steady_clock::now();
  const Status status = open(name("/hbase-secure"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_TRUE(status.is(Code::kNotFound)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("has no path /hbase-secure"));
  EXPECT_THAT(status.hint(), HasSubstr("zookeeper.znode.parent"));
  EXPECT_THAT(status.hint(), HasSubstr("/hbase"));
}

TEST_F(ZooKeeperClient, WhatIsAbsentOrOfAnotherFormIsNamed) {
  const std::string quick = name("/hbase?timeout_ms=400");
  set_all_but("/hbase/hbaseid");
  Status status = open(quick);
  EXPECT_TRUE(status.is(Code::kBusy)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("/hbase/hbaseid"));
  set_all_but("/hbase/hbaseid", "something else");
  status = open(quick);
  EXPECT_TRUE(status.is(Code::kCorruption)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("PBUF"));

  set_all_but("/hbase/master");
  const auto engine = hbase::open_cluster(quick, {});
  ASSERT_TRUE(engine.ok()) << engine.status();
  status = (*engine)->open_table("t").status();
  EXPECT_TRUE(status.is(Code::kBusy)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("no active master"));

  set_all_but("/hbase/meta-region-server", znode_content(meta_bytes("127.0.0.1", 1, 2)));
  const auto other = hbase::open_cluster(quick, {});
  ASSERT_TRUE(other.ok()) << other.status();
  const auto table = (*other)->open_table("t");
  ASSERT_TRUE(table.ok()) << table.status();
  status = (*table)->exists(Get("a")).status();
  EXPECT_TRUE(status.is(Code::kBusy)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("OPENING"));
  set_all();
  EXPECT_TRUE((*table)->exists(Get("a")).ok());
}

TEST_F(ZooKeeperClient, NobodyListens) {
  const auto begin = std::chrono::steady_clock::now();
  const Status status = open("hbase+zk://127.0.0.1:1/hbase?timeout_ms=700");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("127.0.0.1:1"));
  EXPECT_THAT(status.hint(), HasSubstr("does ZooKeeper run"));
  const Status unknown = open("hbase+zk://no-such-host.invalid:2181/hbase?timeout_ms=700");
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("no-such-host.invalid"));
}

TEST_F(ZooKeeperClient, DeadlinesHoldWhereNobodyAnswers) {
  for (const auto fault : {FakeZooKeeper::Fault::kSilence, FakeZooKeeper::Fault::kGarbage}) {
    zookeeper_.fail(fault, 1000);
    const auto begin = std::chrono::steady_clock::now();
    const Status status = open(name("/hbase?timeout_ms=500"));
    EXPECT_TRUE(status.is(Code::kBusy) || status.is(Code::kIoError)) << status;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(6)) << static_cast<int>(fault);
  }
}

TEST_F(ZooKeeperClient, OneOfSeveralServersIsEnough) {
  const std::string others = "hbase+zk://127.0.0.1:1,127.0.0.1:" + std::to_string(zookeeper_.port()) +
                             ",127.0.0.1:2/hbase?timeout_ms=10000";
  const Status status = open(others);
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(ZooKeeperClient, ClosingEndsALookup) {
  auto engine = hbase::open_cluster(name("/hbase?timeout_ms=60000"), {});
  ASSERT_TRUE(engine.ok()) << engine.status();
  server_.fail("GetTableDescriptors", FakeCluster::Fault::kException,
               "org.apache.hadoop.hbase.ipc.ServerNotRunningYetException");
  zookeeper_.fail(FakeZooKeeper::Fault::kSilence, 1000);
  Status status;
  std::thread caller([&] { status = (*engine)->open_table("t").status(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE((*engine)->close().ok());
  caller.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_TRUE(status.is(Code::kAborted)) << status;
}

#endif  // CELLAR_WITH_ZOOKEEPER

}  // namespace
}  // namespace cellar
