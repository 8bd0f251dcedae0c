// cellar plot: measurements as a picture.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "tools/frame/command.h"
#include "tools/plot/plot_chart.h"
#include "tools/plot/plot_input.h"
#include "tools/plot/plot_svg.h"

namespace cellar {
namespace {

class PlotCommand final : public Command {
 public:
  explicit PlotCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kOther; }
  std::string_view summary() const override {
    return "Draw measurements as an SVG picture: bars, lines or points";
  }

  void declare(Arguments& arguments) override {
    arguments
        .operand("FILE", file_,
                 "JSON of Google Benchmark or of simulate cache, or output of the benchmark driver; - is "
                 "standard input")
        .option("--filter", request_.filter, "REGEX", "only measurements whose name matches")
        .option("--x", request_.x, "FIELD", "field along the x axis (name)")
        .option("--y", request_.y, "FIELD",
                "field to draw: a counter, real_time, cpu_time, rate; default: by the input")
        .option("--series", request_.series, "FIELD", "field that gives each bar, line or point its colour")
        .choice("--kind", kind_, {"auto", "bars", "lines", "scatter"},
                "what is drawn; auto: lines if x is a number, else bars")
        .option("--label", request_.label, "FIELD", "field that names each point of a scatter plot")
        .option("--title", request_.title, "TEXT", "title above the picture")
        .option("--x-label", request_.x_label, "TEXT", "name of the x axis, with its unit")
        .option("--y-label", request_.y_label, "TEXT", "name of the y axis, with its unit")
        .flag("--log-x", request_.log_x, "logarithmic x axis; lines and points only")
        .flag("--log-y", request_.log_y, "logarithmic y axis")
        .option("--out", out_, "FILE", "write the picture to FILE (standard output)")
        .formats({"table", "json"})
        .note(
            "Fields are the members of a measurement and the parts of its name: of get/cache:warm/k:10 these "
            "are\n"
            "cache and k, and 1, 2, 3 by their place. Numbers along x give lines, anything else bars; of "
            "several\n"
            "runs the median counts. Members of a nested object are named with a point: options.bloom.\n"
            "--format is for errors only.")
        .example(
            "cellar plot bench.json --x k --series cache --log-x --title 'Reading k rows' --out rows.svg",
            "one line per state of the cache, over the number of rows")
        .example("cellar plot driver.jsonl --x workload --series peer > rates.svg",
                 "bars side by side, one colour per engine")
        .more_example(
            "cellar plot driver.jsonl --kind scatter --x space --y rate \\\n      --series peer --label "
            "workload",
            "one point per engine and workload")
        .more_example(
            "cellar plot bench.json --filter cache:warm --x k --y real_time \\\n      --log-x --log-y "
            "--x-label 'rows of a get' --y-label 'time of one'",
            "some of the measurements, with labelled axes");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const std::string text, read_input());
    const Result<PlotInput> input = parse_plot_input(text, file_ == "-" ? "standard input" : file_);
    if (!input.ok()) return session.name_failure("CEL-NOT-MEASUREMENTS", Exit::kCannot, input.status());
    if (kind_ != "auto") request_.kind = kind_;
    if (!request_.label.empty() && kind_ != "scatter") {
      return Status::invalid_argument("--label names the points of a scatter plot")
          .hinting("add --kind scatter, or leave --label out");
    }
    const Result<PlotChart> chart = make_chart(*input, request_);
    if (!chart.ok()) {
      return chart.status().is(Code::kNotFound)
                 ? session.name_failure("CEL-NOTHING-TO-DRAW", Exit::kNegative, chart.status())
                 : chart.status();
    }
    if (input->failed > 0)
      session.talk(fmt::format("{} failed and are not drawn", counted(input->failed, "case")));
    if (chart->left_out > 0) {
      session.talk(
          fmt::format("{} without one of the fields left out", counted(chart->left_out, "measurement")));
    }
    if (out_.empty()) {
      session.out().write(svg_of(*chart));
      return {};
    }
    return write_file(svg_of(*chart));
  }

 private:
  Result<std::string> read_input() const {
    if (file_ == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
    std::ifstream in(file_, std::ios::binary);
    std::ostringstream text;
    if (in) text << in.rdbuf();
    if (!in || std::filesystem::is_directory(file_)) {
      return Status::not_found(fmt::format("{} cannot be read", file_))
          .hinting("write one with a benchmark's --benchmark_out=FILE --benchmark_out_format=json");
    }
    return text.str();
  }

  Status write_file(const std::string& svg) const {
    std::ofstream to(out_, std::ios::binary);
    to << svg;
    to.close();
    if (to) return {};
    return Status::io_error(fmt::format("{} cannot be written", out_)).hinting("does its directory exist?");
  }

  std::string file_;
  std::string out_;
  std::string kind_;
  PlotRequest request_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_plot_cmd_plot, "plot", PlotCommand)

}  // namespace cellar
