// Remote engines: openers by scheme.
#include "engine/values/remote_engines.h"

#include <map>

namespace cellar {
namespace {

constexpr std::string_view kHBase = "hbase://";

std::map<std::string, RemoteOpener>& openers() {
  static std::map<std::string, RemoteOpener> all;
  return all;
}

}  // namespace

void set_remote_opener(const std::string& scheme, RemoteOpener opener) { openers()[scheme] = opener; }

std::optional<Result<std::unique_ptr<Engine>>> open_remote(const std::string& name,
                                                           const EngineOptions& options) {
  for (const auto& [scheme, open] : openers())
    if (name.starts_with(scheme)) return open(name, options);
  if (!name.starts_with(kHBase)) return std::nullopt;
  return Status::not_supported("\"" + name +
                               "\" names an HBase cluster, and this program is linked without its client")
      .hinting("link cellar::hbase instead of cellar::cellar (build Cellar with -DCELLAR_WITH_HBASE=ON)");
}

}  // namespace cellar
