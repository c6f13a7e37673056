// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/data_paths.h"

#include <cstdlib>
#include <vector>

namespace cuco {

namespace {

bool hasData(const std::filesystem::path& folder)
{
    std::error_code error;
    return std::filesystem::is_regular_file(folder / "resources" / "design_space.json", error) &&
           std::filesystem::is_directory(folder / "workloads", error);
}

}  // namespace

Result<DataPaths> DataPaths::find()
{
    if (const char* chosen = std::getenv("CUCO_DATA_DIR"); chosen != nullptr && chosen[0] != '\0') {
        std::error_code error;
        const auto folder = std::filesystem::absolute(chosen, error);
        if (!hasData(folder))
            return failure("CUCO_DATA_DIR names a folder without the product's data.", folder.string(),
                           "It must contain resources/design_space.json and workloads/; or unset it.");
        return DataPaths{folder / "resources", folder / "workloads"};
    }
    std::vector<std::filesystem::path> choices;
    std::error_code error;
    for (auto folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path(); !error && !folder.empty();
         folder = folder.parent_path()) {
        choices.push_back(folder);
        choices.push_back(folder / "share" / "cuco");
        if (folder == folder.root_path())
            break;
    }
    choices.emplace_back(CUCO_INSTALLED_DATA_DIR);
    choices.emplace_back(CUCO_SOURCE_DIR);
    for (const auto& folder : choices)
        if (hasData(folder))
            return DataPaths{folder / "resources", folder / "workloads"};
    return failure("The product's data (resources and workloads) was not found.", CUCO_INSTALLED_DATA_DIR,
                   "Install the product again, or set CUCO_DATA_DIR to the folder that contains it.");
}

}  // namespace cuco
