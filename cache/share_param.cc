// share_param(): percentages and fractions.
#include "cache/share_param.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "base/assert.h"

namespace cellar {

double share_param(const PluginParams& params, std::string_view key, double otherwise, double least,
                   double most) {
  CELLAR_ASSERT(least <= otherwise && otherwise <= most);
  const std::string text = params.text(key, "");
  if (text.empty()) return otherwise;
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  const bool percent = at + 1 == end && *at == '%';
  if (percent) value /= 100;
  if (error == std::errc() && (percent || at == end) && value >= least && value <= most) return value;
  params.complain(
      key, fmt::format("a share from {}% to {}%, such as {}%", least * 100, most * 100, otherwise * 100));
  return otherwise;
}

}  // namespace cellar
