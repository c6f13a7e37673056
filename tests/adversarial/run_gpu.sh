#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Runs every candidate of this folder that GPUs can run, one after the other, and says which verdict is not as expected.
#   tests/adversarial/run_gpu.sh CUCOCTL [NAME...]
# CUCOCTL: the program, or the folder of an unpacked bundle that has it in bin/. NAME: parts of file names to run only
# those. CUCO_ADVERSARIAL_SHAPE (2048), CUCO_ADVERSARIAL_LIMIT_S (180) and CUCO_ADVERSARIAL_NODE (local) change what is run.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cucoctl=${1:?usage: run_gpu.sh CUCOCTL [NAME...]}
shift
[ -d "$cucoctl" ] && cucoctl=$cucoctl/bin/cucoctl
[ -x "$cucoctl" ] || { echo "run_gpu.sh: $cucoctl is no program." >&2; exit 2; }
shape=${CUCO_ADVERSARIAL_SHAPE:-2048} limit=${CUCO_ADVERSARIAL_LIMIT_S:-180} node=${CUCO_ADVERSARIAL_NODE:-local}

field() { sed -n "s#^// $2: ##p" "$1" | head -n 1; }
# A value of the JSON document on standard input, without a JSON reader: cucoctl prints keys in order, strings on a line.
value() { tr ',{}' '\n\n\n' | sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\"]*\)\"\{0,1\}.*/\1/p" | head -n 1; }
chosen() {
    [ $# -eq 1 ] && return 0
    local file=$1 part
    shift
    for part in "$@"; do [[ $file == *"$part"* ]] && return 0; done
    return 1
}

right=0 wrong=0
printf '%-46s %-40s %-22s %s\n' file expected got ok
for file in "$here"/honest/*.cu "$here"/{timing,replay,wrong_result,bypass,host}/*.cu; do
    chosen "$file" "$@" || continue
    [ "$(field "$file" node)" = emulated ] && continue
    expected=$(field "$file" expect)
    expected=${expected:-verified}
    document=$(timeout -k 10 "$limit" "$cucoctl" eval gemm_allgather "$file" --node "$node" --shape "$shape" \
        --stage benchmark --json 2>/tmp/adversarial.$$)
    status=$?
    got=$(value verdict <<<"$document")
    [ -n "$got" ] || got="error $status"
    if [[ "|$expected|" == *"|$got|"* ]]; then
        ok=ok
        right=$((right + 1))
    else
        ok=NO
        wrong=$((wrong + 1))
    fi
    printf '%-46s %-40s %-22s %s\n' "${file#"$here"/}" "$expected" "$got" "$ok"
    if [ $ok = NO ]; then
        printf '    %s\n' "$(value message <<<"$document")" "$(tail -n 3 /tmp/adversarial.$$)"
    fi
done
rm -f /tmp/adversarial.$$
echo "$right passed, $wrong failed"
[ $wrong -eq 0 ]
