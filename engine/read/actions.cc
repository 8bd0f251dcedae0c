// Actions: finds the actions that can be written together and passes the others to the table one by one.
#include "engine/read/actions.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "base/assert.h"
#include "engine/values/mutation_reader.h"

namespace cellar {
namespace {

// Limits of a write of several actions, which holds its row locks and delays other writes.
constexpr size_t kTogetherMax = 1000;
constexpr size_t kTogetherBytes = 1 << 20;

using Answer = Result<ActionResult>;

Answer of_status(Status status) {
  CELLAR_TRY(status);
  return ActionResult{};
}

Answer of_row(Result<Row> row) {
  CELLAR_TRY(row);
  return ActionResult{true, std::move(row).value()};
}

// Runs one action. Table::increment() would return only the sums; row mutations make the same write and
// return the cells.
Answer run_one(Table& table, const Action& action, const WriteOptions& options) {
  return std::visit(
      [&](const auto& each) -> Answer {
        using Each = std::remove_cvref_t<decltype(each)>;
        if constexpr (std::is_same_v<Each, Get>) {
          return of_row(table.get_row(each));
        } else if constexpr (std::is_same_v<Each, Put>) {
          return of_status(table.put(each, options));
        } else if constexpr (std::is_same_v<Each, Delete>) {
          return of_status(table.erase(each, options));
        } else if constexpr (std::is_same_v<Each, Append>) {
          return of_row(table.append(each, options));
        } else if constexpr (std::is_same_v<Each, Increment>) {
          return of_row(table.mutate(RowMutations(each.row()).add(each), options));
        } else if constexpr (std::is_same_v<Each, CheckAndMutate>) {
          return table.check_and_mutate(each, options);
        } else {
          return of_row(table.mutate(each, options));
        }
      },
      action);
}

size_t bytes_of(const RowMutation& mutation) {
  size_t bytes = mutation.row().size();
  for (const MutationPiece& piece : MutationReader(mutation).pieces()) bytes += piece.end - piece.family_at;
  return bytes;
}

// Returns the number of bytes of a write that reads nothing; 0 for any other action.
size_t blind_bytes(const Action& action) {
  if (const auto* put = std::get_if<Put>(&action)) return bytes_of(*put);
  const auto* erase = std::get_if<Delete>(&action);
  if (erase == nullptr) return 0;
  const bool reads = std::ranges::any_of(MutationReader(*erase).pieces(),
                                         [](const MutationPiece& piece) { return piece.latest_version; });
  return reads ? 0 : bytes_of(*erase);
}

// Returns how many of the first actions can be written together.
size_t together_at(std::span<const Action> actions) {
  size_t count = 0;
  for (size_t bytes = 0; count < std::min(actions.size(), kTogetherMax) && bytes < kTogetherBytes; ++count) {
    const size_t more = blind_bytes(actions[count]);
    if (more == 0) break;
    bytes += more;
  }
  CELLAR_ASSERT(count <= actions.size() && count <= kTogetherMax);
  return count;
}

}  // namespace

std::vector<Answer> run_actions(Table& table, std::span<const Action> actions, const WriteOptions& options,
                                const std::function<Status(std::span<const Action>)>& together) {
  std::vector<Answer> results;
  results.reserve(actions.size());
  for (size_t at = 0; at < actions.size();) {
    size_t count = together_at(actions.subspan(at));
    if (count > 1 && together) {
      const Status status = together(actions.subspan(at, count));
      if (!status.is(Code::kInvalidArgument) && !status.is(Code::kLimit)) {
        for (size_t i = 0; i < count; ++i) results.push_back(of_status(status));
        at += count;
        continue;
      }
    }
    for (count = std::max<size_t>(count, 1); count > 0; --count, ++at)
      results.push_back(run_one(table, actions[at], options));
  }
  CELLAR_ASSERT(results.size() == actions.size());
  return results;
}

}  // namespace cellar
