// Arguments: what a sub-command takes, how it is parsed, and the help that follows from it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/status.h"

namespace cellar {

// Binds arguments to variables, which must outlive it. The parsing is done by CLI11. One thread.
class Arguments {
 public:
  Arguments(std::string command, std::string summary);
  ~Arguments();

  // Positional arguments, in the order of these calls.
  Arguments& operand(const std::string& name, std::string& to, const std::string& help);
  Arguments& optional_operand(const std::string& name, std::string& to, const std::string& help);
  Arguments& operands(const std::string& name, std::vector<std::string>& to, const std::string& help,
                      bool at_least_one);
  // Declares all further operands, for a command that distinguishes their forms itself. The help shows
  // `usage`, and `other` as a second usage line. word() adds a line about one of them.
  Arguments& words(std::vector<std::string>& to, const std::string& usage, const std::string& other);
  Arguments& word(const std::string& name, const std::string& help);

  // `names` is "--limit" or "-n,--limit"; `value` stands in the help for what follows it.
  Arguments& option(const std::string& names, std::string& to, const std::string& value,
                    const std::string& help);
  Arguments& option_if(const std::string& names, std::optional<std::string>& to, const std::string& value,
                       const std::string& help);
  Arguments& option_list(const std::string& names, std::vector<std::string>& to, const std::string& value,
                         const std::string& help);
  Arguments& option_count(const std::string& names, uint64_t& to, const std::string& help);
  // One of a few words; the first one is the default.
  Arguments& choice(const std::string& names, std::string& to, std::vector<std::string> words,
                    const std::string& help);
  Arguments& flag(const std::string& names, bool& to, const std::string& help);

  // A command line that works and what it is for: shown in the help, and run by a test. Every option stands
  // in one of them; more_example() shows those below that not everybody is looking for.
  Arguments& example(std::string line, std::string purpose);
  Arguments& more_example(std::string line, std::string purpose);
  // A sentence below the options.
  Arguments& note(std::string text);
  // Which formats the command prints; the first one is the default. Without it: table, json, jsonl, csv.
  Arguments& formats(std::vector<std::string> words);

  // Returns kInvalidArgument if the words do not fit, with the nearest option or the usage as hint. If
  // --help is among the words, nothing else is parsed.
  Status parse(const std::vector<std::string>& words);
  // Returns the operands that parse() found, in their order: no values of options, and no words after "--",
  // which may be another command line.
  const std::vector<std::string>& operand_values() const { return operand_values_; }
  bool help_wanted() const { return help_wanted_; }
  bool quiet() const { return quiet_; }
  bool no_pager() const { return no_pager_; }
  const std::string& format() const { return format_; }
  // The command lines of all examples, and the names of each option ("-o,--output" is two names) that is not
  // common to all commands.
  std::vector<std::string> examples() const;
  std::vector<std::vector<std::string>> options() const;
  std::string help() const;

 private:
  struct Parser;
  struct Line {
    std::string left;
    std::string help;
  };
  struct Example {
    std::string line;
    std::string purpose;
  };
  Status check_names(const std::vector<std::string>& words) const;
  std::vector<std::string> with_empty_values(const std::vector<std::string>& words) const;
  Status refusal_of(std::string_view text, const std::vector<std::string>& words) const;
  Status missing_operand(std::string_view text) const;
  Status unexpected(const std::string& word) const;
  std::string option_line(std::string_view name) const;
  Status usage_error(std::string text, std::string hint = {}) const;
  std::string inner_name() const;
  void declare_common();

  std::string command_;
  std::string summary_;
  std::string usage_;
  std::string other_usage_;
  std::vector<Line> operand_lines_;
  std::vector<Line> option_lines_;
  std::vector<std::string> option_names_;
  std::vector<Example> examples_;
  std::vector<Example> more_examples_;
  std::vector<std::string> notes_;
  std::vector<std::string> formats_ = {"table", "json", "jsonl", "csv"};
  std::string format_;
  bool quiet_ = false;
  bool no_pager_ = false;
  std::string color_;  // read before parsing, for errors
  std::vector<std::string> operand_values_;
  bool help_wanted_ = false;
  bool declared_ = false;
  size_t own_options_ = 0;  // how many of option_lines_ are not common to all commands
  std::unique_ptr<Parser> parser_;
};

}  // namespace cellar
