#!/usr/bin/env python3
"""Whether lines that misuse the API are refused by the compiler, with a message that helps.

usage: check.py <compiler> <include directory> [cases]

A case has four lines: `case` with its name, `say` with a text that the compiler must print, `bad` with code that must
not compile, and `good` with the same thing done right, which must. Exits with 77 if the compiler is missing.
"""
import concurrent.futures
import shutil
import subprocess
import sys

PROLOGUE = """#include "cellar/cellar.h"
#include <string>
using namespace cellar;
template <class T> void use(const T&) {}
"""
FUNCTION = "void example_%d([[maybe_unused]] Table& table) {\n  %s\n}\n"


def read_cases(path):
    cases = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            word, _, rest = line.strip().partition(" ")
            if not word or word.startswith("#"):
                continue
            if word == "case":
                cases.append({"case": rest})
            elif word in ("say", "bad", "good") and cases and word not in cases[-1]:
                cases[-1][word] = rest
            else:
                sys.exit(f"{path}:{number}: not a line of a case: {line.strip()}")
    for each in cases:
        if len(each) != 4:
            sys.exit(f"{path}: the case \"{each['case']}\" lacks a line: it has say, bad and good")
    if not cases:
        sys.exit(f"{path}: no cases")
    return cases


def compile_text(compiler, include, text):
    command = [compiler, "-std=c++20", "-fsyntax-only", "-I", include, "-x", "c++", "-"]
    done = subprocess.run(command, input=PROLOGUE + text, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    compiler, include = sys.argv[1:3]
    if shutil.which(compiler) is None:
        print(f"SKIPPED: there is no compiler {compiler}: nothing was checked")
        sys.exit(77)
    cases = read_cases(sys.argv[3] if len(sys.argv) == 4 else __file__.replace("check.py", "cases.txt"))
    failures = []
    good, said = compile_text(compiler, include,
                              "".join(FUNCTION % (i, each["good"]) for i, each in enumerate(cases)))
    if not good:
        failures.append(f"the right way does not compile:\n{said}")
    # Each bad line is compiled alone: a compiler reports a refused type only once.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = pool.map(lambda each: compile_text(compiler, include, FUNCTION % (0, each["bad"])), cases)
    for each, (compiles, said) in zip(cases, answers):
        if compiles:
            failures.append(f"{each['case']}: compiles: {each['bad']}")
        elif each["say"] not in said:
            failures.append(f"{each['case']}: the compiler does not say \"{each['say']}\":\n{said}")
    for each in failures:
        print(each)
    print(f"{len(cases)} cases, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
