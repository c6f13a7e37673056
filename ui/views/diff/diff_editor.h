// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/style/theme.h"
#include "ui/views/diff/diff_page.h"
#include "ui/views/diff/qscintilla.h"

#include <QString>

#include <utility>
#include <vector>

namespace cuco::ui {

class CudaHighlighting;

/// A read-only source editor that shows one page of a diff.
class DiffEditor : public QsciScintilla {
    Q_OBJECT

public:
    enum Marker { added_marker = 1, removed_marker, filler_marker, evolve_marker, fault_marker };
    enum Indicator { added_word = 8, removed_word };
    enum Margin { number_margin, fault_margin, evolve_margin };

    explicit DiffEditor(QWidget* parent = nullptr);

    /// For texts that are no source.
    void setPlain();
    void setPage(DiffPage page);
    const DiffPage& page() const { return page_; }

    /// A note under a line; another editor beside this one gets an empty one of the same height.
    void setNote(int line, const QString& text, bool is_fault);
    void setFoldHidden(int index, bool hidden);
    void goTo(int line);
    /// Selects the next or previous place of `text`, round the end; its line, or -1.
    int find(const QString& text, bool forward);
    /// What is selected, without the lines that only fill.
    QString selectedSource() const;

Q_SIGNALS:
    void foldClicked(int index);
    void nextHunkRequested();
    void previousHunkRequested();

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void applyColors();
    void decorate(int line);
    void fitNumberMargin();
    void copySelectedSource() const;
    int foldAt(QPoint position) const;

    CudaHighlighting* highlighting_;
    DiffPage page_;
    int number_width_ = 1;  ///< digits
};

}  // namespace cuco::ui
