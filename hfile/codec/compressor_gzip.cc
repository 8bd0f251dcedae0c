// Codec GZ: one gzip member per block, as Java's GZIPOutputStream writes it; any members are read.
#include <zlib.h>

#include <algorithm>

#include "base/assert.h"
#include "base/coding.h"
#include "cellar/compressor.h"

namespace cellar {
namespace {

constexpr uint64_t kDefaultLevel = 6;  // zlib's and Java's
constexpr int kMemoryLevel = 8;        // Java's Deflater; another level cuts deflate blocks elsewhere
constexpr int kRawDeflate = -15;       // largest window, no wrapper of zlib's own
constexpr int kGzipMember = 15 + 16;
// Magic, deflate, no flags, no time, no level, operating system "unknown" as Java 16 and later write it.
constexpr std::string_view kMemberHeader("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);

Bytef* input_of(std::string_view bytes) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib's interface lacks the const
}

// Owns the memory of a stream that deflateInit2 or inflateInit2 set up.
template <int (*kEnd)(z_stream*)>
struct Stream : z_stream {
  Stream() : z_stream{} {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { kEnd(this); }
};

class GzipCompressor final : public Compressor {
 public:
  explicit GzipCompressor(const PluginParams& params)
      : level_(static_cast<int>(params.count_within("level", kDefaultLevel, 1, 9))) {}
  uint32_t id() const override { return 1; }
  std::string_view name() const override { return "GZ"; }

  Status compress(std::string_view payload, std::string& body) const override {
    if (payload.size() > UINT32_MAX / 2) return Status::limit("a payload too large for GZ");
    Stream<deflateEnd> stream;
    if (deflateInit2(&stream, level_, Z_DEFLATED, kRawDeflate, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) {
      return Status::io_error("zlib refused to start");
    }
    body.append(kMemberHeader);
    const size_t start = body.size();
    body.resize(start + deflateBound(&stream, static_cast<uLong>(payload.size())));
    stream.next_in = input_of(payload);
    stream.avail_in = static_cast<uInt>(payload.size());
    stream.next_out = reinterpret_cast<Bytef*>(body.data() + start);
    stream.avail_out = static_cast<uInt>(body.size() - start);
    const int end = deflate(&stream, Z_FINISH);
    CELLAR_ASSERT(end == Z_STREAM_END);  // deflateBound promises room for one step
    body.resize(body.size() - stream.avail_out);
    const uLong sum = crc32(0, input_of(payload), static_cast<uInt>(payload.size()));
    append_le32(body, static_cast<uint32_t>(sum));
    append_le32(body, static_cast<uint32_t>(payload.size()));
    return {};
  }

  // zlib checks each member's own sum and size.
  Status decompress(std::string_view body, size_t payload_bytes, char* payload) const override {
    if (body.size() > UINT32_MAX || payload_bytes > UINT32_MAX) return too_large();
    Stream<inflateEnd> stream;
    stream.next_in = input_of(body);
    stream.avail_in = static_cast<uInt>(body.size());
    if (inflateInit2(&stream, kGzipMember) != Z_OK) return Status::io_error("zlib refused to start");
    Bytef nowhere = 0;  // zlib needs a place even for no bytes
    stream.next_out = payload_bytes > 0 ? reinterpret_cast<Bytef*>(payload) : &nowhere;
    stream.avail_out = static_cast<uInt>(payload_bytes);
    while (true) {
      const int end = inflate(&stream, Z_FINISH);
      if (end != Z_STREAM_END) {
        return Status::corruption(end == Z_BUF_ERROR && stream.avail_out == 0
                                      ? "GZ body holds more than declared"
                                      : "GZ body is damaged");
      }
      if (stream.avail_in == 0) break;
      inflateReset(&stream);  // a further member; each takes input, so this ends
    }
    if (stream.avail_out != 0) return Status::corruption("GZ body holds less than declared");
    return {};
  }

 private:
  static Status too_large() { return Status::corruption("a body or payload too large for GZ"); }

  int level_;
};

}  // namespace
CELLAR_PLUGIN(Compressor, hfile_codec_compressor_gzip, "gz", GzipCompressor)
}  // namespace cellar
