// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/llm_call.h"
#include "ui/views/trace/step_text.h"

namespace cuco::ui {

/// What was asked of a model and what it answered, as a conversation. Like a StepText it fetches nothing and takes no
/// HTML.
class ChatText : public StepText {
    Q_OBJECT

public:
    explicit ChatText(QWidget* parent = nullptr);

    void showCall(const LlmCall& call, const IsCandidate& is_candidate);
    /// The answer as far as it came; Markdown is rendered when it is whole.
    void showRunning(const std::string& text);
    /// Marks where the text stands and goes to the first place; an empty one clears the marks. Gives their number.
    int markAll(const QString& text);

private:
    void append(const QString& label, const QColor& color, const std::string& markdown);
    void appendFailure(const ChatError& error);

    std::size_t running_bytes_ = 0;  ///< shown; 0: no running call is
};

}  // namespace cuco::ui
