// Goal: files arrive in HDFS as they are, whatever their names and sizes. Each way in which HDFS can fail is
// told apart, and no server can make the client wait for ever or fill its memory. Method: the client against
// a small NameNode and DataNode, and against servers that write bytes of other kinds.
#include "hbase/client/web_hdfs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "tests/hbase/fake_hdfs.h"
#include "tests/support/scratch_directory.h"

namespace cellar {
namespace {

using hbase::parse_web_hdfs;
using hbase::WebHdfs;
using hbase::WebHdfsPlace;
using ::testing::ElementsAre;
using testing::FakeHdfs;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using testing::RawServer;
using testing::remote_exception;

// ---- Names

TEST(WebHdfsNames, AreTakenApart) {
  const auto place = parse_web_hdfs("webhdfs://nn1:9871,nn-2.example.org,[::1]:5,[::2]/staging/a b%20//");
  ASSERT_TRUE(place.ok()) << place.status();
  EXPECT_THAT(place->servers, ElementsAre(Pair("nn1", 9871), Pair("nn-2.example.org", 9870), Pair("::1", 5),
                                          Pair("::2", 9870)));
  EXPECT_EQ(place->path, "/staging/a b%20");
  EXPECT_TRUE(hbase::is_web_hdfs("webhdfs://"));
  for (const char* const other : {"hdfs://nn/a", "/webhdfs://", "webhdfs:/nn", "swebhdfs://nn/a", ""})
    EXPECT_FALSE(hbase::is_web_hdfs(other)) << other;
}

TEST(WebHdfsNames, OfAnotherFormAreRefusedWithTheForm) {
  for (const char* const wrong :
       {"", "hdfs://nn/a", "webhdfs://", "webhdfs://nn", "webhdfs://nn/", "webhdfs:///a", "webhdfs://nn:0/a",
        "webhdfs://nn:x/a", "webhdfs://nn:70000/a", "webhdfs://a,,b/c", "webhdfs://nn/a//b",
        "webhdfs://nn/a/..", "webhdfs://nn/./a", "webhdfs://nn/a?user=b", "webhdfs://me@nn/a",
        "webhdfs://n n/a", "webhdfs://nn\r\nX: y/a"}) {
    const Status refused = parse_web_hdfs(wrong).status();
    EXPECT_TRUE(refused.is(Code::kInvalidArgument)) << wrong;
    EXPECT_THAT(std::string(refused.hint()), HasSubstr("webhdfs://namenode1:9870")) << wrong;
  }
}

#ifndef CELLAR_WITH_WEBHDFS

TEST(WebHdfsClient, ABuildWithoutHttpSaysSo) {
  const Status refused = WebHdfs::open({{{"nn", 9870}}, "/a"}, "ada", 1'000'000).status();
  EXPECT_TRUE(refused.is(Code::kNotSupported)) << refused;
  EXPECT_THAT(std::string(refused.hint()), HasSubstr("libcpp-httplib-dev"));
}

#else

constexpr int64_t kPatienceUs = 60'000'000;  // no test lasts so long

class WebHdfsClient : public ::testing::Test {
 protected:
  std::unique_ptr<WebHdfs> open(const std::vector<uint16_t>& ports, int64_t timeout_us = kPatienceUs) const {
    WebHdfsPlace place;
    for (const uint16_t port : ports) place.servers.emplace_back("127.0.0.1", port);
    place.path = "/staging";
    auto client = WebHdfs::open(place, "ada", timeout_us);
    EXPECT_TRUE(client.ok()) << client.status();
    return std::move(client).value();
  }
  std::string file(const std::string& content) {
    const std::string path = scratch_ / ("file" + std::to_string(++files_));
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  static std::string random_bytes(size_t bytes) {
    Random random(7);
    std::string text(bytes, '\0');
    for (char& c : text) c = static_cast<char>(random.below(256));
    return text;
  }
  // Fails to make a directory at a server that answers with these bytes.
  Status against(const std::string& bytes) const {
    const RawServer server(bytes);
    return open({server.port()})->make_directories("d");
  }

  testing::ScratchDirectory scratch_;
  FakeHdfs hdfs_;
  int files_ = 0;
};

TEST_F(WebHdfsClient, MakesDirectoriesWritesFilesAndRemovesThem) {
  const auto client = open({hdfs_.port()});
  EXPECT_TRUE(client->make_directories("").ok());
  EXPECT_TRUE(hdfs_.is_directory("/staging"));
  EXPECT_TRUE(client->make_directories("load/f").ok());
  EXPECT_TRUE(hdfs_.is_directory("/staging/load/f"));
  const Status written = client->write_file("load/f/a", file("hello"), nullptr);
  EXPECT_TRUE(written.ok()) << written;
  EXPECT_EQ(hdfs_.content("/staging/load/f/a"), "hello");
  EXPECT_TRUE(client->write_file("load/f/a", file(""), nullptr).ok());
  EXPECT_EQ(hdfs_.content("/staging/load/f/a"), "") << "an empty file replaces one with bytes";
  EXPECT_TRUE(client->remove("load/f/a", false).ok());
  EXPECT_FALSE(hdfs_.exists("/staging/load/f/a"));
  EXPECT_TRUE(client->remove("load/f/a", false).ok()) << "it is not there any more";
  EXPECT_TRUE(client->write_file("load/f/b", file("b"), nullptr).ok());
  EXPECT_TRUE(client->remove("load", true).ok());
  EXPECT_FALSE(hdfs_.exists("/staging/load/f/b"));
}

TEST_F(WebHdfsClient, LargeFilesArriveWholeAndProgressIsTold) {
  const std::string bytes = random_bytes((5u << 20) + 12345);
  std::vector<uint64_t> told;
  const Status written = open({hdfs_.port()})->write_file("f", file(bytes), [&](uint64_t done) {
    told.push_back(done);
    return true;
  });
  ASSERT_TRUE(written.ok()) << written;
  EXPECT_TRUE(hdfs_.content("/staging/f") == bytes);
  EXPECT_EQ(told.front(), 0u);
  EXPECT_EQ(told.back(), bytes.size());
  EXPECT_GT(told.size(), 10u);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
}

TEST_F(WebHdfsClient, AGatewayTakesTheBytesItself) {
  hdfs_.redirect_to(hdfs_.port());
  EXPECT_TRUE(open({hdfs_.port()})->write_file("f", file("abc"), nullptr).ok());
  EXPECT_EQ(hdfs_.content("/staging/f"), "abc");
}

TEST_F(WebHdfsClient, NamesArePercentEncodedOnce) {
  const std::string name = "a b/100%/%20+&?#;ü=日";
  WebHdfsPlace place{{{"127.0.0.1", hdfs_.port()}}, "/st aging"};
  const auto client = WebHdfs::open(place, "ada&op=DELETE +", kPatienceUs);
  ASSERT_TRUE(client.ok());
  const Status written = (*client)->write_file(name, file("abc"), nullptr);
  ASSERT_TRUE(written.ok()) << written;
  EXPECT_EQ(hdfs_.content("/st aging/" + name), "abc");
  const std::string path = "PUT /webhdfs/v1/st%20aging/a%20b/100%25/%2520%2B%26%3F%23%3B%C3%BC%3D%E6%97%A5";
  const std::string query = "?op=CREATE&overwrite=true&user.name=ada%26op%3DDELETE%20%2B";
  EXPECT_THAT(hdfs_.requests(), ElementsAre(path + query, path + query + "&data=true&token=a%2Bb%25"));
}

TEST_F(WebHdfsClient, NamesThatHdfsDoesNotHaveAreRefusedHere) {
  const auto client = open({hdfs_.port()});
  for (const char* const wrong : {"/a", "a/", "a//b", "..", "a/../b", "./a"}) {
    EXPECT_TRUE(client->make_directories(wrong).is(Code::kInvalidArgument)) << wrong;
    EXPECT_TRUE(client->write_file(wrong, file("a"), nullptr).is(Code::kInvalidArgument)) << wrong;
    EXPECT_TRUE(client->remove(wrong, true).is(Code::kInvalidArgument)) << wrong;
  }
  EXPECT_TRUE(client->remove("", true).is(Code::kInvalidArgument)) << "the place itself stays";
  EXPECT_THAT(hdfs_.requests(), ::testing::IsEmpty());
}

TEST_F(WebHdfsClient, AFileThatIsMissingHereIsNotFoundBeforeHdfsIsAsked) {
  const Status missing = open({hdfs_.port()})->write_file("f", scratch_ / "missing", nullptr);
  EXPECT_TRUE(missing.is(Code::kNotFound)) << missing;
  EXPECT_THAT(hdfs_.requests(), ::testing::IsEmpty());
}

TEST_F(WebHdfsClient, ProgressStopsAFile) {
  const auto client = open({hdfs_.port()});
  const std::string path = file(random_bytes(3u << 20));
  Status stopped = client->write_file("f", path, [](uint64_t) { return false; });
  EXPECT_TRUE(stopped.is(Code::kAborted)) << stopped;
  EXPECT_THAT(hdfs_.requests(), ::testing::IsEmpty());
  stopped = client->write_file("f", path, [](uint64_t done) { return done < (1u << 20); });
  EXPECT_TRUE(stopped.is(Code::kAborted)) << stopped;
  EXPECT_FALSE(hdfs_.exists("/staging/f"));
}

TEST_F(WebHdfsClient, TheServerThatIsActiveAnswers) {
  FakeHdfs standby;
  const auto client = open({standby.port(), hdfs_.port()});
  standby.answer(FakeHdfs::Node::kName, {403, remote_exception("StandbyException", "READ is not supported")},
                 1000);
  EXPECT_TRUE(client->make_directories("d").ok());
  EXPECT_TRUE(client->write_file("d/f", file("abc"), nullptr).ok());
  EXPECT_EQ(hdfs_.content("/staging/d/f"), "abc");
  EXPECT_EQ(standby.requests().size(), 1u) << "the active server is asked first from then on";
  hdfs_.answer(FakeHdfs::Node::kName, {403, remote_exception("StandbyException", "neither")}, 1000);
  const Status none = client->make_directories("e");
  EXPECT_TRUE(none.is(Code::kBusy)) << none;
  EXPECT_THAT(std::string(none.message()), HasSubstr(std::to_string(standby.port()) + " is not active"));
  EXPECT_THAT(std::string(none.message()), HasSubstr(std::to_string(hdfs_.port()) + " is not active"));
}

TEST_F(WebHdfsClient, AServerThatIsAbsentIsLeftForTheNext) {
  uint16_t absent = 0;
  { absent = FakeHdfs().port(); }
  EXPECT_TRUE(open({absent, hdfs_.port()})->make_directories("d").ok());
  const Status refused = open({absent})->make_directories("d");
  EXPECT_TRUE(refused.is(Code::kIoError)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("127.0.0.1:" + std::to_string(absent)));
  EXPECT_THAT(std::string(refused.hint()), HasSubstr("dfs.webhdfs.enabled"));
}

TEST_F(WebHdfsClient, ExceptionsOfHdfsAreToldApart) {
  const auto client = open({hdfs_.port()});
  const auto code_of = [&](int status, const std::string& exception) {
    hdfs_.answer(FakeHdfs::Node::kName, {status, remote_exception(exception, "because")});
    const Status refused = client->make_directories("d");
    EXPECT_THAT(std::string(refused.message()), HasSubstr("because")) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr(exception)) << refused;
    return refused.code();
  };
  EXPECT_EQ(code_of(403, "AccessControlException"), Code::kReadOnly);
  EXPECT_EQ(code_of(403, "SafeModeException"), Code::kBusy);
  EXPECT_EQ(code_of(403, "DSQuotaExceededException"), Code::kNoSpace);
  EXPECT_EQ(code_of(403, "NSQuotaExceededException"), Code::kNoSpace);
  EXPECT_EQ(code_of(404, "FileNotFoundException"), Code::kNotFound);
  EXPECT_EQ(code_of(400, "IllegalArgumentException"), Code::kInvalidArgument);
  EXPECT_EQ(code_of(500, "IOException"), Code::kIoError);
  hdfs_.answer(FakeHdfs::Node::kName, {403, remote_exception("AccessControlException", "denied")});
  EXPECT_THAT(std::string(client->make_directories("d").hint()), HasSubstr("user ada"));
  hdfs_.answer(FakeHdfs::Node::kName, {404, remote_exception("FileNotFoundException", "gone")});
  EXPECT_TRUE(client->remove("d", true).ok()) << "a gateway says so of what does not exist";
}

TEST_F(WebHdfsClient, ALoginIsNotSupported) {
  hdfs_.answer(FakeHdfs::Node::kName, {401, "<html>Authentication required</html>"});
  const Status refused = open({hdfs_.port()})->make_directories("d");
  EXPECT_TRUE(refused.is(Code::kNotSupported)) << refused;
  EXPECT_THAT(std::string(refused.hint()), HasSubstr("Kerberos"));
}

TEST_F(WebHdfsClient, ADirectoryThatIsNotMadeIsAFailure) {
  hdfs_.answer(FakeHdfs::Node::kName, {200, R"({"boolean":false})"});
  EXPECT_TRUE(open({hdfs_.port()})->make_directories("d").is(Code::kIoError));
}

TEST_F(WebHdfsClient, OtherAnswersAreNotWebHdfs) {
  const auto client = open({hdfs_.port()});
  for (const std::string& body :
       {std::string("<html>"), std::string("{}"), std::string("[]"), std::string(),
        std::string(R"({"boolean":1})"), std::string(R"({"RemoteException":1})"), std::string(20'000, '[')}) {
    for (const int status : {200, 404, 500}) {
      hdfs_.answer(FakeHdfs::Node::kName, {status, body});
      const Status refused = client->make_directories("d");
      EXPECT_TRUE(refused.is(Code::kIoError)) << body << status;
      EXPECT_THAT(std::string(refused.hint()), HasSubstr("9870"));
    }
    hdfs_.answer(FakeHdfs::Node::kName, {200, body});
    EXPECT_TRUE(client->write_file("f", file("a"), nullptr).is(Code::kIoError)) << body;
  }
}

TEST_F(WebHdfsClient, RedirectsLeadToAServerOfHttp) {
  const auto client = open({hdfs_.port()});
  for (const char* const location : {"", "/webhdfs/v1/f", "ftp://a/b", "http://", "http://a", "http:///b",
                                     "http://a:0/b", "http://a:x/b", "http://a@b/c", "http://a/b c"}) {
    hdfs_.answer(FakeHdfs::Node::kName, {307, "", location});
    const Status refused = client->write_file("f", file("a"), nullptr);
    EXPECT_TRUE(refused.is(Code::kIoError)) << location << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("redirects")) << location;
  }
  hdfs_.answer(FakeHdfs::Node::kName, {307, "", "https://a/b"});
  EXPECT_TRUE(client->write_file("f", file("a"), nullptr).is(Code::kNotSupported));
  hdfs_.answer(FakeHdfs::Node::kData, {307, "", "http://127.0.0.1:1/b"});
  const Status again = client->write_file("f", file("a"), nullptr);
  EXPECT_THAT(std::string(again.message()), HasSubstr("once more")) << again;
}

// ---- DataNodes

TEST_F(WebHdfsClient, ADataNodeRefusesBeforeItHasReadTheBytes) {
  const auto client = open({hdfs_.port()});
  const std::string path = file(random_bytes(16u << 20));  // more than sockets take
  hdfs_.answer(FakeHdfs::Node::kData, {403, remote_exception("DSQuotaExceededException", "full")});
  const Status full = client->write_file("f", path, nullptr);
  EXPECT_TRUE(full.is(Code::kNoSpace)) << full;
  EXPECT_THAT(std::string(full.message()), HasSubstr(std::to_string(hdfs_.data_port())));
  hdfs_.answer(FakeHdfs::Node::kData, {201, ""});
  const Status early = client->write_file("f", path, nullptr);
  EXPECT_TRUE(early.is(Code::kIoError)) << early;
  EXPECT_THAT(std::string(early.message()), HasSubstr("before it has all bytes"));
}

TEST_F(WebHdfsClient, ADataNodeThatIsAbsentOrEndsIsNamed) {
  uint16_t absent = 0;
  { absent = FakeHdfs().port(); }
  hdfs_.redirect_to(absent);
  Status failed = open({hdfs_.port()})->write_file("f", file("a"), nullptr);
  EXPECT_TRUE(failed.is(Code::kIoError)) << failed;
  EXPECT_THAT(std::string(failed.message()), HasSubstr("127.0.0.1:" + std::to_string(absent)));
  EXPECT_THAT(std::string(failed.hint()), HasSubstr("DataNodes"));
  // It closes the connection under the bytes. SIGPIPE would end this program.
  const RawServer closing("");
  hdfs_.redirect_to(closing.port());
  failed = open({hdfs_.port()})->write_file("f", file(random_bytes(16u << 20)), nullptr);
  EXPECT_TRUE(failed.is(Code::kIoError)) << failed;
  EXPECT_THAT(std::string(failed.message()), HasSubstr("127.0.0.1:" + std::to_string(closing.port())));
}

TEST_F(WebHdfsClient, ThreadsWriteFilesConcurrently) {
  const auto client = open({hdfs_.port()});
  std::vector<std::string> contents;
  std::vector<std::string> paths;
  for (size_t i = 0; i < 4; ++i) {
    contents.push_back(random_bytes((1u << 20) + i));
    paths.push_back(file(contents.back()));
  }
  std::vector<std::thread> threads;
  for (size_t i = 0; i < paths.size(); ++i)
    threads.emplace_back([&, i] {
      const Status written = client->write_file("f" + std::to_string(i), paths[i], nullptr);
      EXPECT_TRUE(written.ok()) << written;
    });
  for (std::thread& each : threads) each.join();
  for (size_t i = 0; i < paths.size(); ++i)
    EXPECT_TRUE(hdfs_.content("/staging/f" + std::to_string(i)) == contents[i]) << i;
}

// ---- Answers of other kinds

TEST_F(WebHdfsClient, SilenceEndsARequest) {
  const RawServer silent("", RawServer::Manner::kSilent);
  Status failed = open({silent.port()}, 20'000)->make_directories("d");
  EXPECT_TRUE(failed.is(Code::kIoError)) << failed;
  EXPECT_THAT(std::string(failed.message()), HasSubstr("not done after 20 ms"));
  EXPECT_THAT(std::string(failed.message()), HasSubstr(std::to_string(silent.port())));
  hdfs_.redirect_to(silent.port());
  failed = open({hdfs_.port()}, 1'000'000)->write_file("f", file(random_bytes(16u << 20)), nullptr);
  EXPECT_TRUE(failed.is(Code::kIoError)) << failed;
  EXPECT_THAT(std::string(failed.message()), HasSubstr("bytes and then failed: it was not done"));
}

// The time is that of the whole answer: a server that goes on to write cannot hold the client.
TEST_F(WebHdfsClient, AnAnswerWithoutEndEndsARequest) {
  const RawServer endless("HTTP/1.1 200 OK\r\nX: ", RawServer::Manner::kEndless);
  const Status failed = open({endless.port()}, 50'000)->make_directories("d");
  EXPECT_TRUE(failed.is(Code::kIoError)) << failed;
  EXPECT_THAT(std::string(failed.message()), HasSubstr("not done after 50 ms"));
}

TEST_F(WebHdfsClient, ALongBodyIsRefusedBeforeItIsRead) {
  const RawServer server("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\nx",
                         RawServer::Manner::kEndless);
  const Status failed = open({server.port()}, 5'000'000)->make_directories("d");
  EXPECT_TRUE(failed.is(Code::kIoError)) << failed;
  EXPECT_THAT(std::string(failed.message()), HasSubstr("answers with more than 65536 bytes"));
}

TEST_F(WebHdfsClient, AnswersOfEachFormAreRead) {
  const std::string yes = R"({"boolean":true})";
  for (const std::string& bytes :
       {"HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n" + yes, "HTTP/1.0 200 OK\r\n\r\n" + yes,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n" + yes + "\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n" + yes}) {
    const Status made = against(bytes);
    EXPECT_TRUE(made.ok()) << bytes << made;
  }
}

TEST_F(WebHdfsClient, AnswersThatAreCutOffAreFailures) {
  const std::string whole = "HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n{\"boolean\":true}";
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const Status failed = against(whole.substr(0, bytes));
    EXPECT_TRUE(failed.is(Code::kIoError)) << bytes << failed;
  }
  EXPECT_THAT(std::string(against("").message()), HasSubstr("does not answer"));
  EXPECT_THAT(std::string(against(whole.substr(0, 50)).message()), HasSubstr("ends too early"));
  EXPECT_THAT(std::string(against("SSH-2.0-OpenSSH\r\n").message()), HasSubstr("does not answer with HTTP"));
}

TEST_F(WebHdfsClient, LargeAnswersAreRefused) {
  const std::string status = "HTTP/1.1 200 OK\r\n";
  const std::string megabyte(1u << 20, 'x');
  std::string headers;
  for (int i = 0; i < 20'000; ++i) headers += "X-" + std::to_string(i) + ": y\r\n";
  for (const std::string& bytes :
       {megabyte, "HTTP/1.1 200 " + megabyte, status + "X: " + megabyte, status + headers,
        status + "\r\n" + megabyte, status + "Content-Length: 1048576\r\n\r\n" + megabyte,
        status + "Transfer-Encoding: chunked\r\n\r\n100000\r\n" + megabyte,
        status + "Transfer-Encoding: chunked\r\n\r\n1;" + megabyte}) {
    const Status refused = against(bytes);
    EXPECT_TRUE(refused.is(Code::kIoError)) << bytes.substr(0, 60) << refused;
    EXPECT_LT(refused.message().size(), 1000u);
  }
  EXPECT_THAT(std::string(against(status + "\r\n" + megabyte).message()), HasSubstr("more than 65536 bytes"));
  std::string endless;
  for (int i = 0; i < 10'000; ++i) endless += "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_TRUE(against(endless).is(Code::kIoError));
}

TEST_F(WebHdfsClient, MessagesOfServersAreShortenedAndSafe) {
  const std::string message = "first\\u001b[31m" + std::string(5'000, 'x') + "\\nsecond";
  hdfs_.answer(FakeHdfs::Node::kName, {500, remote_exception("IOException", message)});
  const Status refused = open({hdfs_.port()})->make_directories("d");
  EXPECT_LT(refused.message().size(), 1000u);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("first\\x1B"));
  EXPECT_THAT(std::string(refused.message()), Not(HasSubstr("second")));
}

#endif  // CELLAR_WITH_WEBHDFS

}  // namespace
}  // namespace cellar
