// A cursor that never stands anywhere and says why.
#pragma once

#include <memory>

#include "cell/cursor.h"

namespace cellar {

// Every move returns null; status() is `status`, which is not ok.
std::unique_ptr<RunCursor> make_failed_cursor(Status status);

}  // namespace cellar
