// ReaderFixture: an engine that writes a store, and readers of the same store whose file calls can be
// interrupted.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/engine/engine_fixture.h"

namespace cellar::testing {

// Returns everything that the engine shows: its tables, their families and rows.
inline std::string content_of(Engine& engine) {
  std::string text;
  for (const std::string& name : engine.list_tables()) {
    const auto table = engine.open_table(name);
    EXPECT_OK(table.status());
    if (!table.ok()) return text;
    text += "table " + name + "\n";
    for (const FamilyInfo& family : (*table)->info().families)
      text += "  family " + family.options.name + "\n";
    const auto scanner = (*table)->scan({});
    EXPECT_OK(scanner.status());
    if (!scanner.ok()) return text;
    for (const RowView row : **scanner) text += "  " + to_text(row) + "\n";
    EXPECT_OK((*scanner)->status());
  }
  return text;
}

// Returns more: options, files, cells in memory, and all cells with their sequences, hidden ones included.
// Two readers of one state show the same.
inline std::string detail_of(Engine& engine) {
  std::string text;
  for (const std::string& name : engine.list_tables()) {
    const auto table = engine.open_table(name).value();
    const TableInfo info = table->info();
    text +=
        "table " + name + " " + std::to_string(info.id) + (info.options.read_only ? " read-only\n" : "\n");
    for (const FamilyInfo& family : info.families) {
      text += "  family " + family.options.name + " " + std::to_string(family.id) + " versions " +
              std::to_string(family.options.max_versions) + ", " + std::to_string(family.memtable_cells) +
              " in memory, put " + std::to_string(family.bytes_put) + "\n";
      for (const StoreFileInfo& file : family.files)
        text += "    file " + file.name + " run " + std::to_string(file.run) + "\n";
    }
    const auto scanner = table->scan(Scan().raw(true).all_versions());
    EXPECT_OK(scanner.status());
    if (!scanner.ok()) return text;
    for (const RowView row : **scanner)
      for (const CellView& cell : row.cells())
        text += "  " + cell_text(cell) + " #" + std::to_string(cell.sequence) + "\n";
    EXPECT_OK((*scanner)->status());
  }
  return text + "sequence " + std::to_string(engine.status().last_sequence) + "\n";
}

// A file system must not call an engine in the thread that called it.
inline void in_another_thread(const std::function<void()>& work) { std::thread(work).join(); }

inline void must(const Status& status) { ASSERT_TRUE(status.ok()) << status.to_text(); }

class ReaderFixture : public EngineFixture {
 protected:
  // The writer works on the files themselves. Readers see them through `watched_`, which can interrupt them.
  void SetUp() override {
    open_writer();
    make_table("a", {family("f", 3)});
    make_table("b", {family("f"), family("g")});
    write(3);
  }

  void open_writer() { open({.memtable_bytes = 1 << 20, .log_segment_bytes = 64 << 10}); }
  // Closes the writer, and opens another one on `files`.
  void open_writer_anew(FileSystem& files) {
    must(engine_->close());
    engine_.reset();
    EngineOptions options;
    options.environment.files = &files;
    options.environment.clock = &clock_;
    engine_ = Engine::open("store", options).value();
  }

  Result<std::unique_ptr<Engine>> open_reader(EngineOptions options = {}) {
    options.read_only = true;
    options.environment.files = &watched_;
    options.environment.clock = &clock_;
    return Engine::open("store", options);
  }
  std::string reader_shows() {
    const auto reader = open_reader();
    EXPECT_OK(reader.status());
    return reader.ok() ? content_of(**reader) : reader.status().to_text();
  }

  // Writes `rows` batches, each of which changes two tables.
  void write(int rows) {
    for (int i = 0; i < rows; ++i) {
      const std::string value = std::to_string(++written_);
      Batch batch;
      batch.put(*engine_->open_table("a"), Put("row" + std::to_string(written_ % 7)).add("f", "n", value));
      batch.put(*engine_->open_table("b"), Put("row" + value).add("f", "n", value).add("g", "n", value));
      must(engine_->write(batch));
      note_state();
    }
  }
  // Remembers what the store holds now. Readers may show it.
  void note_state() {
    if (noting_) states_.push_back(content_of(*engine_));
  }
  void flush() { EXPECT_OK(engine_->flush()); }
  void compact() {
    flush();
    for (const std::string& name : engine_->list_tables())
      EXPECT_OK((*engine_->open_table(name))->major_compact());
  }

  // The writer does one of these things while a reader reads.
  void write_and_flush() {
    write(2);
    flush();
    write(1);
  }
  void write_and_compact() {
    write(1);
    compact();
  }
  void change_schema() {
    must(engine_->truncate_table("a"));
    note_state();
    write(1);
    must(engine_->drop_table("b"));
    note_state();
    make_table("b", {family("f"), family("g"), family("h" + std::to_string(written_))});
    note_state();
    write(2);
  }
  void close_and_open() {
    write(1);
    must(engine_->close());
    open_writer();
    write(1);
  }
  // Fills several segments of the log.
  void write_long() {
    for (int i = 0; i < 8; ++i) {
      const std::string value(40'000, static_cast<char>('a' + written_ % 26));
      must((*engine_->open_table("a"))->put(Put("long" + std::to_string(i)).add("f", "n", value)));
      note_state();
    }
    flush();
    write(1);
  }

  // Opens a reader for each of its file calls, with `work` of the writer before that call. The reader must
  // show one of the states that the store had since the reader began.
  void interrupt_everywhere(const std::function<void()>& work, int each = 1) {
    interrupt_everywhere(
        work, [this] { return reader_shows(); }, each, 20 / each);
  }
  // The same for other reading: `shows` reads the store and returns what it holds. It makes at least
  // `calls_min` file calls.
  void interrupt_everywhere(const std::function<void()>& work, const std::function<std::string()>& shows,
                            int each, int calls_min) {
    int interrupted = 0;
    for (uint64_t at = 1;; at += static_cast<uint64_t>(each)) {
      states_ = {content_of(*engine_)};
      uint64_t calls = 0;
      watched_.before_each([&](const FileCall&) {
        if (++calls != at) return;
        in_another_thread([&] {
          noting_ = true;
          work();
          note_state();
          noting_ = false;
        });
      });
      const std::string shown = shows();
      watched_.before_each({});
      EXPECT_NE(std::ranges::find(states_, shown), states_.end())
          << "interrupted at call " << at << " of " << calls << ", the reader shows\n"
          << shown << "instead of\n"
          << states_.front() << "or\n"
          << states_.back();
      if (HasFailure() || states_.size() == 1) break;
      ++interrupted;
    }
    EXPECT_GE(interrupted, calls_min) << "a reader makes more calls than that";
  }

  FaultFileSystem watched_{*files_};
  int written_ = 0;
  bool noting_ = false;
  std::vector<std::string> states_;  // since the reader began
};

}  // namespace cellar::testing
