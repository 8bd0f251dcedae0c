// Packages and the packages that they depend on: a graph of links, without Cellar.
#pragma once

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "examples/application.h"

namespace example {

using Links = std::set<std::string, std::less<>>;
using Graph = std::map<std::string, Links, std::less<>>;  // a package and what it depends on

// Adds the packages of "libc6 (>= 2.34), debconf (>= 0.5) | debconf-2.0", without versions and architectures.
inline void add_links(std::string_view depends, Links& links) {
  while (!depends.empty()) {
    const size_t end = std::min(depends.find_first_of(",|"), depends.size());
    std::string_view name = depends.substr(0, end);
    depends.remove_prefix(std::min(end + 1, depends.size()));
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    name = name.substr(0, name.find_first_of(" (:"));
    if (!name.empty()) links.emplace(name);
  }
}

// Reads lines "Package: NAME" and "Depends: LIST", as apt-cache dumpavail prints them.
inline Result<Graph> read_graph(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status::not_found("cannot open the list of packages " + path);
  Graph graph;
  Links* links = nullptr;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Package: ")) links = &graph[line.substr(9)];
    if (line.starts_with("Depends: ") && links != nullptr)
      add_links(std::string_view(line).substr(9), *links);
  }
  if (graph.empty()) return Status::invalid_argument(path + " has no line \"Package: NAME\"");
  return graph;
}

// The links of a node in one value: each name with its length in two bytes.
inline std::string serialised(const Links& links) {
  std::string value;
  for (const std::string& link : links) value += KeyBuilder().sized(link).key().value();
  return value;
}

inline Result<Links> links_of(std::string_view value) {
  Links links;
  KeyReader reader(value);
  while (!reader.at_end()) {
    CELLAR_TRY_ASSIGN(const std::string_view link, reader.sized());
    links.emplace(link);
  }
  return links;
}

}  // namespace example
