"""What was found, as Markdown."""

import datetime
import pathlib
import platform
import subprocess
import sys
from importlib.metadata import version

from contender import GCC

ROOT = pathlib.Path(__file__).resolve().parent.parent


def text(entries, options):
    parts = [header(), *problems(entries)]
    if not options.check:
        parts += [*summary(entries), "", *compile_times(entries), "", *details(entries)]
    else:
        parts += agreement(entries)
    if options.plans:
        parts += plans(entries)
    return "\n".join(parts) + "\n"


def header():
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    gcc = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    command = " ".join(["bench/run", *sys.argv[1:]])
    return f"""# {datetime.date.today()}, commit {commit}

`{command}` on {cpu()}; Python {platform.python_version()}, NumPy {version("numpy")}, JAX {version("jax")}, `{" ".join(GCC)}` {gcc}.
One thread on one core, float64. README.md says what each program is and how the ratios are formed.
"""


def cpu():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    facts = dict(line.split(":", 1) for line in lines if ":" in line)
    facts = {key.strip(): value.strip() for key, value in facts.items()}
    return f"{facts.get('model name', platform.processor())} (family {facts.get('cpu family')}, model {facts.get('model')})"


def problems(entries):
    """Wrong results, then what could not be expressed, compiled or finished."""
    found = []
    for kind, title in (("wrong", "Wrong results"), ("error", "No result")):
        rows = {(e["program"], e["size"], e["part"], e["who"], e["error"]): None for e in entries if e["kind"] == kind}
        if rows:
            found += [f"## {title}", "", *table([["program", "size", "", "who", "why"], *map(list, rows)]), ""]
    return found


def agreement(entries):
    """For each program and part, what agreed with what."""
    rows = [["program", "size", "", "reference", "agree with it"]]
    for key, results in groups(entries).items():
        slope = any(e["kind"] == "slope" and (e["program"], e["size"]) == key[:2] for e in entries)
        first = results[0]["who"] + (" (complex step: yes)" if slope and key[2] == "gradient" else "")
        rows.append([*key[:3], first, "; ".join(e["who"] for e in results[1:])])
    return table(rows)


def groups(entries):
    """Results by (program, size, part, malloc), in the order of the run."""
    found = {}
    for entry in entries:
        if entry["kind"] == "result":
            found.setdefault((entry["program"], entry["size"], entry["part"], entry["malloc"]), []).append(entry)
    return found


def best(results, side, keep=lambda entry: True):
    return min((e for e in results if e["side"] == side and keep(e)), key=lambda e: e["best"], default=None)


def summary(entries):
    """One row for each of ours: the best C that keeps the order of the program's loops, and the best JAX, under both mallocs."""
    rows = [["program", "size", "", "malloc", "ours", "inside", "C", "JAX", "NumPy", "ours / C", "inside / C", "ours / C tiled", "JAX / ours", "bytes: ours", "C", "JAX"]]
    in_order = lambda entry: "tiles" not in entry["who"]
    for (program, size, part, malloc), results in groups(entries).items():
        c, tiled = best(results, "c", in_order), best(results, "c", lambda e: not in_order(e))
        jax, numpy = best(results, "jax"), best(results, "numpy")
        for one in [e for e in results if e["side"] == "ours"] or [None]:
            who = part if one is None else one["who"].replace("retrograd", part)
            ratio = lambda a, b, key="best": "" if a is None or b is None else f"{a[key] / b[key]:.2f}"
            rows.append(
                [program, size, who, malloc, took(one), took(one, "inside"), took(c), took(jax), took(numpy)]
                + [ratio(one, c), ratio(one, c, "inside"), ratio(one, tiled), ratio(jax, one)]
                + [size_of(one), size_of(c), size_of(jax)]
            )
    return table(rows)


def compile_times(entries):
    """First call minus a run, ours and that of the fastest JAX; and how it grows with straight-line code."""
    rows = [["program", "size", "", "compile: ours", "JAX", "JAX / ours"]]
    ours = {}
    for (program, size, part, malloc), results in groups(entries).items():
        if malloc != "stock":
            continue
        jax = best(results, "jax")
        for one in (e for e in results if e["side"] == "ours"):
            mine, theirs = compiling(one), compiling(jax)
            ours.setdefault((program, size, part), mine)
            rows.append([program, size, one["who"].replace("retrograd", part), duration(mine), duration(theirs), "" if theirs is None else f"{theirs / mine:.1f}"])
    growth = []
    for half, whole in (("10k ops", "20k ops"), ("50k ops", "100k ops")):
        pair = ours.get(("straight", half, "gradient")), ours.get(("straight", whole, "gradient"))
        if all(pair):
            growth += ["", f"compile({whole}) / compile({half}) of a straight-line gradient: {pair[1] / pair[0]:.2f}"]
    return [*table(rows), *growth]


def compiling(entry):
    if entry is not None and entry["compile"] is not None:
        return entry["compile"]
    return None if entry is None or entry["first"] is None else max(entry["first"] - entry["best"], 1e-9)


def details(entries):
    rows = [["program", "size", "", "malloc", "who", "best", "inside", "median", "bytes", "first", "runs"]]
    for (program, size, part, malloc), results in groups(entries).items():
        for one in results:
            rows.append([program, size, part, malloc, one["who"], took(one), took(one, "inside"), took(one, "median"), size_of(one), duration(one["first"]), str(one["runs"])])
    return table(rows)


def plans(entries):
    return [f"\n{e['program']}, {e['size']}, {e['who']}:\n\n```\n{e['plan']}\n```" for e in entries if e["kind"] == "result" and e["plan"] and e["malloc"] == "stock"]


def table(rows):
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]


def took(entry, key="best"):
    return "" if entry is None else duration(entry[key])


def duration(seconds):
    if seconds is None:
        return ""
    return f"{seconds * 1e6:.3g} µs" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def size_of(entry):
    count = None if entry is None else entry["bytes"]
    if count is None:
        return ""
    return f"{count} B" if count < 1000 else f"{count / 1e3:.3g} kB" if count < 1e6 else f"{count / 1e6:.3g} MB"
