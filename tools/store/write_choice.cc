// Options of writing commands: levels of durability, and values from files.
#include "tools/store/write_choice.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/bytes.h"
#include "base/text_width.h"

namespace cellar {
namespace {

constexpr std::array kLevels = {Durability::kAsyncWal, Durability::kSyncWal, Durability::kFsyncWal,
                                Durability::kSkipWal};

// Reads to the end, or one byte more than a value may have.
Status read_all(int descriptor, size_t most, std::string& bytes) {
  std::array<char, 64 * 1024> chunk;
  while (bytes.size() <= most) {
    const ssize_t count = ::read(descriptor, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Status::io_error(std::strerror(errno));
    if (count == 0) return {};
    bytes.append(chunk.data(), static_cast<size_t>(count));
  }
  return Status::limit(fmt::format("a value has at most {}", human_bytes(most)));
}

Result<std::string> content_of(const std::string& path) {
  const uint64_t most = EngineOptions().cell_bytes_max;
  const bool standard_input = path == "-";
  const int descriptor = standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    const int why = errno;
    const std::string text = fmt::format("{}: {}", readable(path), std::strerror(why));
    return why == ENOENT ? Status::not_found(text) : Status::io_error(text);
  }
  std::string bytes;
  const Status read = read_all(descriptor, most, bytes);
  if (!standard_input) ::close(descriptor);
  CELLAR_TRY(read.with_context(standard_input ? "standard input" : readable(path)));
  return bytes;
}

}  // namespace

void WriteChoice::declare(Arguments& arguments, Levels levels) {
  std::vector<std::string> words = {"default"};
  for (const Durability level : kLevels)
    if (level != Durability::kSkipWal || levels == Levels::kAll) words.emplace_back(durability_name(level));
  arguments.choice(
      "--durability", durability_, std::move(words),
      levels == Levels::kAll
          ? "what a write survives; default: as the table says. skip_wal: written to files at the end"
          : "what the write survives; default: as the table says");
}

WriteOptions WriteChoice::options() const {
  WriteOptions options;
  for (const Durability level : kLevels)
    if (durability_name(level) == durability_) options.durability = level;
  return options;
}

void FileValues::declare(Arguments& arguments) {
  arguments.option_list("--from-file", given_, "COLUMN=FILE",
                        "a value from a file, byte for byte; - is standard input; may be repeated");
}

Result<std::vector<std::pair<std::string, std::string>>> FileValues::read() const {
  std::vector<std::pair<std::string, std::string>> values;
  if (std::ranges::count_if(given_, [](const std::string& text) { return text.ends_with("=-"); }) > 1)
    return Status::invalid_argument("--from-file: standard input is the value of one column only");
  for (const std::string& text : given_) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size())
      return Status::invalid_argument(fmt::format("--from-file: \"{}\" is not COLUMN=FILE", readable(text)))
          .hinting("write --from-file d:photo=photo.jpg; = within a qualifier is \\x3D");
    CELLAR_TRY_ASSIGN(std::string value, content_of(text.substr(equals + 1)));
    values.emplace_back(text.substr(0, equals), std::move(value));
  }
  return values;
}

}  // namespace cellar
