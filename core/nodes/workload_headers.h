// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/nodes/build_cache.h"
#include "core/nodes/node.h"
#include "core/workload/workload.h"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

/// The headers that a workload offers to its sources. They lie beside each source that is compiled, fresh from the
/// workload's folder, so that no candidate has a say in them.
class WorkloadHeaders {
public:
    using Rewrite = std::function<Result<std::string>(const std::filesystem::path& file, const std::string& text)>;

    /// `rewrite`: into what the node's compiler reads; none: as they are.
    static Result<WorkloadHeaders> read(const Workload& workload, const Rewrite& rewrite = {});
    void addTo(BuildInputs& inputs) const;
    Result<void> write(const std::filesystem::path& folder) const;
    Result<void> put(Node& node, const JobFolder& job) const;

private:
    struct Header {
        std::string name, text;
    };
    std::vector<Header> headers_;
};

}  // namespace cuco
