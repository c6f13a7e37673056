// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/machine.h"

#include <string>

namespace cuco_emu {

/// Constants and variables of the program and its libraries, which device code may read here: tables of the C
/// library, for instance.
bool is_library_data(std::uintptr_t address);

/// Variables of the program itself.
bool is_program_data(std::uintptr_t address);

/// The rank's module or another one that holds the address; null when it is not in a candidate.
const Module* module_at(const void* address);

/// Demangled name of the function at this address, without parameters.
std::string function_name(const void* address);

}  // namespace cuco_emu
