// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/critical_path.h"

#include <algorithm>
#include <array>

namespace cuco {

namespace {

constexpr std::size_t most_steps = 1'000'000;

struct Work {
    Activity activity;
    const SpanSet* spans;
};

std::array<Work, 4> workOf(const RankSpans& rank)
{
    return {Work{Activity::compute, &rank.compute}, Work{Activity::communication, &rank.communication},
            Work{Activity::copy, &rank.copy}, Work{Activity::wait, &rank.wait}};
}

/// The last span that begins before `moment`, or null.
const Span* lastBefore(const SpanSet& spans, std::int64_t moment)
{
    const auto after = std::ranges::lower_bound(spans, moment, {}, [](const Span& span) { return span.first; });
    return after == spans.begin() ? nullptr : &*std::prev(after);
}

/// The latest moment, at most `moment`, up to which a span reaches; INT64_MIN when there is none.
std::int64_t reachBefore(const SpanSet& spans, std::int64_t moment)
{
    const Span* span = lastBefore(spans, moment);
    return span ? std::min(span->second, moment) : INT64_MIN;
}

class PathFinder {
public:
    explicit PathFinder(const std::map<int, RankSpans>& ranks) : ranks_(ranks)
    {
        for (const auto& [rank, spans] : ranks) {
            for (const Work& work : workOf(spans)) {
                if (work.spans->empty()) {
                    continue;
                }
                begin_ = std::min(begin_, work.spans->front().first);
                if (work.spans->back().second > moment_) {
                    moment_ = work.spans->back().second;
                    rank_ = rank;
                }
            }
        }
    }

    std::vector<PathStep> find()
    {
        while (moment_ > begin_ && steps_.size() < most_steps) {
            step();
        }
        std::ranges::reverse(steps_);
        return std::move(steps_);
    }

private:
    /// Goes back to `to` on the rank; the chain continues with `next`.
    void go(std::optional<Activity> activity, std::int64_t to, int next)
    {
        if (!steps_.empty() && steps_.back().rank == rank_ && steps_.back().activity == activity &&
            steps_.back().begin_ns == moment_) {
            steps_.back().begin_ns = to;
        } else if (to < moment_) {
            steps_.push_back({rank_, activity, to, moment_});
        }
        moment_ = to;
        rank_ = next;
    }

    void step()
    {
        const RankSpans& rank = ranks_.at(rank_);
        std::int64_t reach = INT64_MIN;
        for (const Work& work : workOf(rank)) {
            const Span* span = lastBefore(*work.spans, moment_);
            if (span && span->second >= moment_) {
                return goThrough(work.activity, std::max(span->first, begin_));
            }
            reach = std::max(reach, reachBefore(*work.spans, moment_));
        }
        go(std::nullopt, std::max(reach, begin_), rank_);
    }

    void goThrough(Activity activity, std::int64_t begin)
    {
        int next = rank_;
        // What counts more ends what was only this until then.
        for (const Work& work : workOf(ranks_.at(rank_))) {
            if (work.activity == activity) {
                break;
            }
            begin = std::max(begin, reachBefore(*work.spans, moment_));
        }
        if (activity == Activity::communication || activity == Activity::wait) {
            for (const auto& [other, spans] : ranks_) {
                const std::int64_t moment = activity == Activity::wait ? lastWork(spans) : lastArrival(spans);
                if (other != rank_ && moment > begin && moment < moment_) {
                    begin = moment;
                    next = other;
                }
            }
        }
        go(activity, begin, next);
    }

    /// When the rank last ended work of its own before now.
    std::int64_t lastWork(const RankSpans& spans) const
    {
        return std::max({reachBefore(spans.compute, moment_), reachBefore(spans.communication, moment_),
                         reachBefore(spans.copy, moment_)});
    }

    /// When the rank entered the communication that it is in now.
    std::int64_t lastArrival(const RankSpans& spans) const
    {
        const Span* span = lastBefore(spans.communication, moment_);
        return span ? span->first : INT64_MIN;
    }

    const std::map<int, RankSpans>& ranks_;
    std::vector<PathStep> steps_;
    std::int64_t begin_ = INT64_MAX, moment_ = INT64_MIN;
    int rank_ = 0;
};

}  // namespace

std::vector<PathStep> criticalPath(const std::map<int, RankSpans>& ranks)
{
    return PathFinder(ranks).find();
}

}  // namespace cuco
