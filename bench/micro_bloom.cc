// Bloom filters: building a chunk, and asking for keys that are inside and keys that are not, hashing
// included. The questions are spread over several numbers of chunks: one stays in the processor's cache, many
// do not.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "bench/bed.h"
#include "bloom/bloom_bits.h"

namespace cellar::bench {
namespace {

constexpr uint32_t kChunkBytes = 131072;  // HBase's
constexpr uint32_t kFoldMax = 7;

std::string key_of(uint64_t chunk, uint64_t i) { return numbered("user", chunk * 1'000'000 + i, 12); }

// Full chunks of this shape; the last ones made are kept for the next case.
const std::vector<BloomBits>& full_chunks(const BloomShape& shape, size_t chunks) {
  static std::vector<BloomBits> kept;
  static uint32_t kept_keys = 0;
  if (kept_keys != shape.keys_max || kept.size() != chunks) {
    kept.clear();
    kept_keys = shape.keys_max;
    for (size_t chunk = 0; chunk < chunks; ++chunk) {
      BloomBits& bits = kept.emplace_back(shape);
      for (uint32_t i = 0; i < shape.keys_max; ++i)
        bits.add(bloom_hashes(BloomHash::kMurmur, key_of(chunk, i)));
    }
  }
  return kept;
}

float share(int percent) { return static_cast<float>(percent) / 100; }

void build(benchmark::State& state, int percent) {
  const BloomShape shape = bloom_shape(kChunkBytes, share(percent), kFoldMax);
  std::vector<std::string> keys;
  for (uint32_t i = 0; i < shape.keys_max; ++i) keys.push_back(key_of(0, i));
  for (auto unused : state) {
    static_cast<void>(unused);
    BloomBits bits(shape);
    for (const std::string& key : keys) bits.add(bloom_hashes(BloomHash::kMurmur, key));
    benchmark::DoNotOptimize(bits.bytes().data());
  }
  state.SetItemsProcessed(state.iterations() * shape.keys_max);
  state.counters["bits/key"] = 8.0 * shape.bytes / shape.keys_max;
}

void ask(benchmark::State& state, int percent, size_t chunks, bool inside) {
  constexpr uint64_t kQuestions = 4096;
  const BloomShape shape = bloom_shape(kChunkBytes, share(percent), kFoldMax);
  const std::vector<BloomBits>& filters = full_chunks(shape, chunks);
  std::vector<std::pair<size_t, std::string>> questions;
  for (uint64_t i = 0; i < kQuestions; ++i) {
    const size_t chunk = mixed(i) % chunks;
    questions.emplace_back(chunk,
                           key_of(chunk, mixed(i + kQuestions) % shape.keys_max) + (inside ? "" : "x"));
  }
  uint64_t yes = 0;
  uint64_t at = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    const auto& [chunk, key] = questions[at++ % kQuestions];
    const BloomHashes hashes = bloom_hashes(BloomHash::kMurmur, key);
    if (bloom_may_contain(filters[chunk].bytes(), shape.hashes, hashes)) ++yes;
  }
  if (inside && yes != at) state.SkipWithError("a key that was inserted is denied");
  state.SetItemsProcessed(state.iterations());
  if (!inside) state.counters["false positives"] = static_cast<double>(yes) / static_cast<double>(at);
}

[[maybe_unused]] const bool registered_micro_bloom = [] {
  for (const int percent : {1, 10}) {
    benchmark::RegisterBenchmark(fmt::format("bloom/build/errors_percent:{}", percent).c_str(),
                                 [=](benchmark::State& state) { build(state, percent); })
        ->Unit(benchmark::kMicrosecond);
    for (const size_t chunks : {size_t{1}, scaled(64, 4)}) {
      for (const bool inside : {true, false}) {
        benchmark::RegisterBenchmark(
            fmt::format("bloom/{}/errors_percent:{}/chunks:{}", inside ? "hit" : "miss", percent, chunks)
                .c_str(),
            [=](benchmark::State& state) { ask(state, percent, chunks, inside); });
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace cellar::bench
