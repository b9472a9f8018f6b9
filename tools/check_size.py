#!/usr/bin/env python3
"""Prints lines per folder, and fails on what is too long without a stated reason.

A file has at most 600 lines, a function at most 60, a README in src/ at most 15. What is longer is
listed in tools/size_exceptions.txt, one per line:

    src/folder/file.cpp: reason
    src/folder/file.cpp function_name: reason

An entry that is no longer needed fails, too.
"""

import argparse
import ast
import collections
import pathlib
import re
import sys

FILE_LIMIT = 600
FUNCTION_LIMIT = 60
README_LIMIT = 15
ROOTS = ("src", "tests", "bench", "python", "tools", "cmake", "examples")
SUFFIXES = (".h", ".cpp", ".py", ".sh", ".cmake")

# Comments, strings and characters of C++; raw strings first.
OPAQUE = re.compile(
    r'R"([^()\\ ]*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'
    r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.DOTALL)
PREPROCESSOR = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
LAMBDA = re.compile(r"\[[^\[\]]*\]\s*(\([^{}]*\))?[^(){};]*$")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def opens_scope(head):
    """Whether the text before a brace opens a namespace or a type."""
    return SCOPE.search(head) is not None and "(" not in head


def function_name(head):
    """The name of the function whose body the text before a brace announces, or None."""
    if LAMBDA.search(head):
        return "lambda"
    if "(" not in head or re.search(r"(?<!operator)(?<![=!<>])=(?!=)", head.split("(")[0]):
        return None
    if test := re.search(r"\bTEST(?:_[FP])?\s*\(\s*(\w+),\s*(\w+)", head):
        return f"{test.group(1)}.{test.group(2)}"
    found = re.search(r"(operator\s*\S+?|~?\w+)\s*\(", head)
    return found.group(1) if found else None


def cpp_functions(text):
    """Pairs (name, lines) of the outermost functions and lambdas, by matching braces."""
    text = PREPROCESSOR.sub(blank, OPAQUE.sub(blank, text))
    stack = []  # of (kind, name, position), kind in scope, function, block
    start = 0
    before = None  # the name of the function whose brace was closed last, until a semicolon
    for match in re.finditer(r"[{};]", text):
        position, character = match.start(), match.group(0)
        head = text[start:position].strip()
        start = position + 1
        if character == "{":
            if any(kind == "function" for kind, _, _ in stack):
                stack.append(("block", None, position))
            elif opens_scope(head):
                stack.append(("scope", None, position))
            elif before and (not head or head.startswith(",")):
                # After a member initializer in braces it is still the same function.
                stack.append(("function", before, position))
            elif name := function_name(head):
                stack.append(("function", name, position - len(head)))
            else:
                stack.append(("block", None, position))
        before = None
        if character == "}" and stack:
            kind, name, opened = stack.pop()
            if kind == "function":
                before = name
                yield name, text.count("\n", opened, position) + 1


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.end_lineno - node.lineno + 1


def functions(path, text):
    if path.suffix in (".h", ".cpp"):
        yield from cpp_functions(text)
    elif path.suffix == ".py":
        yield from python_functions(text)


def read_exceptions(path):
    exceptions = {}
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            what, _, reason = line.partition(":")
            exceptions[what.strip()] = reason.strip()
    return exceptions


def measure(root):
    """Lines by folder, and what is too long as {name in the list of exceptions: text}."""
    lines = collections.Counter()
    too_long = {}
    for path in sorted(p for top in ROOTS for p in (root / top).rglob("*") if p.is_file()):
        name = path.relative_to(root).as_posix()
        if name.startswith("src/") and path.name == "README.md":
            count = len(path.read_text().splitlines())
            if count > README_LIMIT:
                too_long[name] = f"{count} lines, {README_LIMIT} are allowed"
        if path.suffix not in SUFFIXES:
            continue
        text = path.read_text()
        count = len(text.splitlines())
        lines[path.parent.relative_to(root).as_posix()] += count
        if count > FILE_LIMIT:
            too_long[name] = f"{count} lines, {FILE_LIMIT} are allowed"
        for function, length in functions(path, text):
            if length > FUNCTION_LIMIT:
                too_long[f"{name} {function}"] = f"{length} lines, {FUNCTION_LIMIT} are allowed"
    return lines, too_long


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    exceptions = read_exceptions(root / "tools/size_exceptions.txt")
    lines, too_long = measure(root)

    for folder, count in sorted(lines.items()):
        print(f"{count:8} {folder}")
    print(f"{sum(lines.values()):8} in all")

    findings = [f"{what}: {text}" for what, text in too_long.items() if what not in exceptions]
    for what, reason in exceptions.items():
        if what not in too_long:
            findings.append(f"tools/size_exceptions.txt: {what} needs no exception")
        elif not reason:
            findings.append(f"tools/size_exceptions.txt: {what} has no reason")
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
