// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/visible_gpus.h"

#include <cstdlib>
#include <string>

namespace cuco_harness {

void seeOnlyGpus(int count)
{
    constexpr const char* name = "CUDA_VISIBLE_DEVICES";
    const char* const now = std::getenv(name);
    std::string seen;
    if (now) {
        seen = now;
        size_t end = 0;
        for (int i = 0; i < count && end != seen.npos; ++i)
            end = seen.find(',', i == 0 ? 0 : end + 1);
        seen.resize(end == seen.npos ? seen.size() : end);
    } else {
        for (int i = 0; i < count; ++i)
            seen += (i == 0 ? "" : ",") + std::to_string(i);
    }
    setenv(name, seen.c_str(), 1);
}

}  // namespace cuco_harness
