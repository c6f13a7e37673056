// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/workload/named_workload.h"

#include <algorithm>

namespace cuco {

Result<Workload> namedWorkload(const std::filesystem::path& root, const std::string& name)
{
    const std::filesystem::path folder(name);
    std::error_code error;
    if (folder.filename() == folder && std::filesystem::is_regular_file(root / folder / "workload.json", error))
        if (auto workload = loadWorkload(root / folder); !workload || workload->name == name)
            return workload;
    auto known = loadWorkloads(root);
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

}  // namespace cuco
