// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run_file.h"
#include "core/source/kernel_source.h"
#include "core/trace/overlap_report.h"

#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace cuco::ui::testing {

/// Keeps a test's settings and files out of the person's. One for the whole test program, first of all.
class PrivateFolder {
public:
    PrivateFolder()
    {
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder_.path());
        qputenv("XDG_DOCUMENTS_DIR", folder_.path().toUtf8());
        QCoreApplication::setOrganizationName(QStringLiteral("cuco-test"));
        QCoreApplication::setApplicationName(QStringLiteral("cuco-test"));
    }
    QString file(const QString& name) const { return folder_.filePath(name); }

private:
    QTemporaryDir folder_;
};

struct RunShape {
    int islands = 2, generations = 8, children = 2;
    bool modelled = true;
    bool in_flight = false;  ///< leaves the last two of them unsettled
};

inline void require(const Result<void>& done)
{
    if (!done) {
        qFatal("%s", describe(done.error()).c_str());
    }
}

inline Timeline exampleTimeline(int ranks, double time_us)
{
    Timeline timeline;
    timeline.title = "4096, " + std::to_string(ranks) + " ranks";
    const auto gemm = timeline.nameIndex("gemm_chunk"), put = timeline.nameIndex("put_rows"),
               wait = timeline.nameIndex("wait_peers");
    const auto ns = [time_us](double part) { return static_cast<std::int64_t>(part * time_us * 1000); };
    for (int rank = 0; rank < ranks; ++rank) {
        Lane compute{rank, "stream 0", {}}, copies{rank, "copy engine", {}};
        for (int chunk = 0; chunk < 4; ++chunk) {
            const double begin = 0.18 * chunk + 0.01 * rank;
            compute.intervals.push_back({ns(begin), ns(begin + 0.17), gemm, 0, 0, Activity::compute});
            copies.intervals.push_back({ns(begin + 0.18), ns(begin + 0.34), put, static_cast<std::uint32_t>(chunk + 1),
                                        1 << 20, Activity::communication});
        }
        compute.intervals.push_back({ns(0.75 + 0.01 * rank), ns(0.94), wait, 0, 0, Activity::wait});
        timeline.lanes.push_back(compute);
        timeline.lanes.push_back(copies);
    }
    return timeline;
}

inline Evaluation timedEvaluation(double time_us, double baseline_us, bool modelled)
{
    Evaluation evaluation;
    evaluation.stage = Stage::profile;
    evaluation.modelled = modelled;
    evaluation.compile_ms = 2100;
    evaluation.run_ms = 1400;
    ShapeTiming timing;
    timing.shape = "4096";
    timing.ranks = 4;
    timing.baseline = "host.cu";
    timing.time_us = time_us;
    timing.baseline_us = baseline_us;
    timing.samples_us = {time_us * 0.99, time_us, time_us * 1.01};
    timing.baseline_samples_us = {baseline_us};
    timing.speedup = baseline_us / time_us;
    const double width = modelled ? 0 : 0.008;
    timing.ci_low = timing.speedup * (1 - width);
    timing.ci_high = timing.speedup * (1 + width);
    timing.bound_us = 361;
    evaluation.timings = {timing};
    evaluation.overlap = overlapOf(exampleTimeline(4, time_us), timing.bound_us);
    return evaluation;
}

inline Evaluation failedEvaluation(Verdict verdict, Stage stage, const std::string& message, std::size_t line)
{
    Evaluation evaluation;
    evaluation.verdict = verdict;
    evaluation.stage = stage;
    evaluation.message = message;
    evaluation.detail = "candidate.cu:" + std::to_string(line) + ":9: error: 'peer_ptr' was not declared in this scope";
    evaluation.at = {line, message};
    evaluation.modelled = true;
    return evaluation;
}

inline std::string exampleSource(int chunk_rows, const std::string& sync)
{
    return "#include \"candidate.h\"\n\nint cuco_run(void* state);\n// EVOLVE-BLOCK-START\n// cuco: backend=lsa "
           "placement=stream_overlap sync=" +
           sync + " issuer=copy_engine chunk=1048576\nCUCO_TUNE(chunk_rows, " + std::to_string(chunk_rows) +
           ", 128, 256, 512, 1024)\nvoid push_rows() {}\n// EVOLVE-BLOCK-END\n";
}

/// The candidate with this number in a run that gets better by and by, every fifth of it failing.
inline Candidate exampleCandidate(int number, const RunShape& shape)
{
    Candidate candidate;
    candidate.number = number;
    candidate.id = "c" + std::to_string(number);
    candidate.island = number % shape.islands;
    const int per_generation = shape.islands * shape.children;
    candidate.generation = number < shape.islands ? 0 : 1 + (number - shape.islands) / per_generation;
    candidate.proposer = number < shape.islands ? "seed" : "tunable";
    candidate.strategy = number % 3 == 0 ? "copy_engine_chunks" : "stream_chunks";
    candidate.summary = number < shape.islands ? "the workload's seed" : "chunk_rows 256 → 512";
    candidate.directive = {"lsa", "stream_overlap", number % 2 ? "peer" : "tile", "copy_engine", 1 << 20};
    candidate.tunables = {{"chunk_rows", 128 << (number % 4)}, {"copy_streams", 1 + number % 3}};
    if (number >= shape.islands) {
        const int parent = std::max(candidate.island, number - (number % 7 == 0 ? 3 : 1) * per_generation);
        candidate.parents = {"c" + std::to_string(parent)};
        if (number % 9 == 5) {
            candidate.parents.push_back("c" + std::to_string(number % shape.islands == 0 ? 1 : 0));
        }
    }
    return candidate;
}

inline Evaluation exampleEvaluation(int number, const RunShape& shape)
{
    const double baseline_us = 705;
    if (number % 5 == 4) {
        return number % 2
                   ? failedEvaluation(Verdict::compile_error, Stage::compile, "The compiler does not know peer_ptr", 7)
                   : failedEvaluation(Verdict::wrong_result, Stage::verify, "Rank 2 differs first at element 17 of c",
                                      8);
    }
    const double wobble = 40 * std::sin(number * 1.7) * std::sin(number * 0.6);
    return timedEvaluation(460 + 260 * std::exp(-number / 9.0) + wobble, baseline_us, shape.modelled);
}

/// A finished run in a real file. c1 … are numbered from c0.
inline void writeRunFile(const QString& path, const RunShape& shape = {})
{
    RunConfig config;
    config.workload = "gemm_allgather";
    config.ranks = 4;
    config.islands = shape.islands;
    config.generations = shape.generations;
    config.children = shape.children;
    auto created = RunFile::create(path.toStdString(), config);
    if (!created) {
        qFatal("%s", describe(created.error()).c_str());
    }
    RunFile& file = **created;
    require(file.setState(RunState::running, {}));
    require(file.addLog({1'700'000'000'000, "info", "Measured the baseline host.cu: 705 µs"}));
    require(file.addBaseline({"host.cu", timedEvaluation(705, 705, shape.modelled)}, "int host();\n",
                             exampleTimeline(4, 705), shape.modelled));
    const int count = config.proposals();
    for (int number = 0; number < count; ++number) {
        Candidate candidate = exampleCandidate(number, shape);
        const std::string source = exampleSource(128 << (number % 4), candidate.directive.sync) + "// " + candidate.id;
        candidate.source_sha256 = sha256Hex(source);
        AgentStep step;
        step.candidate_id = candidate.id;
        step.agent = "tunable proposer";
        step.title = "Moved chunk_rows from 256 to 512";
        step.body = "The parent was chosen with weight **0.42**.";
        step.time_ms = 1'700'000'000'000 + 1000 * number;
        if (auto added = file.addCandidate(candidate, source, {step}); !added) {
            qFatal("%s", describe(added.error()).c_str());
        }
        if (shape.in_flight && number >= count - 2) {
            continue;
        }
        candidate.state = CandidateState::settled;
        candidate.evaluation = exampleEvaluation(number, shape);
        const bool timed = candidate.evaluation->verified();
        require(file.settleCandidate(candidate, timed ? std::optional(exampleTimeline(4, 500)) : std::nullopt));
        if (!timed) {
            require(file.addLog({step.time_ms, "warning", candidate.id + ": " + candidate.evaluation->message}));
        }
    }
    if (!shape.in_flight) {
        require(file.setState(RunState::finished, {}));
    }
    require(file.addLog({1'700'000'100'000, "info", "The run is finished"}));
}

}  // namespace cuco::ui::testing
