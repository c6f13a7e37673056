// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/host_share.h"
#include "gpu/timing_page.h"
#include "job.h"
#include "wire.h"

#include <sys/types.h>
#include <string>
#include <vector>

namespace cuco_harness {

/// One program's ranks on this host: processes of their own, in a sandbox of their own when there is one.
class RankLaunch {
public:
    RankLaunch() = default;
    ~RankLaunch();
    RankLaunch(const RankLaunch&) = delete;
    RankLaunch& operator=(const RankLaunch&) = delete;

    /// `prefix` is what comes before the ranks' own command: a sandbox's. `variables` are added to their environment.
    /// `ranks`: the way to each, in their order; `launcher`: tells of each rank that has ended, its number and its wait
    /// status. False when processes or sockets are not to be had.
    bool start(const std::vector<std::string>& prefix, const Variables& variables, const HostShare& share,
               std::vector<Channel>& ranks, Channel& launcher);
    /// Ends every process. Without a sandbox, one that left the group notices when its channel is closed.
    void end();

    TimingPage& page() const { return *page_; }

private:
    TimingPage* page_ = nullptr;
    pid_t process_ = -1;
};

}  // namespace cuco_harness
