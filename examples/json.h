// JSON text for the applications.
#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "cellar/status.h"

namespace example {

using namespace cellar;

// Returns a text as a literal of JSON, which may also stand in a page: no byte of it can end an element.
inline std::string json_text(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || std::string_view("<>&\"\\").find(c) != std::string_view::npos) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      json += escape;
    } else {
      json += c;
    }
  }
  return json += '"';
}

// FlatJson: reads a list of objects whose values are texts. One thread at a time.
class FlatJson {
 public:
  explicit FlatJson(std::string_view text) : text_(text) {}

  // Sets `object` to the next one. Returns false at the end of the list. Error: kCorruption with the
  // position.
  Result<bool> next(std::map<std::string, std::string>& object) {
    object.clear();
    if (begun_ && take(']')) return false;
    if (!take(begun_ ? ',' : '[')) return fault("expected a list of objects");
    if (!begun_ && take(']')) return false;
    begun_ = true;
    if (!take('{')) return fault("expected an object");
    while (!take('}')) {
      if (!object.empty() && !take(',')) return fault("expected a comma or the end of the object");
      CELLAR_TRY_ASSIGN(std::string key, string());
      if (!take(':')) return fault("expected a colon");
      CELLAR_TRY_ASSIGN(object[std::move(key)], string());
    }
    return true;
  }

 private:
  bool take(char wanted) {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    return ++at_, true;
  }
  Result<std::string> string() {
    if (!take('"')) return fault("expected a text in quotes");
    std::string value;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] != '\\') {
        value += text_[at_];
      } else if (++at_ < text_.size() &&
                 std::string_view("\"\\/").find(text_[at_]) != std::string_view::npos) {
        value += text_[at_];
      } else {
        return fault("only quotes, slashes and backslashes may be escaped here");
      }
    }
    if (at_ == text_.size()) return fault("the text has no end");
    return ++at_, value;
  }
  Status fault(std::string_view why) const {
    return Status::corruption("byte " + std::to_string(at_) + ": " + std::string(why));
  }

  std::string_view text_;
  size_t at_ = 0;
  bool begun_ = false;
};

}  // namespace example
