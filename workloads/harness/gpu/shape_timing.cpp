// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/shape_timing.h"

#include "gpu/rounds.h"
#include "gpu/shape_memory.h"
#include "gpu/verification.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace cuco_harness {
namespace {

// A timed stretch should last about this long, so that launching and waking up do not count; short kernels are run
// several times in a row for it.
constexpr double stretch_us = 1000;
// Untimed iterations before the burst's length is chosen: libraries load their kernels on first use.
constexpr int settling_stretches = 3;
// Two programs are told apart well enough, and their rounds may end, when half the 95 % interval of the logarithm of
// the ratio of their times is no more than this, or than this share of the logarithm itself.
constexpr double enough_half_width = 0.01, enough_of_effect = 0.2;
// A set-up that takes long is not made anew in each round.
constexpr int64_t slow_renewal_ns = 500'000'000;
constexpr int rounds_after_slow_renewal = 2;
// 1.96 standard deviations of what no round shows: processes differ by it in each stretch for as long as they live. The
// product adds it to the interval (core/evaluation/statistics.h).
constexpr double between_processes_us = 3.92;
// Ends only come where both programs have gone first equally often.
constexpr int rounds_between_looks = 2;

struct Samples {
    std::vector<double> host_us, event_us;
    double start_uncertainty_us = 0;  ///< the largest
};

/// What the GPUs were like, over the looks at them.
class ConditionLog {
public:
    Outcome look(Observer& observer)
    {
        std::vector<ObservedGpu> gpus;
        CUCO_CHECK(observer.look(gpus));
        seen_.resize(gpus.size());
        for (size_t i = 0; i < gpus.size(); ++i) {
            Seen& seen = seen_[i];
            seen.bus_id = gpus[i].pci_bus_id;
            seen.sm_mhz.push_back(gpus[i].sm_mhz);
            seen.memory_mhz.push_back(gpus[i].memory_mhz);
            seen.temperature_c.push_back(gpus[i].temperature_c);
            seen.power_w.push_back(gpus[i].power_w);
            seen.throttling.insert(gpus[i].throttling.begin(), gpus[i].throttling.end());
        }
        return std::nullopt;
    }

    ReportLine line(const std::string& shape) const
    {
        std::string json = "[";
        for (const auto& seen : seen_) {
            std::string reasons = "[";
            for (const auto& reason : seen.throttling)
                reasons += (reasons.size() > 1 ? ",\"" : "\"") + reason + "\"";
            const std::string gpu = ReportLine("gpu")
                                        .add("pci", seen.bus_id)
                                        .add("sm_mhz", seen.sm_mhz)
                                        .add("memory_mhz", seen.memory_mhz)
                                        .add("temperature_c", seen.temperature_c)
                                        .add("power_w", seen.power_w)
                                        .addJson("throttling", reasons + "]")
                                        .text();
            json += (json.size() > 1 ? "," : "") + gpu;
        }
        return ReportLine("conditions").add("shape", shape).addJson("gpus", json + "]");
    }

private:
    struct Seen {
        std::string bus_id;
        std::vector<double> sm_mhz, memory_mhz, temperature_c, power_w;
        std::set<std::string> throttling;
    };
    std::vector<Seen> seen_;
};

class Timing {
public:
    Timing(Scene& scene, const std::vector<Team*>& teams, const std::vector<size_t>& taking_part, bool& rejected)
        : scene_(scene),
          teams_(teams),
          order_(taking_part),
          rejected_(rejected),
          samples_(teams.size()),
          next_set_(teams.size(), 0),
          next_seed_(scene.shape.seed + (uint64_t(1) << 32))
    {
    }

    Outcome run()
    {
        CUCO_CHECK(fillSets());
        CUCO_CHECK(chooseBurst());
        CUCO_CHECK(look());
        for (int round = 0; round < scene_.shape.rounds; ++round) {
            if (round > 0)
                CUCO_CHECK(placeAnew());
            // A program's first turn after a set-up is up to 8 % slower at 50 µs, more so that of the second program.
            CUCO_CHECK(takeTurns(false));
            CUCO_CHECK(takeTurns(true));
            std::reverse(order_.begin(), order_.end());
            CUCO_CHECK(takeTurns(true));
            if (rejected_)
                return std::nullopt;
            CUCO_CHECK(scene_.observer.checkGuards(0));
            if (round + 1 == scene_.shape.least_rounds / 2)
                CUCO_CHECK(look());
            if (enough(round + 1))
                break;
        }
        CUCO_CHECK(look());
        report();
        return std::nullopt;
    }

private:
    /// How fast a program is depends on where its memory lies, until it is set up anew.
    Outcome placeAnew()
    {
        if (rounds_to_stay_ > 0) {
            --rounds_to_stay_;
            return std::nullopt;
        }
        const int64_t begin_ns = monotonicNs();
        scene_.sets = std::min(scene_.sets, setsForBurst(scene_.job, scene_.shape, scene_.gpus, burst_));
        std::fill(next_set_.begin(), next_set_.end(), 0);
        CUCO_CHECK(scene_.renew(order_, scene_.sets));
        if (monotonicNs() - begin_ns > slow_renewal_ns)
            rounds_to_stay_ = rounds_after_slow_renewal;
        return fillSets();
    }

    /// A turn begins with an iteration in a set that it does not time: that one needs inputs too.
    Outcome fillSets()
    {
        const Spent::Phase phase(scene_.spent, "time_fill_sets");
        for (const size_t team : order_) {
            std::vector<uint64_t> seeds(size_t(scene_.sets));
            std::iota(seeds.begin(), seeds.end(), next_seed_);
            next_seed_ += seeds.size();
            CUCO_CHECK(scene_.observer.prepare(int(team), 0, seeds));
        }
        return std::nullopt;
    }

    Outcome chooseBurst()
    {
        double fastest_us = stretch_us;
        for (const size_t team : order_) {
            std::vector<double> times_us;
            for (int i = 0; i < settling_stretches; ++i) {
                StretchTimes times;
                CUCO_CHECK(turn(team, 1, times));
                times_us.push_back(times.makespan_us);
            }
            fastest_us = std::min(fastest_us, std::max(medianOf(times_us), 1.0));
        }
        burst_ = std::clamp(int(std::ceil(stretch_us / fastest_us)), 1, scene_.sets - 1);
        return std::nullopt;
    }

    Outcome look()
    {
        const Spent::Phase phase(scene_.spent, "time_look");
        return conditions_.look(scene_.observer);
    }

    Outcome takeTurns(bool recorded)
    {
        for (const size_t team : order_) {
            if (rejected_)
                return std::nullopt;
            StretchTimes times;
            CUCO_CHECK(turn(team, burst_, times));
            if (!recorded)
                continue;
            samples_[team].host_us.push_back(times.makespan_us / burst_);
            samples_[team].event_us.push_back(times.event_us / burst_);
            samples_[team].start_uncertainty_us =
                std::max(samples_[team].start_uncertainty_us, times.start_uncertainty_us);
        }
        return std::nullopt;
    }

    /// With more than two programs nobody is waiting for one of them.
    bool enough(int rounds) const
    {
        if (order_.size() != 2 || rounds < scene_.shape.least_rounds || rounds % rounds_between_looks != 0)
            return false;
        const RoundsRatio ratio = ratioOfRounds(samples_[order_[0]].host_us, samples_[order_[1]].host_us, 2);
        const double effect = std::abs(std::log(ratio.value));
        const double stretch =
            burst_ * std::min(medianOf(samples_[order_[0]].host_us), medianOf(samples_[order_[1]].host_us));
        const double half_width = std::hypot(std::log(ratio.high / ratio.low) / 2, between_processes_us / stretch);
        return half_width <= std::max(enough_half_width, enough_of_effect * effect);
    }

    /// A baseline that fails here was right or running before: then the node is to blame.
    Outcome turn(size_t team, int length, StretchTimes& times)
    {
        const Program& program = teams_[team]->program();
        auto failed = tryTurn(team, length, times);
        if (failed && !program.candidate)
            failed = environmentFailure("Baseline " + program.name + " failed while it was timed: " + failed->message);
        return failed;
    }

    Outcome tryTurn(size_t team, int length, StretchTimes& times)
    {
        Stretch stretch;
        stretch.first_set = next_set_[team];
        stretch.length = length;
        // A set that this stretch does not use.
        stretch.warm_set = (stretch.first_set + length) % scene_.sets;
        next_set_[team] = (next_set_[team] + length) % scene_.sets;
        std::vector<uint64_t> seeds;
        for (int i = 0; i < length; ++i)
            seeds.push_back(next_seed_++);
        {
            const Spent::Phase phase(scene_.spent, "time_prepare");
            CUCO_CHECK(scene_.observer.prepare(int(team), stretch.first_set, seeds));
        }
        teams_[team]->nowDoing("the timing of shape " + scene_.shape.name);
        const bool checked = teams_[team]->program().checked;
        {
            const Spent::Phase phase(scene_.spent, "time_run");
            CUCO_CHECK(teams_[team]->run(stretch, times, [&] {
                return checked ? scene_.observer.glance(int(team), stretch.first_set, length) : Outcome();
            }));
        }
        if (!checked)
            return std::nullopt;
        const Spent::Phase phase(scene_.spent, "time_check");
        std::vector<Observation> observations;
        CUCO_CHECK(scene_.observer.check(int(team), stretch.first_set, seeds, false, observations));
        return judge(scene_, teams_[team]->program(), scene_.shape.iterations, true, observations, rejected_);
    }

    void report() const
    {
        for (const size_t team : order_) {
            ReportLine line("time");
            line.add("shape", scene_.shape.name).add("program", teams_[team]->program().name);
            line.add("samples_us", samples_[team].host_us)
                .add("event_us", samples_[team].event_us)
                .add("burst", burst_);
            if (samples_[team].start_uncertainty_us > 0)
                line.add("start_uncertainty_us", samples_[team].start_uncertainty_us);
            scene_.report(line);
        }
        scene_.report(conditions_.line(scene_.shape.name));
    }

    Scene& scene_;
    const std::vector<Team*>& teams_;
    std::vector<size_t> order_;
    bool& rejected_;
    std::vector<Samples> samples_;
    std::vector<int> next_set_;
    uint64_t next_seed_;
    int burst_ = 1;
    int rounds_to_stay_ = 0;  ///< where the memory lies now
    ConditionLog conditions_;
};

}  // namespace

Outcome timeShape(Scene& scene, const std::vector<Team*>& teams, const std::vector<size_t>& taking_part, bool& rejected)
{
    return Timing(scene, teams, taking_part, rejected).run();
}

double medianOf(std::vector<double> values)
{
    if (values.empty())
        return 0;
    std::sort(values.begin(), values.end());
    const size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace cuco_harness
