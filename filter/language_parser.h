// FilterParser: the grammar of the filter language, for whatever is made of its filters.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "cellar/filter.h"
#include "cellar/plugin.h"

namespace cellar::filter_grammar {

inline constexpr std::string_view kWordBytes = "+-.<=>!_";

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_word(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || kWordBytes.find(c) != std::string_view::npos;
}

// Makes one pass over the text, by recursive descent. OR binds loosest, SKIP and WHILE tightest. A Builder
// has a type Term and the functions all, any, skip, while_match, knows and make. It must outlive the parser.
// One thread at a time.
template <class Builder>
class FilterParser {
 public:
  using Term = typename Builder::Term;
  FilterParser(std::string_view text, const Builder& builder) : text_(text), builder_(builder) {}

  Result<Term> parse() {
    CELLAR_TRY_ASSIGN(Term filter, any());
    if (at_ < text_.size()) {
      if (text_[at_] == ')') return wrong("unexpected )", "");
      return wrong("AND or OR is expected here", "filters are joined by AND or OR, in upper case");
    }
    return filter;
  }

 private:
  Status wrong(const std::string& what, const std::string& hint) const { return wrong_at(at_, what, hint); }
  Status wrong_at(size_t at, const std::string& what, const std::string& hint) const {
    std::string near = escaped(text_.substr(at, 20));
    if (near.empty()) near = "the end";
    return Status::invalid_argument("filter, byte " + std::to_string(at + 1) + " (at " + near + "): " + what)
        .hinting(hint);
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // Takes a keyword that stands alone. Before it is a blank, a parenthesis or the beginning; after it is a
  // blank, "(" or the end.
  bool take_keyword(std::string_view word) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    const size_t end = at_ + word.size();
    const bool before =
        at_ == 0 || is_blank(text_[at_ - 1]) || text_[at_ - 1] == '(' || text_[at_ - 1] == ')';
    if (!before || (end != text_.size() && !is_blank(text_[end]) && text_[end] != '(')) return false;
    at_ = end;
    return true;
  }

  // A run of one operator is one list.
  Result<Term> any() {
    std::vector<Term> members;
    do {
      CELLAR_TRY_ASSIGN(Term member, all());
      members.push_back(std::move(member));
    } while (take_keyword("OR"));
    skip_blanks();
    return members.size() == 1 ? std::move(members.front()) : builder_.any(std::move(members));
  }

  Result<Term> all() {
    std::vector<Term> members;
    do {
      CELLAR_TRY_ASSIGN(Term member, unary());
      members.push_back(std::move(member));
    } while (take_keyword("AND"));
    return members.size() == 1 ? std::move(members.front()) : builder_.all(std::move(members));
  }

  // SKIP and WHILE may follow one another; each of them after the first counts as a parenthesis, which
  // to_text() prints in its place.
  Result<Term> unary(bool follows = false) {
    const bool skip = take_keyword("SKIP");
    if (!skip && !take_keyword("WHILE")) return operand();
    depth_ += follows ? 1 : 0;
    if (depth_ > kFilterDepthMax)
      return wrong("more than " + std::to_string(kFilterDepthMax) + " nested SKIP and WHILE", "");
    CELLAR_TRY_ASSIGN(Term filter, unary(true));
    depth_ -= follows ? 1 : 0;
    return skip ? builder_.skip(std::move(filter)) : builder_.while_match(std::move(filter));
  }

  Result<Term> operand() {
    if (!take('(')) return simple();
    if (++depth_ > kFilterDepthMax)
      return wrong_at(at_ - 1, "more than " + std::to_string(kFilterDepthMax) + " nested parentheses", "");
    CELLAR_TRY_ASSIGN(Term filter, any());
    if (!take(')')) {
      if (at_ == text_.size()) return wrong("a closing ) is missing", "");
      return wrong("AND, OR or ) is expected here", "filters are joined by AND or OR, in upper case");
    }
    --depth_;
    return filter;
  }

  Result<Term> simple() {
    skip_blanks();
    const size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    if (name.empty()) return wrong("a filter is expected here", "such as PrefixFilter('user')");
    if (!builder_.knows(name)) return unknown(begin, name);
    if (!take('('))
      return wrong("( is expected after " + name, "arguments stand in parentheses: " + name + "(...)");
    CELLAR_TRY_ASSIGN(const std::vector<FilterArgument> arguments, arguments_of(name));
    Result<Term> made = builder_.make(name, arguments);
    if (made.ok()) return made;
    return wrong_at(begin, name + ": " + std::string(made.status().message()),
                    std::string(made.status().hint()));
  }

  Status unknown(size_t at, const std::string& name) const {
    const std::string nearest = nearest_name(name, filter_names());
    std::string hint = nearest.empty() ? "cellar help filters lists them" : "did you mean " + nearest + "?";
    if (name == "AND" || name == "OR") hint = "a filter must stand on both sides of " + name;
    return wrong_at(at, "unknown filter \"" + name + "\"", hint);
  }

  // Reads the arguments after "Name(".
  Result<std::vector<FilterArgument>> arguments_of(const std::string& name) {
    std::vector<FilterArgument> arguments;
    if (take(')')) return arguments;
    do {
      skip_blanks();
      FilterArgument argument;
      argument.quoted = at_ < text_.size() && text_[at_] == '\'';
      if (argument.quoted) {
        CELLAR_TRY(take_quoted(argument.text));
      } else {
        const size_t begin = at_;
        while (at_ < text_.size() && is_word(text_[at_])) ++at_;
        argument.text = text_.substr(begin, at_ - begin);
        if (argument.text.empty())
          return wrong("an argument of " + name + " is expected here", "bytes stand in single quotes: 'a'");
      }
      arguments.push_back(std::move(argument));
    } while (take(','));
    if (!take(')'))
      return wrong("a comma or ) is expected here", "a quote within quotes is written twice: 'it''s'");
    return arguments;
  }

  Status take_quoted(std::string& bytes) {
    const size_t begin = at_++;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\'') {
        if (at_ + 1 == text_.size() || text_[at_ + 1] != '\'') {
          ++at_;
          return {};
        }
        ++at_;
      }
      bytes += text_[at_];
    }
    return wrong_at(begin, "the quote is not closed", "a quote within quotes is written twice: 'it''s'");
  }

  std::string_view text_;
  const Builder& builder_;
  size_t at_ = 0;
  size_t depth_ = 0;
};

}  // namespace cellar::filter_grammar
