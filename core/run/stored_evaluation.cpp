// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/stored_evaluation.h"

#include <fmt/format.h>
#include <limits>

namespace cuco {

namespace {

/// Compilers can print without end.
constexpr std::size_t most_detail_bytes = 256u << 10;

}  // namespace

StoredEvaluation::StoredEvaluation(const Evaluation& evaluation)
    : detail(evaluation.detail.substr(0, most_detail_bytes)),
      verdict(toString(evaluation.verdict)),
      stage(toString(evaluation.stage)),
      speedup(evaluation.speedup()),
      ci_low(evaluation.ciLow()),
      ci_high(evaluation.ciHigh()),
      time_us(evaluation.timeUs()),
      bound_us(evaluation.boundUs())
{
    Evaluation without_detail = evaluation;
    without_detail.detail.clear();
    document = dumpCell(toJson(without_detail));
}

SqlValue orNull(const std::optional<double>& value)
{
    return value ? SqlValue(*value) : SqlValue(nullptr);
}

std::string dumpCell(const nlohmann::json& json)
{
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::unexpected<Error> badCell(std::string_view column, std::string_view row, const std::string& finding)
{
    return failure(fmt::format("The run file has a wrong value in the column {} of {}: {}", column, row, finding), {},
                   "Open a file that this version of CUCo wrote.");
}

Result<Evaluation> readEvaluation(const std::string& document, std::string detail, std::string_view column,
                                  std::string_view owner)
{
    auto evaluation =
        cell(document, column, owner, [](const nlohmann::json& json) { return evaluationFromJson(json); });
    if (evaluation)
        evaluation->detail = std::move(detail);
    return evaluation;
}

Result<int> smallInteger(const SqlRow& row, int column, std::string_view name, std::string_view owner)
{
    const std::int64_t value = row.integer(column);
    if (value < 0 || value > std::numeric_limits<int>::max())
        return badCell(name, owner, fmt::format("{} is out of range", value));
    return static_cast<int>(value);
}

}  // namespace cuco
