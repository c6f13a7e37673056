#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers the prompts of a search in place of a model, for ablations that cost nothing: a provider of the kind "command".

It knows the workload's strategies and nothing else: a change moves tunables of the parent and gives one of them further
choices, a rewrite takes a strategy so changed, a crossover takes one program with another's numbers. One answer in five is a fault that models
make: the parent again with another name, a directive that its code belies, no code. Everything is drawn from the request, so
that the same request gets the same answer."""

import hashlib
import json
import pathlib
import random
import re
import sys

TUNE = re.compile(r"CUCO_TUNE\((\w+), (-?\d+), ([^)]*)\);")
FENCE = re.compile(r"^(`{3,})cpp\n(.*?)^\1$", re.S | re.M)


def directive(source):
    return re.search(r"// cuco: (.*)", source).group(1).strip()


def moved(source, rng, count):
    names = [m.group(1) for m in TUNE.finditer(source)]
    chosen = rng.sample(names, min(count, len(names)))

    def change(match):
        name, value, choices = match.groups()
        if name not in chosen:
            return match.group(0)
        others = [c.strip() for c in choices.split(",") if c.strip() != value]
        return f"CUCO_TUNE({name}, {rng.choice(others) if others else value}, {choices});"

    return TUNE.sub(change, source)


def widened(source, rng):
    """With one or two further choices of a tunable, which its author did not think of; whether they work is for the search to find."""
    tunables = [m for m in TUNE.finditer(source) if len(m.group(3).split(",")) > 1]
    if not tunables:
        return source
    match = rng.choice(tunables)
    name, value, choices = match.groups()
    known = [int(c) for c in choices.split(",")]
    further = {max(1, round(c * factor)) for c in known for factor in (0.5, 0.75, 1.5, 2)} - set(known)
    if max(known) <= 1:
        return source
    more = known + rng.sample(sorted(further), min(len(further), rng.randint(1, 2)))
    text = f"CUCO_TUNE({name}, {value}, {', '.join(str(c) for c in sorted(more))});"
    return source[:match.start()] + text + source[match.end():]


def with_values(source, values):
    def change(match):
        name, value, choices = match.groups()
        taken = values.get(name, value)
        return f"CUCO_TUNE({name}, {taken if taken in [c.strip() for c in choices.split(',')] else value}, {choices});"

    return TUNE.sub(change, source)


def rewrite(source, name, why):
    print(f"cuco: {directive(source)}\nNAME: {name}\nDESCRIPTION: {why}\n\n```cpp\n{source}```")


def main():
    workload = pathlib.Path(sys.argv[1])
    request = json.load(sys.stdin)
    prompt = request["messages"][0]["text"]
    rng = random.Random(hashlib.sha256(json.dumps(request["messages"]).encode() + repr(request.get("temperature")).encode()).digest())
    if "Bring the notes up to date" in prompt:
        print("# Summaries\n# Findings\n- The stand-in learns nothing.\n# Recommendations\n1. Ask a model.")
        return
    at = prompt.index("# The program to start from")
    parent = FENCE.search(prompt, at).group(2)
    fault = rng.random()
    if fault < 0.1:
        rewrite(parent.replace("// cuco:", "// The same again.\n// cuco:", 1), "twin", "Says the same otherwise.")
    elif fault < 0.15:
        print("I would begin by measuring more.")
    elif fault < 0.2:
        rewrite(parent, "liar", "Announces what it does not do.") if rng.random() < 0.5 else print(
            "cuco: " + directive(parent).replace("chunk=", "chunk=9") + "\n\n```cpp\n" + parent + "```")
    elif "by SEARCH/REPLACE blocks" in prompt[at:]:
        rewrite(widened(moved(parent, rng, 1 + rng.randrange(2)), rng), "moved", "Moves one or two numbers.")
    elif "as a crossover" in prompt[at:]:
        values = {}
        for match in TUNE.finditer(prompt[prompt.index("cross it with"):]):
            values[match.group(1)] = match.group(2)
        crossed = with_values(parent, values)
        rewrite(widened(crossed, rng), "crossed", "Takes over numbers.")
    else:
        files = sorted((workload / "strategies").glob("*.cu"))
        rewrite(widened(moved(rng.choice(files).read_text(), rng, 2), rng), "rewritten", "Begins with another strategy.")


main()
