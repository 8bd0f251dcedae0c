// Tag dictionaries: the tags that a block of a delta encoding names by number instead of repeating them.
//
// Coded tags are a sequence, one for each tag's content (type and value). A new content is 0xff | varint size
// | content, and enters the dictionary. A content that entered before is its u16 number. A full dictionary
// forgets the content that was used least recently.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/coding.h"

namespace cellar {

// The numbers of a dictionary in the order of their last use. One thread at a time.
class TagNumbers {
 public:
  static constexpr size_t kMax = 127;
  static constexpr uint8_t kLiteral = 0xff;  // begins a content; numbers begin with 0

  size_t used() const { return used_; }
  void clear() { used_ = 0; }
  // A number for a new content: a free one, or that of the content used least recently.
  size_t enter() {
    if (used_ == kMax) {
      const uint8_t number = oldest_;
      touch(number);
      return number;
    }
    const auto number = static_cast<uint8_t>(used_++);
    if (number == 0) {
      oldest_ = newest_ = number;
    } else {
      append(number);
    }
    return number;
  }
  // `number` was used.
  void touch(size_t number) {
    if (number == newest_) return;
    const uint8_t newer = newer_[number];
    if (number == oldest_) {
      oldest_ = newer;
    } else {
      const uint8_t older = older_[number];
      newer_[older] = newer;
      older_[newer] = older;
    }
    append(static_cast<uint8_t>(number));
  }

 private:
  void append(uint8_t number) {
    newer_[newest_] = number;
    older_[number] = newest_;
    newest_ = number;
  }

  size_t used_ = 0;
  uint8_t oldest_ = 0;
  uint8_t newest_ = 0;
  std::array<uint8_t, kMax> older_;  // of every number but the oldest
  std::array<uint8_t, kMax> newer_;  // of every number but the newest
};

// The reading side. Contents stay where they lie in the block. One thread at a time.
class TagDictionaryReader {
 public:
  void clear() { numbers_.clear(); }

  // Takes coded tags off the front of `in` until `tags` holds `size` bytes of HBase's list of tags. Returns
  // the fault in them, or null.
  const char* take(ByteReader& in, size_t size, std::string& tags) {
    tags.clear();
    while (tags.size() < size) {
      std::string_view content;
      if (const char* fault = take_content(in, content); fault != nullptr) return fault;
      if (content.empty() || content.size() > size - tags.size() ||
          size - tags.size() - content.size() < sizeof(uint16_t))
        return "tags do not fill their size";
      append_be16(tags, static_cast<uint16_t>(content.size()));
      tags += content;
    }
    return nullptr;
  }

 private:
  const char* take_content(ByteReader& in, std::string_view& content) {
    if (in.empty()) return "tags cut off";
    if (static_cast<uint8_t>(*in.at()) != TagNumbers::kLiteral) {
      uint16_t number = 0;
      if (!in.take_be16(number)) return "tags cut off";
      if (number >= numbers_.used()) return "tag is not in the dictionary";
      numbers_.touch(number);
      content = contents_[number];
      return nullptr;
    }
    uint64_t bytes = 0;
    in.skip(1);
    if (!in.take_varint(bytes) || bytes > in.left() || !in.take_bytes(bytes, content))
      return "tag longer than the block";
    if (!content.empty()) contents_[numbers_.enter()] = content;
    return nullptr;
  }

  TagNumbers numbers_;
  std::array<std::string_view, TagNumbers::kMax> contents_;
};

// The writing side. One thread at a time.
class TagDictionaryWriter {
 public:
  void clear() {
    numbers_.clear();
    known_.clear();
  }

  // Appends the coded form of a well-formed list of tags.
  void append(std::string& to, std::string_view tags) {
    while (tags.size() > sizeof(uint16_t)) {
      const std::string_view content = tags.substr(sizeof(uint16_t), load_be16(tags.data()));
      tags.remove_prefix(sizeof(uint16_t) + content.size());
      append_content(to, content);
    }
  }

 private:
  void append_content(std::string& to, std::string_view content) {
    std::string key(content);
    if (const auto known = known_.find(key); known != known_.end()) {
      numbers_.touch(known->second);
      append_be16(to, static_cast<uint16_t>(known->second));
      return;
    }
    to += static_cast<char>(TagNumbers::kLiteral);
    append_varint(to, content.size());
    to += content;
    const size_t number = numbers_.enter();
    if (known_.size() == TagNumbers::kMax) known_.erase(contents_[number]);
    contents_[number] = key;
    known_.emplace(std::move(key), number);
  }

  TagNumbers numbers_;
  std::array<std::string, TagNumbers::kMax> contents_;
  std::unordered_map<std::string, size_t> known_;
};

}  // namespace cellar
