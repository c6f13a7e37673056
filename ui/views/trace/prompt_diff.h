// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/llm_call.h"

#include <QWidget>

class QLabel;

namespace cuco::ui {

class DiffPanel;

/// What was asked in two calls, line by line.
class PromptDiff : public QWidget {
    Q_OBJECT

public:
    explicit PromptDiff(QWidget* parent = nullptr);
    void showCalls(int left_id, const LlmCall& left, int right_id, const LlmCall& right);
    DiffPanel* panel() const { return panel_; }
    QString headingText() const;

private:
    QLabel* heading_;
    DiffPanel* panel_;
};

}  // namespace cuco::ui
