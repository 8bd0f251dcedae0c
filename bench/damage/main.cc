// cellar_damage: flips every byte of the files of small, properly closed stores, cuts them at every length,
// and counts what the engines do about it. Ends with 1 when Cellar loses anything without a word.
#include <cstdio>
#include <cstring>
#include <map>

#include "bench/damage/damage.h"

namespace cellar::bench {
namespace {

constexpr unsigned char kFlips[] = {0x01, 0x80};

struct Tally {
  uint64_t cases = 0, refused = 0, same = 0, lost = 0, wrong = 0;

  void add(DamageOutcome outcome) {
    ++cases;
    refused += outcome == DamageOutcome::kRefused ? 1 : 0;
    same += outcome == DamageOutcome::kSame ? 1 : 0;
    lost += outcome == DamageOutcome::kLost ? 1 : 0;
    wrong += outcome == DamageOutcome::kWrong ? 1 : 0;
  }
};
using Tallies = std::map<std::string, Tally>;  // by what was done to what

void damage_file(DamageSubject& subject, const DamagedFile& file, Tallies& tallies) {
  Tally& flips = tallies[file.kind + ", a bit of each byte flipped"];
  for (size_t at = 0; at < file.bytes.size(); ++at) {
    for (const unsigned char flip : kFlips) {
      std::string bytes = file.bytes;
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ flip);
      flips.add(subject.open_with(file.path, bytes));
    }
  }
  Tally& cuts = tallies[file.kind + ", cut at each length"];
  for (size_t bytes = 0; bytes < file.bytes.size(); ++bytes)
    cuts.add(subject.open_with(file.path, file.bytes.substr(0, bytes)));
  tallies[file.kind + ", absent"].add(subject.open_with(file.path, std::nullopt));
}

// False when anything was lost or wrong, or when the store does not come back whole without any damage.
bool damage_all(std::unique_ptr<DamageSubject> (*make)(DamagedStore), bool count = false) {
  Tallies tallies;
  std::string name;
  for (const DamagedStore store : {DamagedStore::kLogged, DamagedStore::kFlushed}) {
    const std::unique_ptr<DamageSubject> subject = make(store);
    name = subject->name();
    for (const DamagedFile& file : subject->files()) {
      if (subject->open_with(file.path, file.bytes) != DamageOutcome::kSame) {
        std::fprintf(stderr, "cellar_damage: %s does not open its own undamaged store\n", name.c_str());
        return false;
      }
      // Each store has all three kinds; the log matters in the first, the other two in the second.
      const bool log = file.kind == "log";
      if (log == (store == DamagedStore::kLogged)) damage_file(*subject, file, tallies);
    }
  }
  uint64_t cases = 0, bad = 0;
  std::printf("\n%s, as it is by default\n  %-48s %8s %8s %8s %8s %8s\n", name.c_str(), "", "cases",
              "refused", "same", "lost", "wrong");
  for (const auto& [done, tally] : tallies) {
    std::printf("  %-48s %8llu %8llu %8llu %8llu %8llu\n", done.c_str(), (unsigned long long)tally.cases,
                (unsigned long long)tally.refused, (unsigned long long)tally.same,
                (unsigned long long)tally.lost, (unsigned long long)tally.wrong);
    cases += tally.cases;
    bad += tally.lost + tally.wrong;
  }
  std::printf("  %llu cases, %llu of them silently lost or wrong\n", (unsigned long long)cases,
              (unsigned long long)bad);
  if (count)
    std::printf("counted %llu damaged logs, manifests and CURRENTs of a whole store\n",
                (unsigned long long)cases);
  std::fflush(stdout);
  return bad == 0;
}

}  // namespace

std::string damage_row(int i) { return "row" + std::to_string(100 + i); }
std::string damage_value(int i) { return "value of row " + std::to_string(i); }

DamageOutcome judge_damage(const std::vector<std::string>& found) {
  size_t known = 0;
  for (int i = 0; i < kDamageRows && known < found.size(); ++i)
    if (found[known] == damage_row(i) + " " + damage_value(i)) ++known;
  if (known < found.size()) return DamageOutcome::kWrong;
  return known == kDamageRows ? DamageOutcome::kSame : DamageOutcome::kLost;
}

}  // namespace cellar::bench

int main(int arguments, char** words) {
  using namespace cellar::bench;
  const bool alone = arguments == 2 && std::strcmp(words[1], "--cellar") == 0;
  if (arguments > 1 && !alone) {
    std::fprintf(stderr, "usage: cellar_damage [--cellar]\n  --cellar   without the other engines\n");
    return 2;
  }
  const bool sound = damage_all(make_cellar_subject, alone);
#ifdef CELLAR_WITH_ROCKSDB
  if (!alone) static_cast<void>(damage_all(make_rocksdb_subject));
#endif
  return sound ? 0 : 1;
}
