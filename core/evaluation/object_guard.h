// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/gaming_guard.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

/// What a shared object says of itself, as far as it decides what the loader does.
struct ObjectSymbols {
    std::vector<std::string> imports;  ///< names that others must define
    std::vector<std::string> exports;  ///< names that it offers to others, weak ones (inline functions) left out
    bool has_static_constructors = false;
};

/// Reads a 64-bit little-endian ELF object. Nothing when it is none, or broken: then the loader will say so.
std::optional<ObjectSymbols> readObjectSymbols(std::string_view elf);

/// The second net: what a candidate links against, defines and runs before cuco_setup, whatever macros and pointers
/// its source hides it behind. `backend` is the directive's; empty: none is given.
std::optional<GamingFault> findGamingInObject(const ObjectSymbols& object, std::string_view backend);

}  // namespace cuco
