// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"
#include "core/evaluation/evaluation.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace cuco {

namespace {

/// JSON has no word for these, and a wrong output is often one of them.
nlohmann::json numberToJson(double value)
{
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value > 0 ? "inf" : "-inf";
    return value;
}

nlohmann::json toJson(const Mismatch& mismatch)
{
    return {{"rank", mismatch.rank},
            {"buffer", mismatch.buffer},
            {"shape", mismatch.shape},
            {"iteration", mismatch.iteration},
            {"element", mismatch.element},
            {"expected", numberToJson(mismatch.expected)},
            {"got", numberToJson(mismatch.got)},
            {"wrong_elements", mismatch.wrong_elements},
            {"elements", mismatch.elements},
            {"relative_l2", numberToJson(mismatch.relative_l2)},
            {"wrong_in_bin", mismatch.wrong_in_bin}};
}

nlohmann::json orNull(const std::optional<double>& value)
{
    return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json toJson(const BaselineTiming& baseline)
{
    return {{"name", baseline.name}, {"time_us", baseline.time_us}, {"problem", baseline.problem}};
}

nlohmann::json toJson(const GpuConditions& gpu)
{
    return {{"pci", gpu.pci},
            {"sm_mhz", gpu.sm_mhz},
            {"memory_mhz", gpu.memory_mhz},
            {"temperature_c", gpu.temperature_c},
            {"power_w", gpu.power_w},
            {"throttling", gpu.throttling}};
}

template <class T>
nlohmann::json listToJson(const std::vector<T>& items)
{
    auto list = nlohmann::json::array();
    for (const auto& item : items)
        list.push_back(toJson(item));
    return list;
}

nlohmann::json toJson(const ShapeTiming& timing)
{
    return {{"shape", timing.shape},
            {"ranks", timing.ranks},
            {"samples_us", timing.samples_us},
            {"baseline_samples_us", timing.baseline_samples_us},
            {"baseline", timing.baseline},
            {"time_us", timing.time_us},
            {"baseline_us", timing.baseline_us},
            {"speedup", timing.speedup},
            {"ci_low", timing.ci_low},
            {"ci_high", timing.ci_high},
            {"bound_us", timing.bound_us},
            {"bound_source", timing.bound_source},
            {"baselines", listToJson(timing.baselines)},
            {"compute_alone_us", orNull(timing.compute_alone_us)},
            {"exposed_us", orNull(timing.exposedUs())},
            {"noise_floor", orNull(timing.noise_floor)},
            {"within_noise", timing.withinNoise()},
            {"event_us", timing.event_us},
            {"burst", timing.burst},
            {"conditions", listToJson(timing.conditions)}};
}

template <class T>
Result<T> finished(const JsonReader& reader, T value)
{
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    return value;
}

Result<Mismatch> mismatchFromJson(const nlohmann::json& json)
{
    Mismatch mismatch;
    JsonReader reader(json, "evaluation", "mismatch");
    reader.required("rank", mismatch.rank)
        .required("buffer", mismatch.buffer)
        .required("shape", mismatch.shape)
        .optional("iteration", mismatch.iteration)
        .required("element", mismatch.element)
        .required("expected", mismatch.expected)
        .required("got", mismatch.got)
        .required("wrong_elements", mismatch.wrong_elements)
        .required("elements", mismatch.elements)
        .required("relative_l2", mismatch.relative_l2)
        .optional("wrong_in_bin", mismatch.wrong_in_bin);
    return finished(reader, std::move(mismatch));
}

template <class T>
Result<std::vector<T>> listFromJson(const nlohmann::json& list, Result<T> (*itemFromJson)(const nlohmann::json&))
{
    std::vector<T> items;
    for (const auto& json : list) {
        auto item = itemFromJson(json);
        if (!item)
            return std::unexpected(item.error());
        items.push_back(std::move(*item));
    }
    return items;
}

Result<BaselineTiming> baselineFromJson(const nlohmann::json& json)
{
    BaselineTiming baseline;
    JsonReader reader(json, "evaluation", "timing.baselines");
    reader.required("name", baseline.name).required("time_us", baseline.time_us).required("problem", baseline.problem);
    return finished(reader, std::move(baseline));
}

Result<GpuConditions> conditionsFromJson(const nlohmann::json& json)
{
    GpuConditions gpu;
    JsonReader reader(json, "evaluation", "timing.conditions");
    reader.required("pci", gpu.pci)
        .required("sm_mhz", gpu.sm_mhz)
        .required("memory_mhz", gpu.memory_mhz)
        .required("temperature_c", gpu.temperature_c)
        .required("power_w", gpu.power_w)
        .required("throttling", gpu.throttling);
    return finished(reader, std::move(gpu));
}

Result<ShapeTiming> timingFromJson(const nlohmann::json& json)
{
    ShapeTiming timing;
    JsonReader reader(json, "evaluation", "timing");
    reader.required("shape", timing.shape)
        .required("ranks", timing.ranks)
        .required("samples_us", timing.samples_us)
        .required("baseline_samples_us", timing.baseline_samples_us)
        .required("baseline", timing.baseline)
        .required("time_us", timing.time_us)
        .required("baseline_us", timing.baseline_us)
        .required("speedup", timing.speedup)
        .required("ci_low", timing.ci_low)
        .required("ci_high", timing.ci_high)
        .required("bound_us", timing.bound_us)
        .optional("bound_source", timing.bound_source)
        .optional("compute_alone_us", timing.compute_alone_us)
        .optional("noise_floor", timing.noise_floor)
        .optional("event_us", timing.event_us)
        .optional("burst", timing.burst);
    const auto* baselines = reader.present("baselines") ? reader.array("baselines") : nullptr;
    const auto* conditions = reader.present("conditions") ? reader.array("conditions") : nullptr;
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    if (baselines != nullptr) {
        auto list = listFromJson(*baselines, baselineFromJson);
        if (!list)
            return std::unexpected(list.error());
        timing.baselines = std::move(*list);
    }
    if (conditions != nullptr) {
        auto list = listFromJson(*conditions, conditionsFromJson);
        if (!list)
            return std::unexpected(list.error());
        timing.conditions = std::move(*list);
    }
    return timing;
}

Result<RankOverlap> rankOverlapFromJson(const nlohmann::json& json)
{
    RankOverlap rank;
    JsonReader reader(json, "evaluation", "overlap.ranks");
    reader.required("rank", rank.rank)
        .required("busy_us", rank.busy_us)
        .required("compute_us", rank.compute_us)
        .required("communication_us", rank.communication_us)
        .required("overlapped_us", rank.overlapped_us)
        .required("exposed_us", rank.exposed_us)
        .required("wait_us", rank.wait_us)
        .optional("hidden_share", rank.hidden_share);
    return finished(reader, std::move(rank));
}

Result<OverlapReport> overlapFromJson(const nlohmann::json& json)
{
    OverlapReport report;
    JsonReader reader(json, "evaluation", "overlap");
    reader.required("makespan_us", report.makespan_us)
        .required("exposed_us", report.exposed_us)
        .optional("hidden_share", report.hidden_share)
        .optional("bound_us", report.bound_us);
    const auto* list = reader.array("ranks");
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    auto ranks = listFromJson(*list, rankOverlapFromJson);
    if (!ranks)
        return std::unexpected(ranks.error());
    report.ranks = std::move(*ranks);
    return report;
}

}  // namespace

nlohmann::json toJson(const Evaluation& evaluation)
{
    auto mismatches = nlohmann::json::array();
    for (const auto& mismatch : evaluation.mismatches)
        mismatches.push_back(toJson(mismatch));
    auto timings = nlohmann::json::array();
    for (const auto& timing : evaluation.timings)
        timings.push_back(toJson(timing));
    return {{"verdict", toString(evaluation.verdict)},
            {"stage", toString(evaluation.stage)},
            {"message", evaluation.message},
            {"detail", evaluation.detail},
            {"at", {{"line", evaluation.at.line}, {"message", evaluation.at.message}}},
            {"mismatches", mismatches},
            {"race", evaluation.race ? toJson(*evaluation.race) : nlohmann::json(nullptr)},
            {"timings", timings},
            {"overlap", evaluation.overlap ? toJson(*evaluation.overlap) : nlohmann::json(nullptr)},
            {"modelled", evaluation.modelled},
            {"self_reported", evaluation.self_reported},
            {"remarks", evaluation.remarks},
            {"sandboxed", evaluation.sandboxed},
            {"input_seed", evaluation.input_seed},
            {"compile_ms", evaluation.compile_ms},
            {"run_ms", evaluation.run_ms},
            {"spent_ms", evaluation.spent_ms}};
}

Result<Evaluation> evaluationFromJson(const nlohmann::json& json)
{
    Evaluation evaluation;
    std::string verdict, stage;
    JsonReader reader(json, "evaluation");
    reader.required("verdict", verdict)
        .required("stage", stage)
        .required("message", evaluation.message)
        .required("detail", evaluation.detail)
        .required("modelled", evaluation.modelled)
        .optional("self_reported", evaluation.self_reported)
        .optional("sandboxed", evaluation.sandboxed)
        .required("compile_ms", evaluation.compile_ms)
        .required("run_ms", evaluation.run_ms)
        .optional("remarks", evaluation.remarks)
        .optional("input_seed", evaluation.input_seed)
        .optional("spent_ms", evaluation.spent_ms);
    const auto* at = reader.object("at");
    const auto* mismatches = reader.array("mismatches");
    const auto* timings = reader.array("timings");
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());

    JsonReader at_reader(*at, "evaluation", "at");
    at_reader.required("line", evaluation.at.line).required("message", evaluation.at.message);
    if (auto done = at_reader.finish(); !done)
        return std::unexpected(done.error());

    const auto known_verdict = verdictFromString(verdict);
    const auto known_stage = stageFromString(stage);
    if (!known_verdict || !known_stage)
        return failure("The evaluation has the unknown verdict or stage \"" + (known_verdict ? stage : verdict) + "\".",
                       "evaluation", "Open it with a newer version.");
    evaluation.verdict = *known_verdict;
    evaluation.stage = *known_stage;

    auto mismatch_list = listFromJson(*mismatches, mismatchFromJson);
    if (!mismatch_list)
        return std::unexpected(mismatch_list.error());
    evaluation.mismatches = std::move(*mismatch_list);
    auto timing_list = listFromJson(*timings, timingFromJson);
    if (!timing_list)
        return std::unexpected(timing_list.error());
    evaluation.timings = std::move(*timing_list);
    if (reader.present("race")) {
        auto race = raceReportFromJson(json["race"], "evaluation");
        if (!race)
            return std::unexpected(race.error());
        evaluation.race = std::move(*race);
    }
    if (reader.present("overlap")) {
        auto overlap = overlapFromJson(json["overlap"]);
        if (!overlap)
            return std::unexpected(overlap.error());
        evaluation.overlap = std::move(*overlap);
    }
    return evaluation;
}

}  // namespace cuco
