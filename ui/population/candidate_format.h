// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/population/candidate.h"
#include "core/run/decision.h"

#include <QString>

#include <optional>

namespace cuco::ui {

/// A number with its 95 % interval; low = high = value when it has none.
struct Figure {
    double value = 0, low = 0, high = 0;
    double halfWidth() const { return (high - low) / 2; }
};

std::optional<Figure> speedupOf(const Evaluation& evaluation);
std::optional<Figure> timeUsOf(const Evaluation& evaluation);
/// How much of the speed-up that the bound allows was reached: bound ÷ time, 0 … 1.
std::optional<double> ceilingShareOf(const Evaluation& evaluation);
std::optional<double> exposedUsOf(const Evaluation& evaluation);

/// As many digits as the interval allows: to the first digit of its half width; three of a value without one.
QString figureText(const Figure& figure);
QString halfWidthText(const Figure& figure);  ///< "3", empty when there is no interval
QString intervalText(const Figure& figure);   ///< "1.49–1.52", with the same digits
QString microseconds(double us);              ///< "467", "46.7", "4.67"

enum class Standing { in_flight, verified, failed };
Standing standingOf(const Candidate& candidate);

QString words(std::string_view snake_case);          ///< "wrong_result" → "wrong result"
QString standingText(const Candidate& candidate);    ///< "verified", "wrong result", "compiling"
QString standingSymbol(const Candidate& candidate);  ///< ✓, ✕ or ○
/// "promoted", "promotion pending", "promotion refused", "rejected"; nothing without one. `decision` may be null.
QString decisionText(const Decision* decision);
QString directiveText(const Directive& directive);  ///< "lsa · stream_overlap · peer · copy_engine · 1 MiB"
QString bytesText(std::uint64_t bytes);
QString tunablesText(const TunableValues& tunables);  ///< "chunk_rows=512, ctas=32"

}  // namespace cuco::ui
