// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/design/tunable.h"
#include "core/evaluation/candidate_evaluator.h"
#include "core/source/kernel_source.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace cuco::testing {

/// A strategy's text. `merit` is its speed-up at the best tunables, which are ctas = 16 and rows = 256.
inline std::string strategyText(const std::string& name, double merit, int ctas = 8, int rows = 1024)
{
    return fmt::format(
        "// EVOLVE-BLOCK-START\n"
        "// cuco: backend=lsa placement=sequential sync=world issuer=cta chunk=0\n"
        "// strategy {} merit={}\n"
        "CUCO_TUNE(ctas, {}, 4, 8, 16, 32);\n"
        "CUCO_TUNE(rows, {}, 128, 256, 512, 1024);\n"
        "// EVOLVE-BLOCK-END\n",
        name, merit, ctas, rows);
}

/// A workload whose files lie in `folder`: the seed "plain" and `strategies` better ones named s1, s2, …
inline Workload fakeWorkload(const std::filesystem::path& folder, int strategies = 3)
{
    Workload workload;
    workload.name = "fake";
    workload.folder = folder;
    workload.ranks = {2};
    workload.host_source = folder / "host.cu";
    workload.seed_source = folder / "plain.cu";
    writeText(workload.host_source, "// the host's way\n");
    writeText(workload.seed_source, strategyText("plain", 1.0));
    for (int i = 1; i <= strategies; ++i) {
        const std::string name = fmt::format("s{}", i);
        const auto file = folder / "strategies" / (name + ".cu");
        writeText(file, strategyText(name, 1.0 + 0.1 * i));
        workload.strategies.push_back({name, file});
    }
    workload.validation_shapes =
        workload.emulated_validation_shapes = {{"held_back", {}, {}}, {"held_back_too", {}, {}}};
    return workload;
}

/// Judges a text by what stands in it: always the same verdict and time for the same text, after a delay that is
/// different each time. Counts what it was asked.
class FakeEvaluator : public CandidateEvaluator {
public:
    struct Options {
        std::chrono::microseconds longest_delay{0};
        bool modelled = true;
        /// Texts for which this is true compile but give a wrong result.
        std::function<bool(const std::string& source)> is_wrong = [](const std::string&) { return false; };
        std::function<bool(const std::string& source)> breaks_node = [](const std::string&) { return false; };
        std::function<bool(const std::string& source)> compiles = [](const std::string& source) {
            return source.find("does not compile") == std::string::npos;
        };
        /// Times the speed-up that the text has.
        std::function<double(const std::string& source, const std::string& shape)> factor =
            [](const std::string&, const std::string&) { return 1.0; };
        /// Called by `measure`, which waits for it.
        std::function<void(const EvaluationRequest&, std::stop_token)> on_measure = [](const EvaluationRequest&,
                                                                                       std::stop_token) {};
    };

    FakeEvaluator(Workload workload, Options options) : workload_(std::move(workload)), options_(std::move(options))
    {
        probe_.node = "fake";
        probe_.modelled = options_.modelled;
        probe_.usable = true;
        probe_.capabilities = {"lsa"};
    }

    const Workload& workload() const override { return workload_; }
    const NodeProbe& probe() const override { return probe_; }
    Result<void> prepare(std::stop_token) override
    {
        ++prepared;
        EvaluationResult host;
        host.evaluation.timings = {timed("small", 1.0)};
        host.evaluation.stage = Stage::profile;
        host.evaluation.modelled = options_.modelled;
        baselines_ = {{"host.cu", "// the host's way\n", host}};
        return {};
    }
    const std::vector<BaselineResult>& baselines() const override { return baselines_; }

    Result<Compiled> compile(const EvaluationRequest& request, std::stop_token stop) override
    {
        ++compiled;
        delay(stop);
        Compiled result;
        result.evaluation.stage = Stage::compile;
        result.evaluation.modelled = options_.modelled;
        if (!options_.compiles(request.source)) {
            result.evaluation.verdict = Verdict::compile_error;
            result.evaluation.message = "It does not compile.";
            result.evaluation.detail = std::string(10'000, 'x');
        }
        return result;
    }

    Result<EvaluationResult> measure(const EvaluationRequest& request, Compiled built, std::stop_token stop) override
    {
        if (!built.evaluation.verified())
            return EvaluationResult{std::move(built.evaluation), std::nullopt};
        const int now = ++measuring_;
        int most = most_measuring;
        while (now > most && !most_measuring.compare_exchange_weak(most, now)) {
        }
        ++measured;
        options_.on_measure(request, stop);
        delay(stop);
        --measuring_;
        if (options_.breaks_node(request.source))
            return failure("The node is gone", "fake", "Start it again.");
        EvaluationResult result;
        if (options_.is_wrong(request.source)) {
            result.evaluation.verdict = Verdict::wrong_result;
            result.evaluation.stage = Stage::verify;
            result.evaluation.message = "c[17] of rank 1 is 0, not 1.5.";
            return result;
        }
        result.evaluation.stage = request.until;
        result.evaluation.modelled = options_.modelled;
        result.evaluation.input_seed = 17;
        const auto shapes = request.shapes.empty() ? std::vector<Shape>{{"small", {}, {}}} : request.shapes;
        for (const Shape& shape : shapes)
            result.evaluation.timings.push_back(
                timed(shape.name, speedupOf(request.source) * options_.factor(request.source, shape.name)));
        Timeline timeline;
        timeline.title = "fake";
        timeline.lanes.push_back({0, "stream 0", {{0, 1000, timeline.nameIndex("kernel"), 0, 0, Activity::compute}}});
        result.timeline = std::move(timeline);
        return result;
    }

    static double speedupOf(const std::string& source)
    {
        const auto at = source.find("merit=");
        double speedup = at == std::string::npos ? 1.0 : std::stod(source.substr(at + 6));
        const auto parsed = KernelSource::parse(source);
        const auto tunables = parsed ? findTunables(*parsed) : std::expected<std::vector<Tunable>, SourceFault>{};
        for (const Tunable& tunable : tunables.value_or(std::vector<Tunable>{})) {
            const double best = tunable.name == "ctas" ? 16 : 256;
            speedup *= 1 - 0.05 * std::abs(std::log2(static_cast<double>(tunable.value) / best));
        }
        return speedup;
    }

    std::atomic<int> prepared{0}, compiled{0}, measured{0}, most_measuring{0};

private:
    /// On real hardware with an interval of ± 1 % and half as much noise.
    ShapeTiming timed(const std::string& shape, double speedup) const
    {
        ShapeTiming timing;
        timing.shape = shape;
        timing.ranks = 2;
        timing.baseline = "host.cu";
        timing.baseline_us = 1000;
        timing.baseline_samples_us = {1000};
        timing.time_us = 1000 / speedup;
        timing.samples_us = {timing.time_us};
        timing.speedup = timing.ci_low = timing.ci_high = speedup;
        timing.bound_us = 500;
        if (!options_.modelled) {
            timing.baseline_samples_us = {990, 1010, 1000, 1000};
            timing.samples_us = {timing.time_us * 0.99, timing.time_us * 1.01, timing.time_us, timing.time_us};
            timing.ci_low = 0.99 * speedup;
            timing.ci_high = 1.01 * speedup;
            timing.noise_floor = 0.005;
        }
        return timing;
    }

    void delay(const std::stop_token& stop) const
    {
        if (options_.longest_delay.count() == 0)
            return;
        thread_local std::mt19937 random{std::random_device{}()};
        const auto until =
            std::chrono::steady_clock::now() + std::chrono::microseconds(std::uniform_int_distribution<std::int64_t>(
                                                   0, options_.longest_delay.count())(random));
        while (!stop.stop_requested() && std::chrono::steady_clock::now() < until)
            std::this_thread::sleep_for(std::chrono::microseconds(100));
    }

    Workload workload_;
    Options options_;
    NodeProbe probe_;
    std::vector<BaselineResult> baselines_;
    std::atomic<int> measuring_{0};
};

}  // namespace cuco::testing
