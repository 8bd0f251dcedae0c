// Keys that rise with time, and what spreads them: a salt, a hash in front, or another order of the parts.
//
//   example_spread_keys [STORE]
//
// Each table holds the same readings, v:c = value. Table plain: row = time (8 bytes) + sensor. Table salted:
// a byte of the key's hash in front. Table at_random: a random byte in front. Table hashed: four bytes of the
// hash in front. Table by_sensor: row = sensor + time.
#include <algorithm>
#include <map>
#include <random>

#include "cellar/salted_scan.h"
#include "examples/application.h"

namespace {

using namespace example;

constexpr uint32_t kSalts = 16;
constexpr int kSensors = 50;
constexpr int kRounds = 400;  // readings of each sensor
constexpr int64_t kStart = 1'700'000'000'000;
constexpr int64_t kMinute = 60'000;

struct Reading {
  int64_t time;
  std::string sensor, value;
};

std::string sensor_name(int number) { return std::string(number < 10 ? "s0" : "s") + std::to_string(number); }
std::string plain_key(const Reading& reading) { return plain_int64(reading.time) + reading.sensor; }

// One way to write the key.
struct Design {
  const char* name;
  std::function<std::string(const Reading&)> key;
  std::shared_ptr<Table> table = nullptr;
};

std::vector<Design> designs() {
  return {{"plain", plain_key},
          {"salted", [](const Reading& reading) { return salted(plain_key(reading), kSalts); }},
          {"at_random",
           [random = std::mt19937(27)](const Reading& reading) mutable {
             return std::string(1, static_cast<char>(random() % kSalts)) + plain_key(reading);
           }},
          {"hashed",
           [](const Reading& reading) { return hash_prefix(plain_key(reading), 4) + plain_key(reading); }},
          {"by_sensor", [](const Reading& reading) { return reading.sensor + plain_int64(reading.time); }}};
}

// All sensors once a minute, with made-up values.
std::vector<Reading> made_up_readings(int first_round, int rounds) {
  std::mt19937 random(static_cast<uint32_t>(first_round));
  std::vector<Reading> readings;
  for (int round = first_round; round < first_round + rounds; ++round) {
    for (int sensor = 0; sensor < kSensors; ++sensor)
      readings.push_back({kStart + round * kMinute, sensor_name(sensor), std::to_string(random() % 1000)});
  }
  return readings;
}

Status load(Engine& engine, std::vector<Design>& all, const std::vector<Reading>& readings) {
  for (Design& design : all) {
    CELLAR_TRY_ASSIGN(design.table, engine.create_table(design.name, {.families = {{.name = "v"}}}));
    for (const Reading& reading : readings)
      CELLAR_TRY(design.table->put(Put(design.key(reading)).add_at("v", "c", reading.time, reading.value)));
    CELLAR_TRY(design.table->flush());
  }
  return {};
}

// In which of 16 equal parts of each table the next 1,000 readings lie.
Status ask_spread(const std::vector<Design>& all, Questions& questions) {
  questions.chapter("The next 1,000 readings in 16 equal parts of the table: how many in the fullest part?");
  for (const Design& design : all) {
    CELLAR_TRY_ASSIGN(const RangeSplits splits, design.table->split_points(16));
    std::map<ptrdiff_t, size_t> counts;
    for (const Reading& reading : made_up_readings(kRounds, 20)) {
      const auto part = std::ranges::upper_bound(splits.rows, design.key(reading));
      ++counts[part - splits.rows.begin()];
    }
    const size_t fullest =
        std::ranges::max_element(counts, {}, [](const auto& part) { return part.second; })->second;
    questions.say(std::string(design.name) + ": " + std::to_string(fullest));
    // Parts are cut at blocks, so that the fullest one has more than the 63 of a perfect spread.
    const bool rising = std::string_view(design.name) == "plain";
    CELLAR_TRY(questions.holds("spread", rising ? fullest == 1000 : fullest >= 63 && fullest <= 150));
  }
  return {};
}

// Ten minutes of all sensors.
Status ask_range(const std::vector<Design>& all, const std::vector<Reading>& readings, Questions& questions) {
  questions.chapter("All readings of ten minutes, in the order of time: 500 rows");
  const int64_t from = kStart + 100 * kMinute, until = from + 10 * kMinute;
  std::string expected, found;
  for (const Reading& reading : readings)
    if (reading.time >= from && reading.time < until) expected += plain_key(reading);
  const Scan scan = Scan().start(plain_int64(from)).stop(plain_int64(until));
  for (const Design& design : all) {
    const std::string name = design.name;
    if (name == "hashed" || name == "by_sensor") continue;
    ReadStats cost;
    found.clear();
    Result<std::unique_ptr<Scanner>> scanner =
        name == "plain" ? design.table->scan(Scan(scan).stats(&cost))
                        : scan_salted(*design.table, Scan(scan).stats(&cost), kSalts);
    CELLAR_TRY(scanner);
    for (const RowView row : **scanner) found += name == "plain" ? row.row() : unsalted(row.row());
    CELLAR_TRY((*scanner)->status());
    CELLAR_TRY(questions.same(name, found, expected));
    questions.say(name + (name == "plain" ? ": one scan" : ": 16 scans, merged"));
    Questions::print(cost);
  }
  // The hash leaves no order: all rows are read.
  ReadStats cost;
  std::vector<std::string> keys;
  CELLAR_TRY_ASSIGN(const auto hashed, all[3].table->scan(Scan().stats(&cost)));
  for (const RowView row : *hashed) {
    const std::string_view key = row.row().substr(4);
    if (key >= plain_int64(from) && key < plain_int64(until)) keys.emplace_back(key);
  }
  CELLAR_TRY(hashed->status());
  std::ranges::sort(keys);
  found.clear();
  for (const std::string& key : keys) found += key;
  questions.say("hashed: a scan of the whole table");
  Questions::print(cost);
  return questions.same("hashed", found, expected);
}

Status ask_one(const std::vector<Design>& all, const std::vector<Reading>& readings, Questions& questions) {
  questions.chapter("One reading, by time and sensor");
  for (const Design& design : all) {
    const bool random = std::string_view(design.name) == "at_random";
    ReadStats cost;
    for (size_t n = 0; n < readings.size(); n += 997) {
      std::vector<Get> gets;
      for (uint32_t salt = 0; random && salt < kSalts; ++salt)
        gets.emplace_back(std::string(1, static_cast<char>(salt)) + plain_key(readings[n]));
      if (!random) gets.emplace_back(design.key(readings[n]));
      ReadStats one;
      for (Get& get : gets) get.stats(&one);
      CELLAR_TRY_ASSIGN(const std::vector<RowBatch> rows, design.table->get_many(gets));
      std::string found;
      for (const RowBatch& row : rows) found += row.value("v", "c").value_or("");
      CELLAR_TRY(questions.same(design.name, found, readings[n].value));
      if (n == 997) cost = one;
    }
    questions.say(design.name + std::string(random ? ": the salt is not known, so 16 gets" : ": one get"));
    Questions::print(cost);
  }
  return {};
}

// All readings of one sensor: a range if the sensor comes first, all rows if time does.
Status ask_sensor(const std::vector<Design>& all, const std::vector<Reading>& readings,
                  Questions& questions) {
  questions.chapter("All 400 readings of one sensor");
  std::string expected, found;
  for (const Reading& reading : readings)
    if (reading.sensor == "s07") expected += reading.value + " ";
  ReadStats cost;
  CELLAR_TRY_ASSIGN(const auto range, all[4].table->scan(Scan(keys_with_prefix("s07")).stats(&cost)));
  for (const RowView row : *range) found += std::string(row.value("v", "c").value_or("")) + " ";
  CELLAR_TRY(range->status());
  CELLAR_TRY(questions.same("by_sensor", found, expected));
  questions.say("by_sensor: one range");
  Questions::print(cost);

  cost = {};
  found.clear();
  const std::string key = std::string(8, '\0') + "s07", mask = std::string(8, '\1') + std::string(3, '\0');
  CELLAR_TRY_ASSIGN(const FilterPtr filter, fuzzy_row_filter({{key, mask}}));
  CELLAR_TRY_ASSIGN(const auto fuzzy, all[0].table->scan(Scan().filter(filter).stats(&cost)));
  for (const RowView row : *fuzzy) found += std::string(row.value("v", "c").value_or("")) + " ";
  CELLAR_TRY(fuzzy->status());
  questions.say("plain: a fuzzy filter over the whole table");
  Questions::print(cost);
  return questions.same("plain", found, expected);
}

Status run(const std::string& store, const std::vector<std::string>&, Questions& questions) {
  const std::vector<Reading> readings = made_up_readings(0, kRounds);
  CELLAR_TRY_ASSIGN(const auto engine, new_store(store));
  std::vector<Design> all = designs();
  CELLAR_TRY(load(*engine, all, readings));
  CELLAR_TRY(ask_spread(all, questions));
  CELLAR_TRY(ask_range(all, readings, questions));
  CELLAR_TRY(ask_one(all, readings, questions));
  CELLAR_TRY(ask_sensor(all, readings, questions));
  all.clear();
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "spread_keys_store", run); }
