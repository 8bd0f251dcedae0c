// A store that HBase's own client works on, with a clock that the client's program sets.
#pragma once

#include <filesystem>
#include <string>

#include "cellar/status.h"

namespace cellar::interop {

// Serves a store in the directory until standard input ends. Prints the address; a line "clock MS" sets the
// time of the store and is answered by "ok". `certificate`: a PEM file, with the key, for TLS. Clients must
// then show a certificate of `issuers`. Empty: plain text.
Status serve_store(const std::filesystem::path& directory, const std::string& certificate,
                   const std::string& issuers);

}  // namespace cellar::interop
