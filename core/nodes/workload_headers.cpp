// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/workload_headers.h"

#include "core/base/files.h"

namespace cuco {

Result<WorkloadHeaders> WorkloadHeaders::read(const Workload& workload, const Rewrite& rewrite)
{
    WorkloadHeaders headers;
    for (const auto& file : workload.headers) {
        auto text = readFile(file);
        if (text && rewrite)
            text = rewrite(file, *text);
        if (!text)
            return std::unexpected(text.error());
        headers.headers_.push_back({file.filename().string(), std::move(*text)});
    }
    return headers;
}

void WorkloadHeaders::addTo(BuildInputs& inputs) const
{
    for (const auto& [name, text] : headers_)
        inputs.add("header " + name, text);
}

Result<void> WorkloadHeaders::write(const std::filesystem::path& folder) const
{
    for (const auto& [name, text] : headers_)
        if (auto written = writeFileAtomically(folder / name, text); !written)
            return written;
    return {};
}

Result<void> WorkloadHeaders::put(Node& node, const JobFolder& job) const
{
    for (const auto& [name, text] : headers_)
        if (auto put = node.put(job, name, text); !put)
            return put;
    return {};
}

}  // namespace cuco
