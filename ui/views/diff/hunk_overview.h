// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/line_diff.h"

#include <QWidget>

#include <vector>

namespace cuco::ui {

/// The whole diff as a narrow strip: where its changes are, and which part is in sight.
class HunkOverview : public QWidget {
    Q_OBJECT

public:
    struct Mark {
        int first = 0, last = 0;  ///< lines of the page
        DiffRowKind kind = DiffRowKind::changed;
    };

    explicit HunkOverview(QWidget* parent = nullptr);

    void setMarks(std::vector<Mark> marks, int lines);
    void setSight(int first_line, int last_line);

Q_SIGNALS:
    void lineClicked(int line);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    int yOf(int line) const;

    std::vector<Mark> marks_;
    int lines_ = 0, first_in_sight_ = 0, last_in_sight_ = 0;
};

}  // namespace cuco::ui
