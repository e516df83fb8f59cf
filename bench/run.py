"""Checks programs against hand-written C, JAX and the complex step, then times them: one thread, one core, in turns, the best of many runs."""

import argparse
import datetime
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time

import programs
import tables

HERE = pathlib.Path(__file__).resolve().parent
# Stock, and with freed memory kept mapped: what is freed is used again without a page fault, whatever its size and thread.
MALLOC = {
    "stock": {},
    "kept": {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(1 << 26), "MALLOC_ARENA_MAX": "1"},
}


def main():
    options = parse()
    names = [name for name in programs.NAMES if name in chosen(options)]
    entries = []
    for name in names:
        for size in programs.sizes(name):
            if size != "small" and options.small or size == "small" and not options.check:
                continue
            for malloc in ["stock"] if options.check else options.malloc or list(MALLOC):
                entries += run(name, size, malloc, options)
    text = tables.text(entries, options)
    print(text)
    if options.record:
        (HERE / "results" / f"{datetime.date.today()}.md").write_text(text)
    sys.exit(1 if any(entry["kind"] == "wrong" for entry in entries) else 0)


def parse():
    parser = argparse.ArgumentParser(prog="bench/run", description=__doc__)
    parser.add_argument("programs", nargs="*", type=known, metavar="program", help=f"these programs, not all: {' '.join(programs.NAMES)}")
    parser.add_argument("--group", action="append", choices=programs.GROUPS, default=[], help="the programs of a group; may be given again")
    parser.add_argument("--check", action="store_true", help="agreement only, at the small sizes too; no times")
    parser.add_argument("--small", action="store_true", help="with --check: the small sizes only")
    parser.add_argument("--malloc", action="append", choices=MALLOC, help="under this setting of malloc, not under both")
    parser.add_argument("--seconds", type=float, default=2.0, help="time for each contender")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds after which a contender that has not come back is given up")
    parser.add_argument("--peers", action="store_true", help="also Equinox, Diffrax and checkpoint_schedules, in `tanh` and `oscillators`")
    parser.add_argument("--plans", action="store_true", help="print the plans too")
    parser.add_argument("--record", action="store_true", help="write bench/results/<date>.md")
    options = parser.parse_args()
    if options.small and not options.check:
        parser.error("--small goes with --check: small sizes are not timed")
    return options


def known(name):
    if name not in programs.NAMES:
        raise argparse.ArgumentTypeError(f"no program {name}; there are {' '.join(programs.NAMES)}")
    return name


def chosen(options):
    named = {*options.programs, *(name for group in options.group for name in programs.GROUPS[group])}
    return named or set(programs.NAMES)


def run(name, size, malloc, options):
    """What the worker says about a program; a contender that hangs or ends the process is noted, and the rest is run without it."""
    skip = []
    seconds = 0 if options.check else options.seconds
    while True:
        task = dict(program=name, size=size, seconds=seconds, skip=skip, peers=options.peers)
        said, at, end = listen(task, malloc, options.limit)
        if end is None:
            break
        if at is None:
            said = [*said, dict(kind="wrong", part="", side="", who="all", error=end, against="")]
            break
        skip.append([at["part"], at["who"], end])
    entries = [dict(program=name, size=size, malloc=malloc, **line) for line in said if line["kind"] != "at"]
    progress(name, size, malloc, entries)
    return entries


def listen(task, malloc, limit):
    """(what a worker said, where it was, why it did not end well or None)."""
    environment = {**os.environ, **MALLOC[malloc]}
    worker = subprocess.Popen([sys.executable, HERE / "worker.py", json.dumps(task)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    lines, errors = queue.Queue(), []

    def read():
        for line in worker.stdout:
            lines.put(line)
        lines.put(None)

    readers = [threading.Thread(target=target, daemon=True) for target in (read, lambda: errors.extend(worker.stderr))]
    for reader in readers:
        reader.start()
    said, at = [], None
    while True:
        try:
            line = lines.get(timeout=limit)
        except queue.Empty:
            worker.kill()
            worker.wait()
            return said, at, f"no result within {limit:.0f} s"
        if line is None:
            break
        said.append(json.loads(line))
        at = said[-1] if said[-1]["kind"] == "at" else at
    code = worker.wait()
    readers[1].join()
    if code == 0:
        return said, at, None
    last = next((line.strip() for line in reversed(errors) if line.strip()), "")
    return said, at if code < 0 else None, f"ended by signal {-code}" if code < 0 else f"exit code {code}: {last}"


def progress(name, size, malloc, entries):
    count = lambda kind: sum(entry["kind"] == kind for entry in entries)
    facts = f"{count('result')} agree, {count('error')} cannot, {count('wrong')} wrong"
    print(f"{time.strftime('%H:%M:%S')} {name}, {size}, {malloc}: {facts}", file=sys.stderr, flush=True)
    for entry in entries:
        if entry["kind"] in ("error", "wrong"):
            print(f"    {entry['part']}, {entry['who']}: {entry['error']}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
