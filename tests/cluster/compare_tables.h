// CompareTables: the same random requests to two tables, whose answers must be equal.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "cellar/table.h"
#include "tests/cluster/draw_requests.h"

namespace cellar::interop {

// One thread at a time.
class CompareTables {
 public:
  // `cluster` and `store` have the families of DrawRequests::table(), and outlive this. `report` is given a
  // text for each difference.
  CompareTables(Table& cluster, Table& store, DrawRequests draw,
                std::function<void(const std::string&)> report)
      : tables_{&cluster, &store}, draw_(std::move(draw)), report_(std::move(report)) {}

  // Draws one request, and sends it to both.
  void step();

  uint64_t differences() const { return differences_; }
  // How many requests of each kind were compared.
  const std::map<std::string, uint64_t>& counts() const { return counts_; }

 private:
  template <class Ask>
  void both(const std::string& kind, const Ask& ask, const std::string& about = {},
            std::string_view changed_row = {});
  void remember(std::string_view row, const std::string& change);
  void increment();
  void append();
  void batch();
  void many();
  void scan();

  Table* tables_[2];
  DrawRequests draw_;
  std::function<void(const std::string&)> report_;
  uint64_t differences_ = 0;
  std::map<std::string, uint64_t> counts_;
  std::map<std::string, std::deque<std::string>> history_;  // the last changes of each row
};

}  // namespace cellar::interop
