// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/candidate_facts.h"

#include "ui/population/candidate_format.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace cuco::ui {

namespace {

constexpr int most_links = 12;

QString translated(const char* text)
{
    return QCoreApplication::translate("Inspector", text);
}

QString escaped(const std::string& text)
{
    return QString::fromStdString(text).toHtmlEscaped();
}

/// With places to break a long name at its underscores.
QString breakable(const std::string& text)
{
    return escaped(text).replace(QLatin1Char('_'), QStringLiteral("_\u200B"));
}

QString candidateLink(const std::string& id)
{
    return QStringLiteral("<a href=\"candidate:%1\">%1</a>").arg(escaped(id));
}

QString links(const QStringList& all)
{
    if (all.size() <= most_links) {
        return all.join(QStringLiteral(", "));
    }
    return translated("%1 and %2 more")
        .arg(all.first(most_links).join(QStringLiteral(", ")))
        .arg(all.size() - most_links);
}

QString share(double value)
{
    return QStringLiteral("%1 %").arg(std::lround(100 * value));
}

QString withInterval(const Figure& figure, const QString& unit)
{
    const QString width = halfWidthText(figure);
    return figureText(figure) + unit + (width.isEmpty() ? QString() : QStringLiteral(" ± ") + width);
}

QString accessText(const RaceAccess& access)
{
    QString text = escaped(access.access);
    if (access.line > 0) {
        text += QStringLiteral(" · <a href=\"line:%1\">%2</a>")
                    .arg(access.line)
                    .arg(translated("line %1").arg(access.line));
    }
    text += QStringLiteral("<br>") + translated("rank %1").arg(access.rank) + QStringLiteral(" · ") +
            breakable(access.where);
    const auto triple = [](const std::array<int, 3>& v) {
        return QStringLiteral("(%1, %2, %3)").arg(v[0]).arg(v[1]).arg(v[2]);
    };
    if (access.block) {
        text += QStringLiteral("<br>") + translated("block %1").arg(triple(*access.block));
    }
    if (access.thread) {
        text += QStringLiteral("<br>") + translated("thread %1").arg(triple(*access.thread));
    }
    return text;
}

void addRace(QList<Fact>& facts, const RaceReport& race)
{
    const QString section = translated("Race");
    facts << Fact{section, translated("First"), accessText(race.first), false};
    facts << Fact{section, translated("Second"), accessText(race.second), false};
    QString memory = escaped(race.memory);
    if (race.memory_rank >= 0) {
        memory += QStringLiteral(" · ") + translated("rank %1").arg(race.memory_rank);
    }
    facts << Fact{section, translated("Memory"), memory, false};
    facts << Fact{section, translated("Shape"), escaped(race.shape), false};
}

QString baselineText(const BaselineTiming& baseline)
{
    return baseline.problem.empty() ? microseconds(baseline.time_us) + QStringLiteral(" µs")
                                    : translated("takes no part: %1").arg(escaped(baseline.problem));
}

/// The spread of what was seen at each look at each GPU; empty when the driver tells none.
QString rangeText(const std::vector<GpuConditions>& gpus, std::vector<double> GpuConditions::*field,
                  const QString& unit)
{
    double low = 0, high = -1;
    for (const GpuConditions& gpu : gpus) {
        for (const double value : gpu.*field) {
            low = high < 0 ? value : std::min(low, value);
            high = std::max(high, value);
        }
    }
    if (high < 0) {
        return {};
    }
    const auto text = [](double value) { return QString::number(std::lround(value)); };
    return (text(low) == text(high) ? text(low) : text(low) + QStringLiteral("–") + text(high)) + unit;
}

QString throttlingText(const std::vector<GpuConditions>& gpus)
{
    QStringList reasons;
    for (const GpuConditions& gpu : gpus) {
        for (const std::string& reason : gpu.throttling) {
            reasons << breakable(reason);
        }
    }
    reasons.removeDuplicates();
    return reasons.join(QStringLiteral(", "));
}

void addShape(QList<Fact>& facts, const ShapeTiming& timing)
{
    const QString section = translated("Shape %1").arg(escaped(timing.shape));
    const auto add = [&](const QString& label, const QString& value) {
        if (!value.isEmpty()) {
            facts << Fact{section, label, value, true};
        }
    };
    add(translated("Time"),
        QStringLiteral("%1 µs · %2×").arg(microseconds(timing.time_us)).arg(timing.speedup, 0, 'f', 2));
    for (const BaselineTiming& baseline : timing.baselines) {
        const QString name = breakable(baseline.name);
        add(baseline.name == timing.baseline ? QStringLiteral("<b>%1</b>").arg(name) : name, baselineText(baseline));
    }
    if (timing.compute_alone_us) {
        add(translated("Computing alone"), microseconds(*timing.compute_alone_us) + QStringLiteral(" µs"));
        add(translated("Not hidden"), microseconds(*timing.exposedUs()) + QStringLiteral(" µs"));
    }
    if (timing.noise_floor) {
        add(translated("Noise"), QStringLiteral("± %1 %").arg(100 * *timing.noise_floor, 0, 'f', 1));
    }
    add(translated("SM clock"), rangeText(timing.conditions, &GpuConditions::sm_mhz, QStringLiteral(" MHz")));
    add(translated("Power"), rangeText(timing.conditions, &GpuConditions::power_w, QStringLiteral(" W")));
    add(translated("Temperature"), rangeText(timing.conditions, &GpuConditions::temperature_c, QStringLiteral(" °C")));
    add(translated("Throttled"), throttlingText(timing.conditions));
}

/// `note`: what has to be said of the times, or nothing.
void addFigures(QList<Fact>& facts, const Evaluation& evaluation, const QString& note)
{
    const QString section = note.isEmpty() ? translated("Figures") : translated("Figures, %1").arg(note);
    const auto add = [&](const char* label, const QString& value) {
        facts << Fact{section, translated(label), value, true};
    };
    if (const auto time = timeUsOf(evaluation)) {
        add(evaluation.timings.size() > 1 ? "Mean time" : "Time", withInterval(*time, QStringLiteral(" µs")));
    }
    if (const auto speedup = speedupOf(evaluation)) {
        QString text = figureText(*speedup) + QStringLiteral("×");
        if (speedup->halfWidth() > 0) {
            text += QStringLiteral(" (%1)").arg(intervalText(*speedup));
        }
        add("Speed-up", text);
    }
    if (evaluation.withinNoise()) {
        add("", translated("within the node's noise: no improvement"));
    }
    if (const auto bound = evaluation.boundUs()) {
        add("Bound", microseconds(*bound) + QStringLiteral(" µs"));
    }
    if (const auto ceiling = ceilingShareOf(evaluation)) {
        add("Of ceiling", share(*ceiling));
    }
    if (const auto exposed = exposedUsOf(evaluation)) {
        add("Exposed comm.", microseconds(*exposed) + QStringLiteral(" µs"));
        add("Hidden comm.", evaluation.overlap->hidden_share ? share(*evaluation.overlap->hidden_share)
                                                             : translated("no communication"));
    }
    for (const ShapeTiming& timing : evaluation.timings) {
        addShape(facts, timing);
    }
}

void addDesign(QList<Fact>& facts, const Candidate& candidate)
{
    const auto add = [&](const char* label, const QString& value) {
        if (!value.isEmpty()) {
            facts << Fact{translated("Directive"), translated(label), value.toHtmlEscaped(), false};
        }
    };
    const Directive& directive = candidate.directive;
    add("Backend", QString::fromStdString(directive.backend));
    add("Placement", words(directive.placement));
    add("Sync", words(directive.sync));
    add("Issuer", words(directive.issuer));
    if (!directive.backend.empty()) {
        add("Chunk", directive.chunk_bytes == 0 ? translated("whole") : bytesText(directive.chunk_bytes));
    }
    for (const auto& [name, value] : candidate.tunables) {
        facts << Fact{translated("Tunables"), breakable(name), QString::number(value), true};
    }
}

void addLineage(QList<Fact>& facts, const RunSession& session, const Candidate& candidate)
{
    const QString section = translated("Lineage");
    QStringList parents, children;
    for (const std::string& parent : candidate.parents) {
        parents << candidateLink(parent);
    }
    for (const Candidate& other : session.snapshot().candidates) {
        if (std::find(other.parents.begin(), other.parents.end(), candidate.id) != other.parents.end()) {
            children << candidateLink(other.id);
        }
    }
    facts << Fact{section, translated("Island, gen."),
                  QStringLiteral("%1, %2").arg(candidate.island + 1).arg(candidate.generation), true};
    facts << Fact{section, translated("Proposed by"), escaped(candidate.proposer), false};
    if (!candidate.strategy.empty()) {
        facts << Fact{section, translated("Strategy"), breakable(candidate.strategy), false};
    }
    if (!candidate.summary.empty()) {
        facts << Fact{section, translated("Change"), breakable(candidate.summary), false};
    }
    const QString none = candidate.proposer == "seed" ? translated("none: a seed") : translated("none: a new strategy");
    facts << Fact{section, translated("Parents"), parents.isEmpty() ? none : links(parents), false};
    facts << Fact{section, translated("Children"), children.isEmpty() ? translated("none yet") : links(children),
                  false};
}

}  // namespace

QList<Fact> factsOf(const RunSession& session, const QString& id)
{
    QList<Fact> facts;
    const Evaluation* evaluation = session.evaluation(id);
    const Candidate* candidate = session.candidate(id);
    if (evaluation) {
        if (evaluation->race) {
            addRace(facts, *evaluation->race);
        } else if (evaluation->at.line > 0) {
            facts << Fact{translated("Verdict"), translated("At"),
                          QStringLiteral("<a href=\"line:%1\">%2</a>")
                              .arg(evaluation->at.line)
                              .arg(translated("line %1").arg(evaluation->at.line)),
                          false};
        }
        if (!evaluation->verified()) {
            facts << Fact{translated("Verdict"), translated("Stage"), words(toString(evaluation->stage)), false};
        }
        if (!evaluation->sandboxed && !evaluation->timings.empty() && !session.isImported()) {
            facts << Fact{translated("Verdict"), translated("Sandbox"), translated("none"), false};
        }
        for (const std::string& remark : evaluation->remarks) {
            facts << Fact{translated("Verdict"), translated("Remark"), escaped(remark), false};
        }
        addFigures(facts, *evaluation, session.timesNote());
    }
    if (candidate) {
        addDesign(facts, *candidate);
        addLineage(facts, session, *candidate);
        if (const Decision* decision = lastDecisionOn(session.snapshot().decisions, candidate->id)) {
            facts << Fact{translated("Decision"), decisionText(decision), escaped(decision->reason), false};
            if (!decision->finding.empty()) {
                facts << Fact{translated("Decision"), translated("Measured again"), escaped(decision->finding), false};
            } else if (decision->kind == DecisionKind::promoted) {
                facts << Fact{translated("Decision"), translated("Measured again"), translated("not yet"), false};
            }
        }
    }
    return facts;
}

}  // namespace cuco::ui
