// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/proposer.h"

#include <QTextBrowser>

#include <functional>

namespace cuco::ui {

/// One step of an agent, its Markdown rendered. Fetches nothing, opens nothing, and takes no HTML: what a
/// model wrote is text. Ids of candidates become links.
class StepText : public QTextBrowser {
    Q_OBJECT

public:
    explicit StepText(QWidget* parent = nullptr);

    /// `is_candidate` says which words like "c12" are links.
    void showStep(const AgentStep& step, const std::function<bool(const QString& id)>& is_candidate);
    void showSentence(const QString& sentence);

    /// Files and the network stay untouched, whatever the text names.
    QVariant loadResource(int type, const QUrl& name) override;

Q_SIGNALS:
    void candidateClicked(const QString& id);

protected:
    using IsCandidate = std::function<bool(const QString& id)>;
    void styleHeadings();  ///< near the size of the text that they stand in
    void styleCode();
    void styleTables();
    void linkCandidates(const IsCandidate& is_candidate);

private:
    void insertHeading(const AgentStep& step);
};

}  // namespace cuco::ui
