// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/program_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace cuco {

namespace {

// Longer lines are not looked at: a result is a short one.
constexpr std::size_t most_line_bytes = 1024, most_detail_bytes = 8192;

std::string tail(const std::string& text)
{
    return text.size() <= most_detail_bytes ? text : text.substr(text.size() - most_detail_bytes);
}

template <class Number>
std::optional<Number> number(const std::string& text)
{
    Number value{};
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::optional<ProgramFault> faultOfProcess(const CommandOutcome& outcome, const CommandLimits& limits)
{
    const std::string said = tail(outcome.err.empty() ? outcome.out : outcome.err);
    if (outcome.timed_out || outcome.exceeded == CommandLimit::wall)
        return ProgramFault{Verdict::timeout, "The program ran longer than the workload allows.", said};
    if (outcome.exceeded != CommandLimit::none)
        return ProgramFault{Verdict::crash, describeExceeded(outcome.exceeded, limits), said};
    if (outcome.signal != 0)
        return ProgramFault{
            Verdict::crash,
            fmt::format("The program was ended by signal {} ({}).", outcome.signal, ::strsignal(outcome.signal)), said};
    if (outcome.exit_code != 0)
        return ProgramFault{Verdict::crash, fmt::format("The program ended with exit code {}.", outcome.exit_code),
                            said};
    if (outcome.output_truncated)
        return ProgramFault{
            Verdict::timing_mismatch,
            fmt::format("The program printed more than {} bytes; what came beyond was not read.", limits.output_bytes),
            ""};
    return std::nullopt;
}

class OutputReader {
public:
    OutputReader(const ProgramSpec& spec, int ranks, double wall_us)
        : spec_(spec),
          wall_us_(wall_us),
          passed_(static_cast<std::size_t>(ranks), 0),
          times_us_(static_cast<std::size_t>(ranks))
    {
    }

    std::expected<ProgramTimes, ProgramFault> read(std::string_view text)
    {
        while (!text.empty() && !fault_) {
            const auto end = std::min(text.find('\n'), text.size());
            auto line = text.substr(0, end);
            text.remove_prefix(std::min(end + 1, text.size()));
            if (!line.empty() && line.back() == '\r')
                line.remove_suffix(1);
            if (line.size() <= most_line_bytes)
                lookAt(std::string(line));
        }
        if (!fault_)
            lookForMissing();
        if (fault_)
            return std::unexpected(std::move(*fault_));
        ProgramTimes times;
        for (const auto& time_us : times_us_)
            times.rank_us.push_back(*time_us);
        times.makespan_us = std::ranges::max(times.rank_us);
        return times;
    }

private:
    void reject(Verdict verdict, std::string message)
    {
        if (!fault_)
            fault_ = ProgramFault{verdict, std::move(message), ""};
    }

    std::optional<std::size_t> rankOf(const std::string& text, const std::string& line)
    {
        const auto rank = number<int>(text);
        if (rank && *rank >= 0 && static_cast<std::size_t>(*rank) < passed_.size())
            return static_cast<std::size_t>(*rank);
        reject(Verdict::timing_mismatch,
               fmt::format("\"{}\" speaks of a rank that is not among the {}.", line, passed_.size()));
        return std::nullopt;
    }

    void lookAt(const std::string& line)
    {
        std::smatch found;
        if (std::regex_search(line, found, spec_.pass.regex)) {
            if (const auto rank = rankOf(found[1].str(), line); rank && passed_[*rank]++ > 0)
                reject(Verdict::wrong_result, fmt::format("Rank {} said twice that it passed.", *rank));
        }
        if (std::regex_search(line, found, spec_.time.regex)) {
            if (const auto rank = rankOf(found[1].str(), line))
                takeTime(*rank, found[2].str());
        }
    }

    void takeTime(std::size_t rank, const std::string& text)
    {
        const auto printed = number<double>(text);
        if (!printed || !std::isfinite(*printed))
            return reject(Verdict::timing_mismatch,
                          fmt::format("Rank {} told the time \"{}\", which is not a number.", rank, text));
        if (*printed <= 0)
            return reject(Verdict::timing_mismatch,
                          fmt::format("Rank {} told the time {}, which is not above zero.", rank, text));
        const double time_us = *printed * spec_.unit_us;
        if (time_us > wall_us_)
            return reject(Verdict::timing_mismatch,
                          fmt::format("Rank {} says that it took {:.4g} µs, but the whole program ran for {:.4g} µs.",
                                      rank, time_us, wall_us_));
        if (times_us_[rank])
            return reject(Verdict::timing_mismatch, fmt::format("Rank {} told two times.", rank));
        times_us_[rank] = time_us;
    }

    void lookForMissing()
    {
        for (std::size_t rank = 0; rank < passed_.size(); ++rank)
            if (passed_[rank] == 0)
                return reject(Verdict::wrong_result, fmt::format("Rank {} did not say that it passed.", rank));
        for (std::size_t rank = 0; rank < times_us_.size(); ++rank)
            if (!times_us_[rank])
                return reject(Verdict::timing_mismatch, fmt::format("Rank {} told no time.", rank));
    }

    const ProgramSpec& spec_;
    const double wall_us_;
    std::vector<int> passed_;
    std::vector<std::optional<double>> times_us_;
    std::optional<ProgramFault> fault_;
};

}  // namespace

std::expected<ProgramTimes, ProgramFault> readProgramOutput(const ProgramSpec& spec, int ranks,
                                                            const CommandOutcome& outcome, const CommandLimits& limits)
{
    if (auto fault = faultOfProcess(outcome, limits))
        return std::unexpected(std::move(*fault));
    auto times = OutputReader(spec, ranks, static_cast<double>(outcome.wall.count())).read(outcome.out);
    if (!times)
        times.error().detail = tail(outcome.out);
    return times;
}

}  // namespace cuco
