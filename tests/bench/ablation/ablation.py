#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each part of the search is worth: runs a search with and without it on the emulated node, with several seeds, and
writes best-so-far curves as CSV and SVG. Times are modelled.

    tests/bench/ablation/ablation.py --cucoctl build/dev/bin/cucoctl --workload gemm_allgather --out FOLDER

Without --provider a stand-in answers in place of a model (standin.py): then the study shows that the parts work and what they
cost, not what a model makes of them. What follows -- goes to `cucoctl run`: `-- --provider anthropic --model MODEL`."""

import argparse
import csv
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# A stand-in runs out of programs sooner than a model: the search then goes on with tunables rather than to wait for a person.
EVERYWHERE = {"substitutes_in_a_row": 1000}
VARIANTS = {
    "whole": {},
    "tunable proposer alone": None,
    "without phases": {"phases": {"explore_share": 0}},
    "without archive": {"archive_inspirations": 0},
    "without novelty": {"novelty": {"attempts": 0}},
    "without tunables": {"raced_choices": 0},
}
COLOURS = ["#1f77b4", "#444444", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd"]


def run(arguments, variant, settings, seed):
    name = f"{variant.replace(' ', '_')}.{seed}"
    file = arguments.out / f"{name}.cuco"
    if not file.exists():
        command = [arguments.cucoctl, "run", arguments.workload, "--node", "emulated", "--out", file, "--seed", str(seed),
                   "--generations", str(arguments.generations), "--islands", "2", "--children", "2"]
        if settings is not None:
            (arguments.out / f"{name}.json").write_text(json.dumps(EVERYWHERE | settings))
            provider = arguments.provider or ["--provider", "command", "--model", "stand-in", "--command",
                                              sys.executable, HERE / "standin.py", arguments.sources]
            command += ["--proposer", "llm", "--slow-path", arguments.out / f"{name}.json"] + provider
        subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL, check=False, timeout=3600)
    shown = subprocess.run([arguments.cucoctl, "show", str(file), "--json"], capture_output=True, check=True)
    document = json.loads(shown.stdout)
    if document["state"] != "finished":
        print(f"{name}: {document['state']}: {document.get('message', '')}", file=sys.stderr)
    best, curve = 0.0, []
    for candidate in document["candidates"]:
        speedup = candidate.get("speedup")
        best = max(best, speedup if candidate.get("verdict") == "verified" and speedup else 0.0)
        curve.append(best)
    return curve


def interval(values, draws=2000):
    """The mean's 95 % interval, by bootstrap over seeds."""
    if len(values) < 2:
        return values[0], values[0]
    rng = random.Random(1)
    means = sorted(statistics.fmean(rng.choices(values, k=len(values))) for _ in range(draws))
    return means[int(0.025 * draws)], means[int(0.975 * draws)]


def picture(curves, title):
    width, height, left, bottom = 860, 460, 60, 50
    count = max(len(rows) for rows in curves.values())
    top = max(row[2] for rows in curves.values() for row in rows) * 1.02
    low = min(row[0] for rows in curves.values() for row in rows if row[0] > 0) * 0.98
    x = lambda i: left + i * (width - left - 230) / max(1, count - 1)
    y = lambda v: height - bottom - (max(v, low) - low) / (top - low) * (height - bottom - 40)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
           f'<rect width="{width}" height="{height}" fill="white"/><text x="{left}" y="24" font-size="15">{title}</text>']
    for step in range(6):
        value = low + (top - low) * step / 5
        out.append(f'<line x1="{left}" x2="{x(count - 1):.1f}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#ddd"/>'
                   f'<text x="{left - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.2f}</text>')
    out.append(f'<text x="{left}" y="{height - 14}">candidates, 0 to {count - 1}; the best speed-up so far, mean over seeds with its 95 % interval</text>')
    for (name, rows), colour in zip(curves.items(), COLOURS):
        band = [f"{x(i):.1f},{y(row[2]):.1f}" for i, row in enumerate(rows)]
        band += [f"{x(i):.1f},{y(row[0]):.1f}" for i, row in reversed(list(enumerate(rows)))]
        line = " ".join(f"{x(i):.1f},{y(row[1]):.1f}" for i, row in enumerate(rows))
        out.append(f'<polygon points="{" ".join(band)}" fill="{colour}" opacity="0.12"/>'
                   f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        place = 60 + 22 * list(curves).index(name)
        out.append(f'<line x1="{width - 215}" x2="{width - 195}" y1="{place}" y2="{place}" stroke="{colour}" stroke-width="3"/>'
                   f'<text x="{width - 188}" y="{place + 4}">{name}</text>')
    return "\n".join(out + ["</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cucoctl", required=True)
    parser.add_argument("--workload", default="gemm_allgather")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--generations", type=int, default=8)
    parser.add_argument("provider", nargs="*", help="of cucoctl run, after --")
    arguments = parser.parse_args()
    arguments.sources = HERE.parents[2] / "workloads" / arguments.workload
    arguments.out.mkdir(parents=True, exist_ok=True)
    began, curves = time.time(), {}
    with open(arguments.out / "ablation.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["variant", "candidates", "mean", "low", "high"] + [f"seed {s}" for s in range(1, arguments.seeds + 1)])
        for variant, settings in VARIANTS.items():
            runs = [run(arguments, variant, settings, seed) for seed in range(1, arguments.seeds + 1)]
            runs = [curve for curve in runs if curve]
            curves[variant] = []
            for i in range(max(len(curve) for curve in runs)):
                values = [curve[min(i, len(curve) - 1)] for curve in runs]
                low, high = interval(values)
                curves[variant].append((low, statistics.fmean(values), high))
                table.writerow([variant, i, f"{statistics.fmean(values):.4f}", f"{low:.4f}", f"{high:.4f}"] + [f"{v:.4f}" for v in values])
            low, mean, high = curves[variant][-1]
            print(f"{variant:24} {mean:.3f} ({low:.3f}…{high:.3f}) after {len(curves[variant])} candidates, {len(runs)} seeds, "
                  f"{time.time() - began:.0f} s so far", flush=True)
    who = "a stand-in for a model" if not arguments.provider else " ".join(arguments.provider)
    (arguments.out / "ablation.svg").write_text(picture(curves, f"{arguments.workload}, modelled; proposals by {who}"))


main()
