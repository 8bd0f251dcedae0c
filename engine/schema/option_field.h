// Field: one option in a table of them, and the usual kinds of options.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "cellar/options.h"

namespace cellar {

// "option KEY: "VALUE" is not EXPECTED".
Status unfit(std::string_view key, std::string_view value, std::string_view expected);
Status set_flag(std::string_view key, std::string_view text, bool& field);
Status parse_number(std::string_view key, std::string_view text, int64_t least, int64_t most, int64_t& value);
std::string flag_text(bool flag);

template <class Number>
Status set_number(std::string_view key, std::string_view text, int64_t least, int64_t most, Number& field) {
  int64_t value = 0;
  CELLAR_TRY(parse_number(key, text, least, most, value));
  field = static_cast<Number>(value);
  return {};
}

// A field of FamilyOptions, TableOptions or EngineOptions.
template <class Options>
struct Field {
  std::string_view name;
  std::string_view hbase_name;  // with a point in it, a key of HBase's configuration; empty: it has none
  std::string_view example;     // what somebody might set it to
  Status (*set)(Options&, std::string_view key, std::string_view value);
  std::string (*get)(const Options&);
};

template <auto kMember>
struct Member;
template <class Of, class Type, Type Of::*kMember>
struct Member<kMember> {
  using Options = Of;
};
template <auto kMember>
using OptionsOf = typename Member<kMember>::Options;

// Options of the usual kinds: yes or no, a number within bounds, a name in small letters.
template <auto kMember, class Options = OptionsOf<kMember>>
constexpr Field<Options> flag_field(std::string_view name, std::string_view hbase_name,
                                    std::string_view example) {
  return {name, hbase_name, example,
          [](Options& options, auto key, auto text) { return set_flag(key, text, options.*kMember); },
          [](const Options& options) { return flag_text(options.*kMember); }};
}

template <auto kMember, int64_t kLeast, int64_t kMost, class Options = OptionsOf<kMember>>
constexpr Field<Options> number_field(std::string_view name, std::string_view hbase_name,
                                      std::string_view example) {
  return {name, hbase_name, example,
          [](Options& options, auto key, auto text) {
            return set_number(key, text, kLeast, kMost, options.*kMember);
          },
          [](const Options& options) { return std::to_string(options.*kMember); }};
}

template <auto kMember, class Options = OptionsOf<kMember>>
constexpr Field<Options> name_field(std::string_view name, std::string_view hbase_name,
                                    std::string_view example) {
  return {name, hbase_name, example,
          [](Options& options, auto, auto text) { return options.*kMember = lower_ascii(text), Status(); },
          [](const Options& options) { return options.*kMember; }};
}

}  // namespace cellar
