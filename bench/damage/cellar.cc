// Cellar as the subject of damage.
#include <cstdio>
#include <cstdlib>

#include "base/memory_file_system.h"
#include "bench/damage/damage.h"
#include "cellar/cellar.h"

namespace cellar::bench {
namespace {

constexpr const char* kPath = "store";

void must(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "cellar_damage: %s\n", status.to_text().c_str());
  std::exit(1);
}

void read_tree(Directory& directory, const std::string& path, std::vector<DamagedFile>& files) {
  const auto entries = directory.list();
  must(entries.status());
  for (const DirectoryEntry& entry : *entries) {
    if (entry.is_directory) {
      auto below = directory.directory(entry.name, false);
      must(below.status());
      read_tree(**below, path + entry.name + "/", files);
      continue;
    }
    auto file = directory.open(entry.name);
    must(file.status());
    std::string bytes((*file)->size(), '\0');
    must((*file)->read(0, bytes.size(), bytes.data()));
    files.push_back({"", path + entry.name, std::move(bytes)});
  }
}

void write_file(FileSystem& files, const std::string& path, const std::string& bytes) {
  std::string at = kPath;
  auto directory = files.open_directory(at, true);
  size_t begin = 0;
  for (size_t end; (end = path.find('/', begin)) != path.npos; begin = end + 1) {
    must(directory.status());
    directory = (*directory)->directory(path.substr(begin, end - begin), true);
  }
  must(directory.status());
  auto file = (*directory)->create(path.substr(begin), {});
  must(file.status());
  must((*file)->append(bytes));
  must((*file)->close());
}

class CellarSubject final : public DamageSubject {
 public:
  explicit CellarSubject(DamagedStore store) {
    const auto files = make_memory_file_system();
    EngineOptions options = options_on(*files);
    options.create_if_missing = true;
    auto engine = Engine::open(kPath, options);
    must(engine.status());
    FamilyOptions family;
    family.name = "f";
    auto table = (*engine)->create_table("t", {.families = {family}});
    must(table.status());
    for (int i = 0; i < kDamageRows; ++i) {
      must((*table)->put(Put(damage_row(i)).add("f", "q", damage_value(i)),
                         {.durability = Durability::kFsyncWal}));
      if (store == DamagedStore::kFlushed && (i + 1) % (kDamageRows / 3) == 0) must((*engine)->flush());
    }
    must((*engine)->close());
    engine->reset();
    auto root = files->open_directory(kPath, false);
    must(root.status());
    read_tree(**root, "", files_);
  }

  std::string name() const override { return "Cellar"; }

  std::vector<DamagedFile> files() const override {
    std::vector<DamagedFile> wanted;
    for (DamagedFile file : files_) {
      if (file.path == "CURRENT") file.kind = "CURRENT";
      if (file.path.starts_with("MANIFEST")) {  // the last one counts; the one before is kept and not read
        for (DamagedFile& older : wanted)
          if (older.kind == "manifest") older.kind = "manifest of before";
        file.kind = "manifest";
      }
      if (file.path.starts_with("wal/")) file.kind = "log";
      if (!file.kind.empty()) wanted.push_back(std::move(file));
    }
    return wanted;
  }

  DamageOutcome open_with(const std::string& path, const std::optional<std::string>& bytes) override {
    const auto files = make_memory_file_system();
    for (const DamagedFile& file : files_) {
      if (file.path != path) write_file(*files, file.path, file.bytes);
    }
    if (bytes) write_file(*files, path, *bytes);
    EngineOptions options = options_on(*files);
    options.create_if_missing = true;  // the trap of a store that looks as if there were none
    auto engine = Engine::open(kPath, options);
    if (!engine.ok()) return DamageOutcome::kRefused;
    return judge(**engine);
  }

 private:
  EngineOptions options_on(FileSystem& files) {
    EngineOptions options;
    options.environment.files = &files;
    options.environment.executor = executor_.get();
    return options;
  }

  static DamageOutcome judge(Engine& engine) {
    std::vector<std::string> found;
    if (auto table = engine.open_table("t"); table.ok()) {
      auto scanner = (*table)->scan(Scan());
      if (!scanner.ok()) return DamageOutcome::kRefused;
      for (const RowView row : **scanner)
        found.push_back(std::string(row.row()) + " " + std::string(row.value("f", "q").value_or("")));
      if (!(*scanner)->status().ok()) return DamageOutcome::kRefused;
    }
    return judge_damage(found);
  }

  const std::unique_ptr<Executor> executor_ = make_thread_executor(1, 1);
  std::vector<DamagedFile> files_;
};

}  // namespace

std::unique_ptr<DamageSubject> make_cellar_subject(DamagedStore store) {
  return std::make_unique<CellarSubject>(store);
}

}  // namespace cellar::bench
