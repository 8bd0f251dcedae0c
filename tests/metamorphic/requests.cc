// Requests: from the plan's words to the API's.
#include "tests/metamorphic/requests.h"

namespace cellar::testing {

Put put_of(const RowChange& change) {
  Put put(change.row);
  if (change.put_ttl_ms) put.ttl_ms(*change.put_ttl_ms);
  for (const ModelChange& each : change.changes)
    put.add_at(each.family, each.qualifier, each.timestamp.value_or(kNow), each.value);
  return put;
}

Delete delete_of(const RowChange& change) {
  Delete erase(change.row, change.timestamp.value_or(kNow));
  for (const ModelChange& each : change.changes) {
    switch (each.kind) {
      case ModelChange::Kind::kDeleteVersion:
        erase.version(each.family, each.qualifier, *each.timestamp);
        break;
      case ModelChange::Kind::kDeleteLatest:
        erase.latest_version(each.family, each.qualifier);
        break;
      case ModelChange::Kind::kDeleteColumn:
        erase.column(each.family, each.qualifier, each.timestamp);
        break;
      case ModelChange::Kind::kDeleteFamily:
        erase.family(each.family, each.timestamp);
        break;
      default:
        erase.family_version(each.family, *each.timestamp);
        break;
    }
  }
  return erase;
}

bool reads(const Operation& operation) {
  if (operation.kind == Operation::Kind::kCheckAndMutate) return true;
  for (const RowChange& row : operation.rows)
    for (const ModelChange& each : row.changes)
      if (each.kind == ModelChange::Kind::kIncrement || each.kind == ModelChange::Kind::kAppend ||
          each.kind == ModelChange::Kind::kDeleteLatest)
        return true;
  return false;
}

Increment increment_of(const RowChange& change) {
  Increment increment(change.row);
  if (change.put_ttl_ms) increment.ttl_ms(*change.put_ttl_ms);
  for (const ModelChange& each : change.changes) increment.add(each.family, each.qualifier, each.amount);
  return increment;
}

Append append_of(const RowChange& change) {
  Append append(change.row);
  if (change.put_ttl_ms) append.ttl_ms(*change.put_ttl_ms);
  for (const ModelChange& each : change.changes) append.add(each.family, each.qualifier, each.value);
  return append;
}

RowMutations::Mutation mutation_of(const RowChange& change) {
  if (change.is_delete) return delete_of(change);
  const ModelChange::Kind kind = change.changes.front().kind;
  if (kind == ModelChange::Kind::kIncrement) return increment_of(change);
  if (kind == ModelChange::Kind::kAppend) return append_of(change);
  return put_of(change);
}

RowMutations mutations_of(const std::vector<RowChange>& rows) {
  RowMutations mutations(rows.front().row);
  for (const RowChange& each : rows) mutations.add(mutation_of(each));
  return mutations;
}

bool computes(const RowChange& change) {
  return !change.is_delete && (change.changes.front().kind == ModelChange::Kind::kIncrement ||
                               change.changes.front().kind == ModelChange::Kind::kAppend);
}

// "expected OP stored", as the client of HBase describes it.
bool model_holds(const ModelCheck& check, const std::string& expected, const Cell* stored) {
  if (expected.empty()) {
    const bool nothing = stored == nullptr || stored->value.empty();
    return nothing == (check.compare != CompareOp::kNotEqual);
  }
  if (stored == nullptr) return false;
  switch (check.compare) {
    case CompareOp::kLess:
      return expected < stored->value;
    case CompareOp::kLessOrEqual:
      return expected <= stored->value;
    case CompareOp::kEqual:
      return expected == stored->value;
    case CompareOp::kNotEqual:
      return expected != stored->value;
    case CompareOp::kGreaterOrEqual:
      return expected >= stored->value;
    default:
      return expected > stored->value;
  }
}

}  // namespace cellar::testing
