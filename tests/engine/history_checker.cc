// HistoryChecker: builds the graph of dependencies and looks for a circle.
#include "tests/engine/history_checker.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace cellar::testing {
namespace {

struct Edge {
  size_t to;
  const char* kind;
};

struct Graph {
  std::vector<std::vector<Edge>> edges;
  std::vector<int> state;  // 0: not seen, 1: on the path, 2: done
  std::vector<size_t> path;

  // The first circle, as text.
  std::string circle() {
    state.assign(edges.size(), 0);
    for (size_t from = 0; from < edges.size(); ++from)
      if (std::string found = state[from] == 0 ? walk(from) : ""; !found.empty()) return found;
    return {};
  }

  // Depth first, without recursion: histories are long.
  std::string walk(size_t start) {
    std::vector<std::pair<size_t, size_t>> stack{{start, 0}};
    state[start] = 1;
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == edges[node].size()) {
        state[node] = 2;
        stack.pop_back();
        continue;
      }
      const Edge edge = edges[node][next++];
      if (state[edge.to] == 1) return text_of(stack, edge.to);
      if (state[edge.to] == 0) {
        state[edge.to] = 1;
        stack.emplace_back(edge.to, 0);
      }
    }
    return {};
  }

  std::string text_of(const std::vector<std::pair<size_t, size_t>>& stack, size_t first) const {
    std::string text = "circle: " + std::to_string(first);
    bool inside = false;
    for (const auto& [node, next] : stack) {
      inside = inside || node == first;
      if (!inside) continue;
      const Edge& edge = edges[node][next - 1];
      text += std::string(" -") + edge.kind + "-> " + std::to_string(edge.to);
    }
    return text;
  }
};

class Checker {
 public:
  Checker(const std::vector<HistoryEntry>& history, const std::map<std::string, NumberList>& last)
      : history_(history), last_(last) {
    graph_.edges.resize(history.size());
  }

  HistoryVerdict run() {
    for (size_t i = 0; i < history_.size(); ++i)
      for (const auto& [key, numbers] : history_[i].appended)
        for (const uint64_t number : numbers)
          if (!owners_.emplace(number, i).second) complain("number " + std::to_string(number) + " twice");
    for (const auto& [key, list] : last_) check_list(key, list);
    for (size_t i = 0; i < history_.size() && ok(); ++i) check_entry(i);
    if (ok()) verdict_.complaint = graph_.circle();
    return verdict_;
  }

 private:
  bool ok() const { return verdict_.complaint.empty(); }
  void complain(std::string text) {
    if (ok()) verdict_.complaint = std::move(text);
  }
  void add(size_t from, size_t to, const char* kind, uint64_t& count) {
    if (from == to) return;
    graph_.edges[from].push_back({to, kind});
    ++count;
  }

  // Who appended an element comes before who appended the next.
  void check_list(const std::string& key, const NumberList& list) {
    std::set<uint64_t> seen;
    for (size_t i = 0; i < list.size(); ++i) {
      if (!owners_.contains(list[i]))
        return complain(key + " holds " + std::to_string(list[i]) + " of nobody");
      if (!seen.insert(list[i]).second) return complain(key + " holds " + std::to_string(list[i]) + " twice");
      if (i != 0) add(owners_[list[i - 1]], owners_[list[i]], "ww", verdict_.ww);
    }
  }

  void check_entry(size_t at) {
    for (const auto& [key, numbers] : history_[at].appended) {
      const NumberList& list = list_of(key);
      const auto found = std::search(list.begin(), list.end(), numbers.begin(), numbers.end());
      if (found == list.end()) complain(std::to_string(at) + " appended to " + key + " what is not there");
    }
    for (const auto& [key, read] : history_[at].read) {
      const NumberList& list = list_of(key);
      if (read.size() > list.size() || !std::equal(read.begin(), read.end(), list.begin()))
        return complain(std::to_string(at) + " read of " + key + " what was never there");
      if (!read.empty()) add(owners_[read.back()], at, "wr", verdict_.wr);
      if (read.size() < list.size()) add(at, owners_[list[read.size()]], "rw", verdict_.rw);
    }
  }

  const NumberList& list_of(const std::string& key) const {
    static const NumberList kEmpty;
    const auto found = last_.find(key);
    return found == last_.end() ? kEmpty : found->second;
  }

  const std::vector<HistoryEntry>& history_;
  const std::map<std::string, NumberList>& last_;
  std::map<uint64_t, size_t> owners_;
  Graph graph_;
  HistoryVerdict verdict_;
};

}  // namespace

HistoryVerdict check_history(const std::vector<HistoryEntry>& history,
                             const std::map<std::string, NumberList>& last) {
  return Checker(history, last).run();
}

}  // namespace cellar::testing
