// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/nodes/node.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

/// "2.28.9" from the NCCL_MAJOR, NCCL_MINOR and NCCL_PATCH of an nccl.h; empty when one is missing.
std::string ncclHeaderVersion(std::string_view header_text);
/// Of a library: from the name of the file it links to (libnccl.so.2.28.9), else from the version string
/// inside it; empty when neither is there.
std::string ncclLibraryVersion(const std::filesystem::path& library);

/// Each header with the library of its version, or with the nearest other one when there is none, and each
/// library without a header. Usable ones first, newest first.
std::vector<NcclInstall> pairNccl(std::vector<std::filesystem::path> headers,
                                  std::vector<std::filesystem::path> libraries);

/// Looks in $NCCL_HOME, the CUDA toolkit, the system's folders and the loader's cache.
std::vector<NcclInstall> findNccl(const std::optional<std::filesystem::path>& cuda_home, std::stop_token stop);

}  // namespace cuco
