// A map that a person pans: each view is a few ranges of rows, and what it cost is shown.
//
//   example_places_page STORE FILE PAGE.html [--port N]    serves the page on this machine
//   example_places_page STORE FILE PAGE.html --replay      pans and zooms over HTTP, and prints latencies
//
// STORE is the store that example_places filled from FILE.
#include "examples/page.h"
#include "examples/places/places.h"

namespace {

using namespace example;

struct View {
  Box box;
  int zoom = 0;  // of the map: at zoom 0 the world is 256 pixels wide
  // Clusters of 64 pixels, until the view is so close that places have room.
  bool clustered() const { return zoom < 9; }
  uint8_t cluster_zoom() const { return static_cast<uint8_t>(zoom + 2); }
  // The families of the places that are named.
  std::string_view families() const { return zoom < 3 ? "" : zoom < 7 ? "h" : clustered() ? "hm" : "hml"; }
};

Result<View> view_of(const httplib::Request& asked) {
  View view;
  CELLAR_TRY_ASSIGN(view.box.south, degrees(asked.get_param_value("south"), 90));
  CELLAR_TRY_ASSIGN(view.box.west, degrees(asked.get_param_value("west"), 180));
  CELLAR_TRY_ASSIGN(view.box.north, degrees(asked.get_param_value("north"), 90));
  CELLAR_TRY_ASSIGN(view.box.east, degrees(asked.get_param_value("east"), 180));
  const std::string zoom = asked.get_param_value("zoom");
  const char* const end = zoom.data() + zoom.size();
  const std::from_chars_result read = std::from_chars(zoom.data(), end, view.zoom);
  if (read.ec != std::errc() || read.ptr != end || view.zoom < 0 || view.zoom > 19)
    return Status::invalid_argument("zoom \"" + zoom + "\" is not a number from 0 to 19");
  return view;
}

// Returns whether a tile meets a box.
Result<bool> meets(const Box& box, const Tile& tile) {
  CELLAR_TRY_ASSIGN(const Tile first, tile_at(box.north, box.west, tile.zoom));
  CELLAR_TRY_ASSIGN(const Tile last, tile_at(box.south, box.east, tile.zoom));
  if (tile.y < first.y || tile.y > last.y) return false;
  if (box.west > box.east) return tile.x >= first.x || tile.x <= last.x;
  return tile.x >= first.x && tile.x <= last.x;
}

// Appends the clusters of a view, as they are stored. Returns the number of ranges.
Result<size_t> append_clusters(Table& clusters, const View& view, ReadStats* cost, std::string& json) {
  CELLAR_TRY_ASSIGN(const std::vector<KeyRange> ranges, ranges_of(view.box, 64, view.cluster_zoom()));
  const std::string zoom(1, static_cast<char>(view.cluster_zoom()));
  std::vector<KeyRange> rows;
  for (const KeyRange& range : ranges) rows.push_back(with_prefix(zoom, range));
  CELLAR_TRY_ASSIGN(const auto scanner, clusters.scan(Scan(rows).stats(cost)));
  for (const RowView row : *scanner) {
    CELLAR_TRY_ASSIGN(const Tile tile, tile_of_packed(row.row().substr(1)));
    CELLAR_TRY_ASSIGN(const bool seen, meets(view.box, tile));
    if (seen) append(json, row.begin()->value_bytes());
  }
  CELLAR_TRY(scanner->status());
  return ranges.size();
}

Result<std::string> answer(Table& places, Table& clusters, const View& view) {
  ReadStats cost;
  std::string clusters_json, places_json;
  size_t ranges = 0;
  if (view.clustered()) {
    CELLAR_TRY_ASSIGN(ranges, append_clusters(clusters, view, &cost, clusters_json));
  }
  if (!view.families().empty()) {
    const auto take = [&](int32_t, std::string_view record) { append(places_json, record); };
    CELLAR_TRY_ASSIGN(const size_t more, places_in(places, view.box, 16, view.families(), &cost, take));
    ranges += more;
  }
  return "{\"clusters\":[" + clusters_json + "],\"places\":[" + places_json +
         "],\"ranges\":" + std::to_string(ranges) +
         ",\"blocks\":" + std::to_string(cost.blocks_from_cache + cost.blocks_from_disk) +
         ",\"cells\":" + std::to_string(cost.cells_examined) +
         ",\"rows\":" + std::to_string(cost.rows_returned) + "}";
}

// Returns how many places an answer has: those of its clusters, and those it names.
std::pair<size_t, size_t> counted(const std::string& json) {
  size_t clustered = 0, named = 0;
  for (size_t at = 0; (at = json.find("{\"places\":", at)) != std::string::npos;)
    clustered += std::stoull(json.substr(at += 10, 10));
  for (size_t at = 0; (at = json.find("\"id\":", at)) != std::string::npos; at += 5) ++named;
  return {clustered, named};
}

// The same by a look at all places.
Result<std::pair<size_t, size_t>> by_looking(const std::vector<Place>& places, const View& view) {
  size_t clustered = 0, named = 0;
  for (const Place& place : places) {
    if (view.clustered()) {
      CELLAR_TRY_ASSIGN(const Tile tile, tile_at(place.latitude, place.longitude, view.cluster_zoom()));
      CELLAR_TRY_ASSIGN(const bool seen, meets(view.box, tile));
      clustered += seen ? 1 : 0;
    }
    const bool visible = view.families().find(place.importance) != std::string_view::npos;
    named += visible && view.box.has(place.latitude, place.longitude) ? 1 : 0;
  }
  return std::pair(clustered, named);
}

// Zooms in on some places, and pans at each zoom, as a person with a window of 1,024 by 768 pixels.
Status replay(httplib::Client& client, const PageServer& server, const std::vector<Place>& places,
              Questions& questions) {
  questions.chapter("The map is panned and zoomed over HTTP");
  Latencies views;
  for (size_t i = 0; i < places.size(); i += places.size() / 12 + 1) {
    for (int zoom = 1; zoom <= 14; ++zoom) {
      for (const double pan : {-0.25, 0.0, 0.25}) {
        const double width = std::min(360.0, 360.0 * 4 / (1 << zoom)), height = std::min(160.0, width * 0.5);
        const double west = std::clamp(places[i].longitude + (pan - 0.5) * width, -180.0, 180.0 - width);
        const double south = std::clamp(places[i].latitude - height / 2, -85.0, 85.0 - height);
        const View view = {{south, west, south + height, west + width}, zoom};
        char path[256];
        std::snprintf(path, sizeof path, "/view?south=%.17g&west=%.17g&north=%.17g&east=%.17g&zoom=%d",
                      view.box.south, view.box.west, view.box.north, view.box.east, zoom);
        const int64_t begin = now_us();
        const auto reply = client.Get(path);
        views.add(now_us() - begin);
        CELLAR_TRY(questions.holds("the server answers", reply && reply->status == 200));
        CELLAR_TRY_ASSIGN(const auto expected, by_looking(places, view));
        CELLAR_TRY(
            questions.holds(std::string("the same places in ") + path, counted(reply->body) == expected));
      }
    }
  }
  questions.say("view to answer, " + views.to_text());
  questions.say("of it in the server, " + server.latencies().to_text());
  questions.chapter("Hostile requests");
  for (const auto& [what, path] : {std::pair{"no box", "/view"},
                                   {"a latitude of 91", "/view?south=91&west=0&north=92&east=1&zoom=3"},
                                   {"not a number", "/view?south=nan&west=0&north=1&east=1&zoom=3"},
                                   {"a box upside down", "/view?south=2&west=0&north=1&east=1&zoom=3"},
                                   {"zoom -1", "/view?south=0&west=0&north=1&east=1&zoom=-1"},
                                   {"zoom 20", "/view?south=0&west=0&north=1&east=1&zoom=20"}}) {
    const auto reply = client.Get(path);
    CELLAR_TRY(questions.answer(what, reply ? std::to_string(reply->status) : "no answer", "400"));
  }
  return {};
}

Status run(const std::string& store, const std::vector<std::string>& files, Questions& questions) {
  CELLAR_TRY_ASSIGN(const std::optional<int> wanted, port_of(files, "example_places_page"));
  CELLAR_TRY_ASSIGN(const std::vector<Place> places, read_places(files[0]));
  CELLAR_TRY_ASSIGN(const auto engine, Engine::open(store, {.read_only = true}));
  CELLAR_TRY_ASSIGN(const auto table, engine->open_table("places"));
  CELLAR_TRY_ASSIGN(const auto clusters, engine->open_table("clusters"));
  CELLAR_TRY_ASSIGN(const auto server, PageServer::of_file(files[1]));
  server->on("/view", [&](const httplib::Request& asked) -> Result<std::string> {
    CELLAR_TRY_ASSIGN(const View view, view_of(asked));
    return answer(*table, *clusters, view);
  });
  CELLAR_TRY_ASSIGN(const int port, server->start(wanted.value_or(0)));
  if (wanted) {
    std::printf("http://127.0.0.1:%d/ shows %zu places; Ctrl-C ends it\n", port, places.size());
    std::fflush(stdout);
    server->wait();
    return {};
  }
  httplib::Client client("127.0.0.1", port);
  client.set_keep_alive(true);
  client.set_tcp_nodelay(true);
  return replay(client, *server, places, questions);
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "places_store", run); }
