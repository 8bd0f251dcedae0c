// cellar inspect: what an HFile is.
#include <nlohmann/json.hpp>

#include "tools/command.h"
#include "tools/hfile_paths.h"
#include "tools/inspect_text.h"

namespace cellar {
namespace {

class InspectCommand final : public Command {
 public:
  explicit InspectCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kFiles; }
  std::string_view summary() const override {
    return "What HFiles are: contents, structure, space, oddities";
  }

  void declare(Arguments& arguments) override {
    arguments.operands("PATH", paths_, "HFiles, directories of them, or stores", true)
        .flag("--layout", layout_, "space by kind of block; reads the header of every block")
        .flag("--blocks", blocks_, "the list of blocks, data blocks with their cells")
        .option_count("--limit", limit_, "with --blocks: at most N of them")
        .flag("--scan", scan_, "reads all cells: rows, types, families, times")
        .formats({"table", "json", "jsonl"})
        .note(
            "Several files are shown as one line each, unless one of the options above is given.\n"
            "Without options only the end of the file is read, however large it is.")
        .example("cellar inspect versions.hfile")
        .example("cellar inspect versions.hfile weblog.hfile --layout");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const std::vector<std::string> files, find_all_hfiles(session, paths_));
    const bool long_form = files.size() == 1 || layout_ || blocks_ || scan_;
    std::vector<HFileDescription> described;
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    Status worst;
    for (const std::string& path : files) {
      if (session.stopping()) break;
      Result<HFileDescription> file = describe_path(path);
      if (!file.ok()) {
        worst = file.status();
        continue;
      }
      if (!file->status.ok()) worst = file->status;
      show(session, *file, long_form, list);
      if (!long_form) described.push_back(std::move(*file));
    }
    if (interrupted()) return interrupted_status("what was looked at is printed");
    if (session.format() == Format::kTable && !long_form && !described.empty())
      session.out().write(inspect_table(described));
    if (session.format() == Format::kJson)
      session.out().write(nlohmann::ordered_json{{"schema", "cellar.inspect/1"}, {"files", list}}.dump(2) +
                          "\n");
    return worst.ok() ? worst : name_file_failure(session, worst);
  }

 private:
  Result<HFileDescription> describe_path(const std::string& path) const {
    CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> file, open_whole_hfile(path));
    DescribeOptions options;
    options.name = path;
    options.layout = layout_;
    options.blocks = blocks_;
    options.blocks_max = limit_ > 0 ? limit_ : UINT64_MAX;
    options.scan = scan_;
    return describe(std::move(file), options);
  }

  void show(Session& session, const HFileDescription& file, bool long_form, nlohmann::ordered_json& list) {
    if (session.format() == Format::kJson) {
      list.push_back(inspect_json(file));
    } else if (session.format() == Format::kJsonl) {
      session.out().write(inspect_json(file).dump() + "\n");
    } else if (long_form) {
      session.out().write((first_ ? "" : "\n") + inspect_text(file));
      first_ = false;
    }
  }

  std::vector<std::string> paths_;
  bool layout_ = false;
  bool blocks_ = false;
  uint64_t limit_ = 0;
  bool scan_ = false;
  bool first_ = true;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_cmd_inspect, "inspect", InspectCommand)

}  // namespace cellar
