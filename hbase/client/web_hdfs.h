// WebHdfs: writes files into HDFS by WebHDFS, the HTTP interface of its NameNodes and of HttpFS gateways.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellar/status.h"

namespace cellar::hbase {

// WebHdfsPlace: a directory of HDFS.
struct WebHdfsPlace {
  // Hosts and ports of NameNodes, or of a gateway. The first that is active answers.
  std::vector<std::pair<std::string, uint16_t>> servers;
  std::string path;  // absolute, without a slash at its end
};

// Tells if the name begins with "webhdfs://".
bool is_web_hdfs(std::string_view name);

// Parses "webhdfs://nn1:9870,nn2:9870/staging/orders". A server without a port has NameNode's usual one,
// 9870; the port of HttpFS is 14000. The path means itself: "%20" are three characters. kInvalidArgument with
// the part that is wrong, and the form.
Result<WebHdfsPlace> parse_web_hdfs(std::string_view name);

// WebHdfs: writes below one directory, in the name of one user, without a login. Any thread; calls run
// concurrently. A name `below` the directory is relative: "d/file".
//
// Calls fail with kNotSupported if the servers ask for a login, or for TLS. They fail with kReadOnly if HDFS
// refuses the user. The others are kNoSpace at a quota, and kBusy in the safe mode or if no server is active.
// A server that is not reached, or does not answer as WebHDFS does, is kIoError with HOST:PORT.
class WebHdfs {
 public:
  ~WebHdfs();
  WebHdfs(const WebHdfs&) = delete;
  WebHdfs& operator=(const WebHdfs&) = delete;

  // `user` becomes the user.name of each request. A request fails after `timeout_us` of silence. Connects to
  // nothing yet. kNotSupported in a build without HTTP.
  static Result<std::unique_ptr<WebHdfs>> open(const WebHdfsPlace& place, const std::string& user,
                                               int64_t timeout_us);

  // Makes the directory and those above it. Ok if it exists. An empty name is the place itself.
  Status make_directories(const std::string& below);

  // Writes a copy of a local file, and replaces what was there. Reads it piece by piece. Calls `progress`, if
  // there is one, before the first byte and after each piece: kAborted once it returns false. After a failure
  // a part of the file may be there. kNotFound if the local file does not exist.
  Status write_file(const std::string& below, const std::string& local_path,
                    const std::function<bool(uint64_t bytes_done)>& progress);

  // Removes a file or directory. Ok if it does not exist. A directory that is not empty needs `recursive`.
  Status remove(const std::string& below, bool recursive);

 private:
  class Impl;
  explicit WebHdfs(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace cellar::hbase
