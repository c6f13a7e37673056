// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/supervisor.h"

#include "gpu/observer.h"
#include "gpu/rank_process.h"
#include "gpu/shape_timing.h"
#include "gpu/team.h"
#include "gpu/verification.h"
#include "layout.h"
#include "rank_trace.h"
#include "report.h"

#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <memory>
#include <numeric>

namespace cuco_harness {
namespace {

// A step that takes longer never ends.
constexpr int64_t longest_step_ns = 20'000'000'000;
constexpr int most_sets = 17;
// Of small shapes there is a set for each iteration of a burst and one more; together they need not be more than this.
constexpr size_t many_bytes = size_t(2) << 30;
constexpr int untraced_stretches = 5, traced_stretches = 3;
constexpr int neighbour_looks = 10;
constexpr useconds_t neighbour_pause_us = 50'000;

volatile sig_atomic_t stop_requested = 0;

void requestStop(int)
{
    stop_requested = 1;
}

class Supervisor {
public:
    Supervisor(const Job& job, const std::vector<std::string>& sandbox, int report_descriptor)
        : job_(job), sandbox_(sandbox), report_descriptor_(report_descriptor)
    {
        candidate_.name = "candidate";
        candidate_.path = job.pathOf(job.candidate);
        candidate_.candidate = true;
    }

    int run()
    {
        const auto failed = work();
        teams_.clear();
        lookAround();
        if (failed)
            report(failed->toLine());
        return writeReport(report_descriptor_, ReportLine("done").text()) ? 0 : 1;
    }

private:
    struct Hello {
        std::string device, nccl, unique_id;
        int64_t sms = 0, l2_bytes = 0, free_bytes = 0;
    };

    void report(const ReportLine& line) const { writeReport(report_descriptor_, line.text()); }

    Outcome work()
    {
        // Before there are threads or anything else that a fork should not copy.
        CUCO_CHECK(observer_.start(job_));
        CUCO_CHECK(startTeams());
        observer_.postOpen();
        const Outcome started = greetTeams();
        CUCO_CHECK(observer_.finishOpen());
        observing_ = true;
        CUCO_CHECK(started);
        if (job_.rates)
            CUCO_CHECK(measureRates());
        for (size_t i = 0; i < job_.shapes.size(); ++i) {
            if (stop_requested)
                return environmentFailure("The run was cancelled.");
            if (auto failed = runShape(int(i))) {
                failed->shape = job_.shapes[i].name;
                return failed;
            }
            if (rejected_)
                return std::nullopt;
        }
        for (auto& team : teams_)
            team->post(rank_message::leave, "its end");
        return std::nullopt;
    }

    Outcome measureRates()
    {
        double link = 0, hbm = 0;
        CUCO_CHECK(observer_.measureRates(link, hbm));
        report(ReportLine("rates").add("link_bytes_per_s", link).add("hbm_bytes_per_s", hbm));
        return std::nullopt;
    }

    Outcome startTeams()
    {
        const int64_t patience = std::min<int64_t>(longest_step_ns, int64_t(job_.limit_s) * 1'000'000'000);
        std::vector<const Program*> programs{&candidate_};
        for (const auto& baseline : job_.baselines)
            programs.push_back(&baseline);
        for (const Program* program : programs) {
            teams_.push_back(std::make_unique<Team>(*program, job_.ranks, patience));
            CUCO_CHECK(teams_.back()->start(sandbox_));
        }
        return std::nullopt;
    }

    /// All programs at once: starting CUDA and NCCL is most of a short evaluation.
    Outcome greetTeams()
    {
        std::vector<Hello> hellos(teams_.size());
        for (auto& team : teams_)
            team->post(rank_message::hello, "the start of CUDA and NCCL");
        CUCO_CHECK(onTeams(allTeams(), [&](size_t i) { return readHello(*teams_[i], hellos[i]); }));
        for (size_t i = 0; i < teams_.size(); ++i) {
            if (teams_[i])
                teams_[i]->post(rank_message::join, "joining NCCL's communicator",
                                Packer().text(hellos[i].unique_id).bytes());
        }
        CUCO_CHECK(onTeams(allTeams(), [&](size_t i) { return teams_[i]->collect(); }));
        for (auto& team : teams_) {
            if (team)
                team->post(rank_message::load, "loading the candidate",
                           Packer().text(job_.pathOf(team->program().path)).bytes());
        }
        hello_ = hellos[0];
        report(ReportLine("start")
                   .add("ranks", job_.ranks)
                   .add("emulated", false)
                   .add("device", hello_.device)
                   .add("sms", hello_.sms)
                   .add("l2_bytes", hello_.l2_bytes)
                   .add("nccl", hello_.nccl)
                   .add("sandboxed", !sandbox_.empty()));
        return onTeams(allTeams(), [&](size_t i) { return teams_[i]->collect(); });
    }

    static Outcome readHello(Team& team, Hello& hello)
    {
        std::vector<std::string> replies;
        CUCO_CHECK(team.collect(replies));
        Unpacker fields(replies[0]);
        hello.device = fields.text();
        hello.sms = fields.number();
        hello.l2_bytes = fields.number();
        hello.nccl = fields.text();
        hello.unique_id = fields.text();
        hello.free_bytes = fields.number();
        return std::nullopt;
    }

    /// A failing candidate ends the job; a failing baseline leaves it.
    template <class Body>
    Outcome onTeams(const std::vector<size_t>& teams, Body body)
    {
        for (const size_t team : teams) {
            if (!teams_[team])
                continue;
            if (auto failed = body(team))
                CUCO_CHECK(dropped(team, std::move(*failed)));
        }
        return std::nullopt;
    }

    std::vector<size_t> allTeams() const
    {
        std::vector<size_t> all(teams_.size());
        std::iota(all.begin(), all.end(), size_t(0));
        return all;
    }

    Outcome dropped(size_t team, Failure failed)
    {
        if (teams_[team]->program().candidate)
            return failed;
        report(ReportLine("baseline_failed")
                   .add("program", teams_[team]->program().name)
                   .add("message", failed.message)
                   .add("detail", failed.detail));
        observer_.detach(int(team));
        teams_[team].reset();
        return std::nullopt;
    }

    bool takesPart(size_t team, const ShapeJob& shape) const
    {
        if (!teams_[team] || team == 0)
            return teams_[team] != nullptr;
        const auto& names = shape.against;
        return shape.rounds > 0 &&
               (names.empty() || std::find(names.begin(), names.end(), teams_[team]->program().name) != names.end());
    }

    /// Together the sets are larger than three times the L2, and there is one for each iteration of a burst and one
    /// more.
    Outcome chooseSets(const ShapeJob& shape, size_t programs, int& sets) const
    {
        size_t bytes = 1;
        for (int rank = 0; rank < job_.ranks; ++rank)
            bytes = std::max(bytes, bytesOfSet(shape, rank));
        const size_t room = size_t(std::max<int64_t>(hello_.free_bytes, 0)) / 2 / programs / bytes;
        if (room < 2)
            return environmentFailure("The GPUs have too little free memory for shape " + shape.name +
                                      ". End other programs on them, or choose a smaller shape.");
        const size_t beyond_l2 = 3 * size_t(hello_.l2_bytes) / bytes + 1;
        const size_t wanted =
            shape.rounds > 0 ? std::max(beyond_l2, many_bytes / bytes) : size_t(std::max(shape.consecutive, 2));
        sets = int(std::min(std::clamp<size_t>(wanted, 2, most_sets), room));
        return std::nullopt;
    }

    /// Memory that the observer shares, then the program's own set-up; of all these teams at once.
    Outcome setUp(const std::vector<size_t>& teams, int shape_index, int sets)
    {
        const ShapeJob& shape = job_.shapes[size_t(shape_index)];
        for (const size_t team : teams)
            teams_[team]->post(rank_message::allocate, "the buffers of shape " + shape.name,
                               Packer().number(int64_t(sets)).bytes() + packShape(shape));
        CUCO_CHECK(onTeams(teams, [&](size_t team) { return share(team, shape_index, sets); }));
        for (const size_t team : teams) {
            if (teams_[team])
                teams_[team]->post(rank_message::setup, "the set-up of shape " + shape.name);
        }
        return onTeams(teams, [&](size_t team) { return teams_[team]->collect(); });
    }

    /// What the ranks have allocated is mapped by the observer.
    Outcome share(size_t team, int shape_index, int sets)
    {
        Team& ranks = *teams_[team];
        std::vector<std::string> replies;
        CUCO_CHECK(ranks.collect(replies));
        for (int rank = 0; rank < job_.ranks; ++rank) {
            Observer::SharedRegions regions;
            Unpacker fields(replies[size_t(rank)]);
            for (int i = 0; i < 3; ++i) {
                regions.bytes.push_back(fields.number());
                regions.descriptors.push_back(ranks.takeDescriptor(rank));
            }
            const bool shared =
                std::find(regions.descriptors.begin(), regions.descriptors.end(), -1) == regions.descriptors.end();
            Outcome failed = shared ? observer_.attach(int(team), rank, shape_index, sets, regions)
                                    : environmentFailure("A rank did not share its memory.");
            // What is shared comes from a process that the program is in.
            if (failed)
                failed->kind = "crash";
            for (const int descriptor : regions.descriptors) {
                if (descriptor >= 0)
                    close(descriptor);
            }
            CUCO_CHECK(failed);
        }
        return std::nullopt;
    }

    Outcome tearDown(const std::vector<size_t>& teams, const ShapeJob& shape)
    {
        for (const size_t team : teams) {
            if (!teams_[team])
                continue;
            CUCO_CHECK(observer_.detach(int(team)));
            teams_[team]->post(rank_message::teardown, "the teardown of shape " + shape.name);
        }
        return onTeams(teams, [&](size_t team) { return teams_[team]->collect(); });
    }

    /// While programs take turns none can be missing: one that fails now ends the job.
    Outcome renew(const std::vector<size_t>& teams, int shape_index, int sets)
    {
        CUCO_CHECK(tearDown(teams, job_.shapes[size_t(shape_index)]));
        CUCO_CHECK(setUp(teams, shape_index, sets));
        for (const size_t team : teams) {
            if (!teams_[team])
                return environmentFailure("A baseline failed when it was set up once more.");
        }
        return std::nullopt;
    }

    Outcome runShape(int index)
    {
        const ShapeJob& shape = job_.shapes[size_t(index)];
        std::vector<size_t> taking_part;
        for (size_t i = 0; i < teams_.size(); ++i) {
            if (takesPart(i, shape))
                taking_part.push_back(i);
        }
        int sets = 0;
        CUCO_CHECK(chooseSets(shape, taking_part.size(), sets));
        CUCO_CHECK(setUp(taking_part, index, sets));
        Scene scene{job_,
                    shape,
                    sets,
                    observer_,
                    [this](const ReportLine& line) { report(line); },
                    [&](const std::vector<size_t>& teams) { return renew(teams, index, sets); }};
        if (!shape.trace || shape.rounds > 0)
            CUCO_CHECK(verify(scene, *teams_[0], rejected_));
        taking_part.erase(std::remove_if(taking_part.begin(), taking_part.end(), [&](size_t i) { return !teams_[i]; }),
                          taking_part.end());
        if (!rejected_ && shape.rounds > 0) {
            std::vector<Team*> teams;
            for (const auto& team : teams_)
                teams.push_back(team.get());
            CUCO_CHECK(timeShape(scene, teams, taking_part, rejected_));
        }
        if (!rejected_ && shape.trace)
            CUCO_CHECK(trace(scene));
        return rejected_ ? Outcome() : tearDown(taking_part, shape);
    }

    /// The last of a few traced iterations, and what tracing costs.
    Outcome trace(Scene& scene)
    {
        Team& team = *teams_[0];
        std::vector<double> untraced, traced;
        std::vector<std::string> lanes;
        uint64_t seed = scene.shape.seed;
        for (int i = 0; i < untraced_stretches + traced_stretches; ++i) {
            const bool tracing = i >= untraced_stretches;
            Stretch stretch;
            stretch.first_set = i % scene.sets;
            stretch.flush = false;
            StretchTimes times;
            CUCO_CHECK(observer_.prepare(0, stretch.first_set, {seed++}));
            if (tracing) {
                team.post(rank_message::begin_trace, "the start of the profiler");
                CUCO_CHECK(team.collect());
            }
            team.nowDoing("a traced iteration of shape " + scene.shape.name);
            CUCO_CHECK(team.run(stretch, times));
            (tracing ? traced : untraced).push_back(times.makespan_us);
            if (tracing) {
                team.post(rank_message::end_trace, "the end of the profiler");
                CUCO_CHECK(team.collect(lanes));
            }
        }
        std::vector<std::string> texts;
        for (const auto& reply : lanes)
            texts.push_back(Unpacker(reply).text());
        TracingCost cost;
        cost.untraced_us = medianOf(untraced);
        cost.traced_us = medianOf(traced);
        report(
            ReportLine("trace")
                .add("shape", scene.shape.name)
                .addJson("timeline",
                         mergeRankTraces(
                             texts, "shape " + scene.shape.name + ", " + std::to_string(job_.ranks) + " ranks", cost)));
        return std::nullopt;
    }

    /// Whether the GPUs still work, and who else uses them once our own processes are gone.
    void lookAround()
    {
        if (!observing_)
            return;
        std::vector<ObservedGpu> gpus;
        std::string json = "[";
        for (int i = 0; i < neighbour_looks; ++i) {
            if (auto failed = observer_.look(gpus)) {
                report(ReportLine("gpu_fault").add("rank", failed->rank).add("message", failed->message));
                return;
            }
            const bool alone = std::all_of(gpus.begin(), gpus.end(), [](const ObservedGpu& gpu) {
                return std::count(gpu.processes_json.begin(), gpu.processes_json.end(), '{') <= 1;
            });
            if (alone)
                break;
            usleep(neighbour_pause_us);
        }
        for (const auto& gpu : gpus)
            json += (json.size() > 1 ? "," : "") + gpu.processes_json;
        report(ReportLine("processes").addJson("gpus", json + "]").add("observer", int64_t(observer_.process())));
    }

    const Job& job_;
    const std::vector<std::string>& sandbox_;
    const int report_descriptor_;
    Program candidate_;
    Observer observer_;
    bool observing_ = false, rejected_ = false;
    Hello hello_;
    std::vector<std::unique_ptr<Team>> teams_;  ///< the candidate's first; a baseline that failed is null
};

}  // namespace

int superviseJob(const Job& job, const std::vector<std::string>& sandbox, int report_descriptor)
{
    struct sigaction action {};
    action.sa_handler = requestStop;
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGINT, &action, nullptr);
    return Supervisor(job, sandbox, report_descriptor).run();
}

}  // namespace cuco_harness
