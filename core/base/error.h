// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace cuco {

/// A failure of the environment (a missing file, a broken database, no compiler).
/// A candidate that fails is never an Error: that is an Evaluation.
struct Error {
    std::string what;    ///< one sentence: what is wrong
    std::string where;   ///< the file, command or place it concerns; may be empty
    std::string remedy;  ///< one sentence: what to do about it; may be empty
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> failure(std::string what, std::string where = {}, std::string remedy = {})
{
    return std::unexpected(Error{std::move(what), std::move(where), std::move(remedy)});
}

/// "what (where). remedy" as one line for a log or a terminal.
std::string describe(const Error& error);

}  // namespace cuco
