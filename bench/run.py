#!/usr/bin/env python3
"""Measures every model and operator with `ollie bench`, and prints a table.

    bench/run.py                      all models at batch 1 and 16, all operators at their own batch
    bench/run.py --only fsrcnn        some of them (may be given more than once)
    bench/run.py FILE.onnx...         files instead

Results go to a JSON file after each case. A case that is there already, measured on a fit machine
with the same build, is not measured again; --fresh starts over. Models are written with fixed seeds
by bench/models/write_models.py; nothing is downloaded. A rival that is not installed has no figure,
and on a machine whose threads do not get a core each no ratio is given.
"""

import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WRITER = ROOT / "bench/models/write_models.py"
RIVALS = ("onnxruntime", "openvino")
COLUMNS = ("model", "batch", "onnxruntime", "openvino", "unoptimized", "ollie", "x rival",
           "x unopt", "error", "")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="models to measure instead")
    parser.add_argument("--only", action="append", metavar="NAME", help="this model or operator")
    parser.add_argument("--batches", default="1,16", help="of models (default 1,16)")
    parser.add_argument("--threads", type=int, help="passed on")
    parser.add_argument("--against", default=",".join(RIVALS), help="passed on")
    parser.add_argument("--ollie", type=pathlib.Path, default=ROOT / "build/bin/ollie")
    parser.add_argument("--python", default=str(ROOT / ".deps/venv/bin/python"),
                        help="has the onnx package, to write models")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build/bench/results.json")
    parser.add_argument("--fresh", action="store_true", help="measure again what is there")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds for one case")
    return parser.parse_args()


def cases(arguments):
    """Triples: name, batch, and the file if it is there already."""
    if arguments.files:
        return [(*split_name(file.stem), file) for file in arguments.files]
    listing = subprocess.run([arguments.python, WRITER, "--list"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    found = []
    for name, kind, batch in (line.split() for line in listing.splitlines()):
        batches = arguments.batches.split(",") if kind == "model" else [batch]
        found += [(name, int(b), None) for b in batches]
    names = {name for name, _, _ in found}
    if unknown := set(arguments.only or ()) - names:
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(sorted(names))}")
    return [case for case in found if not arguments.only or case[0] in arguments.only]


def split_name(stem):
    """"fsrcnn_b16" -> "fsrcnn", 16; without a batch in the name: 0."""
    name, _, batch = stem.rpartition("_b")
    return (name, int(batch)) if name and batch.isdecimal() else (stem, 0)


def write_model(arguments, name, batch):
    folder = arguments.output.parent / "models"
    result = subprocess.run([arguments.python, WRITER, folder, name, str(batch)], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode:
        raise RuntimeError(f"{WRITER.name}: {result.stderr.strip()[-500:]}")
    return pathlib.Path(result.stdout.strip().splitlines()[-1])


def fingerprint(ollie):
    """Of the program and the libraries beside it."""
    digest = hashlib.sha256()
    for file in [ollie, *sorted((ollie.parent.parent / "lib").glob("libollie*.so"))]:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def measure(arguments, file):
    command = [arguments.ollie, "bench", file, "--against", arguments.against, "--json"]
    if arguments.threads:
        command += ["--threads", str(arguments.threads)]
    try:
        result = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, timeout=arguments.timeout)
    except subprocess.TimeoutExpired:
        return {"error": f"took more than {arguments.timeout:g} s"}
    if result.returncode:
        return {"error": f"exit code {result.returncode}: {result.stderr.strip()[-500:]}"}
    try:
        return json.loads(result.stdout)
    except ValueError:
        return {"error": f"no JSON: {result.stdout[:200]}"}


def run_case(arguments, name, batch, file):
    try:
        file = file or write_model(arguments, name, batch)
        return measure(arguments, file)
    except (OSError, RuntimeError) as error:
        return {"error": str(error)}


def load_results(path):
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        sys.exit(f"{path} cannot be read ({error}); remove it to start over")


def save_results(path, results):
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".new")
    draft.write_text(json.dumps(results, indent=1) + "\n")
    os.replace(draft, path)


def median(report, name):
    """Milliseconds, or None where it is absent or failed."""
    rows = [row for row in report.get("rows", ()) if row["name"] == name]
    return rows[0].get("median_ms") if rows else None


def summary(name, batch, report):
    """The columns of one case as text."""
    times = {who: median(report, who) for who in (*RIVALS, "unoptimized", "ollie")}
    rivals = [times[who] for who in RIVALS if times[who]]
    ours, fit = times["ollie"], report.get("fit", False)

    def ratio(other):
        return f"{other / ours:.2f}" if fit and ours and other else "-"

    errors = [row.get("max_error_of_scale", 0) for row in report.get("rows", ())
              if row["name"] == "ollie"]
    error = "-" if not errors else "not finite" if errors[0] is None else f"{errors[0]:.1e}"
    return [name, str(batch or "-"),
            *(f"{times[who]:.4g}" if times[who] else "-" for who in times),
            ratio(min(rivals, default=None)), ratio(times["unoptimized"]), error, remark(report)]


def remark(report):
    if "error" in report:
        return report["error"].splitlines()[-1][:100] if report["error"] else "failed"
    remarks = [] if report["fit"] else ["unfit machine"]
    for row in report["rows"]:
        if "error" in row:
            remarks.append(f"{row['name']} failed")
        elif not row.get("valid", True):
            remarks.append(f"{row['name']} unsteady")
    return ", ".join(remarks)


def print_table(rows):
    widths = [max(len(row[i]) for row in [COLUMNS, *rows]) for i in range(len(COLUMNS))]
    for row in [COLUMNS, *rows]:
        cells = [cell.ljust(width) if i in (0, len(row) - 1) else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())


def print_contestants(reports):
    """Machine, versions and settings of the last case that has them."""
    for report in reversed(reports):
        if "rows" not in report:
            continue
        machine = report["machine"]
        print(f"\n{machine['cpu']}, {machine['isa']}; {report['threads']} threads. "
              "Medians in milliseconds.")
        for row in report["rows"]:
            absent = f"absent: {row['absent']}" if "absent" in row else ""
            print(f"{row['name']} {absent or row['version']}  {row.get('settings', '')}".rstrip())
        return


def is_done(result, build):
    report = result.get("report", {})
    return result.get("build") == build and "error" not in report and report.get("fit", False)


def main():
    arguments = parse_arguments()
    if not arguments.ollie.exists():
        sys.exit(f"{arguments.ollie} is not there: run `make build` first")
    build = fingerprint(arguments.ollie)
    results = {} if arguments.fresh else load_results(arguments.output)
    rows, reports = [], []
    for name, batch, file in cases(arguments):
        key = f"{file or name} {batch} threads {arguments.threads or 'default'}"
        if not is_done(results.get(key, {}), build):
            print(f"measuring {name} {batch or ''}".rstrip(), file=sys.stderr, flush=True)
            report = run_case(arguments, name, batch, file)
            results[key] = {"name": name, "batch": batch, "build": build, "report": report}
            save_results(arguments.output, results)
        reports.append(results[key]["report"])
        rows.append(summary(name, batch, reports[-1]))
    print_table(rows)
    print_contestants(reports)
    sys.exit(any("error" in report for report in reports))


if __name__ == "__main__":
    main()
