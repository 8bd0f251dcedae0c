// MasterService: what a master answers: statements, descriptors, namespaces, the state of the cluster.
#pragma once

#include "hbase/serve/call.h"
#include "hbase/serve/catalog.h"

namespace cellar::hbase::serve {

// Any thread may call any function. Statements are finished before they are answered. Clients ask for the
// result of a procedure all the same, and get it at once.
class MasterService {
 public:
  // `catalog` must outlive the service.
  explicit MasterService(Catalog& catalog) : catalog_(catalog) {}

  // Answers a call to MasterService. kNotSupported for a method that Cellar does not have.
  Status master_service(Call& call);
  // Answers a call to ClientMetaService, by which clients find the master and the region of hbase:meta.
  Status registry_service(Call& call);

 private:
  Catalog& catalog_;
};

}  // namespace cellar::hbase::serve
