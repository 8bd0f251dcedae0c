// Reading of lines, and recognising what is not text.
#include "tools/transfer/line_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "hfile/format/format.h"
#include "tools/frame/session.h"
#include "tools/hbase/file_look.h"

namespace cellar {
namespace {

constexpr size_t kChunkBytes = 64 << 10;
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

struct Foreign {
  std::string_view magic;
  std::string_view what;
  std::string_view hint;  // {} is the path
};

constexpr std::array kForeign = {
    Foreign{"\x28\xb5\x2f\xfd", "compressed by zstd", "zstd -dc {} | cellar load STORE TABLE -"},
    Foreign{"BZh", "compressed by bzip2", "bzip2 -dc {} | cellar load STORE TABLE -"},
    Foreign{"\xfd"
            "7zXZ",
            "compressed by xz", "xz -dc {} | cellar load STORE TABLE -"},
    Foreign{"PK\x03\x04", "a zip archive", "unzip -p {} | cellar load STORE TABLE -"},
    Foreign{"PAR1", "a Parquet file", "write its rows as CSV first, then use --map"},
    Foreign{"SQLite format 3", "a SQLite database",
            "sqlite3 -csv -header {} 'select …' | cellar load STORE TABLE - --from csv --map …"},
    Foreign{"\xff\xfe", "UTF-16 text", "iconv -f UTF-16 -t UTF-8 {} | cellar load STORE TABLE -"},
    Foreign{"\xfe\xff", "UTF-16 text", "iconv -f UTF-16 -t UTF-8 {} | cellar load STORE TABLE -"}};

std::string with_path(std::string_view hint, const std::string& path) {
  std::string text(hint);
  if (const size_t at = text.find("{}"); at != text.npos) text.replace(at, 2, path);
  return text;
}

Status refusal(const std::string& path, std::string_view what, std::string hint) {
  return Status::invalid_argument(fmt::format("{} is {}; load reads JSON Lines, CSV and TSV", path, what))
      .hinting(hint);
}

Status refuse_hfile(const std::string& path) {
  return refusal(
      path, "an HFile",
      fmt::format("cellar dump {} --format jsonl | cellar load STORE TABLE -   (or without reading "
                  "its cells: cellar bulkload ingest DIR STORE TABLE)",
                  path));
}

Status refuse_directory(const std::string& path) {
  if (is_store(path))
    return refusal(path, "a store", fmt::format("cellar export {} TABLE | cellar load STORE TABLE -", path));
  return refusal(
      path, "a directory",
      fmt::format("name its files; for HFiles below a family's directory: cellar bulkload ingest {} "
                  "STORE TABLE",
                  path));
}

Status check_magic(const std::string& path, std::string_view front) {
  if (std::ranges::any_of(kBlockMagics, [&](std::string_view magic) { return front.starts_with(magic); }))
    return refuse_hfile(path);
  for (const Foreign& each : kForeign)
    if (front.starts_with(each.magic)) return refusal(path, each.what, with_path(each.hint, path));
  return {};
}

}  // namespace

struct LineReader::Gzip {
  z_stream stream = {};
  bool member_ended = false;
  ~Gzip() { inflateEnd(&stream); }
};

LineReader::LineReader(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

LineReader::~LineReader() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

Result<std::unique_ptr<LineReader>> LineReader::open(const std::string& path) {
  const bool standard_input = path == "-";
  const int descriptor = standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return Status::with_code(errno == ENOENT ? Code::kNotFound : Code::kIoError,
                             fmt::format("{}: {}", path, std::strerror(errno)));
  }
  std::unique_ptr<LineReader> reader(new LineReader(descriptor, standard_input ? "stdin" : path));
  struct stat facts = {};
  if (::fstat(descriptor, &facts) == 0) {
    if (S_ISDIR(facts.st_mode)) return refuse_directory(path);
    if (S_ISREG(facts.st_mode)) reader->size_ = static_cast<uint64_t>(facts.st_size);
  }
  if (!standard_input && reader->size_ > 0 && look_at_file(path) == FileLook::kHFile)
    return refuse_hfile(path);
  CELLAR_TRY(reader->begin());
  return reader;
}

// Looks at the first bytes of the input, and of the text within gzip.
Status LineReader::begin() {
  constexpr size_t kMagicBytes = 16;
  std::string front(kMagicBytes, '\0');
  size_t had = 0;
  while (had < kMagicBytes && !ended_ && status_.ok())
    had += read_some(front.data() + had, kMagicBytes - had);
  front.resize(had);
  if (front.starts_with(kGzipMagic)) {
    gzip_ = std::make_unique<Gzip>();
    constexpr int kGzipMember = 15 + 16;
    if (inflateInit2(&gzip_->stream, kGzipMember) != Z_OK) return Status::io_error("zlib could not start");
    raw_ = std::move(front);
    while (text_.size() < kMagicBytes && fill()) continue;
  } else {
    text_ = std::move(front);
  }
  if (!status_.ok()) return status_;
  CELLAR_TRY(check_magic(path_, text_));
  if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  return {};
}

// Returns how many bytes were read: 0 at the end and after an error.
size_t LineReader::read_some(char* to, size_t room) {
  while (true) {
    const ssize_t read = ::read(descriptor_, to, room);
    if (read > 0) {
      bytes_ += static_cast<uint64_t>(read);
      return static_cast<size_t>(read);
    }
    if (read == 0) {
      ended_ = true;
      return 0;
    }
    if (errno == EINTR && !interrupted()) continue;
    status_ = errno == EINTR ? interrupted_status("reading " + path_ + " ended there")
                             : Status::io_error(fmt::format("{}: {}", path_, std::strerror(errno)));
    return 0;
  }
}

// Adds text. Returns false at the end of the input and after an error.
bool LineReader::fill() {
  if (!status_.ok()) return false;
  text_.erase(0, at_);
  at_ = 0;
  if (gzip_ != nullptr) return inflate_some();
  const size_t before = text_.size();
  text_.resize(before + kChunkBytes);
  const size_t read = ended_ ? 0 : read_some(text_.data() + before, kChunkBytes);
  text_.resize(before + read);
  return read > 0;
}

// A gzip file may have several members, one after the other.
bool LineReader::inflate_some() {
  z_stream& stream = gzip_->stream;
  std::string chunk(kChunkBytes, '\0');
  while (status_.ok()) {
    if (raw_.empty() && !ended_) {
      raw_.resize(kChunkBytes);
      raw_.resize(read_some(raw_.data(), kChunkBytes));
    }
    if (!status_.ok()) return false;
    if (raw_.empty()) {
      if (!gzip_->member_ended) status_ = Status::corruption(path_ + ": the gzip data ends too early");
      return false;
    }
    if (gzip_->member_ended) {
      inflateReset(&stream);
      gzip_->member_ended = false;
    }
    stream.next_in = reinterpret_cast<Bytef*>(raw_.data());
    stream.avail_in = static_cast<uInt>(raw_.size());
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    const int result = inflate(&stream, Z_NO_FLUSH);
    raw_.erase(0, raw_.size() - stream.avail_in);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      status_ = Status::corruption(fmt::format("{}: the gzip data is damaged: {}", path_,
                                               stream.msg != nullptr ? stream.msg : "unknown"));
      return false;
    }
    gzip_->member_ended = result == Z_STREAM_END;
    text_.append(chunk, 0, chunk.size() - stream.avail_out);
    if (stream.avail_out < chunk.size()) return true;
  }
  return false;
}

bool LineReader::next(std::string& line) {
  size_t searched = at_;
  size_t end = text_.find('\n', searched);
  while (end == text_.npos) {
    searched = text_.size() - at_;  // fill() moves the text to the front
    if (!fill()) break;
    end = text_.find('\n', searched);
  }
  if (!status_.ok()) return false;
  if (end == text_.npos) end = text_.size();
  if (at_ == text_.size()) return false;
  line.assign(text_, at_, end - at_);
  at_ = std::min(end + 1, text_.size());
  ++line_;
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

}  // namespace cellar
