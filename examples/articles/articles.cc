// An encyclopedia: the text of an article now, and as of any date, from three layouts of its history.
//
//   example_articles [STORE]
//
// - Table articles: row = page, t:text as of now.
// - Table article_versions: row = page, t:text with all versions. Their timestamps are the times of the
//   edits.
// - Table article_revisions: row = page, revision. v:text, v:user, v:comment.
// - Table article_times: row = page, reversed time of the edit. v:text.
//
// One edit is one batch over the tables. The texts are made up.
#include <algorithm>
#include <random>

#include "examples/articles/edits.h"

namespace {

using namespace example;
struct Tables {
  std::shared_ptr<Table> articles, versions, revisions, times;
};

std::string page_key(int64_t page) { return KeyBuilder().int64(page).key().value(); }
std::string revision_key(int64_t page, int64_t revision) {
  return KeyBuilder().int64(page).int64(revision).key().value();
}

std::string time_key(int64_t page, int64_t time_ms) {
  return KeyBuilder().int64(page).raw(reversed_time(time_ms)).key().value();
}

Result<Tables> create(Engine& engine) {
  Tables all;
  const FamilyOptions history = {.name = "t", .max_versions = INT32_MAX};
  CELLAR_TRY_ASSIGN(all.articles, engine.create_table("articles", {.families = {{.name = "t"}}}));
  CELLAR_TRY_ASSIGN(all.versions, engine.create_table("article_versions", {.families = {history}}));
  CELLAR_TRY_ASSIGN(all.revisions, engine.create_table("article_revisions", {.families = {{.name = "v"}}}));
  CELLAR_TRY_ASSIGN(all.times, engine.create_table("article_times", {.families = {{.name = "v"}}}));
  return all;
}

// All cells of an edit have its time, so that edits may be imported in any order.
Status write(Engine& engine, const Tables& tables, const Edit& edit) {
  Batch batch;
  batch.put(tables.articles, Put(page_key(edit.page)).add_at("t", "text", edit.time_ms, edit.text));
  batch.put(tables.versions, Put(page_key(edit.page)).add_at("t", "text", edit.time_ms, edit.text));
  batch.put(tables.revisions,
            Put(revision_key(edit.page, edit.revision))
                .add_at("v", "text", edit.time_ms, edit.text)
                .add_at("v", "user", edit.time_ms, edit.user)
                .add_at("v", "comment", edit.time_ms, "revision " + std::to_string(edit.revision)));
  batch.put(tables.times,
            Put(time_key(edit.page, edit.time_ms)).add_at("v", "text", edit.time_ms, edit.text));
  return engine.write(batch);
}

// The text as of a date: the newest version that is not later.
Result<std::string> by_versions(const Tables& tables, int64_t page, int64_t date_ms,
                                ReadStats* cost = nullptr) {
  CELLAR_TRY_ASSIGN(const RowBatch row,
                    tables.versions->get(Get(page_key(page)).time_range(0, date_ms + 1).stats(cost)));
  return or_none(row.value("t", "text"));
}

// The same from rows of revisions: the last row that has cells up to the date.
Result<std::string> by_revisions(const Tables& tables, int64_t page, int64_t date_ms,
                                 ReadStats* cost = nullptr) {
  const Scan scan = Scan(keys_with_prefix(page_key(page)))
                        .column("v", "text")
                        .time_range(0, date_ms + 1)
                        .reversed(true)
                        .limit(1)
                        .stats(cost);
  CELLAR_TRY_ASSIGN(const auto scanner, tables.revisions->scan(scan));
  const std::string text = scanner->next() ? or_none(scanner->row().value("v", "text")) : "nothing";
  CELLAR_TRY(scanner->status());
  return text;
}

// The same from keys with the reversed time: the nearest row at or after the date, if it is of the page.
Result<std::string> by_times(const Tables& tables, int64_t page, int64_t date_ms, ReadStats* cost = nullptr) {
  const Scan of_page = Scan().stop(keys_with_prefix(page_key(page)).stop).stats(cost);
  CELLAR_TRY_ASSIGN(const RowBatch row, tables.times->row_at_or_after(time_key(page, date_ms), of_page));
  return or_none(row.value("v", "text"));
}

// Asks at each edit, a millisecond before it and a millisecond after it.
Status compare(const Tables& tables, const Edits& edits, Questions& questions) {
  for (const Edit& edit : edits) {
    for (const int64_t date : {edit.time_ms - 1, edit.time_ms, edit.time_ms + 1}) {
      const std::string expected = by_search(edits, edit.page, date);
      CELLAR_TRY_ASSIGN(std::string text, by_versions(tables, edit.page, date));
      CELLAR_TRY(questions.same("the text by versions", text, expected));
      CELLAR_TRY_ASSIGN(text, by_revisions(tables, edit.page, date));
      CELLAR_TRY(questions.same("the text by revisions", text, expected));
      CELLAR_TRY_ASSIGN(text, by_times(tables, edit.page, date));
      CELLAR_TRY(questions.same("the text by times", text, expected));
    }
    CELLAR_TRY_ASSIGN(const RowBatch now, tables.articles->get(Get(page_key(edit.page))));
    CELLAR_TRY(questions.same("the text now", or_none(now.value("t", "text")),
                              by_search(edits, edit.page, INT64_MAX - 1)));
  }
  return {};
}

Status ask_history(Engine& engine, const Tables& tables, const Edits& edits, Questions& questions) {
  questions.chapter("The text as of a date, from three layouts");
  Edits shuffled = edits;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(1));
  for (const Edit& edit : shuffled) CELLAR_TRY(write(engine, tables, edit));
  CELLAR_TRY(compare(tables, edits, questions));
  CELLAR_TRY(engine.flush());
  for (const auto& table : {tables.articles, tables.versions, tables.revisions, tables.times})
    CELLAR_TRY(table->major_compact());
  CELLAR_TRY(compare(tables, edits, questions));
  questions.say(std::to_string(edits.size()) +
                " edits were imported in no order. All layouts agree at all of them.");
  const auto show = [&](std::string_view question, int64_t date) -> Status {
    ReadStats versions, revisions, times;
    const std::string expected = by_search(edits, 7, date);
    const auto shortened = [](const std::string& text) {
      return text.substr(0, 30) + (text.size() > 30 ? "…, " + std::to_string(text.size()) + " bytes" : "");
    };
    CELLAR_TRY_ASSIGN(const std::string text, by_versions(tables, 7, date, &versions));
    CELLAR_TRY(questions.answer(question, shortened(text), shortened(expected), &versions));
    CELLAR_TRY_ASSIGN(const std::string same, by_revisions(tables, 7, date, &revisions));
    CELLAR_TRY(questions.same("the whole text by revisions", same, expected));
    Questions::print(revisions);
    CELLAR_TRY_ASSIGN(const std::string again, by_times(tables, 7, date, &times));
    CELLAR_TRY(questions.same("the whole text by times", again, expected));
    Questions::print(times);
    return {};
  };
  const auto first =
      std::find_if(edits.begin(), edits.end(), [](const Edit& edit) { return edit.page == 7; });
  CELLAR_TRY(
      show("Page 7 as of its 60th revision, by versions, by revisions and by times", (first + 59)->time_ms));
  CELLAR_TRY(show("As of its 30th revision", (first + 29)->time_ms));
  CELLAR_TRY(show("As of its first one", first->time_ms));
  CELLAR_TRY(show("A millisecond before that", first->time_ms - 1));
  for (const auto& table : {tables.articles, tables.versions, tables.revisions, tables.times}) {
    const FamilyInfo family = table->info().families[0];
    questions.say(table->name() + ": " + std::to_string(family.files[0].cells) + " cells in " +
                  std::to_string(family.files[0].bytes) + " bytes");
  }
  return {};
}

// Two edits in one millisecond are one version, but two revisions.
Status ask_collision(Engine& engine, const Tables& tables, Questions& questions) {
  questions.chapter("Two edits in one millisecond");
  CELLAR_TRY(write(engine, tables, {200, 1, kFirstMs, "the first of two", "robot"}));
  CELLAR_TRY(write(engine, tables, {200, 2, kFirstMs, "the second of two", "robot"}));
  CELLAR_TRY_ASSIGN(const std::string text, by_versions(tables, 200, kFirstMs));
  CELLAR_TRY(questions.answer("The text by versions", text, "the second of two"));
  CELLAR_TRY_ASSIGN(const std::string same, by_revisions(tables, 200, kFirstMs));
  CELLAR_TRY(questions.answer("The text by revisions", same, text));
  CELLAR_TRY_ASSIGN(const Row versions, tables.versions->get_row(Get(page_key(200)).all_versions()));
  CELLAR_TRY(questions.answer("How many versions?", std::to_string(versions.cells.size()), "1"));
  CELLAR_TRY_ASSIGN(const RangeCount revisions,
                    tables.revisions->count(Scan(keys_with_prefix(page_key(200)))));
  return questions.answer("How many revisions?", std::to_string(revisions.rows), "2");
}

// A page is deleted. Reads of the time before find it only if the family keeps deleted cells.
Status ask_deleted(Engine& engine, const Tables& tables, Questions& questions) {
  questions.chapter("A page that was deleted");
  FamilyOptions history = tables.versions->info().families[0].options;
  for (const KeepDeleted keep : {KeepDeleted::kFalse, KeepDeleted::kTrue}) {
    history.keep_deleted_cells = keep;
    CELLAR_TRY(engine.alter_family("article_versions", history));
    const int64_t page = keep == KeepDeleted::kTrue ? 301 : 300;
    const std::string option = keep == KeepDeleted::kTrue ? "keep_deleted_cells=true: " : "By default: ";
    CELLAR_TRY(write(engine, tables, {page, 1, kFirstMs, "an advertisement", "stranger"}));
    CELLAR_TRY(tables.versions->erase(Delete(page_key(page), kFirstMs + 1000)));
    CELLAR_TRY(tables.versions->major_compact());
    CELLAR_TRY_ASSIGN(std::string text, by_versions(tables, page, kFirstMs + 2000));
    CELLAR_TRY(questions.answer(option + "after the delete", text, "nothing"));
    CELLAR_TRY_ASSIGN(text, by_versions(tables, page, kFirstMs + 999));
    CELLAR_TRY(questions.answer(option + "as of a moment before it", text,
                                keep == KeepDeleted::kTrue ? "an advertisement" : "nothing"));
  }
  return {};
}

Status run(const std::string& path, const std::vector<std::string>&, Questions& questions) {
  CELLAR_TRY_ASSIGN(const auto engine, new_store(path));
  CELLAR_TRY_ASSIGN(const Tables tables, create(*engine));
  CELLAR_TRY(ask_history(*engine, tables, make_edits(), questions));
  CELLAR_TRY(ask_collision(*engine, tables, questions));
  CELLAR_TRY(ask_deleted(*engine, tables, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "articles_store", run); }
