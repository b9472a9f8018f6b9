#!/usr/bin/env python3
"""Checks src/ against tools/layers.txt.

Fails, with one line for each finding, when
  - a file includes a folder that its own folder may not include;
  - a quoted include is not root-relative, or names a file that is not there;
  - the table or the includes of the files form a cycle;
  - a third-party header is included outside the folder it belongs to;
  - code that works on expressions (derive, match, search, refine) names an ONNX operator.
"""

import argparse
import pathlib
import re
import sys

# Which layer may include which third-party headers; those below it may, too. Headers that cost
# seconds of compile time stay out of our own headers, or of those that another layer includes.
OWNERS = {
    r"Halide.*\.h": ("codegen", "inside"),
    r"onnx\.pb\.h|google/protobuf/.*": ("onnx", "source"),
    r"(oneapi/dnnl/)?dnnl.*\.h(pp)?": ("backends/cpu", "source or header"),
    r"libxsmm.*\.h": ("backends/cpu", "source or header"),
    r"CLI/.*": ("cli", "source or header"),
}

WITHOUT_OPERATOR_NAMES = ("derive", "match", "search", "refine")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', re.DOTALL)


def read_table(path):
    """The table as {folder: [folders it may include]}."""
    table = {}
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            folder, _, uses = line.partition(":")
            table[folder.strip()] = uses.split()
    return table


def layer_of(path, table):
    """The longest listed folder that holds the path, or None."""
    parts = path.split("/")[:-1]
    while parts:
        folder = "/".join(parts)
        if folder in table:
            return folder
        parts.pop()
    return None


def find_cycle(edges):
    """A cycle of the graph {node: [nodes]} as a list that starts and ends alike, or None."""
    done = set()

    def visit(node, trail):
        if node in trail:
            return trail[trail.index(node):] + [node]
        if node in done:
            return None
        for other in edges.get(node, ()):
            if cycle := visit(other, trail + [node]):
                return cycle
        done.add(node)
        return None

    for node in sorted(edges):
        if cycle := visit(node, []):
            return cycle
    return None


def without_comments(text):
    return COMMENT.sub(lambda m: m.group(1) or re.sub(r"[^\n]", " ", m.group(0)), text)


def check_table(table):
    for folder, uses in table.items():
        for other in uses:
            if other not in table:
                yield f"tools/layers.txt: {folder} may include {other}, which is not listed"
    if cycle := find_cycle(table):
        yield "tools/layers.txt: cycle " + " -> ".join(cycle)


def check_third_party(file, header, layer):
    for pattern, (owner, kind) in OWNERS.items():
        if not re.fullmatch(pattern, header):
            continue
        if layer != owner and not layer.startswith(owner + "/"):
            yield f"only {owner} may include <{header}>"
        elif kind == "source" and file.endswith(".h"):
            yield f"<{header}> belongs in a .cpp file"


def inside_header(text):
    """The first third-party header included by the text that must stay inside its layer, or None."""
    patterns = [pattern for pattern, (_, kind) in OWNERS.items() if kind == "inside"]
    for match in INCLUDE.finditer(text):
        if any(re.fullmatch(pattern, match.group(2)) for pattern in patterns):
            return match.group(2)
    return None


def check_include(files, table, file, quoted, header):
    layer = layer_of(file, table)
    if not quoted:
        yield from check_third_party(file, header, layer)
    elif header not in files:
        yield f'"{header}" is no file of src/ (includes are relative to src/)'
    else:
        other = layer_of(header, table)
        if other != layer and other not in table[layer]:
            yield f'{layer} may not include {other} ("{header}")'
        if other != layer and (inner := inside_header(files[header])):
            yield f'"{header}" includes <{inner}> and is for {other} only'


def check_includes(files, table):
    edges = {}
    for file, text in sorted(files.items()):
        if layer_of(file, table) is None:
            yield f"src/{file}: its folder is not listed in tools/layers.txt"
            continue
        for match in INCLUDE.finditer(text):
            quoted, header = match.group(1) == '"', match.group(2)
            line = text.count("\n", 0, match.start(2)) + 1
            for finding in check_include(files, table, file, quoted, header):
                yield f"src/{file}:{line}: {finding}"
            if quoted and header in files:
                edges.setdefault(file, []).append(header)
    if cycle := find_cycle(edges):
        yield "src/: the includes form a cycle: " + " -> ".join(cycle)


def operator_names(files, root):
    """ONNX operators after the files in src/operators that define one, but for words of the
    expressions' own."""
    words = (root / "tools/expression_words.txt").read_text().splitlines()
    known = {word for line in words for word in line.split("#")[0].split()}
    stems = [pathlib.PurePosixPath(file).stem for file, text in files.items()
             if re.fullmatch(r"operators/\w+\.cpp", file) and "extern const Operator " in text]
    names = {"".join(part.capitalize() for part in stem.split("_")) for stem in stems}
    return names - known


def check_operator_names(files, root):
    names = operator_names(files, root)
    if not names:
        return
    pattern = re.compile(r"\b(" + "|".join(sorted(names)) + r")\b")
    for file, text in sorted(files.items()):
        if not file.startswith(tuple(folder + "/" for folder in WITHOUT_OPERATOR_NAMES)):
            continue
        for number, line in enumerate(text.split("\n"), 1):
            for name in pattern.findall(line):
                yield f"src/{file}:{number}: names the ONNX operator {name}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    source = root / "src"
    table = read_table(root / "tools/layers.txt")
    files = {path.relative_to(source).as_posix(): without_comments(path.read_text())
             for path in source.rglob("*") if path.suffix in (".h", ".cpp")}

    findings = list(check_table(table))
    findings += check_includes(files, table)
    findings += check_operator_names(files, root)
    for finding in findings:
        print(finding)
    print(f"{len(files)} files in {len(table)} layers, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
