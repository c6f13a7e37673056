// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/evaluation/evaluation.h"
#include "core/run/database.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace cuco {

/// An evaluation split for storage: compilers' logs lie beside the document, where a snapshot can leave them out.
struct StoredEvaluation {
    explicit StoredEvaluation(const Evaluation& evaluation);

    std::string document, detail;
    std::string_view verdict, stage;
    std::optional<double> speedup, ci_low, ci_high, time_us, bound_us;
};

/// NULL where there is no value.
SqlValue orNull(const std::optional<double>& value);
/// Compact, whatever bytes its texts have.
std::string dumpCell(const nlohmann::json& json);

/// Names the cell, so that a file that somebody changed by hand can be mended.
std::unexpected<Error> badCell(std::string_view column, std::string_view row, const std::string& finding);

/// The JSON of one cell, read by `from_json`.
template <class FromJson>
auto cell(const std::string& text, std::string_view column, std::string_view owner, const FromJson& from_json)
    -> decltype(from_json(nlohmann::json()))
{
    const auto json = parseJson(text, std::string(column));
    if (!json)
        return badCell(column, owner, describe(json.error()));
    auto value = from_json(*json);
    if (!value)
        return badCell(column, owner, describe(value.error()));
    return value;
}

Result<Evaluation> readEvaluation(const std::string& document, std::string detail, std::string_view column,
                                  std::string_view owner);
Result<int> smallInteger(const SqlRow& row, int column, std::string_view name, std::string_view owner);

}  // namespace cuco
