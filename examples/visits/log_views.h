// The page views of a web server's log in the combined format.
#pragma once

#include <algorithm>
#include <ctime>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "examples/application.h"

namespace example {

// One request for a page. A log has no cookies, so the visitor is a hash of address and browser.
struct View {
  std::string cookie;   // 8 bytes
  int64_t time_ms = 0;  // unique in the log: the seconds of the log, and the number of the line in its second
  std::string ip, path, referer;
  std::string term;                   // words that the visitor searched for, or empty
  std::string product, cart, bought;  // of product pages; of checkouts
};

// Returns the text up to `end` and moves after it. A text in quotes may have \" in it, as Apache writes it.
inline std::string take_until(std::string_view& rest, char end) {
  std::string taken;
  size_t at = 0;
  for (; at < rest.size() && rest[at] != end; ++at) {
    if (rest[at] == '\\' && at + 1 < rest.size()) ++at;
    taken += rest[at];
  }
  rest.remove_prefix(std::min(rest.size(), at + 1));
  return taken;
}

// Returns the value of a parameter of an address, decoded: "red shoes" of "/search?q=red+shoes".
inline std::string parameter(std::string_view address, std::string_view name) {
  size_t at = address.find('?');
  while (at != std::string_view::npos && !address.substr(at + 1).starts_with(std::string(name) + "="))
    at = address.find('&', at + 1);
  if (at == std::string_view::npos) return {};
  std::string_view coded = address.substr(at + name.size() + 2);
  coded = coded.substr(0, coded.find_first_of("&#"));
  std::string value;
  for (size_t i = 0; i < coded.size(); ++i) {
    if (coded[i] == '%' && i + 2 < coded.size()) {
      value += static_cast<char>(std::strtol(std::string(coded.substr(i + 1, 2)).c_str(), nullptr, 16));
      i += 2;
    } else {
      value += coded[i] == '+' ? ' ' : coded[i];
    }
  }
  return value;
}

// Tells product pages and checkouts from other pages. The sample's shop has /product/NAME and /checkout. On
// the site of the complete log a presentation counts as a product, and a downloaded file as bought.
inline void classify(View& view) {
  const std::string_view path = std::string_view(view.path).substr(0, view.path.find('?'));
  for (const std::string_view folder : {"/product/", "/presentations/"}) {
    if (path.starts_with(folder))
      view.product = path.substr(folder.size(), path.find('/', folder.size()) - folder.size());
  }
  if (path.starts_with("/files/") && !path.ends_with("/"))
    view.cart = path, view.bought = path.substr(path.rfind('/') + 1);
  if (path == "/checkout")
    view.cart = parameter(view.path, "cart"), view.bought = parameter(view.path, "items");
  view.term = parameter(view.path.starts_with("/search") ? view.path : view.referer, "q");
}

// Returns false if the line is not in the combined format.
inline bool parse_view(std::string_view line, View& view) {
  view.ip = take_until(line, ' ');
  take_until(line, '[');
  std::tm when = {};
  if (strptime(take_until(line, ']').c_str(), "%d/%b/%Y:%H:%M:%S +0000", &when) == nullptr) return false;
  view.time_ms = timegm(&when) * 1000;
  take_until(line, '"');
  const std::string request = take_until(line, '"');
  take_until(line, '"');
  view.referer = take_until(line, '"');
  take_until(line, '"');
  view.cookie = md5_bytes(view.ip + " " + take_until(line, '"')).substr(0, 8);
  const size_t from = request.find(' ');
  if (from == std::string::npos || view.referer.empty()) return false;
  view.path = request.substr(from + 1, request.find(' ', from + 1) - from - 1);
  classify(view);
  return true;
}

// Returns the views of a log, without pictures and styles. Counts invalid lines in `refused`.
inline Result<std::vector<View>> read_views(const std::string& path, size_t& refused) {
  std::ifstream file(path);
  if (!file) return Status::not_found("cannot open the log " + path);
  std::vector<View> views;
  std::map<int64_t, int64_t> lines_of_second;
  for (std::string line; std::getline(file, line);) {
    View view;
    if (!parse_view(line, view)) {
      ++refused;
      continue;
    }
    const std::string page = view.path.substr(0, view.path.find('?'));
    bool asset = false;
    for (const char* end : {".png", ".jpg", ".gif", ".ico", ".css", ".js"})
      asset = asset || page.ends_with(end);
    if (asset) continue;
    view.time_ms += lines_of_second[view.time_ms]++;
    views.push_back(std::move(view));
  }
  if (views.empty()) return Status::invalid_argument(path + " has no lines in the combined format");
  return views;
}

inline std::string funnel_text(uint64_t saw, uint64_t bought) {
  return std::to_string(saw) + " saw a product, " + std::to_string(bought) + " of them bought later";
}

// Returns how many visitors saw a product, and how many bought something after that, by the log alone.
inline std::string funnel_of(const std::vector<View>& views) {
  std::map<std::string, int64_t> seen;  // when a visitor saw the first product
  std::set<std::string> bought;
  for (const View& view : views) {
    if (view.product.empty()) continue;
    int64_t& time = seen.try_emplace(view.cookie, view.time_ms).first->second;
    time = std::min(time, view.time_ms);
  }
  for (const View& view : views) {
    const auto first = seen.find(view.cookie);
    if (!view.cart.empty() && first != seen.end() && view.time_ms > first->second) bought.insert(view.cookie);
  }
  return funnel_text(seen.size(), bought.size());
}

// Returns the views of the only file that is named, in the order of their times.
inline Result<std::vector<View>> views_by_time(const std::vector<std::string>& files) {
  if (files.size() != 1) return Status::invalid_argument("name one web log in the combined format");
  size_t refused = 0;
  CELLAR_TRY_ASSIGN(std::vector<View> views, read_views(files[0], refused));
  std::sort(views.begin(), views.end(), [](const View& a, const View& b) { return a.time_ms < b.time_ms; });
  return views;
}

}  // namespace example
