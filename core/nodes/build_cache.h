// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/nodes/node.h"

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace cuco {

/// Everything that goes into a build, by name. Equal inputs give an equal key.
class BuildInputs {
public:
    void add(const std::string& name, std::string_view bytes);
    /// Every plain file below the folder, by relative path.
    Result<void> addFolder(const std::filesystem::path& folder);
    std::string key() const;  ///< sha256, hexadecimal

private:
    std::vector<std::pair<std::string, std::string>> hashes_;
};

/// The C++ and CUDA sources directly in the folder, sorted.
Result<std::vector<std::filesystem::path>> sourcesIn(const std::filesystem::path& folder);

/// Those of the harness for one kind of node: its own and those of its folder `part`.
Result<std::vector<std::filesystem::path>> harnessSources(const std::filesystem::path& harness,
                                                          const std::string& part);

/// The folder `cacheFolder(kind)/key`, filled by `build` when it is not there yet. `build` writes into a new folder
/// that gets its name when it is complete, so that a build that was killed leaves nothing. Processes that want
/// the same folder wait for the first.
Result<std::filesystem::path> cachedBuild(const std::string& kind, const std::string& key, std::stop_token stop,
                                          const std::function<Result<void>(const std::filesystem::path&)>& build);

/// Runs the commands, as many at once as there are cores, in `folder`. The error is the first that failed, with
/// the first lines it wrote; the others are stopped.
Result<void> runBuild(Node& node, const std::filesystem::path& folder, std::vector<std::vector<std::string>> commands,
                      std::stop_token stop);

}  // namespace cuco
