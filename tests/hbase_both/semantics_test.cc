// Goal: the text cases of the data model's rules have the same answers through the client of HBase. Method:
// each step is carried out on a store, and on a store that is served. Writes and reads of the served one go
// through the client.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cellar/cellar.h"
#include "hbase/client/cluster_engine.h"
#include "tests/engine/semantics_story.h"
#include "tests/hbase_both/running_server.h"
#include "tests/support/data_driven.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

// A served engine, and a client that has its table "t" open.
class ServedTable {
 public:
  explicit ServedTable(Engine& engine) {
    hbase::serve::ServerOptions options;
    options.port = 0;
    server_ = RunningServer::start(engine, options);
    client_ = hbase::open_cluster("hbase://localhost:" + std::to_string(server_->port()), {}).value();
    table_ = client_->open_table("t").value();
  }
  ServedTable(const ServedTable&) = delete;
  ServedTable& operator=(const ServedTable&) = delete;
  ~ServedTable() {
    table_.reset();
    EXPECT_TRUE(client_->close().ok());
  }

  Table* table() const { return table_.get(); }

 private:
  std::unique_ptr<RunningServer> server_;
  std::unique_ptr<Engine> client_;
  std::shared_ptr<Table> table_;
};

std::shared_ptr<Table> table_through_client(Engine& engine) {
  const auto served = std::make_shared<ServedTable>(engine);
  return {served, served->table()};
}

// The steps of a case, as cases of one step.
std::vector<Case> steps_of(const Case& c) {
  std::vector<Case> steps;
  const auto add = [&](const std::string& line) {
    Case& step = steps.emplace_back();
    step.file = c.file;
    step.line = c.line;
    step.command = line.substr(0, line.find(' '));
    if (step.command.size() < line.size()) step.args = line.substr(step.command.size() + 1);
  };
  add(c.command + " " + c.args);
  for (const std::string& line : c.lines()) add(line);
  return steps;
}

// The code with which an answer begins that is an error, or an empty text.
std::string code_of(const std::string& answer) {
  const size_t colon = answer.find(": ");
  const std::string word = answer.substr(0, colon);
  const bool code =
      colon != std::string::npos && word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == word.npos;
  return code && word.size() > 3 ? word : "";
}

// Returns true if the lines are equal, or are errors with the same code. Errors of a cluster name more.
bool agree(const std::string& found, const std::string& expected) {
  const std::vector<std::string> ours = split_lines(found), theirs = split_lines(expected);
  return std::ranges::equal(ours, theirs, [](const std::string& a, const std::string& b) {
    return a == b || (!code_of(a).empty() && code_of(a) == code_of(b));
  });
}

class SemanticsThroughTheClient : public ::testing::TestWithParam<std::string> {};

// Returns true if both answers end with the same error. A call that fails returns no row of those before.
bool end_alike(const std::string& found, const std::string& expected) {
  const std::vector<std::string> ours = split_lines(found), theirs = split_lines(expected);
  return !ours.empty() && !theirs.empty() && !code_of(ours.back()).empty() &&
         code_of(ours.back()) == code_of(theirs.back());
}

// Some rules are others by design (docs/on-a-cluster.md). A server adds to counters without a check for
// overflow, as HBase does. A scan sees the table as it is when its first row is asked for.
TEST_P(SemanticsThroughTheClient, CasesAreAnsweredAsOnAStore) {
  const uint64_t step_of_groups = test_scale() >= 1 ? 1 : 3;
  uint64_t same = 0, refused = 0, groups = 0;
  bool wrapped = false;
  Story store, cluster(table_through_client);
  for (const Case& c : read_cases("semantics/" + GetParam() + ".txt"))
    for (const Case& step : steps_of(c)) {
      if (step.command == "create") wrapped = false, ++groups;
      if (groups % step_of_groups != 0) continue;
      const std::string expected = store.answer(step);
      const std::string found = cluster.answer(step);
      wrapped = wrapped || expected.find("would overflow 64 bits") != std::string::npos;
      if (agree(found, expected))
        ++same;
      else if (code_of(found) == "not_supported" || wrapped || step.command == "rest" ||
               end_alike(found, expected))
        ++refused;
      else
        ADD_FAILURE_AT(step.file.c_str(), step.line)
            << step.command << " " << step.args << "\nstore   " << expected << "cluster " << found;
    }
  count(same, "steps of semantic cases with the same answer through the client");
  count(refused, "steps of semantic cases that the client refuses, or that follow other rules");
  EXPECT_GT(same, 5 * refused);
}

INSTANTIATE_TEST_SUITE_P(, SemanticsThroughTheClient,
                         ::testing::Values("deletes", "reads", "scans", "counters", "atomic", "versions_ttl",
                                           "compaction", "tricky", "filters"),
                         [](const auto& file) { return file.param; });

}  // namespace
}  // namespace cellar::testing
