// PeerOptions: options of an engine by the names that Cellar gives them, for every engine that has them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellar/options.h"
#include "cellar/status.h"

namespace cellar::bench {

struct Setting {
  std::string name;
  std::string value;
};
// Takes "name=value". Error: kInvalidArgument.
Result<Setting> parse_setting(std::string_view text);

// An engine of a run, and options that are its own:
// "cellar[compaction=leveled(fanout=4),memtable=skip_list]". The text is its name in reports.
struct PeerText {
  std::string text;
  std::string engine;
  std::vector<Setting> settings;
};
// Takes engines with commas between them. Commas inside brackets belong to the engine. Error:
// kInvalidArgument, also if two engines have the same text.
Result<std::vector<PeerText>> parse_peers(std::string_view text);

// PeerOptions: the options that were set, with the defaults of the driver. One thread at a time.
class PeerOptions {
 public:
  PeerOptions();
  // Sets an option of an engine or family. Errors: kInvalidArgument for an invalid name or value, with the
  // nearest name as its hint, and for an option that the driver sets itself.
  Status set(const std::string& name, const std::string& value);
  // Remembers an option under the engine's own name.
  void remember(const std::string& name, const std::string& value);
  // Returns true if Cellar has an option of this name.
  static bool knows(const std::string& name);
  // Returns Cellar's spelling of a name: "compression" for "COMPRESSION".
  static std::string spelling(const std::string& name);

  const EngineOptions& engine() const { return engine_; }
  const FamilyOptions& family() const { return family_; }
  bool given(std::string_view name) const;
  // Returns the value that was set, or `otherwise`.
  uint64_t cache_bytes(uint64_t otherwise) const {
    return given("cache_bytes") ? engine_.cache_bytes : otherwise;
  }
  uint64_t memtable_bytes(uint64_t otherwise) const {
    return given("memtable_bytes") ? engine_.memtable_bytes : otherwise;
  }
  // Returns "name=value,…" in the order in which they were set.
  std::string to_text() const;

 private:
  EngineOptions engine_;
  FamilyOptions family_;
  std::vector<Setting> given_;  // a later value replaces an earlier one
};

}  // namespace cellar::bench
