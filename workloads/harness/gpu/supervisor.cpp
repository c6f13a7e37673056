// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/supervisor.h"

#include "gpu/hosts.h"
#include "gpu/neighbours.h"
#include "gpu/observer.h"
#include "gpu/rank_process.h"
#include "gpu/shape_memory.h"
#include "gpu/shape_timing.h"
#include "gpu/spent.h"
#include "gpu/team.h"
#include "gpu/tracing.h"
#include "gpu/verification.h"
#include "gpu/visible_gpus.h"
#include "report.h"

#include <algorithm>
#include <csignal>
#include <memory>
#include <numeric>
#include <utility>

namespace cuco_harness {
namespace {

constexpr int traced_sets = 2;
// A step that takes longer never ends.
constexpr int64_t longest_step_ns = 20'000'000'000;
constexpr int agents_patience_ms = 60'000;

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
        {
            const Spent::Phase phase(spent_, "end");
            teams_.clear();
            tracer_.reset();
            if (observing_)
                report(lookForNeighbours(observer_));
        }
        if (!failed && !rejected_)
            report(spent_.takeLine(""));
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
        CUCO_CHECK(job_.hosts.empty() ? startHere() : startOnHosts());
        observer_.postOpen();
        const Outcome started = greetTeams();
        {
            const Spent::Phase phase(spent_, "start_observer");
            CUCO_CHECK(observer_.finishOpen());
        }
        observing_ = true;
        CUCO_CHECK(started);
        if (job_.rates)
            CUCO_CHECK(measureRates());
        report(spent_.takeLine(""));
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
        for (const auto& team : teams_) {
            if (team)
                team->post(rank_message::leave, "its end");
        }
        onTracer([this](Team& tracer) { return traceShapes(tracer); });
        return std::nullopt;
    }

    Outcome measureRates()
    {
        const Spent::Phase phase(spent_, "rates");
        double link = 0, hbm = 0;
        CUCO_CHECK(observer_.measureRates(link, hbm));
        if (!job_.hosts.empty())
            link = link_between_hosts_;
        report(ReportLine("rates").add("link_bytes_per_s", link).add("hbm_bytes_per_s", hbm));
        return std::nullopt;
    }

    /// Between hosts, by NCCL and the candidate's ranks, in which no candidate is yet. The fastest rank's: one that
    /// sends to another on its host may do it faster than the network, and a bound must not be beaten.
    Outcome measureLinkBetweenHosts()
    {
        const Spent::Phase phase(spent_, "rates");
        std::vector<std::string> replies;
        teams_[0]->post(rank_message::link_rate, "measuring the links");
        CUCO_CHECK(teams_[0]->collect(replies));
        for (const auto& reply : replies)
            link_between_hosts_ = std::max(link_between_hosts_, Unpacker(reply).real());
        return std::nullopt;
    }

    Outcome startHere()
    {
        seeOnlyGpus(job_.ranks);
        CUCO_CHECK(observer_.start(job_, onOneHost(job_.ranks)));
        makeTeams();
        for (Team* team : allRunning())
            CUCO_CHECK(team->start(sandbox_));
        return std::nullopt;
    }

    Outcome startOnHosts()
    {
        const Spent::Phase phase(spent_, "start_hosts");
        makeTeams();
        std::vector<const Program*> programs;
        for (const Team* team : allRunning())
            programs.push_back(&team->program());
        CUCO_CHECK(hosts_.start(job_, programs, sandbox_, agents_patience_ms));
        observer_.adopt(hosts_.takeObservers());
        int number = 0;
        for (Team* team : allRunning())
            team->adopt(hosts_.takeLinks(number++));
        hosts_.open();
        return std::nullopt;
    }

    void makeTeams()
    {
        const int64_t patience = std::min<int64_t>(longest_step_ns, int64_t(job_.limit_s) * 1'000'000'000);
        teams_.push_back(std::make_unique<Team>(candidate_, job_.ranks, patience));
        for (const auto& baseline : job_.baselines)
            teams_.push_back(std::make_unique<Team>(baseline, job_.ranks, patience));
        if (!job_.traced.path.empty())
            tracer_ = std::make_unique<Team>(job_.traced, job_.ranks, patience);
    }

    std::vector<Team*> allRunning() const
    {
        std::vector<Team*> running;
        for (const auto& team : teams_) {
            if (team)
                running.push_back(team.get());
        }
        if (tracer_)
            running.push_back(tracer_.get());
        return running;
    }

    /// What goes wrong while a program is traced says nothing about the candidate.
    template <class Body>
    void onTracer(Body body)
    {
        auto failed = tracer_ ? body(*tracer_) : Outcome();
        if (!failed)
            return;
        report(ReportLine("trace_failed").add("message", failed->message).add("detail", failed->detail));
        observer_.detach(int(teams_.size()));
        tracer_.reset();
    }

    /// All programs at once: starting CUDA and NCCL is most of a short evaluation.
    Outcome greetTeams()
    {
        std::vector<Hello> hellos(teams_.size());
        {
            const Spent::Phase phase(spent_, "start_cuda");
            for (const auto& team : teams_)
                postHello(*team);
            CUCO_CHECK(onTeams(allTeams(), [&](size_t i) { return readHello(*teams_[i], hellos[i]); }));
        }
        {
            const Spent::Phase phase(spent_, "start_nccl");
            for (size_t i = 0; i < teams_.size(); ++i) {
                if (teams_[i])
                    postJoin(*teams_[i], hellos[i]);
            }
            CUCO_CHECK(onTeams(allTeams(), [&](size_t i) { return teams_[i]->collect(); }));
        }
        const Hello& hello = hellos[0];
        gpus_ = {hello.l2_bytes, hello.free_bytes};
        ReportLine start("start");
        start.add("ranks", job_.ranks).add("emulated", false).add("device", hello.device).add("sms", hello.sms);
        start.add("l2_bytes", hello.l2_bytes).add("nccl", hello.nccl).add("sandboxed", !sandbox_.empty());
        if (!hosts_.names().empty())
            start.add("hosts", hosts_.names());
        report(start);
        if (job_.rates && !job_.hosts.empty())
            CUCO_CHECK(measureLinkBetweenHosts());
        const Spent::Phase phase(spent_, "load");
        for (const auto& team : teams_) {
            if (team)
                postLoad(*team);
        }
        return onTeams(allTeams(), [&](size_t i) { return teams_[i]->collect(); });
    }

    static void postHello(Team& team) { team.post(rank_message::hello, "the start of CUDA and NCCL"); }

    static void postJoin(Team& team, const Hello& hello)
    {
        team.post(rank_message::join, "joining NCCL's communicator", Packer().text(hello.unique_id).bytes());
    }

    void postLoad(Team& team) const
    {
        team.post(rank_message::load, "loading the candidate", Packer().text(job_.pathOf(team.program().path)).bytes());
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

    /// Memory that the observer shares, then the program's own set-up; of all these teams at once.
    Outcome setUp(const std::vector<size_t>& teams, int shape_index, int sets)
    {
        const ShapeJob& shape = job_.shapes[size_t(shape_index)];
        {
            const Spent::Phase phase(spent_, "set_up_memory");
            for (const size_t team : teams)
                postAllocate(*teams_[team], shape, sets);
            CUCO_CHECK(onTeams(teams, [&](size_t team) {
                return shareMemory(job_, *teams_[team], int(team), shape_index, sets, observer_);
            }));
        }
        const Spent::Phase phase(spent_, "set_up");
        for (const size_t team : teams) {
            if (teams_[team])
                teams_[team]->post(rank_message::setup, "the set-up of shape " + shape.name);
        }
        return onTeams(teams, [&](size_t team) { return teams_[team]->collect(); });
    }

    Outcome tearDown(const std::vector<size_t>& teams, const ShapeJob& shape)
    {
        const Spent::Phase phase(spent_, "tear_down");
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

    Scene sceneOf(int index, int sets)
    {
        return {job_,
                job_.shapes[size_t(index)],
                sets,
                gpus_,
                observer_,
                spent_,
                [this](const ReportLine& line) { report(line); },
                [this, index](const std::vector<size_t>& teams, int wanted) { return renew(teams, index, wanted); }};
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
        CUCO_CHECK(chooseSets(job_, shape, taking_part.size(), gpus_, sets));
        CUCO_CHECK(setUp(taking_part, index, sets));
        Scene scene = sceneOf(index, sets);
        CUCO_CHECK(verify(scene, *teams_[0], rejected_));
        taking_part.erase(std::remove_if(taking_part.begin(), taking_part.end(), [&](size_t i) { return !teams_[i]; }),
                          taking_part.end());
        if (!rejected_ && shape.rounds > 0) {
            std::vector<Team*> teams;
            for (const auto& team : teams_)
                teams.push_back(team.get());
            CUCO_CHECK(timeShape(scene, teams, taking_part, rejected_));
        }
        if (rejected_)
            return std::nullopt;
        CUCO_CHECK(tearDown(taking_part, shape));
        report(spent_.takeLine(shape.name));
        return std::nullopt;
    }

    /// When all else is done and the others are leaving. Only now does the traced program's CUDA start: until here its
    /// processes have done nothing. A profiler that is there makes other processes' teardowns several times as long.
    Outcome traceShapes(Team& tracer)
    {
        const auto wanted = [](const ShapeJob& shape) { return shape.trace; };
        if (std::none_of(job_.shapes.begin(), job_.shapes.end(), wanted))
            return std::nullopt;
        CUCO_CHECK(startTracer(tracer));
        const int number = int(teams_.size());
        for (size_t i = 0; i < job_.shapes.size(); ++i) {
            const ShapeJob& shape = job_.shapes[i];
            if (!shape.trace)
                continue;
            postAllocate(tracer, shape, traced_sets);
            CUCO_CHECK(shareMemory(job_, tracer, number, int(i), traced_sets, observer_));
            tracer.post(rank_message::setup, "the set-up of shape " + shape.name);
            CUCO_CHECK(tracer.collect());
            Scene scene = sceneOf(int(i), traced_sets);
            CUCO_CHECK(traceShape(scene, tracer, number));
            CUCO_CHECK(observer_.detach(number));
            tracer.post(rank_message::teardown, "the teardown of shape " + shape.name);
            CUCO_CHECK(tracer.collect());
        }
        tracer.post(rank_message::leave, "its end");
        return std::nullopt;
    }

    Outcome startTracer(Team& tracer)
    {
        const Spent::Phase phase(spent_, "start_tracer");
        Hello hello;
        postHello(tracer);
        CUCO_CHECK(readHello(tracer, hello));
        postJoin(tracer, hello);
        CUCO_CHECK(tracer.collect());
        postLoad(tracer);
        return tracer.collect();
    }

    const Job& job_;
    const std::vector<std::string>& sandbox_;
    const int report_descriptor_;
    Program candidate_;
    Hosts hosts_;  ///< of a job with several; it outlives what leads to them
    Observer observer_;
    bool observing_ = false, rejected_ = false;
    GpuMemory gpus_;
    double link_between_hosts_ = 0;  ///< bytes a second
    Spent spent_;
    std::vector<std::unique_ptr<Team>> teams_;  ///< the candidate's first; a baseline that failed is null
    std::unique_ptr<Team> tracer_;              ///< of the program that is traced, when there is one
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
