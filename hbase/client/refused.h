// How the client refuses what a cluster does not have.
#pragma once

#include <string>

#include "cellar/status.h"

namespace cellar::hbase {

// kNotSupported: "an HBase cluster has no …", with what to use instead as the hint.
inline Status cluster_has_no(const std::string& what, const std::string& instead) {
  return Status::not_supported("an HBase cluster has no " + what).hinting(instead);
}

}  // namespace cellar::hbase
