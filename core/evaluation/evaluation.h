// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/race_report.h"
#include "core/source/kernel_source.h"
#include "core/trace/overlap_report.h"
#include "core/trace/timeline.h"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

enum class Stage { screen, compile, verify, benchmark, profile };
std::string_view toString(Stage stage);
std::optional<Stage> stageFromString(std::string_view text);

enum class Verdict {
    verified,
    marker_error,  ///< evolve markers broken
    frozen_code_changed,
    invalid_directive,  ///< missing, malformed, or against the design space's rules
    invalid_tunable,
    duplicate,  ///< normalised text equals an earlier candidate's
    not_emulable,
    compile_error,
    setup_failed,  ///< cuco_setup, cuco_run or a CUDA or NCCL call in it returned an error
    wrong_result,
    out_of_bounds,
    race,
    deadlock,
    timeout,
    crash,
    timing_mismatch,
    faster_than_possible,
    tampering,
};
std::string_view toString(Verdict verdict);
std::optional<Verdict> verdictFromString(std::string_view text);

/// One host-driven baseline at one shape.
struct BaselineTiming {
    std::string name;
    double time_us = 0;   ///< median; 0 when there is none
    std::string problem;  ///< why there is no time
};

/// What a GPU was like while a shape was timed: a value for each look at it, negative where the driver tells none.
struct GpuConditions {
    std::string pci;  ///< bus id
    std::vector<double> sm_mhz, memory_mhz, temperature_c, power_w;
    std::vector<std::string> throttling;  ///< the driver's reasons: "sw_power_cap", "hw_thermal", …
};

/// Times of one shape. Every figure is a makespan: the slowest rank.
struct ShapeTiming {
    std::string shape;
    int ranks = 0;
    std::vector<double> samples_us;
    std::vector<double> baseline_samples_us;  ///< of the strongest host baseline, same run
    std::string baseline;                     ///< its name
    double time_us = 0, baseline_us = 0;      ///< medians
    /// Ratio of makespans with its 95 % interval over rounds; equal when modelled.
    double speedup = 0, ci_low = 0, ci_high = 0;
    double bound_us = 0;                     ///< 0: none is known
    std::string bound_source;                ///< "modelled", "measured on this node"
    std::vector<BaselineTiming> baselines;   ///< all there are, the strongest among them
    std::optional<double> compute_alone_us;  ///< the same work without its communication
    /// The host baseline against itself on this node: how far from 1 the 95 % interval of the ratio goes. Nothing where
    /// times are modelled.
    std::optional<double> noise_floor;
    std::vector<double> event_us;           ///< the samples by CUDA events: what the candidate's process claims
    int burst = 1;                          ///< iterations that a sample is the mean of
    std::vector<GpuConditions> conditions;  ///< of each rank's GPU

    /// Communication that is not hidden: time − compute alone.
    std::optional<double> exposedUs() const;
    /// bound / time, the share of what is possible at best.
    std::optional<double> ceilingShare() const;
    /// The speed-up cannot be told from none: its interval holds 1, or it is no larger than the noise floor.
    bool withinNoise() const;
};

/// The first wrong element of a rank's output.
struct Mismatch {
    int rank = 0;
    std::string buffer, shape;
    int iteration = 0;
    std::int64_t element = 0;
    double expected = 0, got = 0;
    std::int64_t wrong_elements = 0, elements = 0;
    double relative_l2 = 0;
    std::vector<double> wrong_in_bin;  ///< wrong elements in equal parts of the buffer, in order; may be empty
};

/// The outcome of the cascade for one candidate. Failure is data.
struct Evaluation {
    Verdict verdict = Verdict::verified;
    Stage stage = Stage::screen;  ///< the last stage it entered
    std::string message;          ///< one sentence; empty when verified
    std::string detail;           ///< the compiler's own lines, who waits for what
    SourceFault at;               ///< at.line == 0 when no line applies
    std::vector<Mismatch> mismatches;
    std::optional<RaceReport> race;  ///< with the verdict `race`
    std::vector<ShapeTiming> timings;
    std::optional<OverlapReport> overlap;
    bool modelled = false;
    bool self_reported = false;         ///< the candidate itself printed its times and that it was right
    std::vector<std::string> remarks;   ///< sentences that do not touch the verdict: what was left out, and why
    bool sandboxed = false;             ///< it was built and run where it reaches nothing but its job
    std::uint64_t input_seed = 0;       ///< makes the same inputs again
    double compile_ms = 0, run_ms = 0;  ///< wall time spent on it
    /// What the harness spent on GPUs, by phase (workloads/harness/README.md): a part of run_ms.
    std::map<std::string, double> spent_ms;

    bool verified() const { return verdict == Verdict::verified; }
    /// Geometric mean over the shapes; nothing before benchmark.
    std::optional<double> speedup() const, ciLow() const, ciHigh() const;
    std::optional<double> timeUs() const, boundUs() const;
    /// Of the shapes' mean: an improvement inside the noise floor is none.
    bool withinNoise() const;
};

nlohmann::json toJson(const Evaluation& evaluation);
Result<Evaluation> evaluationFromJson(const nlohmann::json& json);

}  // namespace cuco
