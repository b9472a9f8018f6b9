#!/usr/bin/env python3
"""Compares the reference evaluator with the results that others give.

    compare.py node|random EVALUATOR [--seed N] [--count N] [--only TEXT] [--keep DIRECTORY]

node: the test cases of the onnx package whose operators are all in the import catalogue. Those
that are refused or differ must be the ones that exceptions.txt lists, with the complaint.
random: random single-operator models; expected values by ONNX Runtime or, where that has no
implementation, by the reference of the onnx package. None may be refused.

Float64 results must agree within the case's tolerance, float32 ones within four times that;
integers and bool exactly. Shapes must be equal.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import random_cases
import write_cases

EXCEPTIONS = pathlib.Path(__file__).parent / "exceptions.txt"


def listed_exceptions():
    lines = [line for line in EXCEPTIONS.read_text().splitlines() if line and line[0] != "#"]
    return dict(line.split(": ", 1) for line in lines)


def difference(expected, found, rtol, atol):
    """Why these are not the same, or None."""
    if expected.shape != found.shape:
        return f"shape {found.shape} instead of {expected.shape}"
    if expected.dtype.kind == "f":
        if found.dtype.kind != "f":
            return f"type {found.dtype} instead of {expected.dtype}"
        if np.allclose(found, expected, rtol=rtol, atol=atol, equal_nan=True):
            return None
    else:
        if found.dtype != expected.dtype:
            return f"type {found.dtype} instead of {expected.dtype}"
        if np.array_equal(found, expected):
            return None
    with np.errstate(all="ignore"):
        distance = np.abs(found.astype(np.float64) - expected.astype(np.float64))
    worst = np.unravel_index(np.nanargmax(np.nan_to_num(distance, nan=np.inf)), distance.shape)
    place = [int(i) for i in worst]
    return f"{found[worst]} instead of {expected[worst]} at {place}"


def complaints_about(directory, name, rtol, atol):
    refusal = directory / f"{name}.refused"
    if refusal.exists():
        return ["refused: " + refusal.read_text()]
    complaints = []
    for path in sorted(directory.glob(f"{name}.output*.npy")):
        index = path.name[len(name) + len(".output"):-len(".npy")]
        expected = np.load(path)
        for kind, factor in (("float64", 1), ("float32", 4)):
            if kind == "float32" and expected.dtype == np.float64:
                continue
            result = directory / f"{name}.{kind}.{index}.npy"
            if not result.exists():
                complaints.append(f"output {index} is missing in {kind}")
                continue
            reason = difference(expected, np.load(result), factor * rtol, factor * atol)
            if reason:
                complaints.append(f"output {index} in {kind}: {reason}")
    return complaints


def write_all(directory, cases, only):
    """Writes what the evaluator reads; gives name, relative and absolute tolerance per case."""
    written = []
    for name, model, inputs, outputs, rtol, atol in cases:
        if only not in name:
            continue
        try:
            write_cases.write(directory, name, model, inputs, outputs)
        except write_cases.OtherType:
            continue
        written.append((name, rtol, atol))
    (directory / "cases.txt").write_text("".join(f"{name}\n" for name, _, _ in written))
    return written


def check(directory, arguments):
    evaluator = arguments.evaluator
    if arguments.kind == "node":
        operators = subprocess.run([evaluator, "--operators"], check=True, capture_output=True,
                                   text=True).stdout.split()
        cases = write_cases.node_cases(set(operators))
        exceptions = listed_exceptions()
    else:
        cases = random_cases.random_cases(arguments.seed, arguments.count)
        exceptions = {}
    written = write_all(directory, cases, arguments.only)
    subprocess.run([evaluator, str(directory)], check=True)
    failed = 0
    for name, rtol, atol in written:
        complaints = complaints_about(directory, name, rtol, atol)
        if name in exceptions:
            if complaints and exceptions[name] in complaints[0]:
                continue
            complaints = complaints or ["is listed as an exception and is none"]
        failed += bool(complaints)
        for complaint in complaints:
            print(f"{name}: {complaint}")
    print(f"{len(written)} cases, {len(exceptions)} exceptions listed, {failed} failed")
    return failed == 0 and len(written) > 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["node", "random"])
    parser.add_argument("evaluator")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1200)
    parser.add_argument("--only", default="", help="only cases with this in their name")
    parser.add_argument("--keep", type=pathlib.Path, help="write the files here and keep them")
    arguments = parser.parse_args()
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
        return check(arguments.keep, arguments)
    with tempfile.TemporaryDirectory() as directory:
        return check(pathlib.Path(directory), arguments)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
