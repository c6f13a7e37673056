// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/trace/call_format.h"

#include <QCoreApplication>
#include <QStringList>

namespace cuco::ui {

namespace {

QString translated(const char* source)
{
    return QCoreApplication::translate("cuco::ui::Calls", source);
}

QString countText(std::int64_t count)
{
    const double value = static_cast<double>(count);
    if (count < 1000)
        return QString::number(count);
    if (count < 999'500)
        return QString::number(value / 1e3, 'f', count < 99'950 ? 1 : 0) + QLatin1Char('k');
    return QString::number(value / 1e6, 'f', 2) + QLatin1Char('M');
}

}  // namespace

QString errorName(ChatErrorKind kind)
{
    return QString::fromStdString(toString(kind)).replace(QLatin1Char('_'), QLatin1Char(' '));
}

QString callTitle(const LlmCallSummary& call, bool running)
{
    const QString model = QString::fromStdString(call.model);
    if (running)
        return translated("▸ %1, running").arg(model);
    const QString number = call.id > 0 ? QStringLiteral("#%1 ").arg(call.id) : QString();
    if (call.error_kind)
        return QStringLiteral("✕ ") + number + model + QStringLiteral(": ") + errorName(*call.error_kind);
    return number + model;
}

QString tokensText(const LlmTotals& totals)
{
    // No call takes none: nobody reported them.
    if (totals.input_tokens == 0 && totals.output_tokens == 0)
        return QStringLiteral("–");
    return countText(totals.input_tokens) + QStringLiteral(" → ") + countText(totals.output_tokens);
}

QString costText(const LlmTotals& totals)
{
    if (totals.unpriced == totals.calls)
        return QStringLiteral("–");
    const QString usd = totals.cost_usd == 0
                            ? QStringLiteral("$0")
                            : QLatin1Char('$') + QString::number(totals.cost_usd, 'f', totals.cost_usd < 0.995 ? 4 : 2);
    return totals.unpriced > 0 ? QStringLiteral("≥ ") + usd : usd;
}

QString durationText(std::chrono::microseconds time)
{
    if (time.count() == 0)
        return QStringLiteral("–");  // nobody measured it
    const double seconds = static_cast<double>(time.count()) / 1e6;
    if (seconds < 0.9995)
        return QString::number(seconds * 1e3, 'f', 0) + QStringLiteral(" ms");
    if (seconds < 99.95)
        return QString::number(seconds, 'f', 1) + QStringLiteral(" s");
    const auto whole = static_cast<qint64>(seconds + 0.5);
    if (whole < 3600)
        return QStringLiteral("%1 min %2 s").arg(whole / 60).arg(whole % 60, 2, 10, QLatin1Char('0'));
    return QStringLiteral("%1 h %2 min").arg(whole / 3600).arg(whole % 3600 / 60, 2, 10, QLatin1Char('0'));
}

QString totalsText(const LlmTotals& totals)
{
    if (totals.calls == 0)
        return {};
    QStringList parts{totals.calls == 1 ? translated("1 call") : translated("%1 calls").arg(totals.calls)};
    if (totals.failed > 0)
        parts << translated("%1 failed").arg(totals.failed);
    parts << translated("%1 tokens").arg(tokensText(totals)) << costText(totals);
    if (totals.time.count() > 0)
        parts << durationText(totals.time);
    return parts.join(QStringLiteral(", "));
}

}  // namespace cuco::ui
