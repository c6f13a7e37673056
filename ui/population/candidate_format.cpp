// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/population/candidate_format.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>

#include <algorithm>
#include <cmath>

namespace cuco::ui {

namespace {

QString translated(const char* text)
{
    return QCoreApplication::translate("Candidate", text);
}

/// Decimals that show `significant` digits of `number`, at most three.
int decimalsFor(double number, int significant)
{
    if (number <= 0 || !std::isfinite(number)) {
        return 0;
    }
    const int magnitude = static_cast<int>(std::floor(std::log10(number)));
    return std::clamp(significant - 1 - magnitude, 0, 3);
}

int decimalsOf(const Figure& figure)
{
    return figure.halfWidth() > 0 ? decimalsFor(figure.halfWidth(), 1) : decimalsFor(std::abs(figure.value), 3);
}

QString number(double value, int decimals)
{
    return QString::number(value, 'f', decimals);
}

}  // namespace

std::optional<Figure> speedupOf(const Evaluation& evaluation)
{
    const auto value = evaluation.speedup();
    if (!value) {
        return std::nullopt;
    }
    return Figure{*value, evaluation.ciLow().value_or(*value), evaluation.ciHigh().value_or(*value)};
}

std::optional<Figure> timeUsOf(const Evaluation& evaluation)
{
    const auto value = evaluation.timeUs();
    if (!value) {
        return std::nullopt;
    }
    Figure time{*value, *value, *value};
    // The interval is measured of the ratio to the baseline; as a time it is the same relative width.
    if (const auto speedup = speedupOf(evaluation); speedup && speedup->low > 0 && speedup->high > 0) {
        time.low = *value * speedup->value / speedup->high;
        time.high = *value * speedup->value / speedup->low;
    }
    return time;
}

std::optional<double> ceilingShareOf(const Evaluation& evaluation)
{
    const auto time = evaluation.timeUs();
    const auto bound = evaluation.boundUs();
    if (!time || !bound || *time <= 0 || *bound <= 0) {
        return std::nullopt;
    }
    return *bound / *time;
}

std::optional<double> exposedUsOf(const Evaluation& evaluation)
{
    return evaluation.overlap ? std::optional(evaluation.overlap->exposed_us) : std::nullopt;
}

QString figureText(const Figure& figure)
{
    return number(figure.value, decimalsOf(figure));
}

QString halfWidthText(const Figure& figure)
{
    return figure.halfWidth() > 0 ? number(figure.halfWidth(), decimalsOf(figure)) : QString();
}

QString intervalText(const Figure& figure)
{
    const int decimals = decimalsOf(figure);
    return number(figure.low, decimals) + QStringLiteral("–") + number(figure.high, decimals);
}

QString microseconds(double us)
{
    return number(us, decimalsFor(std::abs(us), 3));
}

Standing standingOf(const Candidate& candidate)
{
    if (!candidate.evaluation) {
        return Standing::in_flight;
    }
    return candidate.evaluation->verified() ? Standing::verified : Standing::failed;
}

QString words(std::string_view snake_case)
{
    return QString::fromUtf8(snake_case.data(), static_cast<qsizetype>(snake_case.size()))
        .replace(QLatin1Char('_'), QLatin1Char(' '));
}

QString standingText(const Candidate& candidate)
{
    return words(candidate.evaluation ? toString(candidate.evaluation->verdict) : toString(candidate.state));
}

QString standingSymbol(const Candidate& candidate)
{
    switch (standingOf(candidate)) {
        case Standing::verified:
            return QStringLiteral("✓");
        case Standing::failed:
            return QStringLiteral("✕");
        case Standing::in_flight:
            return QStringLiteral("○");
    }
    return {};
}

QString decisionText(const Decision* decision)
{
    if (!decision) {
        return {};
    }
    if (decision->kind == DecisionKind::rejected) {
        return translated("rejected");
    }
    switch (decision->standing) {
        case PromotionStanding::pending:
            return translated("promotion pending");
        case PromotionStanding::stands:
            return translated("promoted");
        case PromotionStanding::refused:
            break;
    }
    return translated("promotion refused");
}

QString directiveText(const Directive& directive)
{
    QStringList parts;
    for (const std::string* part : {&directive.backend, &directive.placement, &directive.sync, &directive.issuer}) {
        if (!part->empty()) {
            parts << QString::fromStdString(*part);
        }
    }
    if (parts.isEmpty()) {
        return {};
    }
    parts << (directive.chunk_bytes == 0 ? translated("whole") : bytesText(directive.chunk_bytes));
    return parts.join(QStringLiteral(" · "));
}

QString bytesText(std::uint64_t bytes)
{
    return QLocale::c().formattedDataSize(static_cast<qint64>(bytes), bytes % 1024 == 0 ? 0 : 1);
}

QString tunablesText(const TunableValues& tunables)
{
    QStringList parts;
    for (const auto& [name, value] : tunables) {
        parts << QStringLiteral("%1=%2").arg(QString::fromStdString(name)).arg(value);
    }
    return parts.join(QStringLiteral(", "));
}

}  // namespace cuco::ui
