// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run_file.h"
#include "core/source/kernel_source.h"
#include "ui/engine/run_session.h"

#include <QTemporaryDir>
#include <QTest>

#include <memory>
#include <string>
#include <vector>

namespace cuco::ui {

inline std::string sourceWithChunk(int chunk, const std::string& sync)
{
    std::string text = "// SPDX-License-Identifier: Apache-2.0\n#include \"candidate.h\"\n\n";
    for (int i = 0; i < 30; ++i)
        text += "static int frozen_" + std::to_string(i) + "() { return " + std::to_string(i) + "; }\n";
    text += "// EVOLVE-BLOCK-START\n// cuco: backend=lsa placement=fused sync=" + sync +
            " issuer=thread chunk=0\nCUCO_TUNE(chunk_rows, " + std::to_string(chunk) +
            ", 128, 256, 512)\n__global__ void put(float* to) { to[threadIdx.x] = 1; }\n// EVOLVE-BLOCK-END\n";
    for (int i = 30; i < 60; ++i)
        text += "static int frozen_" + std::to_string(i) + "() { return " + std::to_string(i) + "; }\n";
    return text;
}

/// Two ranks; a kernel of 600 ns, a put of 400 ns half under it, and ten short waits.
inline Timeline smallTimeline(std::int64_t stretch = 1)
{
    Timeline timeline;
    timeline.source = TimeSource::modelled;
    timeline.title = "small, 2 ranks";
    const std::uint32_t gemm = timeline.nameIndex("gemm_tile"), put = timeline.nameIndex("lsa_put"),
                        wait = timeline.nameIndex("wait_flag");
    for (int rank = 0; rank < 2; ++rank) {
        Lane compute{rank, "stream 0", {}}, communication{rank, "stream 1", {}};
        compute.intervals.push_back({100 * stretch, 700 * stretch, gemm, 0, 0, Activity::compute});
        communication.intervals.push_back({500 * stretch, 900 * stretch, put, 7, 4000, Activity::communication});
        for (std::int64_t i = 0; i < 10; ++i) {
            const std::int64_t begin = (900 + 10 * i) * stretch;
            communication.intervals.push_back({begin, begin + 5 * stretch, wait, 0, 0, Activity::wait});
        }
        timeline.lanes.push_back(compute);
        timeline.lanes.push_back(communication);
    }
    return timeline;
}

/// A run in a file: host.cu as baseline; c1 a verified seed; c2 its faster child; c3 a child of c2 that is
/// wrong at line 36; c4 still compiling. c1 and c2 have timelines.
class ViewFixture {
public:
    explicit ViewFixture(const std::string& proposer = "tunable")
    {
        RunConfig config;
        config.workload = "gemm_allgather";
        config.proposer = proposer;
        auto created = RunFile::create((folder_.path() + QStringLiteral("/run.cuco")).toStdString(), config);
        if (!created)
            qFatal("%s", describe(created.error()).c_str());
        file = std::move(*created);
        Evaluation host = verified(1);
        check(file->addBaseline({"host.cu", host}, "int host() { return 0; }\n", smallTimeline(2), true));
        addCandidate(1, {}, sourceWithChunk(256, "world"), verified(1.2), smallTimeline());
        Timeline second = smallTimeline(2);
        second.lanes[0].name = "stream 0 with a name that is long";
        addCandidate(2, {"c1"}, sourceWithChunk(512, "peer"), verified(1.5), second);
        Evaluation wrong = verified(0);
        wrong.verdict = Verdict::wrong_result;
        wrong.stage = Stage::verify;
        wrong.message = "Rank 1 differs at element 17.";
        wrong.at = {36, "this store goes to the wrong row"};
        addCandidate(3, {"c2"}, sourceWithChunk(128, "peer"), wrong, std::nullopt);
        addCandidate(4, {"c2"}, sourceWithChunk(256, "tile"), std::nullopt, std::nullopt);
        openSession();
    }

    void addCandidate(int number, std::vector<std::string> parents, const std::string& source,
                      const std::optional<Evaluation>& evaluation, const std::optional<Timeline>& timeline)
    {
        Candidate candidate;
        candidate.number = number - 1;  // from 0, without gaps
        candidate.id = "c" + std::to_string(number);
        candidate.parents = std::move(parents);
        candidate.proposer = "tunable";
        candidate.source_sha256 = sha256Hex(source);
        AgentStep step;
        step.candidate_id = candidate.id;
        step.agent = "tunable proposer";
        step.title = "Chose a parent for " + candidate.id;
        step.body = "Weights:\n\n| id | weight |\n|---|---|\n| c1 | 0.7 |\n\n`chunk_rows` **512**, and c1 again.";
        step.time_ms = 1'700'000'000'000 + number;
        AgentStep second = step;
        second.agent = "judge";
        second.title = "Looked at " + candidate.id;
        second.body = "```cpp\nint code;\n```\n![remote](http://example.org/x.png) <b>no html</b>";
        if (auto added = file->addCandidate(candidate, source, {step, second}); !added)
            qFatal("%s", describe(added.error()).c_str());
        if (!evaluation)
            return;
        candidate.state = CandidateState::settled;
        candidate.evaluation = evaluation;
        check(file->settleCandidate(candidate, timeline));
    }

    static Evaluation verified(double speedup)
    {
        Evaluation evaluation;
        evaluation.stage = Stage::profile;
        evaluation.modelled = true;
        ShapeTiming timing;
        timing.shape = "small";
        timing.ranks = 2;
        timing.time_us = 1;
        timing.baseline_us = speedup;
        timing.speedup = timing.ci_low = timing.ci_high = speedup;
        timing.bound_us = 0.5;
        evaluation.timings = {timing};
        OverlapReport overlap;
        overlap.bound_us = 0.6;
        evaluation.overlap = overlap;
        return evaluation;
    }

    void openSession()
    {
        auto opened = RunModel::open(folder_.path() + QStringLiteral("/run.cuco"));
        if (!opened)
            qFatal("%s", describe(opened.error()).c_str());
        run = std::move(*opened);
        session.setRun(run.get());
    }

    std::unique_ptr<RunFile> file;  ///< the writer
    std::unique_ptr<RunModel> run;
    RunSession session;

private:
    static void check(const Result<void>& done)
    {
        if (!done)
            qFatal("%s", describe(done.error()).c_str());
    }

    QTemporaryDir folder_;
};

}  // namespace cuco::ui
