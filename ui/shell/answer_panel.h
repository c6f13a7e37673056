// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>
#include <QWidget>

class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace cuco::ui {

class PromptDesk;
class RunModel;

/// Shows the prompt that waits longest and takes a person's answer to it. What was typed stays with its prompt when
/// another run is looked at.
class AnswerPanel : public QWidget {
    Q_OBJECT

public:
    explicit AnswerPanel(QWidget* parent = nullptr);

    /// Null: none.
    void setRun(RunModel* run);
    bool isWanted() const;  ///< a prompt of the run waits

Q_SIGNALS:
    void wantedChanged();

private:
    QWidget* makePrompt();
    QWidget* makeAnswer();
    void showFirst();
    void submit();
    void giveUp();

    QPointer<PromptDesk> desk_;
    int number_ = 0;  ///< of the prompt that is shown; 0: none
    QLabel* heading_;
    QPlainTextEdit *prompt_, *answer_;
    QPushButton *copy_, *submit_, *give_up_;
};

}  // namespace cuco::ui
