// Statements of a master: tables, families and namespaces.
#pragma once

#include "hbase/serve/call.h"
#include "hbase/serve/catalog.h"

namespace cellar::hbase::serve {

// Each reads the request of a call, carries the statement out and answers. Errors have the classes of HBase.
Status create_table(Call& call, Catalog& catalog);
Status delete_table(Call& call, Catalog& catalog);
Status truncate_table(Call& call, Catalog& catalog);
Status enable_table(Call& call, Catalog& catalog);
Status disable_table(Call& call, Catalog& catalog);
Status modify_table(Call& call, Catalog& catalog);
Status add_family(Call& call, Catalog& catalog);
Status modify_family(Call& call, Catalog& catalog);
Status delete_family(Call& call, Catalog& catalog);
Status flush_table(Call& call, Catalog& catalog);
Status create_namespace(Call& call, Catalog& catalog);
Status modify_namespace(Call& call, Catalog& catalog);
Status delete_namespace(Call& call, Catalog& catalog);
Status get_namespace(Call& call, Catalog& catalog);
Status list_namespaces(Call& call, Catalog& catalog);
Status list_namespace_descriptors(Call& call, Catalog& catalog);

}  // namespace cellar::hbase::serve
