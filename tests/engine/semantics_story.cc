// The steps of stories.
#include "tests/engine/semantics_story.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cellar/compaction_policy.h"
#include "cellar/hfile_builder.h"
#include "cellar/plugin.h"
#include "engine/schema/option_fields.h"
#include "tests/cell_support/cell_text.h"

namespace cellar::testing {
namespace {

// Exactly files `first` to `last`, while there are `of`; then nothing.
class Chosen final : public CompactionPolicy {
 public:
  explicit Chosen(const PluginParams& params)
      : first_(params.count("first", 1)), last_(params.count("last", 1)), of_(params.count("of", 1)) {}

  std::optional<CompactionPlan> pick(const StoreShape& shape, std::vector<std::string>*) const override {
    if (shape.files.size() != of_ || last_ > of_) return std::nullopt;
    CompactionPlan plan{.inputs = {}, .why = "chosen"};
    for (uint64_t i = first_; i <= last_; ++i) plan.inputs.push_back(shape.files[i - 1].id);
    return plan;
  }

 private:
  uint64_t first_, last_, of_;
};

// A filter that obeys the values of the cells, up to a '.': include, include_next_column, include_next_row,
// skip, next_column, next_row. The value hint_q seeks the column q, and nowhere gives a hint without a
// target.
class Obedient final : public Filter {
 public:
  std::unique_ptr<Filter> clone() const override { return std::make_unique<Obedient>(*this); }
  std::string to_text() const override { return "Obedient()"; }
  bool drop_row_key(const CellView&) override { return false; }
  FilterCode cell(const CellView& cell) override {
    const std::string_view order = order_of(cell);
    if (order == "include_next_column") return FilterCode::kIncludeAndNextColumn;
    if (order == "include_next_row") return FilterCode::kIncludeAndNextRow;
    if (order == "skip") return FilterCode::kSkip;
    if (order == "next_column") return FilterCode::kNextColumn;
    if (order == "next_row") return FilterCode::kNextRow;
    return order.starts_with("hint_") || order == "nowhere" ? FilterCode::kSeekHint : FilterCode::kInclude;
  }
  std::optional<Cell> seek_hint(const CellView& cell) override {
    const std::string_view order = order_of(cell);
    if (order == "nowhere") return std::nullopt;
    return column_hint(cell, order.substr(order.find('_') + 1));
  }

 private:
  static std::string_view order_of(const CellView& cell) {
    return cell.value_bytes().substr(0, cell.value_bytes().find('.'));
  }
};

void add_plugins() {
  Registry<CompactionPolicy>::instance().add(
      "chosen", [](const PluginParams& params) -> std::unique_ptr<CompactionPolicy> {
        return std::make_unique<Chosen>(params);
      });
  add_filter_name("Obedient", [](std::span<const FilterArgument>) -> Result<FilterPtr> {
    return std::make_shared<Obedient>();
  });
}

// "" when it went well.
std::string failed(const Status& status) { return status.ok() ? "" : text_of(status); }

template <class Answer>
std::string answered(const Result<Answer>& answer) {
  return answer.ok() ? text_of(*answer) : text_of(answer.status());
}

std::string rows_of(Scanner& scanner, size_t rows) {
  std::string text;
  for (size_t i = 0; i < rows && scanner.next(); ++i) text += text_of(scanner.row());
  if (!scanner.status().ok()) return text + text_of(scanner.status());
  return text.empty() ? "nothing\n" : text;
}

}  // namespace

Story::Story(Client client) : client_(std::move(client)) {}

Story::~Story() { end_uses(); }

// Ends all that a program has of the engine. The engine must outlive it.
void Story::end_uses() {
  scans_.clear();
  snapshots_.clear();
  used_.reset();
  table_.reset();
}

void Story::use(std::shared_ptr<Table> table) {
  table_ = std::move(table);
  used_ = client_ ? client_(*engine_) : table_;
  ASSERT_NE(used_, nullptr);
}

const std::map<std::string, Story::Step, std::less<>>& Story::steps() {
  static const std::map<std::string, Step, std::less<>> all = {{"create", &Story::create},
                                                               {"clock", &Story::clock},
                                                               {"alter", &Story::alter},
                                                               {"flush", &Story::flush},
                                                               {"major", &Story::major},
                                                               {"compact", &Story::compact},
                                                               {"reopen", &Story::reopen},
                                                               {"engine", &Story::engine},
                                                               {"files", &Story::files},
                                                               {"grid", &Story::grid},
                                                               {"put", &Story::put},
                                                               {"delete", &Story::erase},
                                                               {"increment", &Story::increment},
                                                               {"append", &Story::append},
                                                               {"mutate", &Story::mutate},
                                                               {"check", &Story::check},
                                                               {"batch", &Story::batch},
                                                               {"atomic", &Story::atomic},
                                                               {"cell", &Story::cell},
                                                               {"load", &Story::load},
                                                               {"get", &Story::get},
                                                               {"exists", &Story::exists},
                                                               {"exists_many", &Story::exists_many},
                                                               {"scan", &Story::scan},
                                                               {"raw", &Story::raw},
                                                               {"snapshot", &Story::snapshot},
                                                               {"release", &Story::release},
                                                               {"open", &Story::open_scan},
                                                               {"next", &Story::next},
                                                               {"rest", &Story::rest},
                                                               {"at_or_after", &Story::at_or_after},
                                                               {"at_or_before", &Story::at_or_before}};
  return all;
}

std::string Story::answer(const Case& c) {
  std::string text = step(c.command + " " + c.args);
  for (const std::string& line : c.lines()) text += step(line);
  return text;
}

std::string Story::step(const std::string& line) {
  Words words(line);
  const std::string command = words.next();
  const auto found = steps().find(command);
  if (found == steps().end()) return "unknown step: " + command + "\n";
  if (table_ == nullptr && command != "create" && command != "grid")
    return "there is no table yet: begin with create\n";
  const std::string text = (this->*found->second)(words);
  if (!words.done()) words.fail("the step says more than is understood");
  return text;
}

// ---- The table ----

void Story::open_engine() {
  EngineOptions options = options_;
  options.create_if_missing = true;
  options.automatic_compaction = false;
  options.environment.files = files_.get();
  options.environment.clock = &clock_;
  auto opened = Engine::open("store", options);
  ASSERT_TRUE(opened.ok()) << opened.status().to_text();
  engine_ = std::move(opened).value();
}

std::string Story::create(Words& words) {
  add_plugins();
  end_uses();
  engine_.reset();
  clock_.set_wall_ms(10'000);
  options_ = {};
  files_ = make_memory_file_system();
  open_engine();
  if (engine_ == nullptr) return "no engine\n";
  TableOptions options;
  while (!words.done()) {
    const std::string word = words.next();
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      options.families.push_back({.name = word});
    } else if (options.families.empty()) {
      words.fail("a family comes first");
    } else {
      const Status set = set_option(options.families.back(), word.substr(0, equals), word.substr(equals + 1));
      if (!set.ok()) return text_of(set);
    }
  }
  auto made = engine_->create_table("t", options);
  if (!made.ok()) return text_of(made.status());
  use(std::move(made).value());
  return "";
}

std::string Story::clock(Words& words) {
  if (words.done()) return "clock needs a time\n";
  const std::string time = words.next();
  const int64_t number = std::stoll(time);
  clock_.set_wall_ms(time.starts_with('+') ? clock_.wall_ms() + number : number);
  return "";
}

FamilyOptions Story::options_of(const std::string& family) const {
  for (const FamilyInfo& info : table_->info().families)
    if (info.options.name == family) return info.options;
  FamilyOptions added;
  added.name = family;
  return added;
}

std::string Story::alter(Words& words) {
  FamilyOptions options = options_of(words.next());
  while (!words.done()) {
    const std::string word = words.next();
    const size_t equals = std::min(word.find('='), word.size() - 1);
    const Status set = set_option(options, word.substr(0, equals), word.substr(equals + 1));
    if (!set.ok()) return text_of(set);
  }
  return failed(engine_->alter_family("t", options));
}

std::string Story::flush(Words&) { return failed(table_->flush()); }

std::string Story::major(Words&) { return failed(table_->major_compact()); }

std::string Story::compact(Words& words) {
  const std::string family = words.next();
  const int64_t first = words.number();
  const int64_t last = words.number();
  size_t files = 0;
  for (const FamilyInfo& info : table_->info().families)
    if (info.options.name == family) files = info.files.size();
  if (first < 1 || last < first || static_cast<size_t>(last) > files)
    return "there are " + std::to_string(files) + " files\n";
  const FamilyOptions before = options_of(family);
  FamilyOptions chosen = before;
  chosen.compaction = "chosen(first=" + std::to_string(first) + ", last=" + std::to_string(last) +
                      ", of=" + std::to_string(files) + ")";
  std::string text = failed(engine_->alter_family("t", chosen));
  text += failed(table_->compact(family));
  return text + failed(engine_->alter_family("t", before));
}

std::string Story::reopen(Words&) {
  end_uses();
  std::string text = failed(engine_->close());
  engine_.reset();
  open_engine();
  auto opened = engine_->open_table("t");
  if (!opened.ok()) return text + text_of(opened.status());
  use(std::move(opened).value());
  return text;
}

std::string Story::engine(Words& words) {
  const std::string word = words.next();
  const size_t equals = word.find('=');
  if (equals == std::string::npos) return words.fail("an option is name=value"), "";
  const Status set = set_option(options_, word.substr(0, equals), word.substr(equals + 1));
  return set.ok() ? reopen(words) : text_of(set);
}

std::string Story::files(Words& words) {
  const std::string family = words.next();
  std::string text = "files:";
  for (const FamilyInfo& info : table_->info().families) {
    if (info.options.name != family) continue;
    for (const StoreFileInfo& file : info.files) text += " " + std::to_string(file.cells);
    text += ", memory: " + std::to_string(info.memtable_cells) + "\n";
  }
  return text;
}

// ---- Grids ----

// The timestamps of what a scan returns, a marker's with a '!'.
std::string Story::times(bool raw) {
  auto scanner = table_->scan(Scan().start("r").raw(raw).all_versions());
  if (!scanner.ok()) return text_of(scanner.status());
  std::string text;
  for (const RowView row : **scanner)
    for (const CellView& cell : row.cells())
      text += (text.empty() ? "" : " ") + std::string(is_delete(cell.type()) ? "!" : "") +
              std::to_string(cell.timestamp);
  return text;
}

// The two writes, and then the store brought into the `place`-th state of a grid.
std::string Story::write_grid(const std::string& keep, const std::string& first, const std::string& second,
                              int place) {
  const bool expires = keep == "ttl";  // this mode needs a time to live and MIN_VERSIONS
  std::vector<std::string> lines = {"create f versions=9 keep_deleted_cells=" + keep +
                                    (expires ? " ttl=1000 min_versions=1" : "")};
  if (place == 3) lines.insert(lines.end(), {"put other f:a @1 x", "flush"});
  lines.push_back(first);
  if (place >= 2) lines.emplace_back("flush");
  lines.push_back(second);
  if (place >= 1) lines.emplace_back("flush");
  if (place == 3) lines.emplace_back("compact f 2 3");
  if (place == 4) lines.emplace_back("major");
  std::string text;
  for (const std::string& line : lines) text += step(line);
  return text;
}

std::string Story::grid(Words& words) {
  const std::map<std::string, std::string, std::less<>> deletes = {
      {"version", "delete r version f:a @2"},
      {"column", "delete r column f:a @2"},
      {"family", "delete r family f @2"},
      {"family_version", "delete r family_version f @2"},
      {"row", "delete r @2"}};
  const auto found = deletes.find(words.next());
  if (found == deletes.end()) return "a grid is of one of the five kinds of delete\n";
  const std::string put = "put r f:a @1 v f:a @2 v f:a @3 v";
  std::string text;
  for (const std::string keep : {"false", "true", "ttl"}) {
    for (const bool put_first : {true, false}) {
      std::string reads, keeps;
      for (int place = 0; place < 5; ++place) {
        text += write_grid(keep, put_first ? put : found->second, put_first ? found->second : put, place);
        reads += (place == 0 ? " " : " | ") + times(false);
        keeps += (place == 0 ? " " : " | ") + times(true);
      }
      const std::string line = keep + (put_first ? ", put, delete: " : ", delete, put: ");
      text += line + "reads" + reads + "\n" + line + "keeps" + keeps + "\n";
    }
  }
  return text;
}

// ---- Writes ----

std::string Story::put(Words& words) { return failed(used_->put(put_of(words))); }

std::string Story::erase(Words& words) { return failed(used_->erase(delete_of(words))); }

std::string Story::increment(Words& words) {
  const auto sums = used_->increment(increment_of(words));
  if (!sums.ok()) return text_of(sums.status());
  std::string text = "sums:";
  for (const int64_t sum : *sums) text += " " + std::to_string(sum);
  return text + "\n";
}

std::string Story::append(Words& words) { return answered(used_->append(append_of(words))); }

std::string Story::mutate(Words& words) {
  return answered(used_->mutate(row_mutations_of(words.rest_in_parts())));
}

std::string Story::check(Words& words) {
  const auto result = used_->check_and_mutate(check_of(words));
  if (!result.ok()) return text_of(result.status());
  const std::string cells = result->row.cells.empty() ? "\n" : ", " + text_of(result->row);
  return (result->matched ? "yes" : "no") + cells;
}

std::string Story::batch(Words& words) {
  std::vector<Action> actions;
  for (const std::string& line : words.rest_in_parts()) actions.push_back(action_of(line));
  const std::vector<Result<ActionResult>> results = used_->batch(actions);
  std::string text;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].ok()) {
      text += text_of(results[i].status());
      continue;
    }
    const bool silent = results[i]->row.empty() && !std::holds_alternative<Get>(actions[i]);
    text += silent ? "ok\n" : text_of(results[i]->row);
  }
  return text;
}

std::string Story::atomic(Words& words) {
  Batch batch;
  for (const std::string& line : words.rest_in_parts()) {
    const RowMutations::Mutation mutation = mutation_of(line);
    if (const auto* put = std::get_if<Put>(&mutation)) {
      batch.put(table_, *put);
    } else if (const auto* erase = std::get_if<Delete>(&mutation)) {
      batch.erase(table_, *erase);
    } else {
      words.fail("a batch takes puts and deletes");
    }
  }
  return failed(engine_->write(batch));
}

std::string Story::cell(Words& words) {
  Batch batch;
  const Cell cell = parse_cell(words.rest());
  batch.cell(table_, owned(cell).view());
  return failed(engine_->write(batch));
}

Status Story::load_family(const std::string& family, std::vector<Cell> cells, std::vector<IngestFile>& made) {
  CELLAR_TRY(files_->open_directory("in", true).status());
  const std::string path = "in/" + family;
  HFileBuilderOptions options;
  options.replace = true;
  CELLAR_TRY_ASSIGN(HFileBuilder builder, HFileBuilder::create(*files_, path, options));
  for (const Cell& cell : sorted(std::move(cells))) CELLAR_TRY(builder.add(cell));
  CELLAR_TRY(builder.finish().status());
  made.push_back({family, path});
  return {};
}

std::string Story::load(Words& words) {
  std::map<std::string, std::vector<Cell>> families;
  while (!words.done()) {
    Cell cell = parse_cell(words.next());
    std::vector<Cell>& cells = families[cell.family];
    cells.push_back(std::move(cell));
  }
  IngestRequest request;
  for (auto& [family, cells] : families) {
    const Status built = load_family(family, std::move(cells), request.files);
    if (!built.ok()) return text_of(built);
  }
  return failed(table_->ingest(request).status());
}

// ---- Reads ----

std::string Story::get(Words& words) {
  const auto found = used_->get(get_of(words, snapshots_));
  return found.ok() ? text_of(found->row()) : text_of(found.status());
}

std::string Story::exists(Words& words) {
  const auto found = used_->exists(get_of(words, snapshots_));
  if (!found.ok()) return text_of(found.status());
  return *found ? "yes\n" : "no\n";
}

std::string Story::exists_many(Words& words) {
  std::vector<Get> gets;
  for (const std::string& part : words.rest_in_parts()) {
    Words each(part);
    gets.push_back(get_of(each, snapshots_));
  }
  const auto answers = used_->exists_many(gets);
  if (!answers.ok()) return text_of(answers.status());
  std::string text;
  for (const bool there : *answers) text += there ? "yes\n" : "no\n";
  return text;
}

std::string Story::scan(Words& words) {
  const bool cost = words.take("cost");
  ReadStats stats;
  Scan scan = scan_of(words, snapshots_);
  if (cost) scan.stats(&stats);  // a client cannot tell
  const auto scanner = (cost ? table_ : used_)->scan(scan);
  if (!scanner.ok()) return text_of(scanner.status());
  const std::string rows = rows_of(**scanner, SIZE_MAX);
  return cost ? rows + "examined " + std::to_string(stats.cells_examined) + " cells\n" : rows;
}

std::string Story::raw(Words& words) {
  const auto scanner = used_->scan(Scan(scan_of(words, snapshots_)).raw(true).all_versions());
  return scanner.ok() ? rows_of(**scanner, SIZE_MAX) : text_of(scanner.status());
}

std::string Story::at_or_after(Words& words) {
  const std::string row = words.next();
  const auto found = used_->row_at_or_after(row, scan_of(words, snapshots_));
  return found.ok() ? text_of(found->row()) : text_of(found.status());
}

std::string Story::at_or_before(Words& words) {
  const std::string row = words.next();
  const auto found = used_->row_at_or_before(row, scan_of(words, snapshots_));
  return found.ok() ? text_of(found->row()) : text_of(found.status());
}

std::string Story::snapshot(Words& words) {
  auto taken = engine_->snapshot();
  if (!taken.ok()) return text_of(taken.status());
  snapshots_[words.next()] = std::move(taken).value();
  return "";
}

std::string Story::release(Words& words) {
  return snapshots_.erase(words.next()) == 1 ? "" : "there is no such snapshot\n";
}

std::string Story::open_scan(Words& words) {
  const std::string name = words.next();
  auto scanner = used_->scan(scan_of(words, snapshots_));
  if (!scanner.ok()) return text_of(scanner.status());
  scans_[name] = std::move(scanner).value();
  return "";
}

std::string Story::next(Words& words) {
  const auto found = scans_.find(words.next());
  return found == scans_.end() ? "there is no such scan\n" : rows_of(*found->second, 1);
}

std::string Story::rest(Words& words) {
  const auto found = scans_.find(words.next());
  return found == scans_.end() ? "there is no such scan\n" : rows_of(*found->second, SIZE_MAX);
}

}  // namespace cellar::testing
