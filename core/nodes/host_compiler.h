// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <filesystem>
#include <stop_token>
#include <string>

namespace cuco {

/// The C++ compiler of this machine.
struct HostCompiler {
    std::filesystem::path program;
    std::string version;  ///< "12.2.0"
    std::string toString() const { return program.filename().string() + " " + version; }
    /// The folder above its bin: where its headers and libraries are.
    std::filesystem::path installation() const { return program.parent_path().parent_path(); }
};

/// $CXX when it names a program, else g++, else c++. The error names the package to install.
Result<HostCompiler> findHostCompiler(std::stop_token stop);

}  // namespace cuco
