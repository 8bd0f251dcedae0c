// RegionService: what a region server answers: ClientService and AdminService.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cellar/check_and_mutate.h"
#include "hbase/serve/call.h"
#include "hbase/serve/catalog.h"
#include "hbase/serve/compactions.h"
#include "hbase/serve/nonces.h"
#include "hbase/serve/scanners.h"
#include "hbase/wire/from_wire_mutation.h"

namespace cellar::hbase::wire {
class CellBlockReader;
class Condition;
class RegionAction;
class RegionActionResult;
class ResultOrException;
class ScanRequest;
class ScanResponse;
class WireResult;
}  // namespace cellar::hbase::wire

namespace cellar::hbase::serve {

// Limits of what one client may hold, get or load.
struct ServiceLimits {
  size_t scanners = 10000;
  int64_t lease_ms = 60000;            // of a scanner, after its last call
  int64_t scan_call_ms = 5000;         // a scan's call ends after it, if the client takes heartbeats
  uint64_t answer_bytes = 100u << 20;  // a call of a scan or a list ends at this size
  size_t actions = 100000;             // of one list of actions
  size_t nonces = 100000;
  uint64_t nonce_bytes = 64u << 20;  // of the answers that are kept with them
  // Returns the path to read for the path of a file that a client asks to bulk load, or refuses it. Any
  // thread calls it. Empty: there are no bulk loads.
  std::function<Result<std::string>(const std::string& path)> admit_load = {};
};

struct OneAction;

// Any thread may call any function. Each function answers one call, with an error whose Java class the call
// knows.
class RegionService {
 public:
  // `catalog` must outlive the service.
  RegionService(Catalog& catalog, const ServiceLimits& limits);

  // Answers a call to the service of that name. kNotSupported for a method that Cellar does not have.
  Status client_service(Call& call);
  Status admin_service(Call& call);

  ScannerTable& scanners() { return scanners_; }

 private:
  Status get(Call& call);
  Status mutate(Call& call);
  Status multi(Call& call);
  Status scan(Call& call);
  Status open_scan(Call& call, const wire::ScanRequest& request, wire::ScanResponse& response);
  Status prepare_load(Call& call);
  Status load_files(Call& call);
  Status clean_up_load(Call& call);
  Status use_scan(Call& call, const wire::ScanRequest& request, wire::ScanResponse& response);
  Status next_rows(Call& call, const wire::ScanRequest& request, ScanSession& session,
                   wire::ScanResponse& response);

  // Makes a change, once for each nonce.
  Result<ActionResult> apply(Table& table, const wire::ReadMutation& mutation, uint64_t nonce_group);
  Result<ActionResult> apply_once(const NonceTable::Key& key,
                                  const std::function<Result<ActionResult>()>& change);
  Status region_actions(Call& call, const wire::RegionAction& actions, uint64_t nonce_group,
                        wire::CellBlockReader& cells, wire::RegionActionResult& result);
  Status single_actions(Call& call, const ServedRegion& region, const wire::RegionAction& actions,
                        uint64_t nonce_group, wire::CellBlockReader& cells, wire::RegionActionResult& result);
  void write_action(Call& call, const Table& table, OneAction& one, wire::ResultOrException& to);
  Status atomic_actions(const ServedRegion& region, const wire::RegionAction& actions,
                        const wire::Condition* condition, uint64_t nonce_group, wire::CellBlockReader& cells,
                        wire::RegionActionResult& result);

  // Returns the error of a read or write, as NoSuchColumnFamilyException where a family is unknown.
  Status name_failure(Call& call, const Table& table, const Status& status);

  Catalog& catalog_;
  const ServiceLimits limits_;
  ScannerTable scanners_;
  NonceTable nonces_;
  Compactions compactions_;
};

}  // namespace cellar::hbase::serve
