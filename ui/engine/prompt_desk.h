// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/manual_exchange.h"

#include <QHash>
#include <QObject>
#include <QString>

#include <memory>

namespace cuco::ui {

/// A run's prompts that a person is to answer, on the GUI thread.
class PromptDesk : public QObject {
    Q_OBJECT

public:
    explicit PromptDesk(QObject* parent = nullptr);
    ~PromptDesk() override;

    /// What the engine asks.
    std::shared_ptr<ManualExchange> exchange() const { return exchange_; }

    const std::vector<ManualPrompt>& waiting() const { return waiting_; }
    void answer(int number, const QString& text);
    void giveUp(int number);

    /// An answer that is being written.
    QString draft(int number) const { return drafts_.value(number); }
    void setDraft(int number, const QString& text) { drafts_[number] = text; }

Q_SIGNALS:
    void changed();

private:
    struct Link;
    void refresh();

    std::shared_ptr<Link> link_;
    std::shared_ptr<ManualExchange> exchange_;
    std::vector<ManualPrompt> waiting_;
    QHash<int, QString> drafts_;
};

}  // namespace cuco::ui
