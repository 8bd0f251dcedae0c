// PeerOptions: the texts of engines and their options.
#include "bench/driver/peer_options.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "cellar/plugin.h"

namespace cellar::bench {
namespace {

// The driver and its workloads decide these.
constexpr std::array<std::string_view, 6> kOwn = {"name",      "create_if_missing", "error_if_exists",
                                                  "read_only", "durability",        "ttl_s"};

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

template <class Options>
std::vector<std::string> names_of(const Options& options) {
  std::vector<std::string> names;
  for (const auto& [name, value] : option_list(options)) names.push_back(name);
  return names;
}

const std::vector<std::string>& engine_names() {
  static const std::vector<std::string> names = names_of(EngineOptions());
  return names;
}

const std::vector<std::string>& family_names() {
  static const std::vector<std::string> names = names_of(FamilyOptions());
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// Cuts the text at commas outside of brackets and parentheses. Error: kInvalidArgument if they do not match.
Result<std::vector<std::string>> parts_of(std::string_view text) {
  std::vector<std::string> parts(1);
  std::string open;
  for (const char c : text) {
    if (c == '[' || c == '(') open.push_back(c == '[' ? ']' : ')');
    if (c == ']' || c == ')') {
      if (open.empty() || open.back() != c)
        return Status::invalid_argument("\"" + std::string(text) + "\" has a '" + c + "' that nothing opens");
      open.pop_back();
    }
    if (c == ',' && open.empty()) {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  if (!open.empty())
    return Status::invalid_argument("\"" + std::string(text) + "\" has no '" + open.back() + "' at its end");
  return parts;
}

Result<PeerText> parse_peer(const std::string& text) {
  PeerText peer = {text, text.substr(0, text.find('[')), {}};
  if (peer.engine.empty()) return Status::invalid_argument("\"" + text + "\" names no engine");
  if (peer.engine == text) return peer;
  if (!text.ends_with(']')) return Status::invalid_argument("\"" + text + "\" has text after its options");
  const size_t begin = peer.engine.size() + 1;
  CELLAR_TRY_ASSIGN(const std::vector<std::string> parts,
                    parts_of(text.substr(begin, text.size() - 1 - begin)));
  for (const std::string& part : parts) {
    CELLAR_TRY_ASSIGN(Setting setting, parse_setting(part));
    peer.settings.push_back(std::move(setting));
  }
  return peer;
}

}  // namespace

Result<Setting> parse_setting(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos)
    return Status::invalid_argument("\"" + std::string(text) + "\" is no option").hinting("give NAME=VALUE");
  return Setting{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

Result<std::vector<PeerText>> parse_peers(std::string_view text) {
  CELLAR_TRY_ASSIGN(const std::vector<std::string> parts, parts_of(text));
  std::vector<PeerText> peers;
  for (const std::string& part : parts) {
    CELLAR_TRY_ASSIGN(PeerText peer, parse_peer(part));
    if (std::ranges::find(peers, peer.text, &PeerText::text) != peers.end())
      return Status::invalid_argument("the engine " + peer.text + " occurs twice");
    peers.push_back(std::move(peer));
  }
  return peers;
}

PeerOptions::PeerOptions() {
  family_ = {.name = "f", .block_bytes = 16384, .compression = "snappy", .bloom = "row"};
}

bool PeerOptions::knows(const std::string& name) {
  if (contains(engine_names(), lower(name)) || contains(family_names(), lower(name))) return true;
  FamilyOptions family;
  // HBase's names: their complaint is about the value.
  return set_option(family, name, "").to_text().find("unknown family option") == std::string::npos;
}

std::string PeerOptions::spelling(const std::string& name) {
  const std::string key = lower(name);
  return contains(engine_names(), key) || contains(family_names(), key) ? key : name;
}

Status PeerOptions::set(const std::string& name, const std::string& value) {
  const std::string key = lower(name);
  if (std::ranges::find(kOwn, key) != kOwn.end())
    return Status::invalid_argument("the driver and its workloads set " + key + " themselves");
  const bool of_family = contains(family_names(), key);
  if (!of_family && contains(engine_names(), key)) {
    EngineOptions changed = engine_;
    CELLAR_TRY(set_option(changed, key, value));
    CELLAR_TRY(validate(changed));
    engine_ = changed;
  } else {
    FamilyOptions changed = family_;
    const Status status = set_option(changed, name, value);
    if (!status.ok() && !of_family) {
      std::vector<std::string> names = engine_names();
      names.insert(names.end(), family_names().begin(), family_names().end());
      const std::string hint = nearest_hint(key, names);
      return hint.empty() ? status
                          : Status::invalid_argument("unknown option \"" + name + "\"").hinting(hint);
    }
    CELLAR_TRY(status);
    CELLAR_TRY(validate(changed));
    family_ = changed;
  }
  remember(spelling(name), value);
  return {};
}

void PeerOptions::remember(const std::string& name, const std::string& value) {
  std::erase_if(given_, [&](const Setting& each) { return each.name == name; });
  given_.push_back({name, value});
}

bool PeerOptions::given(std::string_view name) const {
  return std::ranges::find(given_, name, &Setting::name) != given_.end();
}

std::string PeerOptions::to_text() const {
  std::string text;
  for (const Setting& each : given_) text += (text.empty() ? "" : ",") + each.name + "=" + each.value;
  return text;
}

}  // namespace cellar::bench
