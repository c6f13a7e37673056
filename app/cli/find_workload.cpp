// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/find_workload.h"

#include <algorithm>

namespace cuco::cli {

Result<Workload> findWorkload(const DataPaths& paths, const std::string& name)
{
    std::error_code error;
    if (std::filesystem::is_regular_file(std::filesystem::path(name) / "workload.json", error))
        return loadWorkload(name);
    auto known = loadWorkloads(paths.workloads);
    if (!known)
        return std::unexpected(known.error());
    const auto found = std::ranges::find(*known, name, &Workload::name);
    if (found != known->end())
        return std::move(*found);
    std::string names;
    for (const auto& workload : *known)
        names += (names.empty() ? "" : ", ") + workload.name;
    return failure("There is no workload \"" + name + "\".", "",
                   "Choose one of: " + names + "; or name a folder with a workload.json.");
}

}  // namespace cuco::cli
