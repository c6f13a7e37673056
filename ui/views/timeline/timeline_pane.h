// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/timeline.h"

#include <QWidget>

#include <memory>
#include <optional>

class QLabel;
class QStackedLayout;

namespace cuco::ui {

class TimelineCanvas;

/// One timeline with its heading, or a sentence that says why there is none.
class TimelinePane : public QWidget {
    Q_OBJECT

public:
    explicit TimelinePane(QWidget* parent = nullptr);

    /// `name` is what the timeline belongs to; the bound is in microseconds.
    void showTimeline(const QString& name, std::shared_ptr<const Timeline> timeline, std::optional<double> bound_us);
    void showMessage(const QString& name, const QString& sentence);

    TimelineCanvas* canvas() const { return canvas_; }
    bool hasTimeline() const;
    QString headingText() const;  ///< as a person reads it
    QString message() const;      ///< empty while a timeline is shown

protected:
    void changeEvent(QEvent* event) override;

private:
    void styleHeading();

    QLabel *name_, *badge_, *summary_, *message_;
    QStackedLayout* content_;
    TimelineCanvas* canvas_;
};

}  // namespace cuco::ui
