// Compressors by HBase's ordinal or name.
#pragma once

#include <string_view>

#include "cellar/compressor.h"

namespace cellar {

// The compressor of this ordinal: kNotSupported with the codec's name ("codec LZO is not supported by this
// build") when it is known but not built, kCorruption when no HBase has it. Lives forever; any thread.
Result<const Compressor*> compressor_by_id(uint32_t id);
// By name, any case ("snappy", "GZ", "none"): kInvalidArgument with the nearest name, or kNotSupported.
Result<const Compressor*> compressor_by_name(std::string_view name);
// HBase's name of an ordinal ("SNAPPY"), or "" when unknown.
std::string_view codec_name(uint32_t id);

}  // namespace cellar
