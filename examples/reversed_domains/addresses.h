// Addresses of pages in parts, and their keys.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "examples/application.h"

namespace example {

struct Address {
  std::string scheme, host, rest;  // rest: the port and the path, which begins with a slash
  std::string key() const { return reversed_domain(host + rest); }
};

// Splits an address. Hosts are lower-cased, because they are the same in any case; paths are not. An address
// without a path gets a slash, so that each row has one after its host or port. Nothing for text that has no
// host.
inline std::optional<Address> parsed(const std::string& text) {
  const size_t colon = text.find("://");
  if (colon == std::string::npos || colon == 0) return {};
  const size_t host_at = colon + 3;
  // A numerical address of IPv6 has colons of its own, within brackets.
  const size_t host_end =
      text[host_at] == '[' ? text.find(']', host_at) : text.find_first_of(":/?#", host_at);
  const size_t end =
      std::min(text.size(), host_end == std::string::npos ? host_end : host_end + (text[host_at] == '['));
  Address address = {text.substr(0, colon), text.substr(host_at, end - host_at), text.substr(end)};
  if (address.host.empty()) return {};
  std::ranges::transform(address.host, address.host.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  const size_t path = std::min(address.rest.find_first_of("/?#"), address.rest.size());
  if (path == address.rest.size() || address.rest[path] != '/') address.rest.insert(path, "/");
  return address;
}

// Returns the last two labels: "example.org" of "www.example.org". A list of public suffixes would know more.
inline std::string domain_of(const std::string& host) {
  const size_t dot = host.rfind('.');
  return dot == std::string::npos || dot == 0 ? host : host.substr(host.rfind('.', dot - 1) + 1);
}

}  // namespace example
