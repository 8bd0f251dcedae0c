// Finds the country of an address: loads ranges of IP addresses and reads the nearest row at or below it.
//
//   example_ip_ranges [STORE [GEOIP [GEOIP6]]]      files as Debian's tor-geoipdb has them
//
// One table for each kind of address. Row: first address of the range, 4 or 16 bytes, big-endian, so that
// rows sort as addresses do. Family r, the range: r:last (bytes), r:text. Family c, the country: c:code, and
// c:name where it is known.
#include <arpa/inet.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "cellar/cellar.h"

namespace {

using namespace cellar;

struct Range {
  std::string first;  // bytes, big-endian
  std::string last;
  std::string country;
};

// The bytes of an address as the files write it: a number (IPv4) or text (IPv6); empty when it is neither.
std::string address_bytes(const std::string& text) {
  char bytes[16];
  if (inet_pton(AF_INET6, text.c_str(), bytes) == 1) return {bytes, 16};
  if (inet_pton(AF_INET, text.c_str(), bytes) == 1) return {bytes, 4};
  uint32_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return {};
    number = number * 10 + static_cast<uint32_t>(c - '0');
  }
  number = htonl(number);
  std::memcpy(bytes, &number, 4);
  return text.empty() ? std::string() : std::string(bytes, 4);
}

std::string address_text(const std::string& bytes) {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text);
  return text;
}

// Lines "first,last,country"; comments begin with #.
Result<std::vector<Range>> read_ranges(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status::not_found("cannot open " + path);
  std::vector<Range> ranges;
  for (std::string line; std::getline(file, line);) {
    const size_t comma = line.find(',');
    const size_t second = line.find(',', comma + 1);
    if (line.starts_with('#') || comma == std::string::npos || second == std::string::npos) continue;
    Range range = {address_bytes(line.substr(0, comma)),
                   address_bytes(line.substr(comma + 1, second - comma - 1)), line.substr(second + 1)};
    if (!range.first.empty() && range.first.size() == range.last.size()) ranges.push_back(std::move(range));
  }
  return ranges;
}

// Code to name, from the list that comes with the time zones; empty where that is not installed.
std::map<std::string, std::string> country_names() {
  std::map<std::string, std::string> names;
  std::ifstream file("/usr/share/zoneinfo/iso3166.tab");
  for (std::string line; std::getline(file, line);) {
    if (line.size() > 3 && line[0] != '#') names[line.substr(0, 2)] = line.substr(3);
  }
  return names;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Status load(Engine& engine, const std::shared_ptr<Table>& table, const std::vector<Range>& ranges) {
  const auto start = std::chrono::steady_clock::now();
  const std::map<std::string, std::string> names = country_names();
  Batch batch;
  Put put("");
  uint64_t cells = 0;
  for (const Range& range : ranges) {
    put.start(range.first)
        .add("r", "last", range.last)
        .add("r", "text", address_text(range.first) + " - " + address_text(range.last))
        .add("c", "code", range.country);
    if (const auto name = names.find(range.country); name != names.end()) put.add("c", "name", name->second);
    cells += put.size();
    batch.put(table, put);
    constexpr size_t kBatchRows = 2000;
    if (batch.mutations() < kBatchRows) continue;
    CELLAR_TRY(engine.write(batch));
    batch.clear();
  }
  CELLAR_TRY(engine.write(batch));
  const double took = seconds_since(start);
  std::printf("%s: %zu ranges, %llu cells loaded in %.2f s (%.0f cells/s)\n", table->name().c_str(),
              ranges.size(), static_cast<unsigned long long>(cells), took, static_cast<double>(cells) / took);
  return {};
}

// The country of an address: the last range that begins at or before it, if it reaches that far. "" when none
// does.
Result<std::string> country_of(Table& table, const std::string& address, ReadStats* stats) {
  const Scan floor = Scan().start(address).reversed(true).limit(1).stats(stats);
  CELLAR_TRY_ASSIGN(const auto scanner, table.scan(floor));
  std::string country;
  if (scanner->next() && scanner->row().value("r", "last").value_or("") >= address)
    country = scanner->row().value("c", "code").value_or("");
  CELLAR_TRY(scanner->status());
  return country;
}

// The same by looking at every range.
std::string country_by_search(const std::vector<Range>& ranges, const std::string& address) {
  for (const Range& range : ranges) {
    if (range.first <= address && address <= range.last) return range.country;
  }
  return "";
}

// Addresses at, just below and just above the ends of ranges, and anywhere.
std::vector<std::string> addresses_to_try(const std::vector<Range>& ranges, size_t count) {
  std::mt19937_64 random(7);
  std::vector<std::string> addresses;
  while (addresses.size() < count) {
    const Range& range = ranges[random() % ranges.size()];
    std::string address = random() % 2 == 0 ? range.first : range.last;
    if (random() % 2 == 0) address.back() = static_cast<char>(address.back() + (random() % 2 == 0 ? 1 : -1));
    if (random() % 4 == 0) {
      for (char& byte : address) byte = static_cast<char>(random());
    }
    addresses.push_back(std::move(address));
  }
  return addresses;
}

Status check(Table& table, const std::vector<Range>& ranges) {
  constexpr size_t kChecked = 300;
  size_t outside = 0;
  for (const std::string& address : addresses_to_try(ranges, kChecked)) {
    CELLAR_TRY_ASSIGN(const std::string country, country_of(table, address, nullptr));
    const std::string expected = country_by_search(ranges, address);
    outside += expected.empty() ? 1 : 0;
    if (country != expected) {
      return Status::corruption(address_text(address) + " is in \"" + country + "\", by search in \"" +
                                expected + "\"");
    }
  }
  const auto start = std::chrono::steady_clock::now();
  constexpr size_t kTimed = 20000;
  ReadStats stats;
  for (const std::string& address : addresses_to_try(ranges, kTimed)) {
    CELLAR_TRY_ASSIGN(const std::string country, country_of(table, address, &stats));
    static_cast<void>(country);
  }
  const double took = seconds_since(start) * 1e6 / kTimed;
  const auto per_look_up = [](uint64_t count) { return static_cast<double>(count) / kTimed; };
  std::printf("%s: %zu answers equal to a search of all ranges (%zu of them: no country)\n",
              table.name().c_str(), kChecked, outside);
  std::printf("%s: %.1f us a look-up: %.2f blocks (%.2f from disk), %.1f cells examined\n",
              table.name().c_str(), took, per_look_up(stats.blocks_from_cache + stats.blocks_from_disk),
              per_look_up(stats.blocks_from_disk), per_look_up(stats.cells_examined));
  return {};
}

Status run(const std::string& path, const std::vector<std::string>& files) {
  std::filesystem::remove_all(path);
  EngineOptions options;
  options.create_if_missing = true;
  CELLAR_TRY_ASSIGN(const auto engine, Engine::open(path, options));
  for (const std::string& file : files) {
    CELLAR_TRY_ASSIGN(const std::vector<Range> ranges, read_ranges(file));
    if (ranges.empty()) return Status::not_found("no ranges in " + file);
    const TableOptions families = {.families = {{.name = "c"}, {.name = "r"}}};
    const std::string name = ranges[0].first.size() == 4 ? "ipv4" : "ipv6";
    CELLAR_TRY_ASSIGN(const auto table, engine->create_table(name, families));
    CELLAR_TRY(load(*engine, table, ranges));
    CELLAR_TRY(table->flush());
    CELLAR_TRY(check(*table, ranges));
  }
  return engine->close();
}

// A file of examples/data: looked for here and in the directories above, for programs run inside a build
// directory.
std::string sample(const std::string& name) {
  std::filesystem::path place = std::filesystem::current_path();
  while (!std::filesystem::exists(place / "examples" / "data" / name) && place.has_relative_path())
    place = place.parent_path();
  return (place / "examples" / "data" / name).string();
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files = {sample("ip_ranges_v4.csv"), sample("ip_ranges_v6.csv")};
  if (argc > 2) files.assign(argv + 2, argv + argc);
  const Status status = run(argc > 1 ? argv[1] : "ip_ranges_store", files);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return status.ok() ? 0 : 1;
}
