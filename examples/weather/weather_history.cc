// The weather of the globe, hour by hour: few stations are stored, and every tile is answered.
//
//   example_weather_history [STORE [STATIONS]]
//
// Table history: row = the largest tile of a station that has no other one, in digits padded with "~" to 14.
// Family w has one version each hour. The stations are made up by a generator with a fixed seed.
#include <cmath>
#include <map>
#include <numbers>

#include "examples/weather/tiles.h"

namespace {

using namespace example;

constexpr size_t kDigits = 14;
constexpr int64_t kHours = 24;
constexpr int64_t kBegin = 1700000400000,
                  kHourMs = 3600000;  // the first hour, in milliseconds since the epoch

struct Station {
  double latitude = 0, longitude = 0;
};
using Stations = std::map<std::string, Station>;  // by the padded row

double kilometres(const Station& a, const Station& b) {
  const auto radians = [](double degrees) { return degrees * std::numbers::pi / 180; };
  const double y = std::sin(radians(a.latitude - b.latitude) / 2),
               x = std::sin(radians(a.longitude - b.longitude) / 2);
  return 12742 * std::asin(std::min(1.0, std::sqrt(y * y + std::cos(radians(a.latitude)) *
                                                               std::cos(radians(b.latitude)) * x * x)));
}

// Sets stations anywhere on the globe, by a generator with a fixed seed.
struct Globe {
  uint64_t state = 7;
  double random(double from, double until) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return from + (until - from) * static_cast<double>(state >> 33) / 2147483648.0;
  }
  Station station() { return {std::asin(random(-0.99, 0.99)) * 180 / std::numbers::pi, random(-180, 180)}; }
};
Result<std::string> tile_of(const Station& at) {
  CELLAR_TRY_ASSIGN(const Tile tile, tile_at(at.latitude, at.longitude, kDigits));
  return quadkey(tile);
}

// Returns stations by the largest tile that has no other station: one digit more than it shares with a
// neighbour.
Result<Stations> stations_of(Globe& globe, size_t count) {
  Stations by_tile, stations;
  while (by_tile.size() < count) {
    const Station station = globe.station();
    CELLAR_TRY_ASSIGN(const std::string tile, tile_of(station));
    by_tile.emplace(tile, station);
  }
  const auto shared = [](const std::string& a, const std::string& b) {
    return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
  };
  for (auto at = by_tile.begin(); at != by_tile.end(); ++at) {
    size_t digits = 1;
    if (at != by_tile.begin()) digits = std::max(digits, 1 + shared(at->first, std::prev(at)->first));
    if (std::next(at) != by_tile.end())
      digits = std::max(digits, 1 + shared(at->first, std::next(at)->first));
    stations[padded(at->first.substr(0, digits), kDigits)] = at->second;
  }
  return stations;
}

std::string weather_of(const Station& station, int64_t hour) {
  char text[80];
  std::snprintf(
      text, sizeof text, "{\"lat\":%.3f,\"lng\":%.3f,\"celsius\":%.1f}", station.latitude, station.longitude,
      30 - std::abs(station.latitude) / 2 + 5 * std::sin(static_cast<double>(hour) * std::numbers::pi / 12));
  return text;
}

// Every tile of the globe is answered, although few have a row.
Status ask_everywhere(Table& history, const Stations& stations, Globe& globe, Questions& questions) {
  questions.chapter("Every tile is answered");
  size_t own = 0, by_next = 0, by_both = 0;
  double next_km = 0, both_km = 0, nearest_km = 0;
  constexpr size_t kTiles = 500;
  for (size_t i = 0; i < kTiles; ++i) {
    const Station here = globe.station();
    CELLAR_TRY_ASSIGN(const std::string tile, tile_of(here));
    const int64_t hour = static_cast<int64_t>(i) % kHours;
    const Scan then =
        Scan().time_range(0, kBegin + hour * kHourMs + 1);  // the newest version until that hour
    CELLAR_TRY_ASSIGN(RowBatch found, history.row_at_or_after(tile, then));
    if (found.empty()) {
      CELLAR_TRY_ASSIGN(found, history.row_at_or_before(tile, then));
    }
    auto next = stations.lower_bound(tile);  // the oracle
    if (next == stations.end()) --next;
    CELLAR_TRY(questions.same("row for " + tile, found.row().row(), next->first));
    CELLAR_TRY(
        questions.same("weather of " + tile, or_none(found.value("w", "")), weather_of(next->second, hour)));
    CELLAR_TRY_ASSIGN(found, history.row_at_or_before(tile, then));
    auto before = stations.upper_bound(tile);
    if (before != stations.begin()) --before;
    CELLAR_TRY(
        questions.same("row before " + tile, found.empty() ? next->first : found.row().row(), before->first));
    const double at_next = kilometres(here, next->second), at_before = kilometres(here, before->second);
    double nearest = at_next;
    for (const auto& [row, station] : stations) nearest = std::min(nearest, kilometres(here, station));
    own += contains(next->first, tile) ? 1 : 0;
    by_next += at_next <= nearest ? 1 : 0, by_both += std::min(at_next, at_before) <= nearest ? 1 : 0;
    next_km += at_next, both_km += std::min(at_next, at_before), nearest_km += nearest;
  }
  const auto line = [](size_t hits, double km) {
    return std::to_string(hits) + " of 500 tiles get the nearest station; the mean distance is " +
           std::to_string(std::lround(km / kTiles)) + " km";
  };
  questions.say(std::to_string(own) +
                " of 500 tiles lie in a station's own tile; the others get a neighbour in the order of keys");
  questions.say("the next row: " + line(by_next, next_km));
  questions.say("the nearer of the next row and the row before: " + line(by_both, both_km));
  questions.say("a look at all stations: " + line(kTiles, nearest_km));
  return questions.holds("two rows are better than one",
                         by_both >= by_next && both_km <= next_km && nearest_km <= both_km);
}

Status ask_size(Table& history, const Stations& stations, Questions& questions) {
  questions.chapter("The size");
  uint64_t bytes = 0;
  CELLAR_TRY_ASSIGN(const std::vector<StoreFileInfo> files, history.files("w"));
  for (const StoreFileInfo& file : files) bytes += file.bytes;
  const uint64_t records = stations.size() * kHours;
  questions.say(std::to_string(records) + " records of " + std::to_string(stations.size()) + " stations: " +
                std::to_string(bytes) + " bytes, " + std::to_string(bytes / records) + " for each record");
  const double tiles = std::pow(4, kDigits), hours = 50 * 365.25 * 24, kilobyte = 1024;
  const auto text = [](double value, const char* unit) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.1f %s", value, unit);
    return std::string(buffer);
  };
  CELLAR_TRY(questions.answer("tiles of zoom 14", text(tiles / 1e6, "million"), "268.4 million"));
  CELLAR_TRY(questions.answer("one record of 1 KiB for each, for one hour",
                              text(tiles * kilobyte / 1e9, "GB"), "274.9 GB"));
  CELLAR_TRY(
      questions.answer("for each hour of 50 years", text(tiles * kilobyte * hours / 1e15, "PB"), "120.5 PB"));
  CELLAR_TRY(questions.answer("the same for 20,000 stations", text(20000 * kilobyte * hours / 1e12, "TB"),
                              "9.0 TB"));
  return questions.answer("a dense table for each station of a sparse one", text(tiles / 20000, "tiles"),
                          "13421.8 tiles");
}

Status run(const std::string& store, const std::vector<std::string>& files, Questions& questions) {
  const size_t count = files.empty() ? 2000 : std::strtoull(files[0].c_str(), nullptr, 10);
  if (files.size() > 1 || count < 2 || count > 1000000)
    return Status::invalid_argument(
        "usage: example_weather_history [STORE [STATIONS]], with 2 to 1000000 stations");
  CELLAR_TRY_ASSIGN(const auto engine, new_store(store));
  Globe globe;
  CELLAR_TRY_ASSIGN(const Stations stations, stations_of(globe, count));
  CELLAR_TRY_ASSIGN(const auto history,
                    engine->create_table("history", {.families = {{.name = "w", .max_versions = 1000000}}}));
  for (const auto& [row, station] : stations) {
    Put put(row);
    for (int64_t hour = 0; hour < kHours; ++hour)
      put.add_at("w", "", kBegin + hour * kHourMs, weather_of(station, hour));
    CELLAR_TRY(history->put(put));
  }
  CELLAR_TRY(history->flush());
  CELLAR_TRY(history->major_compact());
  CELLAR_TRY(ask_everywhere(*history, stations, globe, questions));
  CELLAR_TRY(ask_size(*history, stations, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "weather_history_store", run); }
