// cellar list: the tables of a store.
#include "cellar/engine.h"
#include "tools/command.h"
#include "tools/store.h"

namespace cellar {
namespace {

class ListCommand final : public Command {
 public:
  explicit ListCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override { return "Tables of a store, with their families and sizes"; }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .example("cellar list shop")
        .example("cellar list shop --format json");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_store(session, store_, OpenFor::kLooking));
    Records records(session.out(), session.format(), "cellar.list/1", "tables");
    for (const std::string& name : engine->list_tables()) {
      CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, engine->open_table(name));
      std::string families;
      uint64_t files = 0;
      uint64_t bytes = 0;
      uint64_t in_memory = 0;
      for (const FamilyInfo& family : table->info().families) {
        families += (families.empty() ? "" : ",") + family.options.name;
        files += family.files.size();
        in_memory += family.memtable_cells;
        for (const StoreFileInfo& file : family.files) bytes += file.bytes;
      }
      records.text("table", name).text("families", families).count("files", files).size("bytes", bytes);
      records.count("cells_in_memory", in_memory).add();
    }
    records.finish();
    return engine->close();
  }

 private:
  std::string store_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_cmd_list, "list", ListCommand)

}  // namespace cellar
