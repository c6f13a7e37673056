// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/import.h"
#include "core/trace/overlap_report.h"

#include <QFutureWatcher>
#include <QTimer>
#include <QWidget>

#include <atomic>
#include <memory>
#include <stop_token>

class QLabel;
class QProgressBar;
class QPushButton;
class QSplitter;
class QStackedWidget;
class QTextBrowser;

namespace cuco::ui {

class TimelinePane;

/// What a person reads of an overlap report: a table per rank and in total, the critical path, and what is uncertain.
QString overlapHtml(const OverlapReport& report, const Timeline& timeline);

/// A window of its own for a trace that belongs to no run. The file is read on another thread, with progress; closing
/// the window or Cancel ends the reading.
class TimelineWindow : public QWidget {
    Q_OBJECT

public:
    explicit TimelineWindow(const QString& path, QWidget* parent = nullptr);
    ~TimelineWindow() override;

    TimelinePane* pane() const { return pane_; }
    bool isReading() const { return watcher_.isRunning(); }
    QString reportText() const;   ///< as a person reads it
    QString messageText() const;  ///< why there is no timeline; empty otherwise

public Q_SLOTS:
    void cancel();

Q_SIGNALS:
    void finished();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Imported {
        std::shared_ptr<const Timeline> timeline;
        OverlapReport report;
        Error error;
    };

    void buildReading();
    void read();
    void present(const Imported& imported);

    const QString path_;
    QStackedWidget* pages_;
    QSplitter* splitter_ = nullptr;
    QProgressBar* progress_ = nullptr;
    QLabel* message_ = nullptr;
    QPushButton* cancel_ = nullptr;
    TimelinePane* pane_ = nullptr;
    QTextBrowser* report_ = nullptr;
    QFutureWatcher<Imported> watcher_;
    QTimer look_;
    std::stop_source stop_;
    std::shared_ptr<std::atomic<int>> permille_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace cuco::ui
