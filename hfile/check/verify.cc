// verify: one Verifier for one file.
#include "hfile/check/verify.h"

#include <utility>

#include "hfile/check/verifier.h"

namespace cellar {

VerifyReport verify(std::unique_ptr<ReadableFile> file, const VerifyOptions& options) {
  return Verifier(std::move(file), options).run();
}

}  // namespace cellar
