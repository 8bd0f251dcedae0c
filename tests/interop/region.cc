// Cellar answers the operations that a region of HBase answers.
#include "tests/interop/region.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "cellar/compaction_policy.h"
#include "cellar/engine.h"
#include "tests/interop/region_requests.h"
#include "tests/support/manual_clock.h"

namespace cellar::interop {
namespace {

// The run of files that is to be merged next, once: so many of those with cells, from this one on, counted
// round. HBase's side has the same policy (ChosenRun.java).
struct Chosen {
  size_t from = 0;
  size_t count = 0;
};
Chosen chosen;

class ChosenRun final : public CompactionPolicy {
 public:
  std::optional<CompactionPlan> pick(const StoreShape& shape, std::vector<std::string>*) const override {
    const Chosen run = std::exchange(chosen, {});
    const size_t files = shape.files.size();
    if (run.count == 0 || files < 2) return std::nullopt;
    CompactionPlan plan{.why = "chosen"};
    const size_t first = run.from % (files - 1);
    for (size_t i = first; i < std::min(files, first + run.count); ++i)
      plan.inputs.push_back(shape.files[i].id);
    return plan;
  }
};

std::string printable(std::string_view bytes) {
  std::string text;
  for (const char each : bytes) {
    if (each <= 0x20 || each > 0x7e) {
      text += fmt::format("\\x{:02X}", static_cast<uint8_t>(each));
    } else {
      text += each;
    }
  }
  return text;
}

// HBase's names.
std::string_view hbase_name(CellType type) {
  switch (type) {
    case CellType::kDelete:
      return "Delete";
    case CellType::kDeleteColumn:
      return "DeleteColumn";
    case CellType::kDeleteFamily:
      return "DeleteFamily";
    case CellType::kDeleteFamilyVersion:
      return "DeleteFamilyVersion";
    default:
      return "Put";
  }
}

void append_cell(std::string& to, std::string_view row, std::string_view family, std::string_view qualifier,
                 int64_t timestamp, CellType type, std::string_view value) {
  to += fmt::format(" {}/{}:{}/{}/{}={}", printable(row), printable(family), printable(qualifier), timestamp,
                    hbase_name(type), printable(value));
}

std::string text_of(const RowView& row) {
  std::string text;
  for (const CellView& cell : row)
    append_cell(text, cell.row(), cell.family(), cell.qualifier(), cell.timestamp, cell.type(),
                cell.value_bytes());
  return text;
}

std::string text_of(const Row& row) {
  std::string text;
  for (const Cell& cell : row.cells)
    append_cell(text, cell.row, cell.family, cell.qualifier, cell.timestamp, cell.type, cell.value);
  return text;
}

Result<FamilyOptions> read_family(const std::string& text) {
  const std::vector<std::string> words = split(text, ' ');
  FamilyOptions family{.name = words[0], .compaction = "chosen_run"};
  for (const std::string& word : std::span(words).subspan(1)) {
    const std::vector<std::string> option = split(word, '=', 2);
    const std::string name = option[0] == "versions" ? "max_versions"
                             : option[0] == "min"    ? "min_versions"
                             : option[0] == "ttl"    ? "ttl_s"
                             : option[0] == "kept"   ? "keep_deleted_cells"
                                                     : "delete_order";
    CELLAR_TRY(set_option(family, name, option.at(1)));
  }
  return family;
}

// One store, and one table at a time.
class Answerer {
 public:
  Status open(const std::filesystem::path& directory) {
    EngineOptions options{.create_if_missing = true,
                          .durability = Durability::kSkipWal,
                          .automatic_flush = false,
                          .automatic_compaction = false};
    options.ttl_clock_guard_s = 0;       // what expires by the clock is erased by it, as in HBase
    options.drop_expired_files = false;  // as in Region.java
    options.environment.clock = &clock_;
    CELLAR_TRY_ASSIGN(engine_, Engine::open(directory.string(), options));
    return {};
  }

  Status close() {
    table_.reset();
    return engine_->close();
  }

  Result<std::string> answer(const std::string& line) {
    const std::vector<std::string> fields = split(line, '\t');
    if (const std::string& what = fields[0]; what == "table") {
      return table(fields);
    } else if (what == "clock") {
      clock_.set_wall_ms(number(fields[1]));
      return std::string("ok");
    } else if (what == "flush" || what == "major" || what == "compact") {
      return rewrite(fields);
    } else if (what == "get" || what == "exists" || what == "scan" || what == "at") {
      return read(fields);
    }
    return write(fields);
  }

 private:
  Result<std::string> table(Fields fields) {
    TableOptions options;
    for (const std::string& field : fields.subspan(2)) {
      CELLAR_TRY_ASSIGN(FamilyOptions family, read_family(field));
      options.families.push_back(std::move(family));
    }
    if (table_ != nullptr) CELLAR_TRY(engine_->drop_table(table_->name()));
    CELLAR_TRY_ASSIGN(table_, engine_->create_table(fields[1], options));
    return std::string("ok");
  }

  Result<std::string> write(Fields fields) {
    if (fields[0] == "put") {
      CELLAR_TRY(table_->put(read_put(fields)));
      return std::string("ok");
    }
    if (fields[0] == "delete") {
      CELLAR_TRY(table_->erase(read_delete(fields)));
      return std::string("ok");
    }
    if (fields[0] == "increment") return increment(fields);
    if (fields[0] == "append") {
      CELLAR_TRY_ASSIGN(const Row row, table_->append(read_append(fields)));
      return "cells" + text_of(row);
    }
    if (fields[0] == "mutate") {
      CELLAR_TRY_ASSIGN(const Row row, table_->mutate(read_mutations(fields)));
      return "cells" + text_of(row);
    }
    CELLAR_TRY_ASSIGN(const CheckAndMutate check, read_check(fields));
    CELLAR_TRY_ASSIGN(const ActionResult result, table_->check_and_mutate(check));
    return (result.matched ? "success" : "failure") + text_of(result.row);
  }

  // By way of a row mutation, which answers the cells and not only their sums.
  Result<std::string> increment(Fields fields) {
    RowMutations one(fields[1]);
    one.add(read_increment(fields));
    CELLAR_TRY_ASSIGN(const Row row, table_->mutate(one));
    return "cells" + text_of(row);
  }

  Result<std::string> rewrite(Fields fields) {
    if (fields[0] == "flush") {
      CELLAR_TRY(table_->flush());
    } else if (fields[0] == "major") {
      CELLAR_TRY(table_->major_compact());
    } else {
      chosen = {static_cast<size_t>(number(fields[2])), static_cast<size_t>(number(fields[3]))};
      CELLAR_TRY(table_->compact(fields[1]));
    }
    std::string text = "files";
    for (const FamilyInfo& family : table_->info().families) {
      text += fmt::format(" {}=", family.options.name);
      for (const StoreFileInfo& file : family.files) text += fmt::format("{},", file.cells);
    }
    return text;
  }

  Result<std::string> read(Fields fields) {
    if (fields[0] == "get") {
      CELLAR_TRY_ASSIGN(const Get get, read_get(fields));
      CELLAR_TRY_ASSIGN(const RowBatch found, table_->get(get));
      return "cells" + text_of(found.row());
    }
    if (fields[0] == "exists") {
      CELLAR_TRY_ASSIGN(const Get get, read_get(fields));
      CELLAR_TRY_ASSIGN(const bool found, table_->exists(get));
      return std::string(found ? "yes" : "no");
    }
    CELLAR_TRY_ASSIGN(const Scan asked, read_scan(fields));
    std::string text = "rows";
    if (fields[0] == "at") {
      CELLAR_TRY_ASSIGN(const RowBatch found, asked.reversed()
                                                  ? table_->row_at_or_before(asked.start(), asked)
                                                  : table_->row_at_or_after(asked.start(), asked));
      for (const RowView row : found) text += " |" + text_of(row);
      return text;
    }
    CELLAR_TRY_ASSIGN(const auto scanner, table_->scan(asked));
    for (const RowView row : *scanner) text += " |" + text_of(row);
    CELLAR_TRY(scanner->status());
    return text;
  }

  testing::ManualClock clock_{0};
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Table> table_;
};

}  // namespace

Status answer_operations(const std::filesystem::path& operations, const std::filesystem::path& answers,
                         const std::filesystem::path& directory) {
  Registry<CompactionPolicy>::instance().add(
      "chosen_run", [](const PluginParams&) { return std::make_unique<ChosenRun>(); });
  Answerer answerer;
  CELLAR_TRY(answerer.open(directory));
  std::ifstream in(operations, std::ios::binary);
  std::ofstream out(answers, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    const Result<std::string> answer = answerer.answer(line);
    out << (answer.ok() ? *answer : "error " + answer.status().to_text()) << '\n';
  }
  out.close();
  CELLAR_TRY(answerer.close());
  return out.fail() || !in.eof() ? Status::io_error("cannot write " + answers.string()) : Status();
}

}  // namespace cellar::interop
