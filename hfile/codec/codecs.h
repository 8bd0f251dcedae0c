// Compressors by HBase's ordinal or name.
#pragma once

#include <memory>
#include <string_view>

#include "cellar/compressor.h"

namespace cellar {

// Ordinals are smaller.
constexpr uint32_t kCodecCount = 9;

// Returns the compressor of this ordinal. It lives forever; any thread. Errors: kCorruption if no HBase has
// it; kNotSupported if it is not built in. The latter names the codec and the remedy ("codec LZO is not
// supported by this build; rebuild with …").
Result<const Compressor*> compressor_by_id(uint32_t id);
// By name, any case ("snappy", "GZ", "none"): kInvalidArgument with the nearest name, or kNotSupported.
Result<const Compressor*> compressor_by_name(std::string_view name);
// Returns the codec that an option names, with or without parameters ("zstd(level=9)"). kInvalidArgument for
// an invalid name or parameter.
Result<std::shared_ptr<const Compressor>> make_compressor(std::string_view text);
// HBase's name of an ordinal ("SNAPPY"), or "" when unknown.
std::string_view codec_name(uint32_t id);

}  // namespace cellar
