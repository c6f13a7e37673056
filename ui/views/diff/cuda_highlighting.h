// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/diff/qscintilla.h"

namespace cuco::ui {

struct Colors;

/// C++ with CUDA's qualifiers and built-in variables and the candidate contract's macros, in the theme's colours.
class CudaHighlighting : public QsciLexerCPP {
    Q_OBJECT

public:
    explicit CudaHighlighting(QObject* parent = nullptr);

    const char* keywords(int set) const override;
    void setColors(const Colors& colors);
};

/// The theme's colours for the text, the selection, the caret and the margins of an editor with that highlighting.
void applyCodeColors(QsciScintilla& editor, CudaHighlighting& highlighting);

}  // namespace cuco::ui
