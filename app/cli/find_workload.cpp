// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/find_workload.h"

#include "core/workload/named_workload.h"

namespace cuco::cli {

Result<Workload> findWorkload(const DataPaths& paths, const std::string& name)
{
    std::error_code error;
    if (std::filesystem::is_regular_file(std::filesystem::path(name) / "workload.json", error))
        return loadWorkload(name);
    return namedWorkload(paths.workloads, name);
}

}  // namespace cuco::cli
