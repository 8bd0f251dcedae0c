// Addresses of pages by reversed domain: org.example.www/index.html, so that all hosts of a domain are
// neighbours.
//
//   example_reversed_domains [STORE [FILE]]
//
// Table pages: row = reversed host, port, path; u:<scheme> = the address as it was given. Table forward: the
// same with the host as it is. The file has one address a line.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "examples/reversed_domains/addresses.h"

namespace {

using namespace example;

// Reads the rows of a domain: its own, and those of its hosts. After the domain comes a point, a slash or a
// colon. Digits sort between slash and colon, so that rows of other domains lie in between: the scan seeks
// past them.
Result<std::set<std::string>> rows_of(Table& pages, const std::string& domain, ReadStats* cost = nullptr) {
  const std::string reversed = reversed_domain(domain);
  const std::vector<KeyRange> ranges = {{reversed + ".", reversed + "0"}, {reversed + ":", reversed + ";"}};
  CELLAR_TRY_ASSIGN(const auto scanner, pages.scan(Scan(ranges).stats(cost)));
  std::set<std::string> rows;
  for (const RowView row : *scanner) rows.emplace(row.row());
  CELLAR_TRY(scanner->status());
  return rows;
}

struct Data {
  std::map<std::string, std::string> addresses;          // by row: one of the addresses
  std::map<std::string, std::set<std::string>> domains;  // by domain: its rows
  std::vector<std::string> lines;
  size_t skipped = 0;
};

Result<Data> load(Engine& engine, Table& pages, Table& forward, const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status::not_found(path + " cannot be read: name a file with one address a line");
  Data data;
  for (std::string line; std::getline(file, line);) {
    data.lines.push_back(line);
    const std::optional<Address> address = parsed(line);
    if (!address || address->key().size() > kRowBytesMax) {
      ++data.skipped;
      continue;
    }
    CELLAR_TRY(pages.put(Put(address->key()).add("u", address->scheme, line)));
    CELLAR_TRY(forward.put(Put(address->host + address->rest).add("u", address->scheme, line)));
    data.addresses[address->key()] = line;
    data.domains[domain_of(address->host)].insert(address->key());
  }
  if (data.addresses.empty()) return Status::invalid_argument(path + " has no addresses");
  CELLAR_TRY(engine.flush());
  return data;
}

Status ask_domain(Table& pages, Table& forward, const Data& data, Questions& questions) {
  const auto size = [](const auto& domain) { return domain.second.size(); };
  const auto& [domain, expected] = *std::ranges::max_element(data.domains, {}, size);
  questions.chapter("The domain with the most pages: " + domain);
  ReadStats cost;
  CELLAR_TRY_ASSIGN(const std::set<std::string> rows, rows_of(pages, domain, &cost));
  CELLAR_TRY(questions.holds("these are the rows", rows == expected));
  CELLAR_TRY(questions.answer("How many pages has it, on all its hosts?", std::to_string(rows.size()),
                              std::to_string(expected.size()), &cost));

  // Hosts as they are: the rows of the domain lie everywhere.
  std::string pattern = "^([^/]*\\.)?";
  for (const char letter : domain) pattern += letter == '.' ? std::string("\\.") : std::string(1, letter);
  CELLAR_TRY_ASSIGN(const ComparatorPtr of_domain, regex(pattern + "[:/]"));
  cost = {};
  CELLAR_TRY_ASSIGN(const RangeCount found,
                    forward.count(Scan().filter(row_filter(CompareOp::kEqual, of_domain)).stats(&cost)));
  CELLAR_TRY(questions.answer("The same with hosts as they are: a regular expression over the whole table",
                              std::to_string(found.rows), std::to_string(expected.size()), &cost));

  return {};
}

// A prefix that ends within a label also finds other domains: net.example finds net.example2.
Status ask_prefix(Table& pages, const Data& data, Questions& questions) {
  const auto with_prefix = [&](const std::string& domain) {
    const std::string reversed = reversed_domain(domain);
    size_t rows = 0;
    for (auto row = data.addresses.lower_bound(reversed); row != data.addresses.end(); ++row, ++rows)
      if (!row->first.starts_with(reversed)) break;
    return rows;
  };
  std::string worst;
  size_t most = 0;
  for (const auto& [domain, rows] : data.domains) {
    const size_t others = with_prefix(domain) - rows.size();
    if (rows.size() < 10 || others <= most) continue;
    worst = domain;
    most = others;
  }
  if (worst.empty()) return {};  // no domain of these data begins like another
  CELLAR_TRY_ASSIGN(const RangeCount found, pages.count(Scan(keys_with_prefix(reversed_domain(worst)))));
  CELLAR_TRY(questions.answer("Rows that merely begin with " + reversed_domain(worst),
                              std::to_string(found.rows), std::to_string(with_prefix(worst))));
  CELLAR_TRY_ASSIGN(const std::set<std::string> rows, rows_of(pages, worst));
  return questions.answer("Of them, rows of other domains", std::to_string(found.rows - rows.size()),
                          std::to_string(most));
}

Status ask_all(Table& pages, const Data& data, Questions& questions) {
  questions.chapter("All domains, and all addresses");
  size_t neighbours = 0;
  for (const auto& [domain, expected] : data.domains) {
    CELLAR_TRY_ASSIGN(const std::set<std::string> rows, rows_of(pages, domain));
    CELLAR_TRY(questions.holds("rows of " + domain, rows == expected));
    neighbours += rows.size();
  }
  CELLAR_TRY(
      questions.answer("Pages of all " + std::to_string(data.domains.size()) + " domains, each by one scan",
                       std::to_string(neighbours), std::to_string(data.addresses.size())));
  CELLAR_TRY_ASSIGN(const auto scanner, pages.scan({}));
  auto expected = data.addresses.begin();
  for (const RowView row : *scanner) {
    CELLAR_TRY(questions.holds("the rows are sorted",
                               expected != data.addresses.end() && row.row() == expected->first));
    CELLAR_TRY(questions.same("there and back", reversed_domain(reversed_domain(row.row())), row.row()));
    const std::optional<Address> address = parsed(expected->second);
    CELLAR_TRY(questions.same("the address", reversed_domain(row.row()), address->host + address->rest));
    ++expected;
  }
  CELLAR_TRY(scanner->status());
  const auto without_host = [](const std::string& line) {
    const size_t host = line.find("://");
    return host == std::string::npos || host + 3 == line.size() || line[host + 3] == '/';
  };
  return questions.answer("Lines without a host, which were left out", std::to_string(data.skipped),
                          std::to_string(std::ranges::count_if(data.lines, without_host)));
}

Status ask_edges(Questions& questions) {
  questions.chapter("Edges");
  const auto key_of = [](const char* text) {
    const std::optional<Address> address = parsed(text);
    return address ? address->key() : "no address";
  };
  CELLAR_TRY(questions.answer("A host in capitals, a path in capitals",
                              key_of("https://DOCS.Example.ORG/Case.html"), "org.example.docs/Case.html"));
  CELLAR_TRY(
      questions.answer("No path", key_of("https://example.org?without=slash"), "org.example/?without=slash"));
  CELLAR_TRY(questions.answer("A port", key_of("http://www.example.org:80/a.b"), "org.example.www:80/a.b"));
  CELLAR_TRY(questions.answer(
      "A numerical address: its network comes last, so do not reverse such keys to scan networks",
      key_of("http://192.0.2.7/manual"), "7.2.0.192/manual"));
  CELLAR_TRY(questions.answer("One of IPv6 stays as it is", key_of("http://[2001:db8::1]:8080/x"),
                              "[2001:db8::1]:8080/x"));
  CELLAR_TRY(questions.answer("Without a host", key_of("https:///no-host"), "no address"));
  return questions.answer("Not an address", key_of("not an address"), "no address");
}

Status run(const std::string& store, const std::vector<std::string>& files, Questions& questions) {
  if (files.size() != 1) return Status::invalid_argument("name the store and one file of addresses");
  CELLAR_TRY_ASSIGN(const auto engine, new_store(store));
  const TableOptions options = {.families = {{.name = "u"}}};
  CELLAR_TRY_ASSIGN(const auto pages, engine->create_table("pages", options));
  CELLAR_TRY_ASSIGN(const auto forward, engine->create_table("forward", options));
  CELLAR_TRY_ASSIGN(const Data data, load(*engine, *pages, *forward, files[0]));
  questions.say(std::to_string(data.lines.size()) + " lines, " + std::to_string(data.addresses.size()) +
                " pages of " + std::to_string(data.domains.size()) + " domains");
  CELLAR_TRY(ask_domain(*pages, *forward, data, questions));
  CELLAR_TRY(ask_prefix(*pages, data, questions));
  CELLAR_TRY(ask_all(*pages, data, questions));
  CELLAR_TRY(ask_edges(questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "reversed_domains_store", run); }
