// A reader of elements, attributes and text.
#include "tests/tools/xml_check.h"

#include <cctype>
#include <set>
#include <vector>

namespace cellar::testing {
namespace {

class Xml {
 public:
  explicit Xml(const std::string& text) : text_(text) {}

  std::string fault() {
    while (at_ < text_.size() && fault_.empty()) {
      if (text_[at_] == '<') {
        text_.compare(at_, 2, "</") == 0 ? end_tag() : start_tag();
      } else {
        check_character(false);
        ++at_;
      }
    }
    if (fault_.empty() && !open_.empty()) fail("<" + open_.back() + "> is not closed");
    return fault_;
  }

 private:
  void fail(const std::string& why) {
    if (fault_.empty()) fault_ = why + " at byte " + std::to_string(at_) + ": " + text_.substr(at_, 40);
  }

  void check_character(bool within_quotes) {
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (c < ' ' && c != '\n' && c != '\t') fail("a control character");
    if (text_.compare(at_, 3, "]]>") == 0) fail("]]>");
    if (c == '<') fail("a bare <");
    if (!within_quotes && open_.empty() && c != '\n') fail("text outside of all elements");
    if (c != '&') return;
    for (const char* entity : {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"})
      if (text_.compare(at_, std::string(entity).size(), entity) == 0) return;
    fail("a bare &");
  }

  std::string name() {
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '-' || text_[at_] == ':'))
      ++at_;
    if (at_ == begin) fail("a name is missing");
    return text_.substr(begin, at_ - begin);
  }

  void start_tag() {
    ++at_;
    open_.push_back(name());
    std::set<std::string> attributes;
    while (fault_.empty()) {
      const bool blank = at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0;
      while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
      if (at_ >= text_.size()) return fail("the tag does not end");
      if (text_.compare(at_, 2, "/>") == 0) {
        open_.pop_back();
        at_ += 2;
        return;
      }
      if (text_[at_] == '>') return void(++at_);
      if (!blank) return fail("a blank is missing before an attribute");
      if (!attributes.insert(name()).second) return fail("an attribute twice");
      if (text_.compare(at_, 2, "=\"") != 0) return fail("an attribute without a value in quotes");
      for (at_ += 2; at_ < text_.size() && text_[at_] != '"' && fault_.empty(); ++at_) check_character(true);
      ++at_;
    }
  }

  void end_tag() {
    at_ += 2;
    const std::string closed = name();
    if (open_.empty() || open_.back() != closed) return fail("</" + closed + "> closes nothing");
    open_.pop_back();
    if (at_ >= text_.size() || text_[at_] != '>') return fail("the tag does not end");
    ++at_;
  }

  const std::string& text_;
  size_t at_ = 0;
  std::vector<std::string> open_;
  std::string fault_;
};

}  // namespace

std::string xml_fault(const std::string& text) { return Xml(text).fault(); }

}  // namespace cellar::testing
