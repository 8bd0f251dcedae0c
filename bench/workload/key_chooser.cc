// KeyChooser: choices by skew, and the texts of skews.
#include "bench/workload/key_chooser.h"

#include <cstdlib>

namespace cellar::bench {
namespace {

constexpr uint64_t kScatterSeed = 99;
constexpr double kThetaMax = 10;

std::string short_number(double number) {
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

Result<Skew> parse_skew(std::string_view text) {
  const auto fault = [&] {
    return Status::invalid_argument("invalid skew \"" + std::string(text) + "\"")
        .hinting("give uniform, zipf, zipf:0.99 or latest; the exponent is above 0 and at most 10");
  };
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  Skew skew;
  if (name == "uniform") {
    skew.kind = SkewKind::kUniform;
  } else if (name == "latest") {
    skew.kind = SkewKind::kLatest;
  } else if (name != "zipf") {
    return fault();
  }
  if (colon == std::string_view::npos) return skew;
  if (skew.kind == SkewKind::kUniform) return fault();
  const std::string exponent(text.substr(colon + 1));
  char* end = nullptr;
  skew.theta = std::strtod(exponent.c_str(), &end);
  const bool whole = !exponent.empty() && end == exponent.c_str() + exponent.size();
  if (!whole || !(skew.theta > 0 && skew.theta <= kThetaMax)) return fault();
  return skew;
}

std::string to_text(const Skew& skew) {
  switch (skew.kind) {
    case SkewKind::kUniform:
      return "uniform";
    case SkewKind::kZipf:
      return "zipf:" + short_number(skew.theta);
    case SkewKind::kLatest:
      return "latest:" + short_number(skew.theta);
  }
  return "";
}

KeyChooser::KeyChooser(const Skew& skew, uint64_t loaded)
    : skew_(skew), scatter_(loaded, kScatterSeed), zipf_(loaded, skew.theta) {}

uint64_t KeyChooser::next(Random& random, uint64_t rows) {
  switch (skew_.kind) {
    case SkewKind::kUniform:
      break;
    case SkewKind::kZipf:
      return scatter_(zipf_(random));
    case SkewKind::kLatest:
      if (zipf_.count() != rows) zipf_ = Zipf(rows, skew_.theta);
      return rows - 1 - zipf_(random);
  }
  return random.below(rows);
}

std::vector<uint32_t> scattered_zipf(uint64_t count, uint64_t draws, uint64_t seed) {
  const Zipf zipf(count, Skew().theta);
  const Permutation scatter(count, 99);
  Random random(seed);
  std::vector<uint32_t> rows(draws);
  for (uint32_t& row : rows) row = static_cast<uint32_t>(scatter(zipf(random)));
  return rows;
}

}  // namespace cellar::bench
