// Dispatcher: from the bytes of a request to the bytes of its answer, for all services.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "hbase/serve/call.h"
#include "hbase/serve/catalog.h"
#include "hbase/serve/master_service.h"
#include "hbase/serve/region_service.h"

namespace cellar::hbase::serve {

// ConnectionTerms: the service that a client asked for, and the form of the answers that it takes.
struct ConnectionTerms {
  std::string service;       // ClientService, MasterService, AdminService, ClientMetaService
  bool cell_blocks = false;  // the cells of answers travel in cell blocks
};

// Any thread may call any function. Bytes are untrusted.
class Dispatcher {
 public:
  // `catalog` must outlive the dispatcher.
  Dispatcher(Catalog& catalog, const ServiceLimits& limits)
      : catalog_(catalog), regions_(catalog, limits), master_(catalog) {}

  // Reads the header that follows the preamble of a connection. If it is refused, `refusal` has the frame
  // to send before the connection is closed.
  Result<ConnectionTerms> connect(std::string_view header, std::string& refusal);
  // Returns the frame that refuses a connection with an invalid preamble.
  std::string refuse_preamble(std::string_view preamble) const;
  // Returns the frame that refuses a connection in plain text, for a server of TLS.
  std::string refuse_plain_text() const;
  // Returns the answer to "Regist", with which clients of HBase 2.6 ask for the cluster before they connect.
  std::string answer_registry() const;

  // Returns the whole frame of the answer to a request. kCorruption if the frame is invalid or has no
  // number. The connection must be closed then. `arrived_us`: when the frame came, by the steady clock. A
  // call that its client has given up since is not made: its client may have made it again, and more.
  Result<std::string> answer(const ConnectionTerms& terms, std::string_view frame, int64_t arrived_us);

  ScannerTable& scanners() { return regions_.scanners(); }

 private:
  Status run(const ConnectionTerms& terms, Call& call);

  Catalog& catalog_;
  RegionService regions_;
  MasterService master_;
};

}  // namespace cellar::hbase::serve
