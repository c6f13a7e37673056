// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run_file.h"

#include <nlohmann/json_fwd.hpp>

namespace cuco {

struct OtlpOptions {
    bool with_content = false;  ///< prompts and answers too
};

/// The run as a trace of OpenTelemetry: an ExportTraceServiceRequest in OTLP's JSON encoding (OpenTelemetry
/// Protocol 1.x) with the run as root, its agents' steps below it and the calls of models below those, named after the
/// semantic conventions for generative AI, v1.41.1. What has no standard name is under `cuco.`. The same run file
/// always gives the same ids.
Result<nlohmann::json> toOtlp(RunFile& file, OtlpOptions options = {});

}  // namespace cuco
