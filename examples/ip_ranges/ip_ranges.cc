// The country of an address: ranges in a sorted table, found by the nearest row.
//
//   example_ip_ranges STORE FILE...      lines "first,last,country", as Debian's tor-geoipdb has them
//
// - Tables ipv4 and ipv6: row = the first address of a range, big-endian. Family r has the range, r:last and
//   r:text. Family c has the country, c:code and c:name. The answer is the nearest row at or before.
//
// Where ranges overlap, the nearest row may be the wrong one. Then two more tables show two repairs:
// - Table ipv4_pieces: the same keys after the ranges were cut into pieces that do not overlap.
// - Table ipv4_by_last: row = last and first address, in hex. The answer is the nearest row at or after, or a
//   later one. r:least is the least first address from this row on. It ends the walk.
#include <chrono>

#include "examples/ip_ranges/ranges.h"

namespace {

using namespace example;

struct Tables {
  std::shared_ptr<Table> by_first, pieces, by_last;
};

// Writes a row for each range, 2,000 in a batch.
Status load(Engine& engine, const std::shared_ptr<Table>& table, const Ranges& ranges,
            const std::function<void(const Range&, Put&)>& make) {
  Batch batch;
  Put put("");
  for (const Range& range : ranges) {
    make(range, put);
    batch.put(table, put.add("c", "code", range.country));
    if (batch.mutations() < 2000) continue;
    CELLAR_TRY(engine.write(batch));
    batch.clear();
  }
  CELLAR_TRY(engine.write(batch));
  return table->flush();
}

Status load_all(Engine& engine, const Tables& tables, const Ranges& ranges) {
  const auto names = country_names();
  const auto start = std::chrono::steady_clock::now();
  const auto by_first = [&](const Range& range, Put& put) {
    put.start(range.first)
        .add("r", "last", range.last)
        .add("r", "text", address_text(range.first) + " - " + address_text(range.last));
    if (const auto name = names.find(range.country); name != names.end()) put.add("c", "name", name->second);
  };
  CELLAR_TRY(load(engine, tables.by_first, ranges, by_first));
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("\n%s: %zu ranges loaded in %.2f s\n", tables.by_first->name().c_str(), ranges.size(), took);
  if (tables.pieces == nullptr) return {};
  CELLAR_TRY(load(engine, tables.pieces, split(ranges), by_first));
  Ranges sorted = ranges;
  std::sort(sorted.begin(), sorted.end(), [](const Range& a, const Range& b) {
    return std::tie(a.last, a.first, a.line) < std::tie(b.last, b.first, b.line);
  });
  std::vector<std::string> least(ranges.size());
  for (size_t i = sorted.size(); i-- > 0;) {
    least[sorted[i].line] = sorted[i].first;
    if (i + 1 < sorted.size()) least[sorted[i].line] = std::min(sorted[i].first, least[sorted[i + 1].line]);
  }
  return load(engine, tables.by_last, sorted, [&](const Range& range, Put& put) {
    put.start(hex_text(range.last + range.first)).add("r", "least", hex_text(least[range.line]));
  });
}

// Takes the nearest row at or before the address. Without `check_end` an address in a gap gets the country of
// its neighbour.
Result<std::string> by_floor(Table& table, const std::string& address, bool check_end, ReadStats* cost) {
  CELLAR_TRY_ASSIGN(const RowBatch row, table.row_at_or_before(address, Scan().stats(cost)));
  if (row.empty() || (check_end && or_none(row.value("r", "last"), "") < address)) return std::string();
  return or_none(row.value("c", "code"), "");
}

// The nearest row at or after the address, and its followers until no later range begins early enough.
Result<std::string> by_walk(Table& table, const std::string& address, ReadStats* cost) {
  const std::string wanted = hex_text(address);
  CELLAR_TRY_ASSIGN(const auto scanner, table.scan(Scan().start(wanted).stats(cost)));
  std::optional<Range> best;
  for (const RowView row : *scanner) {
    if (row.value("r", "least").value_or("") > wanted) break;
    CELLAR_TRY_ASSIGN(const std::string first, bytes_of_hex(row.row().substr(wanted.size())));
    CELLAR_TRY_ASSIGN(const std::string last, bytes_of_hex(row.row().substr(0, wanted.size())));
    const Range range = {first, last, or_none(row.value("c", "code"), ""), 0};
    if (range.first <= address && (!best || counts_more(range, *best))) best = range;
  }
  CELLAR_TRY(scanner->status());
  return best ? best->country : std::string();
}

// The blocks of the text: the key is the upper end, in hex, so that a look-up is the nearest row at or after.
Status ask_text(Engine& engine, Questions& questions) {
  questions.chapter("Blocks by their upper end");
  CELLAR_TRY_ASSIGN(const auto blocks, engine.create_table("blocks", {.families = {{.name = "b"}}}));
  for (const auto& [first, last, name] : {std::tuple{"50.60.a1.00", "50.60.a1.08", "A"},
                                          {"50.60.a1.09", "50.60.a1.d0", "B"},
                                          {"50.60.a1.d1", "50.60.a1.f0", "C"},
                                          {"50.60.a2.10", "50.60.a2.ff", "D"}})
    CELLAR_TRY(blocks->put(Put(last).add("b", "name", name).add("b", "first", first)));
  for (const auto& [address, expected] : {std::pair{"50.60.a1.09", "B"},
                                          {"50.60.a1.d0", "B"},
                                          {"50.60.a1.08", "A"},
                                          {"50.60.a1.d1", "C"},
                                          {"50.60.a3.00", "nothing"}}) {
    CELLAR_TRY_ASSIGN(const RowBatch row, blocks->row_at_or_after(address));
    CELLAR_TRY(questions.answer(address, or_none(row.value("b", "name")), expected));
  }
  CELLAR_TRY_ASSIGN(const RowBatch row, blocks->row_at_or_after("50.60.a1.f1"));
  CELLAR_TRY(questions.answer("50.60.a1.f1 lies in a gap: the nearest row alone",
                              or_none(row.value("b", "name")), "D"));
  const bool inside = or_none(row.value("b", "first")) <= "50.60.a1.f1";
  return questions.answer("The same with a look at its lower end", inside ? "D" : "nothing", "nothing");
}

// Prints how many answers of one way were wrong, and what a look-up cost.
Status say(std::string_view way, Table& table, size_t wrong, size_t asked, const ReadStats& cost) {
  CELLAR_TRY_ASSIGN(const RangeCount rows, table.count());
  const auto per_look_up = [&](uint64_t n) { return static_cast<double>(n) / static_cast<double>(asked); };
  std::printf("  %-53s %zu of %zu wrong; %" PRIu64 " rows; a look-up: %.2f blocks, %.1f cells examined\n",
              std::string(way).c_str(), wrong, asked, rows.rows,
              per_look_up(cost.blocks_from_cache + cost.blocks_from_disk), per_look_up(cost.cells_examined));
  return {};
}

Status ask(const Tables& tables, const Ranges& ranges, Questions& questions) {
  const Ranges overlaps = overlaps_of(ranges), pieces = split(ranges);
  std::vector<std::string> addresses = addresses_to_try(ranges, 300);
  for (const std::string& address : addresses_to_try(overlaps, 300)) addresses.push_back(address);
  addresses.emplace_back(ranges[0].first.size(), '\xff');
  size_t nowhere = 0, unchecked = 0;
  for (const std::string& address : addresses) {
    const std::string expected = country_by_search(ranges, address);
    CELLAR_TRY(questions.same("a search of the pieces", country_of(pieces, address), expected));
    CELLAR_TRY_ASSIGN(const std::string country, by_floor(*tables.by_first, address, false, nullptr));
    unchecked += country == expected ? 0 : 1, nowhere += expected.empty() ? 1 : 0;
  }
  questions.say(std::to_string(nowhere) + " of " + std::to_string(addresses.size()) +
                " addresses are in no range. Without a look at the end of the range, " +
                std::to_string(unchecked) + " answers are wrong.");
  questions.say(std::to_string(overlaps.size()) + " ranges overlap a range before them" +
                (overlaps.empty() ? "." : ": the smallest range counts."));
  for (const Range& range : overlaps) {
    std::string after = range.last;
    addresses.push_back(range.first), addresses.push_back(range.last);
    if (step(after, 1)) addresses.push_back(after);
  }
  size_t wrong = 0;
  ReadStats floor_cost, piece_cost, walk_cost;
  for (const std::string& address : addresses) {
    const std::string expected = country_of(pieces, address), name = address_text(address);
    CELLAR_TRY_ASSIGN(std::string country, by_floor(*tables.by_first, address, true, &floor_cost));
    wrong += country == expected ? 0 : 1;
    if (tables.pieces == nullptr) {
      CELLAR_TRY(questions.same(name, country, expected));
      continue;
    }
    CELLAR_TRY_ASSIGN(country, by_floor(*tables.pieces, address, true, &piece_cost));
    CELLAR_TRY(questions.same(name + " by pieces", country, expected));
    CELLAR_TRY_ASSIGN(country, by_walk(*tables.by_last, address, &walk_cost));
    CELLAR_TRY(questions.same(name + " by the last address", country, expected));
  }
  CELLAR_TRY(say("the nearest first address", *tables.by_first, wrong, addresses.size(), floor_cost));
  if (tables.pieces == nullptr) return {};
  CELLAR_TRY(say("the same, ranges cut into pieces without overlaps", *tables.pieces, 0, addresses.size(),
                 piece_cost));
  return say("the nearest last address, and a walk", *tables.by_last, 0, addresses.size(), walk_cost);
}

Status run(const std::string& path, const std::vector<std::string>& files, Questions& questions) {
  if (files.empty()) return Status::invalid_argument("name files with lines first,last,country");
  CELLAR_TRY_ASSIGN(const auto engine, new_store(path));
  CELLAR_TRY(ask_text(*engine, questions));
  Ranges all;
  for (const std::string& file : files) CELLAR_TRY(read_ranges(file, all));
  for (const size_t bytes : {4u, 16u}) {
    Ranges ranges;
    for (const Range& range : all) {
      if (range.first.size() != bytes) continue;
      ranges.push_back(range);
      ranges.back().line = ranges.size() - 1;
    }
    if (ranges.empty()) continue;
    const std::string name = bytes == 4 ? "ipv4" : "ipv6";
    const TableOptions families = {.families = {{.name = "c"}, {.name = "r"}}};
    Tables tables;
    CELLAR_TRY_ASSIGN(tables.by_first, engine->create_table(name, families));
    if (!overlaps_of(ranges).empty()) {
      CELLAR_TRY_ASSIGN(tables.pieces, engine->create_table(name + "_pieces", families));
      CELLAR_TRY_ASSIGN(tables.by_last, engine->create_table(name + "_by_last", families));
    }
    CELLAR_TRY(load_all(*engine, tables, ranges));
    CELLAR_TRY(ask(tables, ranges, questions));
  }
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "ip_ranges_store", run); }
