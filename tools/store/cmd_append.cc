// cellar append: adds bytes to the end of values of one row atomically and prints what they are now.
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/frame/output.h"
#include "tools/frame/value_form.h"
#include "tools/store/store.h"
#include "tools/store/write_choice.h"

namespace cellar {
namespace {

class AppendCommand final : public Command {
 public:
  explicit AppendCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override {
    return "Append bytes to values of one row and print the new values";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .operand("TABLE", table_, "name of the table")
        .operand("ROW", row_, "row key; \\xHH stands for a byte, here and in the other arguments")
        .operands("COLUMN VALUE", words_, "family:qualifier and the bytes to append; pairs may be repeated",
                  false)
        .option_if("--ttl", ttl_, "SPAN",
                   "time to live from now: 90s, 2h, 7d; default: that of the old value")
        .choice("--as", form_, value_forms(),
                "form of the values, as typed and printed; not in json and jsonl");
    files_.declare(arguments);
    write_.declare(arguments);
    arguments.formats({"table", "json", "jsonl", "csv", "raw"})
        .example("cellar append shop orders user42 d:log 'paid;'",
                 "append an entry to a log, and print the whole log")
        .example("cellar append shop orders user42 d:log 'sent;' d:tags ,new --format json",
                 "append to two columns, for a program")
        .more_example("cellar append shop orders user42 --from-file d:log=today.log --durability fsync_wal",
                      "the lines of a file, on the disk before the command ends")
        .more_example("cellar append shop orders user42 d:trace 7d0a2f --as hex --ttl 30d",
                      "append bytes written in hex; the value expires in 30 days");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const std::string row, for_argument("ROW", parse_bytes(row_)));
    if (words_.size() % 2 != 0) {
      return session.name_failure(
          "CEL-USAGE", Exit::kUsage,
          Status::invalid_argument("column " + words_.back() + " has no value")
              .hinting("write columns and values in turn: d:log 'paid;' d:tags ,new"));
    }
    if (words_.empty() && files_.empty()) {
      return session.name_failure(
          "CEL-USAGE", Exit::kUsage,
          Status::invalid_argument("COLUMN VALUE is missing")
              .hinting("usage: cellar append STORE TABLE ROW COLUMN VALUE…   (cellar append --help)"));
    }
    Append append(row);
    std::vector<std::string> columns;
    for (size_t i = 0; i < words_.size(); i += 2) {
      CELLAR_TRY_ASSIGN(const ColumnOperand column, for_argument("COLUMN", parse_one_column(words_[i])));
      CELLAR_TRY_ASSIGN(const std::string value,
                        for_argument("VALUE", parse_value(words_[i + 1], value_form_of(form_))));
      append.add(column.family, *column.qualifier, value);
      columns.push_back(words_[i]);
    }
    CELLAR_TRY_ASSIGN(const auto from_files, files_.read());
    for (const auto& [name, value] : from_files) {
      CELLAR_TRY_ASSIGN(const ColumnOperand column, parse_one_column(name));
      append.add(column.family, *column.qualifier, value);
      columns.push_back(name);
    }
    if (ttl_) {
      CELLAR_TRY_ASSIGN(const int64_t ttl_ms, for_argument("--ttl", parse_duration_ms(*ttl_)));
      append.ttl_ms(ttl_ms);
    }
    CELLAR_TRY_ASSIGN(const OpenedTable opened, open_store_table(session, store_, table_, OpenFor::kWriting));
    CELLAR_TRY(check_columns(session, *opened.table, columns));
    CELLAR_TRY_ASSIGN(const Row changed, opened.table->append(append, write_.options()));
    CELLAR_TRY(opened.engine->close());
    print(session, changed);
    return {};
  }

 private:
  void print(Session& session, const Row& row) const {
    const bool json = session.format() == Format::kJson || session.format() == Format::kJsonl;
    Records records(session.out(), session.format(), "cellar.append/1", "columns");
    for (const Cell& cell : row.cells) {
      if (session.format() != Format::kRaw) records.bytes("column", cell.family + ":" + cell.qualifier);
      const ValueForm form = value_form_of(form_);
      std::string people;
      append_value(people, cell.value, form == ValueForm::kEscaped ? ValueForm::kText : form);
      std::string plain;
      append_value(plain, cell.value, json ? ValueForm::kEscaped : form);
      records.text("value", plain, people).add();
    }
    records.finish();
  }

  std::string store_;
  std::string table_;
  std::string row_;
  std::vector<std::string> words_;
  std::optional<std::string> ttl_;
  std::string form_;
  FileValues files_;
  WriteChoice write_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_append, "append", AppendCommand)

}  // namespace cellar
