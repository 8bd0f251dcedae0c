// cellar list: the tables of a store.
#include "tools/frame/command.h"
#include "tools/store/store.h"
#include "tools/store/store_reports.h"

namespace cellar {
namespace {

class ListCommand final : public Command {
 public:
  explicit ListCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override {
    return "List the tables of a store, with their families and sizes";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .example("cellar list shop", "the tables, their families and sizes")
        .example("cellar list shop --format json", "the same, for a program");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_engine(session, store_, OpenFor::kLooking));
    CELLAR_TRY(print_table_list(session, *engine, engine->list_tables()));
    return engine->close();
  }

 private:
  std::string store_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_list, "list", ListCommand)

}  // namespace cellar
