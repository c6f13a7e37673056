// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/llm_summary.h"

#include <QWidget>

#include <functional>

class QLabel;
class QPlainTextEdit;
class QTabWidget;

namespace cuco::ui {

class ChatText;

/// One call: its figures, the conversation, and the bodies as they travelled.
class CallPage : public QWidget {
    Q_OBJECT

public:
    explicit CallPage(QWidget* parent = nullptr);

    void showCall(const LlmCallSummary& summary, const LlmCall& call,
                  const std::function<bool(const QString& id)>& is_candidate);
    void showRunning(const LlmCallSummary& summary, const std::string& text);
    void showError(const QString& sentence);
    void mark(const QString& text);

    ChatText* chat() const { return chat_; }
    QPlainTextEdit* rawRequest() const { return request_; }
    QPlainTextEdit* rawResponse() const { return response_; }
    QString factsText() const;
    QString errorText() const;  ///< empty for a call that succeeded

Q_SIGNALS:
    void candidateClicked(const QString& id);

private:
    void showFacts(const LlmCallSummary& summary, bool running);

    QLabel *title_, *facts_, *error_;
    QTabWidget* tabs_;
    ChatText* chat_;
    QPlainTextEdit *request_, *response_;
};

}  // namespace cuco::ui
