// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/diff/diff_page.h"

#include <QWidget>

#include <array>
#include <vector>

class QStackedLayout;

namespace cuco::ui {

class DiffEditor;
class HunkOverview;

/// Two sources side by side, or as one unified text: aligned, scrolled together, folded.
class DiffPanel : public QWidget {
    Q_OBJECT

public:
    explicit DiffPanel(QWidget* parent = nullptr);

    void setPlain();  ///< for texts that are no source
    /// Errors of the diff itself leave the panel empty.
    Result<void> setSides(DiffSide left, DiffSide right);
    void setUnified(bool unified);
    void setFolded(bool folded);
    Result<void> setIgnoreWhiteSpace(bool ignore);

    const LineDiff& diff() const { return diff_; }
    DiffEditor* editor(PageKind kind) const { return editors_[static_cast<std::size_t>(kind)]; }
    /// Of the page in front.
    int hunks() const;
    int currentHunk() const { return hunk_; }  ///< from 0; -1: not been to one
    void goToHunk(int direction);              ///< +1 next, -1 previous; stays at the last and the first
    bool find(const QString& text, bool forward);
    /// Brings the right side's line into sight, unfolding it; 1-based, nothing happens when there is no such line.
    void showSourceLine(int line);

Q_SIGNALS:
    void hunkChanged();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    Result<void> rebuild();
    void fill(PageKind kind);
    void annotateFaults();
    void goToLine(int line);
    void showFirstHunk();
    void scrollTogether(DiffEditor* from, DiffEditor* to);
    void setFoldHidden(PageKind kind, int fold, bool hidden);
    void reveal(PageKind kind, int line);
    void updateOverview();
    void updateSight();
    DiffEditor* front() const;
    /// The pages that show the same lines as `kind`: left and right, or the unified one alone.
    std::vector<PageKind> together(PageKind kind) const;

    DiffSide left_, right_;
    LineDiff diff_;
    std::array<DiffEditor*, 3> editors_{};
    QStackedLayout* pages_;
    HunkOverview* overview_;
    bool unified_ = false, folded_ = true, ignore_white_space_ = false, scrolling_ = false;
    PageKind side_used_last_ = PageKind::right;  ///< left or right; the one that is searched
    int hunk_ = -1;
};

}  // namespace cuco::ui
