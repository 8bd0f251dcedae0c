// RocksDB as the subject of damage, with its default options.
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/version.h>

#include <cstdio>
#include <cstdlib>

#include "bench/damage/damage.h"

namespace cellar::bench {
namespace {

constexpr const char* kPath = "/store";

void must(const rocksdb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "cellar_damage: rocksdb: %s\n", status.ToString().c_str());
  std::exit(1);
}

rocksdb::Options options_on(rocksdb::Env& env) {
  rocksdb::Options options;
  options.env = &env;
  options.create_if_missing = true;
  return options;
}

class RocksSubject final : public DamageSubject {
 public:
  explicit RocksSubject(DamagedStore store) {
    const std::unique_ptr<rocksdb::Env> env(rocksdb::NewMemEnv(rocksdb::Env::Default()));
    rocksdb::DB* opened = nullptr;
    must(rocksdb::DB::Open(options_on(*env), kPath, &opened));
    const std::unique_ptr<rocksdb::DB> db(opened);
    rocksdb::WriteOptions synced;
    synced.sync = true;
    for (int i = 0; i < kDamageRows; ++i) {
      must(db->Put(synced, damage_row(i), damage_value(i)));
      if (store == DamagedStore::kFlushed && (i + 1) % (kDamageRows / 3) == 0)
        must(db->Flush(rocksdb::FlushOptions()));
    }
    must(db->Close());
    std::vector<std::string> names;
    must(env->GetChildren(kPath, &names));
    for (const std::string& name : names) {
      if (name == "LOCK" || name.starts_with("LOG") || name == "." || name == "..") continue;
      DamagedFile& file = files_.emplace_back(DamagedFile{"", name, ""});
      must(rocksdb::ReadFileToString(env.get(), path_of(name), &file.bytes));
    }
  }

  std::string name() const override { return "RocksDB " + rocksdb::GetRocksVersionAsString(); }

  std::vector<DamagedFile> files() const override {
    std::vector<DamagedFile> wanted;
    for (DamagedFile file : files_) {
      if (file.path == "CURRENT") file.kind = "CURRENT";
      if (file.path.starts_with("MANIFEST")) file.kind = "manifest";
      if (file.path.ends_with(".log")) file.kind = "log";
      if (!file.kind.empty()) wanted.push_back(std::move(file));
    }
    return wanted;
  }

  DamageOutcome open_with(const std::string& path, const std::optional<std::string>& bytes) override {
    const std::unique_ptr<rocksdb::Env> env(rocksdb::NewMemEnv(rocksdb::Env::Default()));
    must(env->CreateDirIfMissing(kPath));
    for (const DamagedFile& file : files_) {
      if (file.path == path && !bytes) continue;
      must(
          rocksdb::WriteStringToFile(env.get(), file.path == path ? *bytes : file.bytes, path_of(file.path)));
    }
    rocksdb::DB* opened = nullptr;
    if (!rocksdb::DB::Open(options_on(*env), kPath, &opened).ok()) return DamageOutcome::kRefused;
    const std::unique_ptr<rocksdb::DB> db(opened);
    const std::unique_ptr<rocksdb::Iterator> all(db->NewIterator(rocksdb::ReadOptions()));
    std::vector<std::string> found;
    for (all->SeekToFirst(); all->Valid(); all->Next())
      found.push_back(all->key().ToString() + " " + all->value().ToString());
    return all->status().ok() ? judge_damage(found) : DamageOutcome::kRefused;
  }

 private:
  static std::string path_of(const std::string& name) { return std::string(kPath) + "/" + name; }

  std::vector<DamagedFile> files_;
};

}  // namespace

std::unique_ptr<DamageSubject> make_rocksdb_subject(DamagedStore store) {
  return std::make_unique<RocksSubject>(store);
}

}  // namespace cellar::bench
