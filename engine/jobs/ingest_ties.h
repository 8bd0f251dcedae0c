// IngestTies: finds where files of one ingest disagree and no sequence tells which of them is newer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cellar/ingest.h"
#include "engine/store/store.h"
#include "engine/store/store_files.h"

namespace cellar {

// Looks at the files of one family that were placed in its directory. One thread; used once.
class IngestTies {
 public:
  struct File {
    FileRecord record;
    std::string source;               // what messages call it
    std::optional<int64_t> sequence;  // by which HBase orders it, if the file says it
    std::shared_ptr<Directory> directory;
  };

  // `files`: oldest first, in the order that will count.
  IngestTies(Executor& executor, StoreFiles& opener, const Store& store, std::vector<File> files)
      : executor_(executor), opener_(opener), store_(store), files_(std::move(files)) {}

  // Adds the ties, at most kTiesMax. Reads only files whose keys overlap those of another file that they
  // cannot be ordered with. Errors of reading.
  Status find(std::vector<IngestTie>& ties);

  static constexpr size_t kTiesMax = 100;

 private:
  bool ordered(size_t older, size_t newer) const;
  std::vector<size_t> doubtful() const;
  Status walk(const std::vector<size_t>& files, std::vector<IngestTie>& ties);

  Executor& executor_;
  StoreFiles& opener_;
  const Store& store_;
  const std::vector<File> files_;
};

}  // namespace cellar
