// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/descriptors.h"

#include <unistd.h>
#include <algorithm>

namespace cuco_harness {

void closeDescriptors(const std::vector<int>& kept)
{
    const int highest = int(sysconf(_SC_OPEN_MAX));
    for (int descriptor = STDERR_FILENO + 1; descriptor < std::min(highest, 1024); ++descriptor) {
        if (std::find(kept.begin(), kept.end(), descriptor) == kept.end())
            close(descriptor);
    }
}

}  // namespace cuco_harness
