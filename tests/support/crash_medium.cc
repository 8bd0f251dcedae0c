// The bytes, the names, and the part of an append under way that a crash leaves.
#include "tests/support/crash_medium.h"

#include <algorithm>

#include "base/assert.h"

namespace cellar::testing {

namespace {

constexpr uint64_t kSectorBytes = 512;
constexpr uint64_t kWordBytes = 8;

// How the parts of something unsynced fare: some patterns find more than coins do.
class Fates {
 public:
  Fates(Random& random, uint64_t parts)
      : random_(random), style_(random.below(5)), chosen_(random.below(parts + 1)) {}

  // Returns true if part `index` is there.
  bool kept(uint64_t index) {
    switch (style_) {
      case 0:
        return true;
      case 1:
        return index != chosen_;  // one is missing, or none
      case 2:
        return index == chosen_;  // one alone is there, or none
      case 3:
        return index >= chosen_;  // the end, not the beginning
      default:
        return random_.one_in(2);
    }
  }

 private:
  Random& random_;
  uint64_t style_;
  uint64_t chosen_;
};

// A file as it is found.
struct Content {
  SparseBytes bytes;
  uint64_t appended = 0;  // what was, or was to be, appended
  uint64_t length = 0;

  void clear(uint64_t begin, uint64_t end) {
    end = std::min(end, bytes.size());
    if (begin < end) bytes.write(begin, std::string(end - begin, '\0'));
  }
};

class ImageWriter {
 public:
  ImageWriter(const LastAppend& last, const ImageOptions& options)
      : last_(last), options_(options), random_(options.seed) {}

  void write_directory(const CrashNode& node, Directory& into) {
    for (const auto& [name, child] : found_entries(node)) {
      if (child->is_directory) {
        auto made = into.directory(name, true);
        CELLAR_ASSERT(made.ok());
        directories_.push_back(std::move(made).value());
        write_directory(*child, *directories_.back());
      } else if (const auto written = written_.find(child.get()); written != written_.end()) {
        const Status linked = written->second.directory->link(written->second.name, into, name);
        CELLAR_ASSERT(linked.ok());
      } else {
        write_file(found_content(*child), name, into);
        written_.emplace(child.get(), Place{&into, name});
      }
    }
  }

 private:
  struct Place {
    Directory* directory;
    std::string name;
  };

  CrashEntries found_entries(const CrashNode& node) {
    CrashEntries entries = node.synced_entries;
    switch (options_.mode) {
      case CrashMode::kProcessKilled:
      case CrashMode::kKeepAll:
      case CrashMode::kZeroTail:
      case CrashMode::kTornTail:
        return node.entries;
      case CrashMode::kLoseUnsynced:
        return entries;
      case CrashMode::kPrefix:
      case CrashMode::kRandomSectors: {
        const uint64_t count = random_.below(node.unsynced.size() + 1);
        for (uint64_t i = 0; i < count; ++i) node.unsynced[i].apply(entries);
        return entries;
      }
      case CrashMode::kRandomEntries:
      case CrashMode::kRandomUnsynced: {
        Fates fates(random_, node.unsynced.size());
        for (uint64_t i = 0; i < node.unsynced.size(); ++i) {
          if (fates.kept(i)) node.unsynced[i].apply(entries);
        }
        return entries;
      }
    }
    return entries;
  }

  Content found_content(const CrashNode& node) {
    Content content{node.bytes, node.bytes.size(), node.length};
    if (last_.node.get() == &node) interrupt_last_append(node, content);
    switch (options_.mode) {
      case CrashMode::kProcessKilled:
      case CrashMode::kKeepAll:
      case CrashMode::kRandomEntries:
        break;
      case CrashMode::kLoseUnsynced:
        cut(content, node.synced, node.synced_length);
        break;
      case CrashMode::kPrefix:
        keep_prefix(node, content);
        break;
      case CrashMode::kRandomSectors:
      case CrashMode::kRandomUnsynced:
        keep_sectors(node, content);
        break;
      case CrashMode::kZeroTail:
        content.clear(node.synced, content.appended);
        break;
      case CrashMode::kTornTail:
        if (last_.node.get() == &node) tear_tail(node, content);
        break;
    }
    return content;
  }

  static void cut(Content& content, uint64_t bytes, uint64_t length) {
    content.bytes.resize(std::min(bytes, content.bytes.size()));
    content.length = length;
  }

  // A mapped file has its length of the last sync or the present one, nothing between.
  uint64_t mapped_length(const CrashNode& node) {
    return random_.one_in(2) ? node.synced_length : node.length;
  }

  void keep_prefix(const CrashNode& node, Content& content) {
    const uint64_t unsynced = content.appended - std::min(node.synced, content.appended);
    const uint64_t keep = node.synced + random_.below(unsynced + 1);
    const uint64_t length = node.mapped ? std::max(mapped_length(node), node.synced) : keep;
    cut(content, std::min(keep, length), length);
  }

  void keep_sectors(const CrashNode& node, Content& content) {
    uint64_t length = content.length;
    if (node.mapped) {
      length = mapped_length(node);
    } else if (content.length > node.synced_length) {
      // As long as it was, as at the last sync, or anything between.
      const uint64_t grown = content.length - node.synced_length;
      length = random_.one_in(3) ? node.synced_length : node.synced_length + random_.below(grown + 1);
      if (random_.one_in(3)) length = content.length;
    }
    const uint64_t begin = node.synced / kSectorBytes * kSectorBytes;
    const uint64_t sectors =
        (content.appended - std::min(begin, content.appended) + kSectorBytes - 1) / kSectorBytes;
    Fates fates(random_, sectors);
    for (uint64_t i = 0; i < sectors; ++i) {
      const uint64_t from = begin + i * kSectorBytes;
      if (!fates.kept(i)) content.clear(std::max(from, node.synced), from + kSectorBytes);
    }
    cut(content, length, length);
  }

  // The piece ends at a border of sectors within it; one that lies in a single sector is there or not.
  void tear_tail(const CrashNode& node, Content& content) {
    const uint64_t begin = std::max(last_.offset, node.synced);
    const uint64_t end = last_.offset + last_.piece.size();
    if (begin >= end || end > content.appended) return;
    std::vector<uint64_t> borders = {begin};
    for (uint64_t at = (begin / kSectorBytes + 1) * kSectorBytes; at < end; at += kSectorBytes)
      borders.push_back(at);
    const uint64_t border = borders[random_.below(borders.size())];
    cut(content, border, node.mapped ? content.length : border);
  }

  void interrupt_last_append(const CrashNode& node, Content& content) {
    const uint64_t bytes = last_.piece.size();
    const bool chosen = options_.last_append_words.has_value() || options_.last_append_bytes.has_value();
    if (!chosen && !last_.under_way) return;
    std::string piece = last_.piece;
    uint64_t present = bytes;  // of a plain file
    if (options_.last_append_words.has_value()) {
      keep_words(piece, *options_.last_append_words);
    } else if (options_.last_append_bytes.has_value()) {
      present = std::min(*options_.last_append_bytes, bytes);
    } else if (node.mapped) {
      keep_words(piece, words_of_torn_append((bytes + kWordBytes - 1) / kWordBytes));
    } else {
      present = last_.done;
    }
    content.bytes.resize(last_.offset);
    content.bytes.append(std::string_view(piece).substr(0, present));
    content.appended = content.bytes.size();
    if (!node.mapped) content.length = content.appended;
  }

  static void keep_words(std::string& piece, const std::vector<bool>& words) {
    for (uint64_t at = 0; at < piece.size(); ++at) {
      const uint64_t word = at / kWordBytes;
      if (word >= words.size() || !words[word]) piece[at] = '\0';
    }
  }

  // The first word is stored last, with release order: it is there only if all others are. Only a process
  // dies in the middle of it; other modes that keep all have the append not done at all.
  std::vector<bool> words_of_torn_append(uint64_t count) {
    std::vector<bool> words(count, false);
    if (options_.mode == CrashMode::kKeepAll || options_.mode == CrashMode::kLoseUnsynced) return words;
    Fates fates(random_, count);
    bool all = true;
    for (uint64_t i = 1; i < count; ++i) {
      words[i] = fates.kept(i);
      all = all && words[i];
    }
    words[0] = all && random_.one_in(2);
    return words;
  }

  static void write_file(const Content& content, const std::string& name, Directory& into) {
    auto created = into.create(name, {});
    CELLAR_ASSERT(created.ok());
    constexpr uint64_t kPieceBytes = uint64_t{64} << 10;  // pieces of zeros cost a file in memory nothing
    SparseBytes bytes = content.bytes;
    bytes.resize(content.length);
    for (uint64_t at = 0; at < bytes.size(); at += kPieceBytes) {
      const Status appended = (*created)->append(bytes.read(at, std::min(kPieceBytes, bytes.size() - at)));
      CELLAR_ASSERT(appended.ok());
    }
    const Status closed = (*created)->close();
    CELLAR_ASSERT(closed.ok());
  }

  const LastAppend& last_;
  const ImageOptions& options_;
  Random random_;
  std::map<const CrashNode*, Place> written_;
  std::vector<std::unique_ptr<Directory>> directories_;  // kept for links into them
};

}  // namespace

void EntryOperation::apply(CrashEntries& entries) const {
  if (kind == Kind::kSet) {
    entries[name] = node;
    return;
  }
  if (const auto found = entries.find(name); found != entries.end() && found->second == node)
    entries.erase(found);
  if (kind == Kind::kRename) entries[new_name] = node;
}

void CrashNode::change(EntryOperation operation) {
  operation.apply(entries);
  unsynced.push_back(std::move(operation));
}

void CrashNode::sync() {
  if (is_directory) {
    synced_entries = entries;
    unsynced.clear();
  } else {
    synced = bytes.size();
    synced_length = length;
  }
}

void CrashNode::sync_all() {
  sync();
  for (const auto& [name, child] : entries) child->sync_all();
}

void write_image(const CrashNode& root, const LastAppend& last, const ImageOptions& options,
                 FileSystem& into) {
  auto top = into.open_directory("/", false);
  CELLAR_ASSERT(top.ok());
  ImageWriter(last, options).write_directory(root, **top);
}

}  // namespace cellar::testing
