// The program `cellar_interop`: writes HFiles for HBase to read, and measures writing and scanning them.
//
//   cellar_interop files DIRECTORY SEED SHAPES
//   cellar_interop bulk DIRECTORY SEED
//   cellar_interop bench DIRECTORY CELLS ROUNDS
//   cellar_interop region DIRECTORY OPERATIONS ANSWERS
//
// The action "files" writes files of every kind this build can write, SHAPES of each. "bulk" writes files of
// two families for a bulk load, and their cells. "bench" prints the seconds for one pass, as JSON lines.
// "region" lets a store answer the requests that a region of HBase gets.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/plugins.h"
#include "cellar/bloom_type.h"
#include "cellar/compressor.h"
#include "cellar/hfile_builder.h"
#include "hfile/codec/codecs.h"
#include "hfile/encoding/encoding.h"
#include "hfile/write/hfile_writer.h"
#include "tests/interop/bench.h"
#include "tests/interop/draw_cells.h"
#include "tests/interop/region.h"
#include "tests/interop/region_bench.h"
#include "tests/interop/serve.h"

namespace cellar::interop {
namespace {

// ---- Files of every kind ----

template <class T, size_t kSize>
T one_of(Random& random, const T (&choices)[kSize]) {
  return choices[random.below(kSize)];
}

// The plug-in as an option names it: with a parameter, where it needs one or one decides what the bytes are.
std::string with_parameters(Random& random, const std::string& plugin) {
  if (plugin == "rowprefix_fixed_length")
    return fmt::format("{}(prefix_length={})", plugin, 1 + random.below(8));
  if (plugin == "zstd" && random.one_in(2)) return "zstd(framing=hbase)";  // else as Hadoop's codec does
  return plugin;
}

// Encoding, codec and Bloom type are given; the rest is drawn, so that one file or another has each.
HFileWriterOptions draw_options(Random& random, const std::string& encoding, const std::string& codec,
                                const std::string& bloom) {
  HFileWriterOptions options;
  options.encoding = encoding;
  options.compression = with_parameters(random, codec);
  options.bloom = bloom;
  options.tags = random.one_in(2);
  options.compress_tags = options.tags && random.one_in(2);
  options.mvcc = random.one_in(2);
  options.block_bytes = one_of(random, {128u, 1024u, 4096u, 65536u, 524288u});
  // Java's BZIP2 sets megabytes up for each block.
  if (codec == "bzip2") options.block_bytes = std::max(options.block_bytes, 65536u);
  options.index_chunk_bytes = one_of(random, {128u, 512u, 4096u, 131072u});
  options.index_entries_min = one_of(random, {2u, 4u, 16u});
  options.bloom_chunk_bytes = one_of(random, {64u, 512u, 131072u});
  options.bloom_hash = one_of(random, {BloomHash::kJenkins, BloomHash::kMurmur, BloomHash::kMurmur3});
  options.checksum = one_of(
      random, {ChecksumType::kCrc32c, ChecksumType::kCrc32c, ChecksumType::kCrc32, ChecksumType::kNull});
  options.bytes_per_checksum = one_of(random, {128u, 512u, 16384u});
  options.separators =
      one_of(random, {SeparatorRule::kRealKeys, SeparatorRule::kHBase1To24, SeparatorRule::kHBase25});
  options.trailer_sums = random.one_in(2);
  options.create_time_ms = 1'700'000'000'000;
  return options;
}

std::string describe(const HFileWriterOptions& options, const std::string& shape) {
  constexpr const char* kChecksums[] = {"no checksums", "CRC32", "CRC32C"};
  return fmt::format("{}, {}, Bloom {}{}{}, {} cells, blocks of {}, index chunks of {}, {} each {} bytes",
                     options.encoding, options.compression, options.bloom,
                     options.compress_tags ? ", tags by number"
                     : options.tags        ? ", tags"
                                           : "",
                     options.mvcc ? ", MVCC" : "", shape, options.block_bytes, options.index_chunk_bytes,
                     kChecksums[static_cast<uint8_t>(options.checksum)], options.bytes_per_checksum);
}

Status write_lines(const std::filesystem::path& path, const std::vector<OwnedCell>& cells, bool whole) {
  std::ofstream lines(path, std::ios::binary);
  std::string line;
  for (const OwnedCell& cell : cells) {
    line.clear();
    append_json(line, cell.view(), whole, whole);
    lines << line << '\n';
  }
  lines.close();
  return lines.fail() ? Status::io_error("cannot write " + path.string()) : Status();
}

Status write_file(const std::filesystem::path& directory, const std::string& name,
                  const HFileWriterOptions& options, const std::vector<OwnedCell>& cells) {
  CELLAR_TRY_ASSIGN(const auto opened, posix_file_system().open_directory(directory.string(), false));
  CELLAR_TRY_ASSIGN(const auto file, opened->create(name, {}));
  CELLAR_TRY_ASSIGN(const auto writer, HFileWriter::create(*file, options));
  for (const OwnedCell& cell : cells) CELLAR_TRY(writer->add(cell.view()));
  CELLAR_TRY(writer->finish().status());
  CELLAR_TRY(file->close());
  return write_lines(directory / (name + ".jsonl"), cells, true);
}

// HBase's name of a Bloom type.
Result<std::string> bloom_name(const std::string& bloom) {
  if (bloom == "none") return std::string("NONE");
  CELLAR_TRY_ASSIGN(const auto type, Registry<BloomType>::instance().make(bloom));
  return std::string(type->name());
}

std::vector<std::string> bloom_types() {
  std::vector<std::string> all = Registry<BloomType>::instance().names();
  all.emplace_back("none");
  return all;
}

// The kinds come from the registries: what is built in is written.
Status write_files(const std::filesystem::path& directory, uint64_t seed, size_t shapes_of_each) {
  std::ofstream list(directory / "files.tsv", std::ios::binary);
  Random random(seed);
  uint64_t count = 0;
  for (const std::string& encoding : Registry<BlockEncoding>::instance().names()) {
    for (const std::string& codec : Registry<Compressor>::instance().names()) {
      for (const std::string& bloom_plugin : bloom_types()) {
        const std::string bloom = with_parameters(random, bloom_plugin);
        CELLAR_TRY_ASSIGN(const std::string type, bloom_name(bloom));
        const uint64_t first = random.below(shapes().size());
        for (size_t s = 0; s < shapes_of_each; ++s) {
          const std::string& shape = shapes()[(first + s) % shapes().size()];
          const HFileWriterOptions options = draw_options(random, encoding, codec, bloom);
          const std::string name = fmt::format("{:032x}", ++count);
          const Status status =
              write_file(directory, name, options,
                         draw_cells(random, {.shape = shape, .tags = options.tags, .mvcc = options.mvcc}));
          if (!status.ok()) return status.with_context(describe(options, shape));
          CELLAR_TRY_ASSIGN(const Compressor* compressor, compressor_by_name(codec));
          list << name << '\t' << type << '\t' << compressor->name() << '\t' << describe(options, shape)
               << '\n';
        }
      }
    }
  }
  list.close();
  return list.fail() ? Status::io_error("cannot write files.tsv") : Status();
}

// ---- A bulk load ----

// Writes cells [from, until) of a family into a single file of a bulk load.
Status build_bulk_file(const std::filesystem::path& path, const HFileBuilderOptions& options,
                       std::span<const OwnedCell> cells) {
  CELLAR_TRY_ASSIGN(HFileBuilder builder, HFileBuilder::create(posix_file_system(), path.string(), options));
  for (const OwnedCell& cell : cells) CELLAR_TRY(builder.add_view(cell.view()));
  return builder.finish().status();
}

Status write_bulk(const std::filesystem::path& directory, uint64_t seed) {
  Random random(seed);
  const std::vector<std::string> encodings = Registry<BlockEncoding>::instance().names();
  for (const std::string family : {"a", "b"}) {
    std::filesystem::create_directories(directory / "bulk" / family);
    const std::vector<OwnedCell> cells = table_cells(random, family, 1'000);
    CELLAR_TRY(write_lines(directory / (family + ".jsonl"), cells, false));
    // Three files whose borders are not those of regions, so that HBase has some of them to split.
    const size_t third = cells.size() / 3;
    for (size_t i = 0; i < 3; ++i) {
      HFileBuilderOptions options{.compression = i == 1 ? "gz" : "none",
                                  .encoding = encodings[random.below(encodings.size())],
                                  .block_bytes = 4096,
                                  .tags = i == 2,
                                  .created_ms = 1'700'000'000'000};
      const size_t until = i == 2 ? cells.size() : third * (i + 1);
      CELLAR_TRY(build_bulk_file(directory / "bulk" / family / fmt::format("{:032x}", random.next()), options,
                                 std::span(cells).subspan(third * i, until - third * i)));
    }
  }
  return {};
}

#ifdef CELLAR_WITH_HBASE
constexpr bool kServes = true;
// "serve DIRECTORY", or "serve CERTIFICATE ISSUERS DIRECTORY".
Status serve_if_built(const std::vector<std::string>& arguments) {
  return arguments.size() == 2 ? serve_store(arguments[1], {}, {})
                               : serve_store(arguments[3], arguments[1], arguments[2]);
}
#else
constexpr bool kServes = false;
Status serve_if_built(const std::vector<std::string>&) {
  return Status::not_supported("built without HBase's RPC");
}
#endif

int run(const std::vector<std::string>& arguments) {
  const auto number = [&](size_t i) { return std::strtoull(arguments[i].c_str(), nullptr, 10); };
  const bool files = arguments.size() == 4 && arguments[0] == "files";
  const bool bulk = arguments.size() == 3 && arguments[0] == "bulk";
  const bool bench = arguments.size() == 4 && arguments[0] == "bench";
  const bool region = arguments.size() == 4 && arguments[0] == "region";
  const bool operations = arguments.size() == 3 && arguments[0] == "operations";
  const bool serve = (arguments.size() == 2 || arguments.size() == 4) && arguments[0] == "serve" && kServes;
  if (!files && !bulk && !bench && !region && !operations && !serve) {
    std::fprintf(
        stderr,
        "usage: cellar_interop files|bulk|bench|operations DIRECTORY NUMBER [NUMBER]\n"
        "       cellar_interop region DIRECTORY OPERATIONS ANSWERS\n"
        "       cellar_interop serve [CERTIFICATE ISSUERS] DIRECTORY   (in builds with CELLAR_WITH_HBASE)\n");
    return 2;
  }
  std::filesystem::create_directories(serve ? arguments.back() : arguments[1]);
  register_bloom_plugins();
  register_hfile_plugins();
  const Status status = serve        ? serve_if_built(arguments)
                        : files      ? write_files(arguments[1], number(2), number(3))
                        : bulk       ? write_bulk(arguments[1], number(2))
                        : region     ? answer_operations(arguments[2], arguments[3], arguments[1])
                        : operations ? measure_operations(arguments[1], number(2))
                                     : measure(arguments[1], number(2), number(3));
  if (!status.ok()) std::fprintf(stderr, "cellar_interop: %s\n", status.to_text().c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace cellar::interop

int main(int count, char** arguments) { return cellar::interop::run({arguments + 1, arguments + count}); }
