// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/design/tunable.h"
#include "core/evaluation/evaluator.h"
#include "core/evaluation/gaming_guard.h"

#include <fmt/format.h>

namespace cuco {

namespace {

Evaluation screenedOut(Verdict verdict, SourceFault fault)
{
    Evaluation evaluation;
    evaluation.verdict = verdict;
    evaluation.stage = Stage::screen;
    evaluation.message = fault.line == 0 ? fault.message : fmt::format("Line {}: {}", fault.line, fault.message);
    evaluation.at = std::move(fault);
    return evaluation;
}

/// The line of the directive, for rules that speak about it as a whole.
std::size_t directiveLine(const KernelSource& source)
{
    for (std::size_t i = 0; i < source.blocks().size(); ++i) {
        std::size_t line = source.blocks()[i].first_line;
        std::string_view text = source.blockText(i);
        while (!text.empty()) {
            const auto end = std::min(text.find('\n'), text.size());
            const auto words = text.substr(0, end);
            if (const auto comment = words.find("//"); comment != words.npos)
                if (const auto word = words.find_first_not_of("/ \t", comment);
                    word != words.npos && words.substr(word).starts_with("cuco:"))
                    return line;
            text.remove_prefix(std::min(end + 1, text.size()));
            ++line;
        }
    }
    return 0;
}

}  // namespace

Evaluation screenText(const std::string& source, const KernelSource& frozen_template, const DesignSpace& design_space,
                      const std::set<std::string>& capabilities)
{
    const auto parsed = KernelSource::parse(source);
    if (!parsed)
        return screenedOut(Verdict::marker_error, parsed.error());
    if (const auto frozen = compareFrozen(frozen_template, *parsed); !frozen)
        return screenedOut(Verdict::frozen_code_changed, frozen.error());
    const auto directive = parseDirective(*parsed);
    if (!directive)
        return screenedOut(Verdict::invalid_directive, directive.error());
    if (auto violation = design_space.violation(*directive, capabilities); !violation.empty())
        return screenedOut(Verdict::invalid_directive, {directiveLine(*parsed), std::move(violation)});
    if (const auto tunables = findTunables(*parsed); !tunables)
        return screenedOut(Verdict::invalid_tunable, tunables.error());
    return {};
}

Evaluation screen(const std::string& source, const KernelSource& frozen_template, const DesignSpace& design_space,
                  const std::set<std::string>& capabilities)
{
    Evaluation evaluation = screenText(source, frozen_template, design_space, capabilities);
    if (!evaluation.verified())
        return evaluation;
    const auto parsed = KernelSource::parse(source);
    if (auto gaming = findGaming(*parsed, *parseDirective(*parsed)))
        return screenedOut(gaming->verdict, std::move(gaming->fault));
    return evaluation;
}

}  // namespace cuco
