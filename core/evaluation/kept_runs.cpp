// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/kept_runs.h"

#include "core/base/files.h"
#include "core/nodes/cache_folder.h"
#include "core/source/kernel_source.h"

namespace cuco {

KeptRun::KeptRun(const Toolchain& toolchain, const Workload& workload, const HarnessJob& job)
{
    const std::string model = toolchain.modelKey();
    if (model.empty())
        return;
    const auto text = writeHarnessJob(workload, job);
    const auto folder = cacheFolder("modelled");
    if (text && folder)
        file_ = *folder / (sha256Hex(model + "\n" + *text) + ".jsonl");
}

std::optional<HarnessReport> KeptRun::find() const
{
    std::error_code error;
    if (file_.empty() || !std::filesystem::exists(file_, error))
        return std::nullopt;
    const auto text = readFile(file_);
    if (!text)
        return std::nullopt;
    auto report = parseHarnessReport(*text);
    if (!report.done || !report.violation.empty() || !report.failures.empty())
        return std::nullopt;
    return report;
}

void KeptRun::keep(const HarnessReport& report) const
{
    if (!file_.empty())
        static_cast<void>(writeFileAtomically(file_, report.text));
}

}  // namespace cuco
