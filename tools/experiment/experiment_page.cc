// The page from top to bottom: state, contents, overview, a section for each workload, definitions, text.
#include "tools/experiment/experiment_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "tools/experiment/page_charts.h"
#include "tools/frame/output.h"
#include "tools/plot/plot_axis.h"
#include "tools/plot/plot_svg.h"

namespace cellar {
namespace {

constexpr const char* kStyle =
    ":root{color-scheme:light "
    "dark;--ground:#fff;--text:#1c1c1c;--soft:#5a5a5a;--line:#d8d8d8;--note:#fff4d6}\n"
    "@media (prefers-color-scheme:dark){:root{--ground:#14171a;--text:#ececec;--soft:#a8adb2;--line:#3a3f44;"
    "--note:#3a3220}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:1rem;max-width:84rem;background:var(--ground);color:var(--text);"
    "font:16px/1.5 system-ui,sans-serif}\n"
    "h1{font-size:1.6rem;margin:.5rem 0}h2{font-size:1.3rem;margin:2.5rem 0 .5rem;"
    "border-top:1px solid var(--line);padding-top:1rem}h3{font-size:1.05rem;margin:1.5rem 0 .5rem}\n"
    "p,dl,ul{max-width:48rem}.small{color:var(--soft);font-size:.85rem}\n"
    ".note{background:var(--note);padding:.5rem .75rem;border-radius:.25rem}\n"
    ".wide{overflow-x:auto}.tables{display:flex;flex-wrap:wrap;gap:0 3rem}.tables>div{max-width:100%}\n"
    "table{border-collapse:collapse;font-size:.9rem}"
    "th,td{padding:.3rem .75rem .3rem 0;text-align:right;vertical-align:top;border-bottom:1px solid "
    "var(--line)}\n"
    "th:first-child,td:first-child{text-align:left}th{color:var(--soft);font-weight:600}"
    "td{font-variant-numeric:tabular-nums}\n"
    "td span{display:block;color:var(--soft);font-size:.75rem;white-space:nowrap}\n"
    ".charts{display:grid;gap:1rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,24rem),1fr))}\n"
    ".charts svg{width:100%;height:auto;display:block}\n"
    "pre{overflow-x:auto;padding:.75rem;border:1px solid var(--line);font-size:.85rem}\n"
    "dt{font-weight:600}dd{margin:0 0 .5rem}a{color:inherit}\n";

// Escapes text for HTML. Lines stay lines, for <pre>.
std::string html(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else {
      escaped += static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return escaped;
}

class Page {
 public:
  Page(const ExperimentText& text, const std::string& source, const ExperimentSummary& summary)
      : text_(text), source_(source), summary_(summary), plan_(summary.plan()) {}

  std::string write() {
    add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
        "<title>{}</title>\n<style>\n{}{}</style>\n</head>\n<body>\n",
        html(text_.name), kStyle, plot_style());
    head();
    if (plan_.workloads.size() > 1 && summary_.done() > 0) overview();
    for (size_t i = 0; i < plan_.workloads.size(); ++i) section(i);
    definitions();
    add("<h2>The text of the experiment</h2>\n<pre>{}</pre>\n</body>\n</html>\n", html(source_));
    return std::move(page_);
  }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(page_), format, std::forward<Values>(values)...);
  }

  void head() {
    add("<h1>{}</h1>\n", html(text_.name));
    if (!text_.about.empty()) add("<p>{}</p>\n", html(text_.about));
    add("<p class=\"small\">{} of {} done: {}, {}, {}. Seed {}.", summary_.done(),
        counted(plan_.runs.size(), "run"), counted(plan_.configurations.size(), "configuration"),
        counted(plan_.workloads.size(), "workload"), counted(text_.repetitions, "repetition"), text_.seed);
    if (!plan_.varying.empty())
      add(" A configuration is named by {}.", html(fmt::format("{}", fmt::join(plan_.varying, ", "))));
    for (const std::string& version : summary_.versions()) add(" Cellar {}.", html(version));
    for (const std::string& machine : summary_.machines()) add(" Machine: {}.", html(machine));
    add("</p>\n");
    note(summary_.done() < plan_.runs.size(),
         "Results are missing. The medians are of the runs that are done.");
    note(summary_.versions().size() > 1,
         "The results are of different versions of Cellar. Compare them with care.");
    note(summary_.machines().size() > 1, "The results are of different machines. Compare them with care.");
    note(summary_.foreign() > 0, "The directory also has results of an earlier text, which are not shown.");
  }

  void note(bool applies, const char* sentence) {
    if (applies) add("<p class=\"note\">{}</p>\n", sentence);
  }

  // ---- Tables

  static bool is_better(const PageFigure& figure, double value, double than) {
    return figure.more_is_better ? value > than : value < than;
  }

  // The spreads of a figure, one for each cell; the best of several is set in bold.
  void cell(const std::optional<Spread>& spread, bool best) {
    if (!spread) return add("<td>–</td>");
    const std::string value = short_number(spread->median);
    add("<td>{}", best ? "<b>" + value + "</b>" : value);
    const std::string least = short_number(spread->least), most = short_number(spread->most);
    if (least != most) add("<span>{} – {}</span>", least, most);
    add("</td>");
  }

  // Returns the index of the best median; of equal ones, or of a single one, none.
  static size_t best_of(const std::vector<std::optional<Spread>>& spreads, const PageFigure& figure) {
    size_t best = SIZE_MAX;
    size_t known = 0;
    bool equal = false;
    for (size_t i = 0; i < spreads.size(); ++i) {
      if (!spreads[i]) continue;
      ++known;
      if (best == SIZE_MAX || is_better(figure, spreads[i]->median, spreads[best]->median)) {
        best = i;
        equal = false;
      } else {
        equal = equal || short_number(spreads[i]->median) == short_number(spreads[best]->median);
      }
    }
    return known < 2 || equal ? SIZE_MAX : best;
  }

  std::vector<std::optional<Spread>> column(size_t workload, const Figure& figure) const {
    std::vector<std::optional<Spread>> spreads;
    for (size_t i = 0; i < plan_.configurations.size(); ++i)
      spreads.push_back(spread_of(summary_.records(workload, i), figure));
    return spreads;
  }

  // Rate and write amplification of all workloads at a glance.
  void overview() {
    add("<h2>All workloads</h2>\n<div class=\"tables\">\n");
    for (const size_t index : {0, 1, 2}) {
      const PageFigure& figure = page_figures()[index];
      add("<div class=\"wide\"><h3>Median of {}</h3>\n<table>\n<tr><th>configuration</th>", figure.name);
      std::vector<std::vector<std::optional<Spread>>> columns;
      for (size_t i = 0; i < plan_.workloads.size(); ++i) {
        add("<th><a href=\"#w{}\">{}</a></th>", i + 1, html(plan_.workloads[i].label));
        columns.push_back(column(i, figure.figure));
      }
      add("</tr>\n");
      for (size_t i = 0; i < plan_.configurations.size(); ++i) {
        add("<tr><td>{}</td>", html(plan_.configurations[i].label));
        for (const auto& spreads : columns) cell(spreads[i], best_of(spreads, figure) == i);
        add("</tr>\n");
      }
      add("</table></div>\n");
    }
    add("</div>\n");
  }

  void workload_table(size_t workload) {
    add("<div class=\"wide\"><table>\n<tr><th>configuration</th><th>runs</th>");
    std::vector<std::vector<std::optional<Spread>>> columns;
    for (const PageFigure& figure : page_figures()) {
      add("<th title=\"{}\">{}</th>", figure.name, figure.shorter);
      columns.push_back(column(workload, figure.figure));
    }
    add("</tr>\n");
    for (size_t i = 0; i < plan_.configurations.size(); ++i) {
      add("<tr><td>{}</td><td>{}</td>", html(plan_.configurations[i].label),
          summary_.records(workload, i).size());
      for (size_t j = 0; j < columns.size(); ++j)
        cell(columns[j][i], best_of(columns[j], page_figures()[j]) == i);
      add("</tr>\n");
    }
    add("</table></div>\n");
  }

  void latency_table(size_t workload) {
    add("<details><summary>Times of calls in microseconds</summary>\n<div class=\"wide\"><table>\n"
        "<tr><th>configuration</th><th>call</th>");
    for (const std::string& name : quantile_names()) add("<th>{}</th>", name);
    add("</tr>\n");
    for (const std::string& call : summary_.calls(workload)) {
      for (size_t i = 0; i < plan_.configurations.size(); ++i) {
        add("<tr><td>{}</td><td>{}</td>", html(plan_.configurations[i].label), html(call));
        for (const std::string& name : quantile_names())
          cell(spread_of(summary_.records(workload, i), latency_figure(call, name)), false);
        add("</tr>\n");
      }
    }
    add("</table></div></details>\n");
  }

  // ---- Sections

  void section(size_t workload) {
    const ExperimentWorkload& each = plan_.workloads[workload];
    std::string about = each.workload.about;
    if (!about.empty() && about[0] >= 'a' && about[0] <= 'z')
      about[0] = static_cast<char>(about[0] - 'a' + 'A');
    add("<h2 id=\"w{}\">{}</h2>\n<p>{}.</p>\n<p class=\"small\">", workload + 1, html(each.label),
        html(about));
    std::string fields;
    for (const auto& [name, value] : each.fields())
      fields += (fields.empty() ? "" : ", ") + name + " " + value;
    add("{}</p>\n", html(fields));
    bool some = false;
    for (size_t i = 0; i < plan_.configurations.size(); ++i)
      some = some || !summary_.records(workload, i).empty();
    if (!some) return add("<p class=\"note\">No run of this workload is done.</p>\n");
    workload_table(workload);
    charts(workload, "Trade-offs", "t", tradeoff_charts(summary_, workload));
    charts(workload, "Over time", "c", course_charts(summary_, workload));
    charts(workload, "Latency", "l", latency_charts(summary_, workload));
    latency_table(workload);
  }

  void charts(size_t workload, const char* title, const char* prefix, const std::vector<PlotChart>& all) {
    if (all.empty()) return;
    add("<h3>{}</h3>\n<div class=\"charts\">\n", title);
    for (size_t i = 0; i < all.size(); ++i)
      page_ += svg_in_page(all[i], fmt::format("w{}{}{}", workload + 1, prefix, i + 1));
    add("</div>\n");
  }

  void definitions() {
    page_ +=
        "<h2>How to read this page</h2>\n"
        "<p>A figure is the median over the repetitions. The smaller figures below it are the least and the "
        "greatest "
        "value. Thin lines through points show the same. The best median of a column is bold. A difference "
        "that is smaller than these spreads may be "
        "chance.</p>\n<dl>\n"
        "<dt>operations per second</dt><dd>By the time that the calls took. The chart over time counts the "
        "time "
        "between calls, too, and leaves loading out.</dd>\n"
        "<dt>write amplification</dt><dd>Bytes written to store files and log, divided by the bytes of the "
        "cells that "
        "were put: from the first operation until everything is flushed and no compaction is due. If the "
        "operations "
        "put nothing, loading counts instead.</dd>\n"
        "<dt>space amplification</dt><dd>Bytes of the store files at the end, divided by the bytes of the "
        "live cells. "
        "Compression makes it smaller.</dd>\n"
        "<dt>read amplification</dt><dd>Bytes read from files during the operations, by reads and by "
        "compactions, "
        "divided by the bytes of the cells that reads returned. Before the operations, everything is read "
        "once.</dd>\n"
        "<dt>files and blocks per read</dt><dd>Store files that a get or scan looked into, and blocks that "
        "it used, "
        "from the cache or from a file. Both do not depend on the size of the cache.</dd>\n"
        "<dt>stalls</dt><dd>Time that writers waited for a flush or a compaction.</dd>\n"
        "<dt>settle</dt><dd>Time after the last operation until no flush or compaction was "
        "due.</dd>\n</dl>\n";
  }

  const ExperimentText& text_;
  const std::string& source_;
  const ExperimentSummary& summary_;
  const ExperimentPlan& plan_;
  std::string page_;
};

}  // namespace

std::string experiment_page(const ExperimentText& text, const std::string& source,
                            const ExperimentSummary& summary) {
  return Page(text, source, summary).write();
}

}  // namespace cellar
