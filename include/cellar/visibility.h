// CELLAR_PUBLIC: marks what a shared library shows. Everything else of Cellar, and what it is built on, stays
// hidden.
#pragma once

// On a namespace it holds for that block alone: `namespace CELLAR_PUBLIC cellar {` stands in each public
// header, so what is declared there is exported, and nothing needs a mark of its own.
#define CELLAR_PUBLIC [[gnu::visibility("default")]]
