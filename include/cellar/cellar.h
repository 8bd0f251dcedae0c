// Cellar: includes everything an application needs.
#pragma once

#include "cellar/action.h"
#include "cellar/batch.h"
#include "cellar/cell.h"
#include "cellar/check_and_mutate.h"
#include "cellar/engine.h"
#include "cellar/environment.h"
#include "cellar/events.h"
#include "cellar/ingest.h"
#include "cellar/mutation.h"
#include "cellar/options.h"
#include "cellar/query.h"
#include "cellar/read_stats.h"
#include "cellar/row_batch.h"
#include "cellar/scanner.h"
#include "cellar/status.h"
#include "cellar/table.h"
