// CellSieve: options of `dump` that look at cells one by one.
#include "tools/files/cell_sieve.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <charconv>

#include "cell/cell_order.h"
#include "tools/frame/operands.h"
#include "tools/frame/read_options.h"

namespace cellar {

struct CellSieve::Pattern {
  // Bytes are taken as they are: cells need not be text.
  static RE2::Options options() {
    RE2::Options options(RE2::Latin1);
    options.set_log_errors(false);
    return options;
  }
  explicit Pattern(const std::string& text) : expression(text, options()) {}
  bool found_in(std::string_view bytes) const {
    return RE2::PartialMatch(re2::StringPiece(bytes.data(), bytes.size()), expression);
  }
  Status status() const {
    if (expression.ok()) return {};
    return Status::invalid_argument("--grep: " + expression.error())
        .hinting("the syntax is that of RE2; a byte is written \\xHH, a dot itself \\.");
  }
  const RE2 expression;
};

CellSieve::CellSieve() = default;
CellSieve::~CellSieve() = default;

void CellSieve::declare(Arguments& arguments) {
  arguments.option("--versions", versions_text_, "N", "at most N cells per column, the newest")
      .option("--grep", grep_, "RE", "cells whose row, column or value matches the expression")
      .option("--sample", sample_text_, "P", "each cell with this probability, such as 0.01 or 1%")
      .option_if("--seed", seed_text_, "N", "seed of the sample (1)");
}

Status CellSieve::parse() {
  if (!versions_text_.empty()) {
    CELLAR_TRY_ASSIGN(versions_max_, for_argument("--versions", parse_versions(versions_text_)));
  }
  if (!grep_.empty()) {
    pattern_ = std::make_unique<Pattern>(grep_);
    CELLAR_TRY(pattern_->status());
  }
  if (!sample_text_.empty()) {
    std::string_view number = sample_text_;
    const bool percent = number.ends_with('%');
    if (percent) number.remove_suffix(1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), sample_);
    if (percent) sample_ /= 100;
    if (error != std::errc() || end != number.data() + number.size() || !(sample_ >= 0 && sample_ <= 1)) {
      return Status::invalid_argument(fmt::format("--sample: \"{}\" is not a probability", sample_text_))
          .hinting("write 0.01 or 1%");
    }
  }
  if (seed_text_) {
    if (sample_text_.empty()) return Status::invalid_argument("--seed needs --sample");
    CELLAR_TRY_ASSIGN(const uint64_t seed, for_argument("--seed", parse_count(*seed_text_)));
    random_ = Random(seed);
  }
  return {};
}

bool CellSieve::matches(const CellView& cell) const {
  if (pattern_->found_in(cell.row()) || pattern_->found_in(cell.value_bytes())) return true;
  const std::string column = fmt::format("{}:{}", cell.family(), cell.qualifier());
  return pattern_->found_in(column);
}

bool CellSieve::takes(const CellView& cell) {
  if (versions_max_ != UINT32_MAX) {
    if (same_column_ == 0 || !same_column(column_.view(), cell)) {
      column_.assign_key(cell.key_bytes(), 0);
      same_column_ = 0;
    }
    if (++same_column_ > versions_max_) return false;
  }
  if (pattern_ != nullptr && !matches(cell)) return false;
  return sample_ >= 1 || random_.unit() < sample_;
}

}  // namespace cellar
