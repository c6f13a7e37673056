// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/directive_check.h"

#include <fmt/format.h>

namespace cuco {

namespace {

constexpr std::string_view copy_engine = "copy_engine", fused = "fused";

DirectiveContradiction contradiction(const char* dimension, const std::string& stated,
                                     const DimensionEvidence& evidence)
{
    DirectiveContradiction found;
    found.message = fmt::format("The directive says {}={}, but the code is {}", dimension, stated, evidence.value);
    for (const EvidenceSeen& seen : evidence.seen)
        if (seen.value == evidence.value && seen.file.empty()) {
            found.message += fmt::format(": {} in line {}", seen.why, seen.line);
            found.line = seen.line;
            break;
        }
    found.message += ".";
    return found;
}

}  // namespace

std::optional<DirectiveContradiction> contradictionOf(const Directive& directive, const DirectiveEvidence& evidence)
{
    if (!evidence.backend.value.empty() && evidence.backend.value != directive.backend)
        return contradiction("backend", directive.backend, evidence.backend);
    const bool says_engine = directive.issuer == copy_engine, is_engine = evidence.issuer.value == copy_engine;
    const std::string& placement = evidence.placement.value;
    if (!placement.empty() && (placement == fused) != (directive.placement == fused))
        return contradiction("placement", directive.placement, evidence.placement);
    if (!evidence.issuer.value.empty() && says_engine != is_engine && (is_engine || evidence.backend.value == "lsa"))
        return contradiction("issuer", directive.issuer, evidence.issuer);
    return std::nullopt;
}

Result<void> checkDirective(AnalysisRequest analysis, const std::string& source, Evaluation& evaluation,
                            std::stop_token stop)
{
    const auto parsed = KernelSource::parse(source);
    const auto directive = parsed ? parseDirective(*parsed) : std::unexpected(parsed.error());
    if (!directive)
        return {};  // screening has a verdict for that
    analysis.source = source;
    const auto found = analyzeCuda(analysis, std::move(stop));
    if (!found) {
        evaluation.remarks.push_back("The directive was not compared with the code: " + describe(found.error()));
        return {};
    }
    if (const auto belied = contradictionOf(*directive, directiveEvidence(*found))) {
        evaluation.verdict = Verdict::invalid_directive;
        evaluation.message = belied->message;
        evaluation.at.line = belied->line;
        evaluation.at.message = belied->message;
    }
    return {};
}

}  // namespace cuco
