// RowSplits, for includes from before it moved to tools/store.
#pragma once

#include "tools/store/row_splits.h"
