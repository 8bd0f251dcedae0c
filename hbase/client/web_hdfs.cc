// WebHdfs: WebHDFS's requests MKDIRS, CREATE and DELETE. A file is created in two steps: the NameNode
// redirects to a DataNode, and that one takes the bytes. A gateway redirects to itself.
#include "hbase/client/web_hdfs.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/bytes.h"
#include "base/utf8.h"
#include "cellar/file_system.h"
#include "hbase/client/cluster_name.h"
#include "hbase/net/http.h"

#ifdef CELLAR_WITH_WEBHDFS
#include <nlohmann/json.hpp>
#endif

namespace cellar::hbase {
namespace {

constexpr std::string_view kWebHdfsScheme = "webhdfs://";
constexpr std::string_view kWebHdfsForm = "the form is webhdfs://namenode1:9870,namenode2:9870/directory";
constexpr uint16_t kWebHdfsPort = 9870;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Hosts go into the head of a request.
bool is_host(std::string_view host) {
  return std::ranges::all_of(host, [](char c) {
    return is_letter_or_digit(c) || std::string_view(".-_:%").find(c) != std::string_view::npos;
  });
}

// HDFS has no names "." and "..", and none that are empty.
bool is_relative_path(std::string_view path) {
  for (std::string_view rest = path;;) {
    const size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string_view::npos)
      return false;
    if (slash == std::string_view::npos) return true;
    rest.remove_prefix(slash + 1);
  }
}

Result<WebHdfsPlace> parse_place(std::string_view name) {
  if (!is_web_hdfs(name)) return Status::invalid_argument("it does not begin with webhdfs://");
  name.remove_prefix(kWebHdfsScheme.size());
  const size_t slash = std::min(name.find('/'), name.size());
  std::string_view path = name.substr(slash);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (path.empty()) return Status::invalid_argument("it names no directory of HDFS");
  if (path.find('?') != std::string_view::npos)
    return Status::invalid_argument("it has a question mark: such a name has no options");
  if (!is_relative_path(path.substr(1)))
    return Status::invalid_argument(fmt::format("\"{}\" is not an absolute path of HDFS", escaped(path)));
  CELLAR_TRY_ASSIGN(const std::vector<ServerAddress> servers,
                    parse_servers(name.substr(0, slash), kWebHdfsPort));
  WebHdfsPlace place;
  place.path = path;
  for (const ServerAddress& each : servers) {
    if (!is_host(each.host))
      return Status::invalid_argument(fmt::format("\"{}\" is not a host", escaped(each.host)));
    place.servers.emplace_back(each.host, each.port);
  }
  return place;
}

}  // namespace

bool is_web_hdfs(std::string_view name) { return name.starts_with(kWebHdfsScheme); }

Result<WebHdfsPlace> parse_web_hdfs(std::string_view name) {
  Result<WebHdfsPlace> place = parse_place(name);
  if (place.ok()) return place;
  return place.status().with_context(fmt::format("\"{}\"", escaped(name))).hinting(kWebHdfsForm);
}

#ifdef CELLAR_WITH_WEBHDFS

namespace {

using Json = nlohmann::json;

constexpr std::string_view kWebHdfsCheck =
    "does HDFS serve WebHDFS there? dfs.webhdfs.enabled must be true; the port is that of "
    "dfs.namenode.http-address, usually 9870, or of HttpFS, usually 14000";
constexpr uint16_t kHttpPort = 80;
constexpr size_t kPieceBytes = 256u << 10;
constexpr size_t kMessageBytesMax = 500;

void append_percent_encoded(std::string& to, std::string_view text, std::string_view also_plain) {
  for (const char c : text) {
    if (is_letter_or_digit(c) || std::string_view("-._~").find(c) != std::string_view::npos ||
        also_plain.find(c) != std::string_view::npos)
      to += c;
    else
      to += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
}

Status check_below(const std::string& below) {
  if (is_relative_path(below)) return {};
  return Status::invalid_argument(fmt::format("\"{}\" is not a relative path of HDFS", escaped(below)));
}

// An answer of a server, and what is in its JSON.
struct Reply {
  std::string server;  // HOST:PORT
  HttpAnswer http;
  std::string exception = {};  // of Java, without its package; may be empty
  std::string message = {};
};

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Returns the first line, safe to show at a terminal.
std::string shortened(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  return escaped_controls(text.substr(0, kMessageBytesMax));
}

// Takes {"RemoteException":{"exception":…,"message":…}} apart.
Reply reply_of(std::string server, HttpAnswer answer) {
  Reply reply{.server = std::move(server), .http = std::move(answer)};
  const Json json = Json::parse(reply.http.body, nullptr, false);
  if (!json.is_object()) return reply;
  const auto remote = json.find("RemoteException");
  if (remote == json.end() || !remote->is_object()) return reply;
  reply.exception = shortened(text_in(*remote, "exception"));
  reply.message = shortened(text_in(*remote, "message"));
  return reply;
}

struct WebHdfsMeaning {
  std::string_view exception;
  Code code = Code::kIoError;
  std::string_view hint = {};
};

WebHdfsMeaning web_hdfs_meaning(std::string_view exception) {
  constexpr std::string_view kQuota = "hdfs dfs -count -q tells the quotas of a directory";
  static const std::vector<WebHdfsMeaning> all = {
      {"AccessControlException", Code::kReadOnly},
      {"SecurityException", Code::kReadOnly},
      {"AuthorizationException", Code::kReadOnly},
      {"StandbyException", Code::kBusy, "name all NameNodes, with commas in between"},
      {"RetriableException", Code::kBusy, "HDFS is not ready: try again later"},
      {"SafeModeException", Code::kBusy, "hdfs dfsadmin -safemode get tells when HDFS has left it"},
      {"QuotaExceededException", Code::kNoSpace, kQuota},
      {"DSQuotaExceededException", Code::kNoSpace, kQuota},
      {"NSQuotaExceededException", Code::kNoSpace, kQuota},
      {"DiskOutOfSpaceException", Code::kNoSpace, "hdfs dfsadmin -report tells the space of the DataNodes"},
      {"FileNotFoundException", Code::kNotFound},
      {"FileAlreadyExistsException", Code::kInvalidArgument},
      {"ParentNotDirectoryException", Code::kInvalidArgument},
      {"PathIsNotEmptyDirectoryException", Code::kInvalidArgument},
      {"InvalidPathException", Code::kInvalidArgument},
      {"IllegalArgumentException", Code::kInvalidArgument},
      {"UnsupportedOperationException", Code::kNotSupported},
  };
  const auto found = std::ranges::find(all, exception, &WebHdfsMeaning::exception);
  return found == all.end() ? WebHdfsMeaning{exception} : *found;
}

bool is_redirect(const Reply& reply) {
  const int status = reply.http.status;
  return status == 301 || status == 302 || status == 307 || status == 308;
}

// A NameNode that is not active, or not yet.
bool is_passive(const Reply& reply) {
  return reply.exception == "StandbyException" || reply.exception == "RetriableException";
}

// Takes "http://host:port/path?query" apart.
Result<HttpRequest> request_to(const std::string& location) {
  constexpr std::string_view kScheme = "http://";
  if (location.empty()) return Status::io_error("it redirects without a Location");
  const Status bad = Status::io_error(fmt::format("it redirects to \"{}\"", shortened(location)));
  if (location.starts_with("https://"))
    return Status::not_supported(std::string(bad.message()))
        .hinting("TLS with HDFS is not supported: dfs.http.policy must allow HTTP");
  const bool printable = std::ranges::all_of(location, [](char c) { return c > 0x20 && c < 0x7f; });
  if (!location.starts_with(kScheme) || !printable) return bad;
  const std::string_view rest = std::string_view(location).substr(kScheme.size());
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return bad;
  const Result<ServerAddress> server = parse_server(rest.substr(0, slash), kHttpPort);
  if (!server.ok() || !is_host(server->host)) return bad;
  HttpRequest request;
  request.method = "PUT";
  request.host = server->host;
  request.port = server->port;
  request.target = rest.substr(slash, std::min(rest.find('#'), rest.size()) - slash);
  return request;
}

// Upload: the pieces of a local file, as http_call() asks for them.
class Upload {
 public:
  Upload(const ReadableFile& file, const std::string& path,
         const std::function<bool(uint64_t bytes_done)>& progress)
      : file_(file), path_(path), progress_(progress) {}

  Status tell(uint64_t done) const {
    if (!progress_ || progress_(done)) return {};
    return Status::aborted(fmt::format("stopped after {} of {} bytes", done, file_.size())).at(path_);
  }
  Result<std::string_view> next(uint64_t done) {
    if (done > 0) CELLAR_TRY(tell(done));
    piece_.resize(static_cast<size_t>(std::min<uint64_t>(kPieceBytes, file_.size() - done)));
    CELLAR_TRY(file_.read(done, piece_.size(), piece_.data()).at(path_));
    return std::string_view(piece_);
  }

 private:
  const ReadableFile& file_;
  const std::string& path_;
  const std::function<bool(uint64_t bytes_done)>& progress_;
  std::string piece_;
};

}  // namespace

class WebHdfs::Impl {
 public:
  Impl(WebHdfsPlace place, std::string user, int64_t timeout_us)
      : place_(std::move(place)), user_(std::move(user)), timeout_us_(timeout_us) {}

  std::string path_of(const std::string& below) const {
    return below.empty() ? place_.path : place_.path + "/" + below;
  }
  // Asks for an answer {"boolean": …}.
  Result<bool> ask_boolean(const char* method, const std::string& path, std::string_view operation);
  // Asks the NameNode where to create the file. Returns its redirect.
  Result<Reply> ask_place_of(const std::string& path);
  // Sends the bytes to where the redirect leads.
  Status send(const Reply& redirect, const std::string& path, Upload& upload, uint64_t bytes) const;

 private:
  // Asks the servers, the one that answered last first, until one that is active answers.
  Result<Reply> ask(const char* method, const std::string& path, std::string_view operation);
  std::string target(const std::string& path, std::string_view operation) const;
  // Describes an answer that is not the one which was hoped for.
  Status refused(const Reply& reply, const std::string& path) const;

  const WebHdfsPlace place_;
  const std::string user_;
  const int64_t timeout_us_;
  std::atomic<size_t> active_ = 0;  // the server that answered last
};

std::string WebHdfs::Impl::target(const std::string& path, std::string_view operation) const {
  std::string to = "/webhdfs/v1";
  append_percent_encoded(to, path, "/");
  to += fmt::format("?op={}&user.name=", operation);
  append_percent_encoded(to, user_, "");
  return to;
}

Result<Reply> WebHdfs::Impl::ask(const char* method, const std::string& path, std::string_view operation) {
  const size_t count = place_.servers.size();
  const size_t first = active_.load(std::memory_order_relaxed);
  std::string failures;
  std::string_view advice;  // set if a server is not active
  for (size_t i = 0; i < count; ++i) {
    const size_t at = (first + i) % count;
    HttpRequest request;
    request.method = method;
    request.host = place_.servers[at].first;
    request.port = place_.servers[at].second;
    request.target = target(path, operation);
    const std::string server = http_server_text(request.host, request.port);
    Result<HttpAnswer> answer = http_call(request, timeout_us_);
    std::string failure;
    if (answer.ok()) {
      Reply reply = reply_of(server, std::move(answer).value());
      if (!is_passive(reply)) {
        active_.store(at, std::memory_order_relaxed);
        return reply;
      }
      advice = web_hdfs_meaning(reply.exception).hint;
      failure = fmt::format("{} is not active: {}", server, reply.message);
    } else {
      failure = answer.status().message();
    }
    failures += (failures.empty() ? "" : "; ") + failure;
  }
  return advice.empty() ? Status::io_error(failures).hinting(kWebHdfsCheck)
                        : Status::busy(failures).hinting(advice);
}

Status WebHdfs::Impl::refused(const Reply& reply, const std::string& path) const {
  const std::string& server = reply.server;
  if (reply.http.status == 401)
    return Status::not_supported(fmt::format("{} asks for a login", server))
        .hinting("Kerberos and other logins are not supported: HDFS must have simple authentication");
  if (reply.exception.empty())
    return Status::io_error(
               fmt::format("{} answers with status {}, and not as WebHDFS does", server, reply.http.status))
        .hinting(kWebHdfsCheck);
  const WebHdfsMeaning meaning = web_hdfs_meaning(reply.exception);
  const Status status = Status::with_code(
      meaning.code,
      fmt::format("{} refuses {}: {} ({})", server, escaped_controls(path), reply.message, reply.exception));
  if (meaning.code == Code::kReadOnly)
    return status.hinting(
        fmt::format("user {} needs the right to write there: hdfs dfs -chown or -chmod "
                    "gives it, or name another user",
                    escaped_controls(user_)));
  return status.hinting(meaning.hint);
}

Result<bool> WebHdfs::Impl::ask_boolean(const char* method, const std::string& path,
                                        std::string_view operation) {
  CELLAR_TRY_ASSIGN(const Reply reply, ask(method, path, operation));
  if (reply.http.status != 200) return refused(reply, path);
  const Json json = Json::parse(reply.http.body, nullptr, false);
  const auto found = json.is_object() ? json.find("boolean") : json.end();
  if (found == json.end() || !found->is_boolean()) return refused(reply, path);
  return found->get<bool>();
}

Result<Reply> WebHdfs::Impl::ask_place_of(const std::string& path) {
  CELLAR_TRY_ASSIGN(Reply reply, ask("PUT", path, "CREATE&overwrite=true"));
  if (!is_redirect(reply)) return refused(reply, path);
  return reply;
}

Status WebHdfs::Impl::send(const Reply& redirect, const std::string& path, Upload& upload,
                           uint64_t bytes) const {
  Result<HttpRequest> request = request_to(redirect.http.location);
  if (!request.ok()) return request.status().with_context(redirect.server).hinting(kWebHdfsCheck);
  request->content_type = "application/octet-stream";
  request->body_bytes = bytes;
  request->body = [&upload](uint64_t done) { return upload.next(done); };
  Result<HttpAnswer> answer = http_call(*request, timeout_us_);
  if (!answer.ok()) {
    const Status& status = answer.status();
    if (!status.is(Code::kIoError) || !status.place().empty()) return status;  // of the local file
    return status.with_context(fmt::format("writing {}", escaped_controls(path)))
        .hinting(
            "the NameNode names DataNodes by host: this machine must reach them; an HttpFS gateway stands "
            "in for them");
  }
  const Reply reply = reply_of(http_server_text(request->host, request->port), std::move(answer).value());
  if (is_redirect(reply))
    return Status::io_error(fmt::format("{} redirects once more", reply.server)).hinting(kWebHdfsCheck);
  if (reply.http.status != 201 && reply.http.status != 200) return refused(reply, path);
  if (!reply.http.took_body)
    return Status::io_error(
        fmt::format("{} answers before it has all bytes of {}", reply.server, escaped_controls(path)));
  return {};
}

WebHdfs::WebHdfs(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WebHdfs::~WebHdfs() = default;

Result<std::unique_ptr<WebHdfs>> WebHdfs::open(const WebHdfsPlace& place, const std::string& user,
                                               int64_t timeout_us) {
  if (place.servers.empty()) return Status::invalid_argument("no NameNode is named").hinting(kWebHdfsForm);
  if (user.empty()) return Status::invalid_argument("HDFS needs the name of a user");
  return std::unique_ptr<WebHdfs>(new WebHdfs(std::make_unique<Impl>(place, user, timeout_us)));
}

Status WebHdfs::make_directories(const std::string& below) {
  if (!below.empty()) CELLAR_TRY(check_below(below));
  const std::string path = impl_->path_of(below);
  CELLAR_TRY_ASSIGN(const bool made, impl_->ask_boolean("PUT", path, "MKDIRS"));
  if (made) return {};
  return Status::io_error(fmt::format("HDFS has not made the directory {}", escaped_controls(path)));
}

Status WebHdfs::write_file(const std::string& below, const std::string& local_path,
                           const std::function<bool(uint64_t bytes_done)>& progress) {
  CELLAR_TRY(check_below(below));
  const std::string path = impl_->path_of(below);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<ReadableFile> file, posix_file_system().open_file(local_path));
  Upload upload(*file, local_path, progress);
  CELLAR_TRY(upload.tell(0));
  CELLAR_TRY_ASSIGN(const Reply redirect, impl_->ask_place_of(path));
  CELLAR_TRY(impl_->send(redirect, path, upload, file->size()));
  return upload.tell(file->size());
}

Status WebHdfs::remove(const std::string& below, bool recursive) {
  CELLAR_TRY(check_below(below));
  const std::string_view operation = recursive ? "DELETE&recursive=true" : "DELETE&recursive=false";
  const Status status = impl_->ask_boolean("DELETE", impl_->path_of(below), operation).status();
  return status.is(Code::kNotFound) ? Status() : status;
}

#else

class WebHdfs::Impl {};

WebHdfs::WebHdfs(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WebHdfs::~WebHdfs() = default;

Result<std::unique_ptr<WebHdfs>> WebHdfs::open(const WebHdfsPlace&, const std::string&, int64_t) {
  return Status::not_supported("this build cannot write files into HDFS: it has no HTTP")
      .hinting("build with libcpp-httplib-dev (-DCELLAR_WITH_WEBHDFS=ON)");
}

Status WebHdfs::make_directories(const std::string&) { return {}; }
Status WebHdfs::write_file(const std::string&, const std::string&, const std::function<bool(uint64_t)>&) {
  return {};
}
Status WebHdfs::remove(const std::string&, bool) { return {}; }

#endif  // CELLAR_WITH_WEBHDFS

}  // namespace cellar::hbase
