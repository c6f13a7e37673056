// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cuco {

/// What a judging model says of an attempt.
struct JudgeAnswer {
    bool accept = false;
    std::string cause, advice;  ///< empty where it said "none"
};

/// Reads VERDICT, CAUSE and ADVICE in the order of prompts/judge_system.md. Nothing where there is no verdict, or two
/// that differ.
std::optional<JudgeAnswer> readJudgeAnswer(std::string_view answer);

}  // namespace cuco
