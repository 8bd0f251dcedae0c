// The tables of the students' two programs, and an application written to all of them.
//
// Table by_user: row = user (8 bytes, big-endian), then the application with its length in two bytes.
// Table by_application: row = the same two parts in the other order. Both are written in one batch.
// Table wide: row = user, one column a:<application>.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "examples/application.h"

namespace example {

// The key as a serializer with big-endian numbers and sized texts writes it (Hadoop's Writable, HBase's
// Bytes).
inline std::string user_key(int64_t user, std::string_view application) {
  return KeyBuilder().raw(plain_int64(user)).sized(application).key().value();
}
inline std::string application_key(int64_t user, std::string_view application) {
  return KeyBuilder().sized(application).raw(plain_int64(user)).key().value();
}

struct Tables {
  std::shared_ptr<Table> by_user, by_application, wide;
};

inline Result<Tables> open_tables(Engine& engine) {
  Tables all;
  const TableOptions options = {.families = {{.name = "a"}}};
  CELLAR_TRY_ASSIGN(all.by_user, engine.open_or_create_table("by_user", options));
  CELLAR_TRY_ASSIGN(all.by_application, engine.open_or_create_table("by_application", options));
  CELLAR_TRY_ASSIGN(all.wide, engine.open_or_create_table("wide", options));
  return all;
}

// One application is one batch over three tables: all of them have it, or none.
inline Status apply(Engine& engine, const Tables& tables, int64_t user, const std::string& application) {
  Batch batch;
  batch.put(tables.by_user, Put(user_key(user, application)).add("a", "state", "sent"));
  batch.put(tables.by_application, Put(application_key(user, application)).add("a", "state", "sent"));
  batch.put(tables.wide, Put(plain_int64(user)).add("a", application, "sent"));
  return engine.write(batch);
}

}  // namespace example
