// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/subprocess.h"
#include "core/evaluation/evaluation.h"
#include "core/evaluation/harness_job.h"
#include "core/evaluation/harness_report.h"

namespace cuco {

/// Sets verdict, message, detail and line for a run of the harness with the candidate. Left verified when the
/// run is complete and kept to the protocol; its outputs are not checked by that.
/// Errors: what the candidate is not to blame for.
Result<void> judgeRun(const HarnessJob& job, const CommandOutcome& outcome, const HarnessReport& report,
                      Evaluation& evaluation);

/// Rejects NCCL's host collectives in a candidate whose directive names another backend; no backend: none is named.
void judgeUse(const std::string& backend, const HarnessReport& report, Evaluation& evaluation);

/// The same for the verifier's report on the outputs that the job dumped. The candidate had no part in it, so
/// everything but a mismatch or a dump that was changed is an error.
Result<void> judgeCheck(const HarnessJob& job, const CommandOutcome& outcome, const HarnessReport& report,
                        Evaluation& evaluation);

/// For a job on GPUs, whose report the candidate had no part in: wrong outputs, failures of its ranks, and whether all
/// that was asked for was done. Errors: what the candidate is not to blame for.
Result<void> judgeGpuRun(const HarnessJob& job, const CommandOutcome& outcome, const HarnessReport& report,
                         Evaluation& evaluation);

}  // namespace cuco
