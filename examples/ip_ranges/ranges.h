// Ranges of addresses as files have them, and the answers that are found without Cellar.
#pragma once

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "examples/application.h"

namespace example {

// Addresses are 4 or 16 bytes, big-endian: they sort like the numbers.
struct Range {
  std::string first, last, country;
  size_t line = 0;  // the number among all ranges
};
using Ranges = std::vector<Range>;

// Returns an address that a file writes as a number (IPv4) or as text; empty if it is neither.
inline std::string address_bytes(const std::string& text) {
  char bytes[16];
  if (inet_pton(AF_INET6, text.c_str(), bytes) == 1) return {bytes, 16};
  if (inet_pton(AF_INET, text.c_str(), bytes) == 1) return {bytes, 4};
  uint64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || number > UINT32_MAX) return {};
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  return text.empty() || number > UINT32_MAX ? std::string() : plain_int32(static_cast<int32_t>(number));
}

inline std::string address_text(const std::string& bytes) {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text);
  return text;
}

// Moves to the next address, or to the one before. Returns false if there is no such address.
inline bool step(std::string& address, int by) {
  for (size_t i = address.size(); i-- > 0;) {
    address[i] = static_cast<char>(address[i] + by);
    if (address[i] != static_cast<char>(by > 0 ? 0 : 0xff)) return true;
  }
  return false;
}

// Returns last - first, in the bytes of an address. It sorts like the size of the range.
inline std::string size_of(const Range& range) {
  std::string size = range.last;
  int borrow = 0;
  for (size_t i = size.size(); i-- > 0;) {
    const int difference = static_cast<uint8_t>(size[i]) - static_cast<uint8_t>(range.first[i]) - borrow;
    borrow = difference < 0 ? 1 : 0;
    size[i] = static_cast<char>(difference);
  }
  return size;
}

// The rule where ranges overlap: the smallest one counts; of equal sizes the one that begins later; of equal
// ranges the later line.
inline bool counts_more(const Range& a, const Range& b) {
  return std::tuple(size_of(a), b.first, b.line) < std::tuple(size_of(b), a.first, a.line);
}

// Appends the lines "first,last,country" of a file. Lines that begin with # are comments.
inline Status read_ranges(const std::string& path, Ranges& ranges) {
  std::ifstream file(path);
  if (!file) return Status::not_found("cannot open " + path);
  size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const size_t comma = line.find(','), second = line.find(',', comma + 1);
    Range range;
    if (comma != std::string::npos && second != std::string::npos)
      range = {address_bytes(line.substr(0, comma)),
               address_bytes(line.substr(comma + 1, second - comma - 1)), line.substr(second + 1),
               ranges.size()};
    if (range.first.empty() || range.first.size() != range.last.size() || range.last < range.first)
      return Status::invalid_argument(path + ":" + std::to_string(number) +
                                      ": no range of addresses: " + line);
    ranges.push_back(std::move(range));
  }
  return {};
}

// Returns the country of an address by looking at every range; "" if no range has the address.
inline std::string country_by_search(const Ranges& ranges, const std::string& address) {
  const Range* best = nullptr;
  for (const Range& range : ranges) {
    if (range.first <= address && address <= range.last && (best == nullptr || counts_more(range, *best)))
      best = &range;
  }
  return best == nullptr ? "" : best->country;
}

// Returns the same ranges cut into pieces that do not overlap, each with the country that counts there.
inline Ranges split(const Ranges& ranges) {
  const auto order = [](const Range* a, const Range* b) { return counts_more(*a, *b); };
  std::map<std::string, std::vector<const Range*>> begins,
      ends;                         // ends: by the first address after the range
  std::vector<const Range*> never;  // ranges up to the greatest address
  for (const Range& range : ranges) {
    begins[range.first].push_back(&range), ends[range.first];
    std::string after = range.last;
    if (step(after, 1)) ends[after].push_back(&range);
  }
  Ranges pieces;
  std::set<const Range*, decltype(order)> open(order);
  for (auto at = ends.begin(); at != ends.end(); ++at) {
    for (const Range* range : at->second) open.erase(range);
    if (const auto here = begins.find(at->first); here != begins.end())
      open.insert(here->second.begin(), here->second.end());
    if (open.empty()) continue;
    std::string last =
        std::next(at) == ends.end() ? std::string(at->first.size(), '\xff') : std::next(at)->first;
    if (std::next(at) != ends.end()) step(last, -1);
    const std::string& country = (*open.begin())->country;
    std::string after = pieces.empty() ? "" : pieces.back().last;
    if (!pieces.empty() && pieces.back().country == country && step(after, 1) && after == at->first) {
      pieces.back().last = last;
    } else {
      pieces.push_back({at->first, last, country, pieces.size()});
    }
  }
  return pieces;
}

// Returns the country of an address by a binary search of pieces.
inline std::string country_of(const Ranges& pieces, const std::string& address) {
  const auto after =
      std::upper_bound(pieces.begin(), pieces.end(), address,
                       [](const std::string& wanted, const Range& piece) { return wanted < piece.first; });
  return after == pieces.begin() || std::prev(after)->last < address ? "" : std::prev(after)->country;
}

// Returns the ranges that share an address with a range before them.
inline Ranges overlaps_of(const Ranges& ranges) {
  Ranges sorted = ranges, overlaps;
  std::sort(sorted.begin(), sorted.end(), [](const Range& a, const Range& b) {
    return std::tie(a.first, a.line) < std::tie(b.first, b.line);
  });
  std::string end;
  for (const Range& range : sorted) {
    if (!end.empty() && range.first <= end) overlaps.push_back(range);
    end = std::max(end, range.last);
  }
  return overlaps;
}

// Returns addresses at and next to the ends of ranges, and some anywhere. They are the same at each run.
inline std::vector<std::string> addresses_to_try(const Ranges& ranges, size_t count) {
  std::mt19937_64 random(7);
  std::vector<std::string> addresses;
  while (addresses.size() < count && !ranges.empty()) {
    const Range& range = ranges[random() % ranges.size()];
    std::string address = random() % 2 == 0 ? range.first : range.last;
    if (random() % 2 == 0) step(address, random() % 2 == 0 ? 1 : -1);
    if (random() % 4 == 0) {
      for (char& byte : address) byte = static_cast<char>(random());
    }
    addresses.push_back(std::move(address));
  }
  return addresses;
}

// Maps codes to names, by the list that comes with the time zones; empty where that is not installed.
inline std::map<std::string, std::string> country_names() {
  std::map<std::string, std::string> names;
  std::ifstream file("/usr/share/zoneinfo/iso3166.tab");
  for (std::string line; std::getline(file, line);) {
    if (line.size() > 3 && line[0] != '#') names[line.substr(0, 2)] = line.substr(3);
  }
  return names;
}

}  // namespace example
