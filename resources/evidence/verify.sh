#!/bin/sh
# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: Apache-2.0
#
# Verifies and measures the candidate of this folder again, with fresh inputs, and compares with what is recorded.
#
#   ./verify.sh [WORKLOAD]      a workload's name or folder; by default the recorded one
#
# CUCOCTL names the program, CUCO_NODE the node, CUCO_ANY_NODE=1 compares with another kind of node all the same.
# The last line says what came of it. Exit status: 0 it agrees, 1 it differs, 3 it could not be compared.
set -u

candidate={{candidate}}
recorded_workload={{workload}}
recorded_folder={{workload_folder}}
recorded_node={{node}}
recorded_kind={{kind}}
recorded_verdict={{verdict}}
recorded_speedup={{speedup}}
recorded_low={{ci_low}}
recorded_high={{ci_high}}
modelled={{modelled}}
# Between nodes of one kind a modelled time differs by its inputs only; a measured one, beyond its interval, by the node.
tolerance={{tolerance}}

cucoctl=${CUCOCTL:-cucoctl}
node=${CUCO_NODE:-$recorded_node}
workload=${1:-}
if [ -z "$workload" ]; then
    workload=$recorded_workload
    if [ -n "$recorded_folder" ] && [ -f "$recorded_folder/workload.json" ]; then workload=$recorded_folder; fi
fi

finish() {
    status=$1
    shift
    printf '%s\n' "$*"
    exit "$status"
}
not_compared() { finish 3 "NOT COMPARED: $*"; }

# A field of the document itself, a line of its own in what cucoctl prints.
field() { sed -n 's/^  "'"$1"'": "\{0,1\}\(.*[^",]\)"\{0,1\},\{0,1\}$/\1/p' "$2" | head -n 1; }
gpus() { sed -n '/^  "gpus"/,/^  \]/s/^      "name": "\(.*\)",\{0,1\}$/\1/p' "$1" | sort -u | tr '\n' ';'; }
nccl() { sed -n '/^  "nccl"/,/^  \]/s/^      "library_version": "\(.*\)",\{0,1\}$/\1/p' "$1" | sort -u | tr '\n' ';'; }

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || not_compared "The folder of this script cannot be entered."
command -v "$cucoctl" >/dev/null 2>&1 ||
    not_compared "The program $cucoctl was not found. Install CUCo Desktop, or name it: CUCOCTL=/path/to/cucoctl $0"
work=$(mktemp -d) || not_compared "There is no place for temporary files."
trap 'rm -rf "$work"' EXIT
trap 'exit 3' HUP INT TERM

"$cucoctl" node probe --node "$node" --json >"$work/node.json" ||
    [ "$recorded_kind" = program ] || not_compared "The node \"$node\" cannot be used; \"$cucoctl node probe\" says why."
if [ -f "$here/environment.json" ]; then
    for name in kind modelled; do
        then=$(field "$name" "$here/environment.json")
        now=$(field "$name" "$work/node.json")
        if [ "$then" != "$now" ] && [ "$recorded_kind" != program ] && [ "${CUCO_ANY_NODE:-0}" != 1 ]; then
            not_compared "The node is another kind of node: $name is $now, recorded is $then."
        fi
    done
    then=$(gpus "$here/environment.json")
    now=$(gpus "$work/node.json")
    if [ "$then" != "$now" ] && [ "${CUCO_ANY_NODE:-0}" != 1 ]; then
        not_compared "The node has other GPUs: ${now:-none}, recorded are ${then:-none}. CUCO_ANY_NODE=1 compares all the same."
    fi
    then=$(field compiler "$here/environment.json")
    now=$(field compiler "$work/node.json")
    [ "$then" = "$now" ] || printf 'Another compiler: %s, recorded is %s\n' "$now" "$then"
    then=$(nccl "$here/environment.json")
    now=$(nccl "$work/node.json")
    [ "$then" = "$now" ] || printf 'Another NCCL: %s, recorded is %s\n' "$now" "$then"
else
    echo "The run file has no record of its node, so that only its name is compared."
fi

printf 'Evaluating %s of workload %s on node %s\n' "$candidate" "$workload" "$node"
"$cucoctl" eval "$workload" "$here/candidate.cu" --node "$node" {{options}} --json >"$work/result.json"
code=$?
[ "$code" -le 1 ] || not_compared "cucoctl eval ended with $code; what it said stands above."

verdict=$(field verdict "$work/result.json")
[ -n "$verdict" ] || not_compared "cucoctl eval printed no verdict."
[ -n "$recorded_verdict" ] || not_compared "No verdict is recorded; now it is $verdict."
if [ "$verdict" != "$recorded_verdict" ]; then
    finish 1 "DIFFERS: the verdict is $verdict ($(field message "$work/result.json")), recorded is $recorded_verdict"
fi
[ "$verdict" = verified ] || finish 0 "AGREES: the verdict is $verdict again"
speedup=$(field speedup "$work/result.json")
low=$(field ci_low "$work/result.json")
high=$(field ci_high "$work/result.json")
[ -n "$recorded_speedup" ] || finish 0 "AGREES: verified again; no time is recorded"
[ "$speedup" != null ] || finish 1 "DIFFERS: verified, but not timed"

awk -v speedup="$speedup" -v low="$low" -v high="$high" -v then="$recorded_speedup" -v then_low="$recorded_low" \
    -v then_high="$recorded_high" -v tolerance="$tolerance" -v modelled="$modelled" 'BEGIN {
    agrees = low <= then_high * (1 + tolerance) && then_low <= high * (1 + tolerance)
    printf "%s: %s, %s speed-up %.3f (%.3f to %.3f) now, %.3f (%.3f to %.3f) recorded\n", \
        agrees ? "AGREES" : "DIFFERS", agrees ? "the intervals meet" : "the intervals do not meet", \
        modelled == 1 ? "modelled" : "measured", speedup, low, high, then, then_low, then_high
    exit agrees ? 0 : 1
}'
