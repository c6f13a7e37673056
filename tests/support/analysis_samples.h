// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files.h"
#include "core/source/analysis.h"

#include <dlfcn.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cuco::testing {

/// Tests of the analysis are skipped, by name, where its library is not installed.
inline bool haveLibClang()
{
    for (const char* name : {"libclang-19.so.1", "/usr/lib/llvm-19/lib/libclang-19.so.1"}) {
        if (void* const library = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {
            ::dlclose(library);
            return true;
        }
    }
    return false;
}

#define CUCO_NEEDS_LIBCLANG()                                                 \
    if (!::cuco::testing::haveLibClang()) {                                   \
        GTEST_SKIP() << "libclang-19.so.1 is not here: install libclang1-19"; \
    }

inline AnalysisRequest analysisRequest(std::string source)
{
    const std::filesystem::path root = CUCO_TEST_ROOT;
    AnalysisRequest request;
    request.source = std::move(source);
    request.declarations = root / "resources" / "analysis";
    request.include_folders = {root / "workloads" / "harness"};
    return request;
}

/// A source of the product's, with its workload's headers: "workloads/moe_layer/host.cu".
inline AnalysisRequest requestFor(const std::string& file)
{
    const std::filesystem::path path = std::filesystem::path(CUCO_TEST_ROOT) / file;
    AnalysisRequest request = analysisRequest(readFile(path).value_or(""));
    request.name = file;
    for (auto folder = path.parent_path(); folder.filename() != "workloads" && folder.filename() != "tests";
         folder = folder.parent_path()) {
        request.include_folders.push_back(folder);
    }
    return request;
}

}  // namespace cuco::testing
