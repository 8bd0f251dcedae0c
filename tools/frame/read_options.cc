// Parsing of what commands read.
#include "tools/frame/read_options.h"

#include "base/bytes.h"

namespace cellar {

Result<uint32_t> parse_versions(std::string_view text) {
  if (text == "all") return UINT32_MAX;
  const Result<uint64_t> versions = parse_count(text);
  if (versions.ok() && *versions > 0 && *versions <= UINT32_MAX) return static_cast<uint32_t>(*versions);
  return invalid_operand(text, "a number of versions", "write 1 or more, or all");
}

Result<FilterPtr> parse_filter_option(std::string_view text) {
  std::string bytes;
  for (size_t at = 0; at < text.size(); ++at) {
    const Result<std::string> byte = unescaped(text.substr(at, 4));
    if (text[at] == '\\' && byte.ok() && byte->size() == 1) {
      bytes += *byte;
      at += 3;
    } else {
      bytes += text[at];
    }
  }
  return parse_filter(bytes);
}

void declare_row_options(Arguments& arguments, ReadOptions& options) {
  arguments
      .option_count("--limit-per-family", options.limit_per_family, "at most N columns per family and row")
      .option_count("--offset-per-family", options.offset_per_family,
                    "skip the first N columns per family and row")
      .flag("--per-cell", options.per_cell, "the two options above count cells, as in HBase, not columns")
      .flag("--strict-versions", options.strict_versions,
            "exclude versions that a compaction would drop: deleted versions count, too");
}

}  // namespace cellar
