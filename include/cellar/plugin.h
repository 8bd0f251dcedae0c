// Registry<T>, PluginParams, CELLAR_PLUGIN: parts that are chosen by name, one file each.
//
// A plug-in is a class in a file of its own. The build finds the file by its folder and stem; no list is
// edited. The line
//   CELLAR_PLUGIN(CompactionPolicy, compaction_policy_mine, "mine", OldestFirst)
// makes it available as "mine" or "mine(files=5, ratio=1.5)". A program may also call
// Registry<T>::instance().add(...) first thing.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

// PluginParams: the parameters in the parentheses. Each getter marks its key as known, and finish() reports
// unknown keys. One thread at a time.
class PluginParams {
 public:
  // Parses "name" or "name(key=value, …)": kInvalidArgument naming what is wrong and where.
  static Result<PluginParams> parse(std::string_view text);

  const std::string& name() const { return name_; }

  // Return the value of `key`, or `otherwise` if it is not given. finish() reports a value of the wrong kind.
  // Sizes accept the suffixes k, m, g and words such as 8MiB or 1 GB (powers of 1024). Durations accept ms,
  // s, m, h, d.
  uint64_t count(std::string_view key, uint64_t otherwise) const;
  double number(std::string_view key, double otherwise) const;
  uint64_t bytes(std::string_view key, uint64_t otherwise) const;
  int64_t duration_ms(std::string_view key, int64_t otherwise) const;
  bool flag(std::string_view key, bool otherwise) const;
  std::string text(std::string_view key, std::string otherwise) const;
  // Returns the parts of a list "a,b,c", at least one. Only this getter accepts commas.
  std::vector<std::string> list(std::string_view key, std::string_view otherwise) const;
  // Reports through finish() that the value of `key` is not `expected`, such as "a whole number". Only the
  // first report counts.
  void complain(std::string_view key, std::string_view expected) const;
  // Return a number from `least` to `most`, or one of `choices`. Counts and integers are whole. If
  // `otherwise` is not among these values, the key must be given.
  uint64_t count_within(std::string_view key, uint64_t otherwise, uint64_t least, uint64_t most) const;
  int64_t integer_within(std::string_view key, int64_t otherwise, int64_t least, int64_t most) const;
  double number_within(std::string_view key, double otherwise, double least, double most) const;
  std::string choice(std::string_view key, std::string_view otherwise,
                     std::initializer_list<std::string_view> choices) const;

  // Returns ok if every given key is known and every value is of its kind. Call it after constructing the
  // plug-in.
  Status finish() const;

 private:
  const std::string* find(std::string_view key) const;

  std::string name_;
  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> continued_;  // keys with commas: the complaint about them
  mutable std::map<std::string, bool, std::less<>> asked_;     // true: as a list
  mutable std::string complaint_;
};

// Returns the names among `choices` that are nearest to `name`: with an edit distance of at most 2, or one
// begins with the other.
std::string nearest_name(std::string_view name, const std::vector<std::string>& choices);
// Returns "did you mean orders?", or an empty text.
std::string nearest_hint(std::string_view name, const std::vector<std::string>& choices);

// Registry<T>: factories of T by name. Filled at start-up; afterwards any thread may make() and names().
template <class T>
class Registry {
 public:
  using Factory = std::function<std::unique_ptr<T>(const PluginParams&)>;

  static Registry& instance() {
    static Registry registry;
    return registry;
  }

  // Adds or replaces a factory. Not while another thread uses this registry.
  void add(std::string name, Factory factory) { factories_[std::move(name)] = std::move(factory); }

  // Makes an object from "name(key=value)". kInvalidArgument for an unknown name, with the nearest one as the
  // hint, and for an unknown or invalid parameter.
  Result<std::unique_ptr<T>> make(std::string_view text) const {
    CELLAR_TRY_ASSIGN(const PluginParams params, PluginParams::parse(text));
    const auto found = factories_.find(params.name());
    if (found == factories_.end()) return unknown(params.name());
    std::unique_ptr<T> made = found->second(params);
    CELLAR_TRY(params.finish());
    return made;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, factory] : factories_) all.push_back(name);
    return all;
  }

 private:
  Status unknown(const std::string& name) const {
    std::string known;
    for (const std::string& each : names()) known += (known.empty() ? "" : ", ") + each;
    return Status::invalid_argument("unknown name \"" + name + "\"; known: " + known)
        .hinting(nearest_hint(name, names()));
  }

  std::map<std::string, Factory, std::less<>> factories_;
};

}  // namespace cellar

// Registers Class under `text` in Registry<Kind>. `where` is the file's folder and stem, joined by an
// underscore. The build calls cellar_plugin_<folder>_<stem>(), so a wrong name is a link error that spells
// the right one.
#define CELLAR_PLUGIN(Kind, where, text, Class)                                                    \
  void cellar_plugin_##where() {                                                                   \
    Registry<Kind>::instance().add(text, [](const PluginParams& params) -> std::unique_ptr<Kind> { \
      return std::make_unique<Class>(params);                                                      \
    });                                                                                            \
  }
