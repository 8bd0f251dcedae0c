// Shared by the programs of TwitBase: made-up users, keys, the tables of relations, the cells of a stream.
//
// The tables are those of Amandeep Khurana's "Introduction to HBase Schema Design" (;login:, October 2012).
// An MD5 has 16 bytes whatever the name is, so that the parts of a key need no separator.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "examples/application.h"

namespace example {

using Relation = std::map<std::string, std::set<std::string>>;  // each user, and whom he follows

inline std::string user_name(uint64_t number) {
  return "user" + std::string(number < 10 ? "00" : number < 100 ? "0" : "") + std::to_string(number);
}

// Makes up who follows whom. Users with low numbers have the most followers.
inline Relation made_up_follows(uint64_t users, uint64_t seed) {
  std::mt19937_64 random(seed);  // its numbers are the same on all machines
  Relation follows;
  for (uint64_t user = 0; user < users; ++user) {
    for (uint64_t n = 1 + random() % 30; n > 0; --n) {
      const uint64_t whom = (random() % users) * (random() % users) / users;
      if (whom != user) follows[user_name(user)].insert(user_name(whom));
    }
  }
  return follows;
}

// The relation seen from the other side: each user, and who follows him.
inline Relation inverse(const Relation& follows) {
  Relation followed_by;
  for (const auto& [user, all] : follows) {
    for (const std::string& whom : all) followed_by[whom].insert(user);
  }
  return followed_by;
}

inline std::string list_of(const std::set<std::string>& names) {
  std::string list;
  for (const std::string& name : names) append(list, name);
  return list;
}

// A row of follows and of followed_by.
inline std::string pair_key(std::string_view user, std::string_view other) {
  return md5_bytes(user) + md5_bytes(other);
}
inline constexpr char kFollows = 'F';
inline constexpr char kFollowedBy = 'B';

// The relations of users in three designs of the key.
struct Tables {
  std::shared_ptr<Table> users, follows, followed_by, middle, first;
};

inline std::string middle_key(std::string_view user, char type, std::string_view other) {
  return KeyBuilder(md5_bytes(user)).raw({&type, 1}).raw(md5_bytes(other)).key().value();
}
inline std::string first_key(char type, std::string_view user, std::string_view other) {
  return KeyBuilder(std::string(1, type)).raw(pair_key(user, other)).key().value();
}

inline Result<Tables> open_tables(Engine& engine) {
  // A user may follow again in the millisecond in which he stopped, so markers use the order of writes.
  const TableOptions relation = {.families = {{.name = "f", .delete_order = MarkerOrder::kSequence}}};
  Tables all;
  CELLAR_TRY_ASSIGN(all.users, engine.create_table("users", {.families = {{.name = "info"}}}));
  CELLAR_TRY_ASSIGN(all.follows, engine.create_table("follows", relation));
  CELLAR_TRY_ASSIGN(all.followed_by, engine.create_table("followed_by", relation));
  CELLAR_TRY_ASSIGN(all.middle, engine.create_table("middle", relation));
  CELLAR_TRY_ASSIGN(all.first, engine.create_table("first", relation));
  return all;
}

// One batch has both directions in all designs: readers and crashes see all six entries, or none.
inline Status follow(Engine& engine, const Tables& tables, const std::string& user, const std::string& whom) {
  Batch batch;
  batch.put(tables.follows, Put(pair_key(user, whom)).add("f", whom, "1"));
  batch.put(tables.followed_by, Put(pair_key(whom, user)).add("f", user, "1"));
  batch.put(tables.middle, Put(middle_key(user, kFollows, whom)).add("f", whom, "1"));
  batch.put(tables.middle, Put(middle_key(whom, kFollowedBy, user)).add("f", user, "1"));
  batch.put(tables.first, Put(first_key(kFollows, user, whom)).add("f", whom, "1"));
  batch.put(tables.first, Put(first_key(kFollowedBy, whom, user)).add("f", user, "1"));
  return engine.write(batch);
}

// A row of twits and of streams: the latest time of a user sorts first.
inline std::string twit_key(std::string_view user, int64_t time_ms) {
  return md5_bytes(user) + reversed_time(time_ms);
}

// Reads the newest `count` entries of a stream, "author: text" each, one a line.
inline Result<std::string> newest(Table& streams, std::string_view user, size_t count,
                                  ReadStats* cost = nullptr) {
  std::string lines;
  const Scan scan = Scan(keys_with_prefix(md5_bytes(user))).limit(count).stats(cost);
  CELLAR_TRY_ASSIGN(const auto scanner, streams.scan(scan));
  size_t taken = 0;
  for (const RowView row : *scanner) {
    for (const CellView& cell : row) {
      if (taken++ == count) return lines;  // a row holds two entries if two authors post in one millisecond
      if (!lines.empty()) lines += "\n    ";
      lines += std::string(cell.qualifier()) + ": " + std::string(cell.value_bytes());
    }
  }
  CELLAR_TRY(scanner->status());
  return lines;
}

}  // namespace example
