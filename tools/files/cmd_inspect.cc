// cellar inspect: what an HFile is.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/files/inspect_text.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/frame/value_rules.h"
#include "tools/hbase/hfile_paths.h"

namespace cellar {
namespace {

constexpr auto kReplacing = nlohmann::ordered_json::error_handler_t::replace;  // paths need not be UTF-8

class InspectCommand final : public Command {
 public:
  explicit InspectCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kFiles; }
  std::string_view summary() const override {
    return "Describe HFiles: contents, structure, space, oddities";
  }

  void declare(Arguments& arguments) override {
    arguments.operands("PATH", paths_, "HFiles, directories of them, or stores", true)
        .flag("--layout", layout_, "space per kind of block; reads the header of every block")
        .flag("--blocks", blocks_, "list all blocks; data blocks with their number of cells")
        .flag("--index", index_, "the block index, entry by entry, from its root down")
        .flag("--bloom", bloom_, "the Bloom filters, chunk by chunk: bits set, keys, false positives")
        .flag("--fileinfo", file_info_, "every entry of the file info, decoded and as stored")
        .flag("--trailer", trailer_, "every field of the trailer")
        .flag("--scan", scan_, "read all cells and count rows, types, families, timestamps")
        .flag("--all", all_, "all of these")
        .option("--block", block_text_, "N|@OFFSET",
                "one block, also a damaged one, by its number or its offset")
        .flag("--cells", cells_, "with --block: its cells")
        .option_count("--limit", limit_, "at most N entries of each list");
    shown_.declare(arguments, false);
    arguments.formats({"table", "json", "jsonl"})
        .note(
            "Each of several files is printed in a line of its own, unless an option above is given.\n"
            "Without options only the end of the file is read, whatever its size.")
        .example("cellar inspect versions.hfile", "a summary of a file")
        .example("cellar inspect versions.hfile weblog.hfile --layout --bloom",
                 "the space per kind of block, and how full the Bloom filters are")
        .example("cellar inspect versions.hfile --block 3 --cells --limit 5 --decode value=hex",
                 "one block and the first cells in it, values in hexadecimal")
        .more_example("cellar inspect versions.hfile --trailer --fileinfo --scan",
                      "the file's own figures, and figures from reading all cells")
        .more_example("cellar inspect versions.hfile --blocks --index --limit 10",
                      "the first blocks, and the index entries that lead to them")
        .more_example("cellar inspect versions.hfile --all --format json > versions.json",
                      "everything, for a program");
  }

  Status run(Session& session) override {
    CELLAR_TRY(parse_options(session));
    CELLAR_TRY_ASSIGN(rules_, shown_.rules(session));
    CELLAR_TRY_ASSIGN(const std::vector<std::string> files, find_all_hfiles(session, paths_));
    const bool long_form = files.size() == 1 || asked_more();
    std::vector<HFileDescription> described;
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    Status worst;
    for (const std::string& path : files) {
      if (session.stopping()) break;
      Result<HFileDescription> file = describe_path(path);
      if (!file.ok()) {
        worst = with_hint_at_salvage(path, file.status());
        continue;
      }
      if (!file->status.ok()) worst = file->status;
      show(session, *file, long_form, list);
      if (!long_form) described.push_back(std::move(*file));
    }
    if (interrupted()) return interrupted_status("the files before were printed");
    if (session.format() == Format::kTable && !long_form && !described.empty())
      session.out().write(inspect_table(described));
    if (session.format() == Format::kJson)
      session.out().write(nlohmann::ordered_json{{"schema", "cellar.inspect/1"}, {"files", list}}.dump(
                              2, ' ', false, kReplacing) +
                          "\n");
    if (worst.ok() || worst.is(Code::kInvalidArgument)) return worst;
    return name_file_failure(session, worst);
  }

 private:
  bool asked_more() const {
    return layout_ || blocks_ || index_ || bloom_ || file_info_ || trailer_ || scan_ || block_.has_value();
  }

  Status parse_options(Session& session) {
    if (all_) layout_ = blocks_ = index_ = bloom_ = file_info_ = trailer_ = scan_ = true;
    if (cells_ && block_text_.empty()) {
      return session.name_failure(
          "CEL-USAGE", Exit::kUsage,
          Status::invalid_argument("--cells shows the cells of one block: add --block N")
              .hinting("all cells of a file: cellar dump"));
    }
    if (block_text_.empty()) return {};
    const bool by_offset = block_text_.starts_with('@');
    const Result<int64_t> number = parse_integer(std::string_view(block_text_).substr(by_offset ? 1 : 0));
    if (!number.ok() || *number < 0) {
      return Status::invalid_argument(
                 fmt::format("--block: \"{}\" is neither a number nor a place", block_text_))
          .hinting("write --block 3, or --block @4139 for the block at that offset");
    }
    block_ = DescribeOptions::BlockChoice{by_offset, static_cast<uint64_t>(*number)};
    return {};
  }

  ShownParts shown_;
  ValueRules rules_;

  uint64_t list_max() const { return limit_ > 0 ? limit_ : UINT64_MAX; }

  Result<HFileDescription> describe_path(const std::string& path) const {
    CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> file, open_whole_hfile(path));
    DescribeOptions options;
    options.name = path;
    options.block_payload_bytes_max = block_bytes_max();
    options.layout = layout_;
    options.blocks = blocks_;
    options.index = index_;
    options.bloom = bloom_;
    options.scan = scan_;
    options.block = block_;
    options.cells = cells_;
    options.list_max = list_max();
    return describe(std::move(file), options);
  }

  void show(Session& session, const HFileDescription& file, bool long_form, nlohmann::ordered_json& list) {
    if (session.format() == Format::kJson) {
      list.push_back(inspect_json(file, rules_));
    } else if (session.format() == Format::kJsonl) {
      session.out().write(inspect_json(file, rules_).dump(-1, ' ', false, kReplacing) + "\n");
    } else if (long_form) {
      const InspectWanted wanted = {.facts = all_ || scan_ || !asked_more(),
                                    .index = index_,
                                    .bloom = bloom_,
                                    .file_info = file_info_,
                                    .trailer = trailer_,
                                    .list_max = list_max(),
                                    .rules = rules_};
      session.out().write((first_ ? "" : "\n") + inspect_text(file, wanted));
      first_ = false;
    }
  }

  std::vector<std::string> paths_;
  bool layout_ = false;
  bool blocks_ = false;
  bool index_ = false;
  bool bloom_ = false;
  bool file_info_ = false;
  bool trailer_ = false;
  bool scan_ = false;
  bool all_ = false;
  std::string block_text_;
  std::optional<DescribeOptions::BlockChoice> block_;
  bool cells_ = false;
  uint64_t limit_ = 0;
  bool first_ = true;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_files_cmd_inspect, "inspect", InspectCommand)

}  // namespace cellar
