// FeedBook: its edits, and which log segments feeds keep.
#include "engine/manifest/feed_book.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"

namespace cellar {
namespace {

constexpr uint64_t kNoteBytes = 256;  // what an ingested file or a dropped family costs the manifest, roughly

bool has_records(const LogSegment& segment) { return segment.bytes > kFileHeaderBytes; }

FeedRecord* find(FeedBook& book, uint64_t id) { return const_cast<FeedRecord*>(book.feed(id)); }

Status no_feed(uint64_t id) { return Status::invalid_argument(fmt::format("no feed {}", id)); }

Status add(FeedBook& book, const FeedRecord& wanted) {
  if (wanted.id == 0 || wanted.name.empty()) return Status::invalid_argument("a feed needs an id and a name");
  if (book.feed(wanted.id) != nullptr || book.named(wanted.name) != nullptr)
    return Status::invalid_argument(fmt::format("two feeds named '{}', or of id {}", wanted.name, wanted.id));
  book.feeds.push_back(wanted);
  return {};
}

Status retain(FeedBook& book, const LogSegment& segment) {
  if (segment.id == 0) return Status::invalid_argument("a retained segment needs an id");
  if (!book.retained.empty() && book.retained.back().id >= segment.id)
    return Status::invalid_argument(fmt::format("segment {} is retained out of order", segment.id));
  book.retained.push_back(segment);
  return {};
}

}  // namespace

const FeedRecord* FeedBook::feed(uint64_t id) const {
  const auto found = std::ranges::find(feeds, id, &FeedRecord::id);
  return found == feeds.end() ? nullptr : &*found;
}

const FeedRecord* FeedBook::named(std::string_view name) const {
  const auto found = std::ranges::find_if(feeds, [&](const FeedRecord& each) { return each.name == name; });
  return found == feeds.end() ? nullptr : &*found;
}

bool FeedBook::is_retained(uint64_t segment) const {
  return std::ranges::find(retained, segment, &LogSegment::id) != retained.end();
}

bool FeedBook::followed() const {
  return std::ranges::any_of(feeds, [](const FeedRecord& each) { return !each.lost; });
}

Status apply(FeedBook& book, const FeedEdit& edit) {
  for (const FeedRecord& feed : edit.add) CELLAR_TRY(add(book, feed));
  for (const uint64_t id : edit.drop)
    if (std::erase_if(book.feeds, [&](const FeedRecord& each) { return each.id == id; }) == 0)
      return no_feed(id);
  for (const FeedEdit::Acknowledged& each : edit.acknowledge) {
    FeedRecord* feed = find(book, each.id);
    if (feed == nullptr) return no_feed(each.id);
    if (!feed->lost) feed->acknowledged = std::max(feed->acknowledged, each.sequence);
  }
  // One that was dropped meanwhile needs no cutting off.
  for (const uint64_t id : edit.lose)
    if (FeedRecord* feed = find(book, id); feed != nullptr) feed->lost = true;
  for (const LogSegment& segment : edit.retain) CELLAR_TRY(retain(book, segment));
  if (edit.release_before)
    std::erase_if(book.retained, [&](const LogSegment& each) { return each.id < *edit.release_before; });
  trim(book);
  CELLAR_DCHECK(std::ranges::is_sorted(book.retained, {}, &LogSegment::id));
  return {};
}

void trim(FeedBook& book) {
  uint64_t needed_behind = UINT64_MAX;
  for (const FeedRecord& feed : book.feeds)
    if (!feed.lost) needed_behind = std::min(needed_behind, feed.acknowledged);
  std::erase_if(book.dropped, [&](const DroppedFamily& each) { return each.sequence <= needed_behind; });
  std::erase_if(book.unlogged, [&](const UnloggedNote& each) { return each.sequence <= needed_behind; });
  CELLAR_ASSERT(book.followed() || (book.dropped.empty() && book.unlogged.empty()));
}

uint64_t held_back(const FeedBook& book, const FeedRecord& feed, std::span<const LogSegment> segments,
                   uint64_t log_start) {
  uint64_t bytes = 0;
  if (feed.lost) return bytes;
  for (const LogSegment& segment : segments)
    if (segment.id < log_start && segment.last_sequence > feed.acknowledged && has_records(segment))
      bytes += segment.bytes;
  for (const UnloggedNote& note : book.unlogged)
    if (note.sequence > feed.acknowledged) bytes += kNoteBytes;
  for (const DroppedFamily& each : book.dropped)
    if (each.sequence > feed.acknowledged) bytes += kNoteBytes;
  return bytes;
}

FeedRetention retention_of(const FeedBook& book, std::span<const LogSegment> segments, uint64_t log_start) {
  FeedRetention result;
  CELLAR_DCHECK(std::ranges::is_sorted(segments, {}, &LogSegment::id));
  result.first = log_start;
  for (const FeedRecord& feed : book.feeds) {
    if (feed.lost) continue;
    if (held_back(book, feed, segments, log_start) > feed.retained_bytes_max) {
      result.lost.push_back(feed);
      continue;
    }
    const auto needed = std::ranges::find_if(segments, [&](const LogSegment& each) {
      return has_records(each) && each.last_sequence > feed.acknowledged;
    });
    if (needed != segments.end()) result.first = std::min(result.first, needed->id);
  }
  for (const LogSegment& segment : segments)
    if (segment.id >= result.first && segment.id < log_start && has_records(segment))
      result.retained.push_back(segment);
  CELLAR_ASSERT(result.first <= log_start && result.lost.size() <= book.feeds.size());
  return result;
}

FeedEdit edit_of(const FeedBook& book, const FeedRetention& retention) {
  FeedEdit edit;
  CELLAR_ASSERT(retention.retained.empty() || retention.retained.front().id >= retention.first);
  CELLAR_ASSERT(std::ranges::none_of(retention.lost, &FeedRecord::lost));  // a feed is lost once
  for (const FeedRecord& feed : retention.lost) edit.lose.push_back(feed.id);
  for (const LogSegment& segment : retention.retained)
    if (!book.is_retained(segment.id)) edit.retain.push_back(segment);
  if (!book.retained.empty() && book.retained.front().id < retention.first)
    edit.release_before = retention.first;
  return edit;
}

}  // namespace cellar
