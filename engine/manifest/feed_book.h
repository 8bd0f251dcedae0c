// FeedBook: what the manifest remembers for feeds, and how much of the log they hold back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cellar/feed.h"
#include "cellar/status.h"
#include "engine/log/wal_writer.h"

namespace cellar {

struct FeedRecord {
  uint64_t id = 0;  // never used again
  std::string name = {};
  uint64_t acknowledged = 0;
  uint64_t retained_bytes_max = 0;
  bool lost = false;
  std::map<std::string, std::vector<std::string>> tables = {};

  bool operator==(const FeedRecord&) const = default;
};

// A family that is gone while the log that feeds read still mentions it.
struct DroppedFamily {
  uint32_t id = 0;
  std::string table = {};
  std::string family = {};
  uint64_t sequence = 0;  // no write to it is later

  bool operator==(const DroppedFamily&) const = default;
};

// A foreign file that was taken in; or, without a name, a family that was replaced as a whole. The log does
// not know of it.
struct UnloggedNote {
  uint64_t sequence = 0;
  uint32_t family_id = 0;
  std::string file = {};
  uint64_t bytes = 0;
  uint64_t cells = 0;

  bool operator==(const UnloggedNote&) const = default;
};

// Applied in the order of the members.
struct FeedEdit {
  struct Acknowledged {
    uint64_t id = 0;
    uint64_t sequence = 0;
  };
  std::vector<FeedRecord> add = {};
  std::vector<uint64_t> drop = {};
  std::vector<Acknowledged> acknowledge = {};  // keeps the greater one
  std::vector<uint64_t> lose = {};
  std::vector<LogSegment> retain = {};
  std::optional<uint64_t> release_before = {};  // retained segments below this id
};

// A value. A segment in `retained` ends at its LogSegment::bytes, whatever follows. All of it was durable
// before the manifest named it.
struct FeedBook {
  std::vector<FeedRecord> feeds = {};     // in the order of their creation
  std::vector<LogSegment> retained = {};  // below the start of the log, kept for feeds; ascending
  std::vector<DroppedFamily> dropped = {};
  std::vector<UnloggedNote> unlogged = {};  // ascending

  const FeedRecord* feed(uint64_t id) const;
  const FeedRecord* named(std::string_view name) const;
  bool is_retained(uint64_t segment) const;
  // Returns true if a feed is left that can still be read.
  bool followed() const;

  bool operator==(const FeedBook&) const = default;
};

// kInvalidArgument when the edit does not fit; the book is then half changed.
Status apply(FeedBook& book, const FeedEdit& edit);
// Forgets what every feed that is not lost has acknowledged.
void trim(FeedBook& book);

// Returns the bytes that this feed keeps from removal, if recovery reads the log from `log_start` on.
uint64_t held_back(const FeedBook& book, const FeedRecord& feed, std::span<const LogSegment> segments,
                   uint64_t log_start);

struct FeedRetention {
  uint64_t first = 0;                // segments below it are needed by nobody
  std::vector<FeedRecord> lost;      // hold back too much: they are to be cut off
  std::vector<LogSegment> retained;  // from `first` up to the start of the log
};
// Returns which segments to keep and which feeds to cut off if the log begins at `log_start`. `segments` are
// all that exist, ascending.
FeedRetention retention_of(const FeedBook& book, std::span<const LogSegment> segments, uint64_t log_start);

// The edit that makes it so.
FeedEdit edit_of(const FeedBook& book, const FeedRetention& retention);

}  // namespace cellar
