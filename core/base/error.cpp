// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/error.h"

namespace cuco {

std::string describe(const Error& error)
{
    std::string line = error.what;
    const bool has_full_stop = !line.empty() && line.back() == '.';
    if (!error.where.empty()) {
        if (has_full_stop) {
            line.pop_back();
        }
        line += " (" + error.where + ").";
    } else if (!has_full_stop) {
        line += '.';
    }
    if (!error.remedy.empty()) {
        line += ' ' + error.remedy;
    }
    for (char& character : line) {
        if (character == '\n' || character == '\r') {
            character = ' ';
        }
    }
    return line;
}

}  // namespace cuco
