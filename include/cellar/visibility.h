// CELLAR_PUBLIC and CELLAR_LIFETIME_BOUND: what a shared library exports, and what a compiler may warn about.
#pragma once

// Marks what a shared library exports. On a namespace the mark holds for that block alone. Each public header
// opens its namespace with `namespace CELLAR_PUBLIC cellar {`, so that nothing in it needs a mark of its own.
// Everything else of Cellar, and every library that it is built on, stays hidden.
#define CELLAR_PUBLIC [[gnu::visibility("default")]]

// Marks a function whose result points into the object that it is called on. Clang warns where such a result
// outlives a temporary. Other compilers ignore the mark.
#if defined(__clang__)
#if __has_cpp_attribute(clang::lifetimebound)
#define CELLAR_LIFETIME_BOUND [[clang::lifetimebound]]
#endif
#endif
#ifndef CELLAR_LIFETIME_BOUND
#define CELLAR_LIFETIME_BOUND
#endif
