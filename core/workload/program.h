// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace cuco {

/// A pattern that is matched against single lines, in time that is polynomial in their length.
struct LinePattern {
    std::string text;
    std::regex regex;
};

/// A workload of kind "program": a whole program that is built, started by its own launcher, and prints what it
/// measured. Nothing of that is checked by the harness: its figures are self-reported.
struct ProgramSpec {
    std::string file_name;                           ///< of the candidate's source in the job's folder
    std::vector<std::string> build, run;             ///< argument vectors with placeholders
    std::map<std::string, std::string> environment;  ///< of both
    bool gpus = false;                               ///< needs the GPUs, one a rank
    LinePattern pass;                                ///< (rank): that rank found its results right
    LinePattern time;                                ///< (rank) (time): what that rank took
    double unit_us = 1;                              ///< of the printed time
    int rounds = 3;                                  ///< in each, baseline and candidate run twice: A B B A
};

/// What the placeholders {source}, {binary} and {ranks} stand for.
struct ProgramPlaces {
    std::string source, binary;
    int ranks = 0;
};

/// The arguments with their placeholders replaced, one argument each, whatever is in it.
std::vector<std::string> withPlaces(const std::vector<std::string>& argv, const ProgramPlaces& places);

}  // namespace cuco
