// Goal: inputs that once did harm do none, and the fuzz targets work, in every build.
// Method: each file of tests/data/fuzz/<target> is run; so are the seeds, and a few thousand mutations of
// them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/random.h"
#include "tests/fuzz/targets.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;

class Fuzz : public ::testing::TestWithParam<fuzz::Target> {};

void mutate(std::string& bytes, Random& random) {
  for (uint64_t changes = 1 + random.below(4); changes > 0 && !bytes.empty(); --changes) {
    const size_t at = random.below(bytes.size());
    switch (random.below(5)) {
      case 0:
        bytes[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 2:
        bytes.erase(at, 1 + random.below(8));
        break;
      case 3:
        bytes.insert(at, bytes, random.below(bytes.size()), 1 + random.below(16));
        break;
      default:
        bytes.resize(at);
    }
  }
}

TEST_P(Fuzz, SurvivesSmallChanges) {
  std::vector<std::string> seeds = fuzz::seeds_of(GetParam());
  ASSERT_FALSE(seeds.empty());
  const fs::path folder = fs::path(CELLAR_TEST_DATA_DIR) / "fuzz" / GetParam().name;
  for (auto each = fs::exists(folder) ? fs::directory_iterator(folder) : fs::directory_iterator();
       each != fs::directory_iterator(); ++each) {
    std::ifstream in(each->path(), std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  Random random(from_environment("CELLAR_SEED", 1));
  for (const std::string& seed : seeds) {
    GetParam().run(seed);
    for (uint64_t i = 0; i < scaled(100); ++i) {
      std::string bytes = seed;
      mutate(bytes, random);
      if (random.one_in(2)) fuzz::mend_sums(bytes);
      GetParam().run(bytes);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Fuzz, ::testing::ValuesIn(fuzz::targets()),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace
}  // namespace cellar::testing
