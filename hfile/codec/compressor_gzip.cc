// Codec GZ: one gzip member per block, as Java's GZIPOutputStream writes it; any members are read.
#include <zlib.h>

#include <algorithm>
#include <memory>

#include "base/assert.h"
#include "base/coding.h"
#include "cellar/compressor.h"
#include "hfile/codec/stepwise.h"

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

// Owns the memory of a stream that deflateInit2 set up.
struct Deflater : z_stream {
  Deflater() : z_stream{} {}
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() { deflateEnd(this); }
};

// GzipSteps: inflates members, one after the other. zlib checks each member's own sum and size.
class GzipSteps final : public StepwiseDecompressor {
 public:
  GzipSteps() = default;
  GzipSteps(const GzipSteps&) = delete;
  GzipSteps& operator=(const GzipSteps&) = delete;
  ~GzipSteps() override { inflateEnd(&stream_); }

  void begin(std::string_view body, size_t payload_bytes, char* payload) override {
    payload_ = payload;
    payload_bytes_ = payload_bytes;
    filled_ = 0;
    ended_ = false;
    fits_ = body.size() <= UINT32_MAX && payload_bytes <= UINT32_MAX;
    if (!fits_) return;
    started_ =
        (stream_.state == nullptr ? inflateInit2(&stream_, kGzipMember) : inflateReset(&stream_)) == Z_OK;
    stream_.next_in = input_of(body);
    stream_.avail_in = static_cast<uInt>(body.size());
  }

  Result<size_t> advance(size_t wanted) override {
    CELLAR_ASSERT(wanted <= payload_bytes_);
    if (!fits_) return Status::corruption("a body or payload too large for GZ");
    if (!started_) return Status::io_error("zlib refused to start");
    if (wanted <= filled_ && wanted < payload_bytes_) return filled_;
    wanted = std::min(std::max(wanted, filled_ + kStepBytes), payload_bytes_);
    Bytef nowhere = 0;  // zlib needs a place even for no bytes
    stream_.next_out = payload_bytes_ > 0 ? reinterpret_cast<Bytef*>(payload_ + filled_) : &nowhere;
    stream_.avail_out = static_cast<uInt>(wanted - filled_);
    CELLAR_TRY(inflate_members(wanted == payload_bytes_));
    filled_ = wanted;
    return filled_;
  }

 private:
  // zlib's fast loop ends some hundred bytes before the end of its room.
  static constexpr size_t kStepBytes = 4096;

  // Fills the room of the stream. The last step also looks at what follows.
  Status inflate_members(bool last_step) {
    while (!ended_ && (last_step || stream_.avail_out > 0)) {
      const int end = inflate(&stream_, last_step ? Z_FINISH : Z_SYNC_FLUSH);
      if (end == Z_STREAM_END) {
        ended_ = stream_.avail_in == 0;
        if (!ended_) inflateReset(&stream_);  // a further member; each takes input, so this ends
      } else if (end != Z_OK || last_step) {
        return Status::corruption(end == Z_BUF_ERROR && stream_.avail_out == 0
                                      ? "GZ body holds more than declared"
                                      : "GZ body is damaged");
      }
    }
    return stream_.avail_out == 0 ? Status() : Status::corruption("GZ body holds less than declared");
  }

  z_stream stream_{};
  char* payload_ = nullptr;
  size_t payload_bytes_ = 0;
  size_t filled_ = 0;
  bool fits_ = false;
  bool started_ = false;
  bool ended_ = false;  // the last member, and with it the body
};

class GzipCompressor final : public Compressor, public StepwiseCodec {
 public:
  explicit GzipCompressor(const PluginParams& params)
      : level_(static_cast<int>(params.count_within("level", kDefaultLevel, 1, 9))) {}
  uint32_t id() const override { return 1; }
  std::string_view name() const override { return "GZ"; }

  Status compress(std::string_view payload, std::string& body) const override {
    if (payload.size() > UINT32_MAX / 2) return Status::limit("a payload too large for GZ");
    Deflater stream;
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

  Status decompress(std::string_view body, size_t payload_bytes, char* payload) const override {
    GzipSteps steps;
    steps.begin(body, payload_bytes, payload);
    return steps.advance(payload_bytes).status();
  }
  std::unique_ptr<StepwiseDecompressor> stepwise() const override { return std::make_unique<GzipSteps>(); }

 private:
  int level_;
};

}  // namespace
CELLAR_PLUGIN(Compressor, hfile_codec_compressor_gzip, "gz", GzipCompressor)
}  // namespace cellar
