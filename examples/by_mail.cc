// People by their row, and by their mail address: a second table that the engine keeps.
//
//   example_by_mail [STORE]
//
// Table people: row = name, columns d:mail and d:name. Second table by_mail: the same people by address.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "cellar/cellar.h"

namespace {

using namespace cellar;

void use(std::string_view row) { std::printf("  bob@example.org is %s\n", std::string(row).c_str()); }

Status print_who_has_it(const std::shared_ptr<Engine>& engine) {
  CELLAR_TRY_ASSIGN(const auto by_mail, engine->open_table("by_mail"));
  const std::string mail = KeyBuilder().text("bob@example.org").key().value();
  CELLAR_TRY_ASSIGN(const auto scanner, by_mail->scan(Scan(keys_with_prefix(mail))));
  while (scanner->next()) use(*scanner->row().value("row", ""));  // the row of people
  return scanner->status();
}

Status run(const std::string& path) {
  CELLAR_TRY_ASSIGN(std::unique_ptr<Engine> opened, Engine::open(path, {.create_if_missing = true}));
  const std::shared_ptr<Engine> engine = std::move(opened);
  const std::vector<std::string> names = engine->list_tables();
  for (const char* old : {"by_mail", "people"})  // of an earlier run
    if (std::ranges::find(names, old) != names.end()) CELLAR_TRY(engine->drop_table(old));

  const FamilyOptions family{.name = "d", .delete_order = MarkerOrder::kSequence};
  CELLAR_TRY_ASSIGN(const auto people, engine->create_table("people", {.families = {family}}));
  CELLAR_TRY(people->put(Put("ann").add("d", "mail", "ann@example.org").add("d", "name", "Ann")));
  CELLAR_TRY(engine->create_second_table("by_mail", {"people", "d:mail, row", "d:name"}).status());
  CELLAR_TRY(engine->build_second_table("by_mail"));

  CELLAR_TRY(people->put(Put("bob").add("d", "mail", "bob@example.org").add("d", "name", "Bob")));
  CELLAR_TRY(people->put(Put("eve").add("d", "mail", "bob@example.org").add("d", "name", "Eve")));
  std::printf("two share an address:\n");
  CELLAR_TRY(print_who_has_it(engine));
  CELLAR_TRY(people->put(Put("eve").add("d", "mail", "eve@example.org")));
  std::printf("until one of them has another:\n");
  CELLAR_TRY(print_who_has_it(engine));

  CELLAR_TRY_ASSIGN(const SecondTableCheck check, engine->verify_second_table("by_mail"));
  std::printf("%llu rows, and the tables %s\n", static_cast<unsigned long long>(check.keys),
              check.agrees() ? "agree" : "differ");
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = run(argc > 1 ? argv[1] : "by_mail_store");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return status.ok() ? 0 : 1;
}
