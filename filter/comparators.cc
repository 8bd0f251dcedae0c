// Comparators: bytes, numbers, bits, text.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <memory>

#include "base/bytes.h"
#include "base/coding.h"
#include "base/utf8.h"
#include "filter/parts.h"

namespace cellar {
namespace {

constexpr std::partial_ordering kUnordered = std::partial_ordering::unordered;
constexpr std::partial_ordering kEqual = std::partial_ordering::equivalent;

std::partial_ordering order(std::string_view stored, std::string_view given) {
  return stored.compare(given) <=> 0;
}

class Binary final : public Comparator {
 public:
  explicit Binary(std::string_view bytes) : bytes_(bytes) {}
  std::partial_ordering compare(std::string_view stored) const override { return order(stored, bytes_); }
  std::string to_text() const override { return "binary:" + bytes_; }

 private:
  std::string bytes_;
};

class BinaryPrefix final : public Comparator {
 public:
  explicit BinaryPrefix(std::string_view bytes) : bytes_(bytes) {}
  std::partial_ordering compare(std::string_view stored) const override {
    return order(stored.substr(0, bytes_.size()), bytes_);
  }
  std::string to_text() const override { return "binaryprefix:" + bytes_; }

 private:
  std::string bytes_;
};

class BinaryComponent final : public Comparator {
 public:
  BinaryComponent(std::string_view bytes, uint32_t offset) : bytes_(bytes), offset_(offset) {}
  std::partial_ordering compare(std::string_view stored) const override {
    return order(stored.substr(std::min<size_t>(offset_, stored.size()), bytes_.size()), bytes_);
  }
  std::string to_text() const override { return fmt::format("binarycomponent:{}:{}", offset_, bytes_); }

 private:
  std::string bytes_;
  uint32_t offset_;
};

class LongNumber final : public Comparator {
 public:
  explicit LongNumber(int64_t number) : number_(number) {}
  std::partial_ordering compare(std::string_view stored) const override {
    if (stored.size() != 8) return kUnordered;
    return static_cast<int64_t>(load_be64(stored.data())) <=> number_;
  }
  std::string to_text() const override { return fmt::format("long:{}", number_); }

 private:
  int64_t number_;
};

class NullValue final : public Comparator {
 public:
  std::partial_ordering compare(std::string_view) const override { return kUnordered; }
  std::string to_text() const override { return "null:"; }
};

enum class BitOp : uint8_t { kAnd, kOr, kXor };
enum class RegexCase : uint8_t { kRespect, kIgnore };

class Bits final : public Comparator {
 public:
  Bits(std::string_view bytes, BitOp op) : bytes_(bytes), op_(op) {}
  std::partial_ordering compare(std::string_view stored) const override {
    if (stored.size() != bytes_.size()) return kUnordered;
    for (size_t i = 0; i < stored.size(); ++i)
      if (combined(stored[i], bytes_[i]) != 0) return kEqual;
    return kUnordered;
  }
  std::string to_text() const override {
    return (op_ == BitOp::kAnd ? "bitand:" : op_ == BitOp::kOr ? "bitor:" : "bitxor:") + bytes_;
  }

 private:
  int combined(char a, char b) const {
    return op_ == BitOp::kAnd ? a & b : op_ == BitOp::kOr ? a | b : a ^ b;
  }
  std::string bytes_;
  BitOp op_;
};

class Regex final : public Comparator {
 public:
  Regex(std::string_view expression, RegexCase letters)
      : expression_({expression.data(), expression.size()}, options(letters)), letters_(letters) {}
  std::string error() const { return expression_.ok() ? "" : expression_.error(); }
  std::partial_ordering compare(std::string_view stored) const override {
    if (is_utf8(stored)) return found_in(stored) ? kEqual : kUnordered;
    return found_in(with_replacements(stored)) ? kEqual : kUnordered;
  }
  std::string to_text() const override {
    return (letters_ == RegexCase::kIgnore ? "regexstringnocase:" : "regexstring:") + expression_.pattern();
  }

 private:
  bool found_in(std::string_view text) const {
    return RE2::PartialMatch({text.data(), text.size()}, expression_);
  }
  static RE2::Options options(RegexCase letters) {
    RE2::Options options;
    options.set_dot_nl(true);
    options.set_log_errors(false);
    options.set_case_sensitive(letters == RegexCase::kRespect);
    return options;
  }
  RE2 expression_;
  RegexCase letters_;
};

class Substring final : public Comparator {
 public:
  explicit Substring(std::string_view text) : text_(lower_ascii(text)) {
    if (is_ascii(text) || !is_utf8(text)) return;
    RE2::Options options;
    options.set_literal(true);
    options.set_case_sensitive(false);
    options.set_log_errors(false);
    letters_ = std::make_unique<RE2>(re2::StringPiece(text.data(), text.size()), options);
  }
  std::partial_ordering compare(std::string_view stored) const override {
    return (letters_ != nullptr ? found_by_letters(stored) : found_by_bytes(stored)) ? kEqual : kUnordered;
  }
  std::string to_text() const override { return "substring:" + text_; }

 private:
  static char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
  bool found_by_letters(std::string_view stored) const {
    return RE2::PartialMatch({stored.data(), stored.size()}, *letters_);
  }
  bool found_by_bytes(std::string_view stored) const {
    const auto same = [](char a, char b) { return lower(a) == b; };
    const auto found = std::search(stored.begin(), stored.end(), text_.begin(), text_.end(), same);
    return found != stored.end() || text_.empty();
  }
  std::string text_;
  std::unique_ptr<RE2> letters_;  // finds text_ in either case; null: ASCII alone has cases
};

Result<ComparatorPtr> make_regex(std::string_view expression, RegexCase letters) {
  auto made = std::make_shared<Regex>(expression, letters);
  if (const std::string error = made->error(); !error.empty())
    return Status::invalid_argument(fmt::format("invalid regular expression: {}", error))
        .hinting("the syntax is RE2's: https://github.com/google/re2/wiki/Syntax");
  return ComparatorPtr(std::move(made));
}

}  // namespace

std::string_view op_text(CompareOp op) {
  static constexpr std::string_view kTexts[] = {"<", "<=", "=", "!=", ">=", ">", "no_op"};
  return kTexts[static_cast<size_t>(op)];
}

bool holds(CompareOp op, std::partial_ordering order) {
  switch (op) {
    case CompareOp::kLess:
      return order < 0;
    case CompareOp::kLessOrEqual:
      return order <= 0;
    case CompareOp::kEqual:
      return order == 0;
    case CompareOp::kNotEqual:
      return order != 0;
    case CompareOp::kGreaterOrEqual:
      return order >= 0;
    case CompareOp::kGreater:
      return order > 0;
    case CompareOp::kNoOp:
      break;
  }
  return false;
}

bool passes(CompareOp op, const Comparator& given, std::string_view stored) {
  return op != CompareOp::kNoOp && holds(op, given.compare(stored));
}

ComparatorPtr binary(std::string_view bytes) { return std::make_shared<Binary>(bytes); }
ComparatorPtr binary_prefix(std::string_view bytes) { return std::make_shared<BinaryPrefix>(bytes); }
ComparatorPtr binary_component(std::string_view bytes, uint32_t offset) {
  return std::make_shared<BinaryComponent>(bytes, offset);
}
ComparatorPtr long_number(int64_t number) { return std::make_shared<LongNumber>(number); }
ComparatorPtr null_value() { return std::make_shared<NullValue>(); }
ComparatorPtr bits_and(std::string_view bytes) { return std::make_shared<Bits>(bytes, BitOp::kAnd); }
ComparatorPtr bits_or(std::string_view bytes) { return std::make_shared<Bits>(bytes, BitOp::kOr); }
ComparatorPtr bits_xor(std::string_view bytes) { return std::make_shared<Bits>(bytes, BitOp::kXor); }
ComparatorPtr substring(std::string_view text) { return std::make_shared<Substring>(text); }

Result<ComparatorPtr> regex(std::string_view expression) {
  return make_regex(expression, RegexCase::kRespect);
}

Result<ComparatorPtr> regex_ignoring_case(std::string_view expression) {
  return make_regex(expression, RegexCase::kIgnore);
}

}  // namespace cellar
