// KillPlan: defines each write of the killed program as a function of its number. It also defines the state
// that a store must hold after the first so many writes. The program that writes and the one that kills it
// both use it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cellar/cellar.h"

namespace cellar::testing {

constexpr uint32_t kKillWriters = 2;  // threads; each has rows of its own

// The `number`th write of a writer (from 1).
struct KillWrite {
  enum class Kind : uint8_t { kPuts, kDeleteRow, kIncrement, kUnlogged };
  enum class Before : uint8_t { kNothing, kFlush, kCompact, kCompactAll };
  struct Place {
    uint32_t table = 0;  // 0: "t", 1: "u"
    std::string family;
    std::string row;
  };
  uint64_t number = 0;
  Kind kind = Kind::kPuts;
  Before before = Before::kNothing;
  Durability durability = Durability::kSyncWal;
  std::string row;            // of a delete or an increment
  std::vector<Place> places;  // of puts
  size_t padding = 0;         // trailing bytes after the number in each value
};
KillWrite kill_write(uint64_t seed, uint32_t writer, uint64_t number);

EngineOptions kill_engine_options();
// Tables "t" (families a, b, c) and "u" (family d), made if absent.
Result<std::vector<std::shared_ptr<Table>>> open_kill_tables(Engine& engine);
Status perform(Engine& engine, const std::vector<std::shared_ptr<Table>>& tables, const KillWrite& write);

// "t/a/row" and the number of the write that put the cell there; of a counter its value.
using KillState = std::map<std::string, uint64_t>;
void advance(KillState& state, const KillWrite& write);
// Returns the state found, of each writer. A cell that no write can have put is an error.
Result<std::vector<KillState>> found_states(Engine& engine);

// Sent through the pipe after each acknowledgement. Number 0: the store is open.
struct KillMessage {
  uint32_t writer = 0;
  uint32_t reserved = 0;
  uint64_t number = 0;
};

}  // namespace cellar::testing
