#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How well the emulated node's modelled times rank programs, held against times that GPUs gave.

    predictor.py sources FOLDER              writes the programs of points.txt
    predictor.py model CUCOCTL FOLDER RANKS  their modelled times, FOLDER/modelled.json
    measure.sh FOLDER RANKS                  their times on this machine's GPUs, FOLDER/measured.txt;
                                             times that are known are in measured/ beside this file
    predictor.py report FOLDER [SVG]         rank correlations, the worst misjudgements, a scatter plot

Compared are an emulated shape's modelled time and the measured time of the shape it represents, on as many ranks.
"""
import json
import math
import pathlib
import random
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
RESAMPLES = 2000
COLOURS = {"gemm_allgather": "#0072B2", "kv_transfer": "#E69F00", "moe_layer": "#009E73", "ring_attention": "#D55E00"}


def points():
    """(workload, source, {tunable: value}, name) of each line; a name is good for a file and a job."""
    for line in (HERE / "points.txt").read_text().splitlines():
        words = line.split()
        if not words or line.startswith("#"):
            continue
        tunables = dict(word.split("=") for word in words[2:])
        values = [f"{k}.{v}" for k, v in tunables.items()] or ["own"]
        yield words[0], words[1], tunables, "-".join([words[1], *values])


def source_file(workload, source):
    folder = ROOT / "workloads" / workload
    own = folder / f"{source}.cu"
    return own if own.exists() else folder / "strategies" / f"{source}.cu"


def with_tunables(text, tunables, name):
    for tunable, value in tunables.items():
        pattern = rf"CUCO_TUNE\({tunable},\s*(\d+)((?:,\s*\d+)+)\)"
        found = re.search(pattern, text)
        if not found or value not in re.findall(r"\d+", found[2]):
            sys.exit(f"{name}: {tunable}={value} is none of its choices.")
        text = text[: found.start(1)] + value + text[found.end(1) :]
    return text


def write_sources(folder):
    for workload, source, tunables, name in points():
        target = folder / "sources" / workload / f"{name}.cu"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(with_tunables(source_file(workload, source).read_text(), tunables, name))


def workload_names():
    return list(dict.fromkeys(point[0] for point in points()))


def represented(workload):
    """Emulated shape -> the search shape with the parameters that it represents."""
    shapes = json.loads((ROOT / "workloads" / workload / "workload.json").read_text())["shapes"]
    parameters = lambda shape: {k: v for k, v in shape.items() if k != "name"}
    return {
        emulated["name"]: shape["name"]
        for emulated in shapes["emulated_search"]
        for shape in shapes["search"]
        if parameters(shape) == emulated["represents"]
    }


def model(cucoctl, folder, ranks):
    result = {}
    for workload in workload_names():
        shapes = represented(workload)
        files = sorted((folder / "sources" / workload).glob("*.cu"))
        if not files:
            continue
        command = [cucoctl, "eval", workload, *map(str, files), "--node", "emulated", "--ranks", ranks]
        run = subprocess.run([*command, "--stage", "benchmark", "--json"], stdout=subprocess.PIPE, check=False)
        documents = json.loads(run.stdout)
        for document in documents:
            name = pathlib.Path(document["file"]).stem
            if document.get("verdict") != "verified":
                print(f"{workload} {name}: {document.get('verdict')}: {document.get('message', document.get('error'))}")
                continue
            for timing in document["timings"]:
                shape = shapes.get(timing["shape"])
                if shape is None:
                    continue
                times = result.setdefault(workload, {}).setdefault(shape, {})
                times[name] = timing["time_us"]
                times["host"] = next(b["time_us"] for b in timing["baselines"] if b["name"] == "host.cu")
    (folder / "modelled.json").write_text(json.dumps(result, indent=1, sort_keys=True))


def measured(folder):
    """workload -> shape -> program -> median; a program's time is scaled by its job's host.cu over that of all jobs."""
    text = (folder / "measured.txt").read_text()
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    hosts, rows = {}, []
    for workload, job, shape, program, *samples in lines:
        value = median([float(sample) for sample in samples])
        rows.append((workload, job, shape, program, value))
        if program == "host":
            hosts.setdefault((workload, shape), {})[job] = value
    result = {}
    for workload, job, shape, program, value in rows:
        host = median(list(hosts[workload, shape].values()))
        times = result.setdefault(workload, {}).setdefault(shape, {})
        times[program] = host if program == "host" else value / hosts[workload, shape][job] * host
    return result


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def ranks_of(values):
    """From 1; equal ones share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    i = 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            ranks[order[k]] = (i + j) / 2 + 1
        i = j + 1
    return ranks


def spearman(pairs):
    x, y = ranks_of([p[0] for p in pairs]), ranks_of([p[1] for p in pairs])
    mx, my = sum(x) / len(x), sum(y) / len(y)
    sxx, syy = sum((a - mx) ** 2 for a in x), sum((b - my) ** 2 for b in y)
    if sxx == 0 or syy == 0:
        return math.nan
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / math.sqrt(sxx * syy)


def interval(groups, statistic):
    """95 %, by the bootstrap; points are drawn within their workload and shape."""
    draw = random.Random(1)
    values = []
    for _ in range(RESAMPLES):
        value = statistic([[draw.choice(group) for _ in group] for group in groups])
        if not math.isnan(value):
            values.append(value)
    values.sort()
    return values[int(0.025 * len(values))], values[int(0.975 * len(values))]


def pooled(groups):
    return spearman([pair for group in groups for pair in group])


def mean_within(groups):
    """What a search sees: programs of one workload at one shape. Weighted by their number."""
    values = [(spearman(group), len(group)) for group in groups]
    values = [(value, count) for value, count in values if not math.isnan(value)]
    return sum(v * n for v, n in values) / sum(n for _, n in values)


def row(what, groups, statistic):
    low, high = interval(groups, statistic)
    count = sum(map(len, groups))
    print(f"| {what} | {count} | {statistic(groups):.2f} ({low:.2f} to {high:.2f}) |")


def report(folder, svg):
    modelled, gpu = json.loads((folder / "modelled.json").read_text()), measured(folder)
    groups, worst, plotted = {}, [], []
    for workload in workload_names():
        for shape, times in gpu.get(workload, {}).items():
            model_times = modelled.get(workload, {}).get(shape, {})
            names = sorted(name for name in times if name in model_times and name != "host")
            group = []
            for name in names:
                # Speed-ups over host.cu, as a search compares them.
                pair = (model_times["host"] / model_times[name], times["host"] / times[name])
                group.append(pair)
                worst.append((abs(math.log(pair[0] / pair[1])), workload, shape, name, *pair))
                plotted.append((workload, shape, name, *pair))
            groups[workload, shape] = group
    print("| programs | points | Spearman, 95 % |\n|---|---|---|")
    every = list(groups.values())
    row("all, speed-up over host.cu", every, pooled)
    row("all, mean within workload and shape", every, mean_within)
    for workload in workload_names():
        of_workload = [group for key, group in groups.items() if key[0] == workload]
        if of_workload:
            row(f"{workload}, mean within shapes", of_workload, mean_within)
    for (workload, shape), group in groups.items():
        row(f"{workload} at {shape}", [group], pooled)
    print("\n| workload | shape | best of the model | measured rank of it | loses to the measured best |\n|---|---|---|---|---|")
    for (workload, shape), group in groups.items():
        of_group = [p for p in plotted if p[:2] == (workload, shape)]
        chosen = max(of_group, key=lambda p: p[3])
        ordered = sorted(of_group, key=lambda p: -p[4])
        loss = 100 * (ordered[0][4] / chosen[4] - 1)
        print(f"| {workload} | {shape} | {chosen[2]} | {ordered.index(chosen) + 1} of {len(ordered)} | {loss:.1f} % |")
    print("\n| speed-up over host.cu | modelled | measured | modelled / measured |\n|---|---|---|---|")
    for _, workload, shape, name, model_speedup, gpu_speedup in sorted(worst, reverse=True):
        print(f"| {workload} {shape} {name} | {model_speedup:.2f} | {gpu_speedup:.2f} | {model_speedup / gpu_speedup:.2f} |")
    if svg:
        svg.write_text(scatter(plotted))


def scatter(plotted):
    """Logarithmic axes, one colour a workload; on the line the model is right."""
    size, margin = 560, 56
    values = [v for p in plotted for v in p[3:5]]
    low, high = min(values) / 1.08, max(values) * 1.08
    place = lambda v: (math.log(v) - math.log(low)) / (math.log(high) - math.log(low)) * (size - 2 * margin)
    x, y = lambda v: margin + place(v), lambda v: size - margin - place(v)
    out = [
        "<!-- SPDX-FileCopyrightText: 2026 The CUCo Desktop authors -->",
        "<!-- SPDX-License-Identifier: GPL-3.0-or-later -->",
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" font-family="sans-serif" font-size="12">',
        f'<rect width="{size}" height="{size}" fill="#FFFFFF"/>',
        f'<path d="M{x(low):.1f} {y(low):.1f}L{x(high):.1f} {y(high):.1f}" stroke="#CC79A7" stroke-dasharray="4 3"/>',
        f'<path d="M{margin} {margin}V{size - margin}H{size - margin}" stroke="#444444" fill="none"/>',
    ]
    for tick in (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.2, 1.5, 2):
        if low < tick < high:
            out.append(f'<text x="{x(tick):.1f}" y="{size - margin + 18}" text-anchor="middle">{tick:g}</text>')
            out.append(f'<text x="{margin - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    out.append(f'<text x="{size / 2}" y="{size - 12}" text-anchor="middle">measured speed-up over host.cu</text>')
    out.append(
        f'<text transform="translate(16 {size / 2}) rotate(-90)" text-anchor="middle">modelled speed-up over host.cu</text>'
    )
    for workload, shape, name, model_speedup, gpu_speedup in plotted:
        out.append(
            f'<circle cx="{x(gpu_speedup):.1f}" cy="{y(model_speedup):.1f}" r="3.5" fill="{COLOURS[workload]}" '
            f'fill-opacity="0.75"><title>{workload} {shape} {name}</title></circle>'
        )
    for i, (workload, colour) in enumerate(COLOURS.items()):
        out.append(f'<circle cx="{margin + 16}" cy="{margin + 8 + 18 * i}" r="4" fill="{colour}"/>')
        out.append(f'<text x="{margin + 26}" y="{margin + 12 + 18 * i}">{workload}</text>')
    return "\n".join([*out, "</svg>", ""])


def main(arguments):
    match arguments:
        case ["sources", folder]:
            write_sources(pathlib.Path(folder))
        case ["model", cucoctl, folder, ranks]:
            model(cucoctl, pathlib.Path(folder), ranks)
        case ["report", folder]:
            report(pathlib.Path(folder), None)
        case ["report", folder, svg]:
            report(pathlib.Path(folder), pathlib.Path(svg))
        case _:
            sys.exit(__doc__)


main(sys.argv[1:])
