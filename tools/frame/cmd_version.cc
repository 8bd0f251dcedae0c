// cellar version: what this build is and can do.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cellar/bloom_type.h"
#include "cellar/cache_policy.h"
#include "cellar/compaction_policy.h"
#include "cellar/compressor.h"
#include "engine/values/remote_engines.h"
#include "hfile/encoding/encoding.h"
#include "tools/frame/command.h"
#include "tools/frame/version.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;

#if defined(__clang__)
constexpr std::string_view kCompiler = "clang " __clang_version__;
#else
constexpr std::string_view kCompiler = "gcc " __VERSION__;
#endif

class VersionCommand final : public Command {
 public:
  explicit VersionCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kOther; }
  std::string_view summary() const override {
    return "Print the version, and the codecs, encodings and policies of this build";
  }

  void declare(Arguments& arguments) override {
    arguments.formats({"table", "json", "jsonl"})
        .example("cellar version", "version, codecs, encodings and policies")
        .example("cellar version --format json", "the same, for a program or a bug report");
  }

  Status run(Session& session) override {
    const std::vector<std::pair<std::string, std::vector<std::string>>> parts = {
        {"compression", Registry<Compressor>::instance().names()},
        {"encoding", encoding_names()},
        {"bloom", Registry<BloomType>::instance().names()},
        {"compaction", Registry<CompactionPolicy>::instance().names()},
        {"cache", Registry<CachePolicy>::instance().names()},
        {"cluster", remote_schemes()}};
    if (session.format() != Format::kTable) {
      Json json = {{"schema", "cellar.version/1"}, {"version", kVersion}, {"compiler", kCompiler}};
      for (const auto& [kind, names] : parts) json[kind] = names;
      session.out().write(json.dump(json_indent(session.format())) + "\n");
      return {};
    }
    std::string text = fmt::format("cellar {}\n", kVersion);
    for (const auto& [kind, names] : parts)
      text += fmt::format("  {:<11} {}\n", kind, fmt::join(names, ", "));
    session.out().write(text + fmt::format("  {:<11} {}\n", "compiler", kCompiler));
    return {};
  }
};

}  // namespace

CELLAR_PLUGIN(Command, tools_frame_cmd_version, "version", VersionCommand)

}  // namespace cellar
