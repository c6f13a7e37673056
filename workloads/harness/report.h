// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cuco_harness {

/// One line of the report (README.md): a JSON object, written field by field.
class ReportLine {
public:
    ReportLine() = default;  ///< an object inside a line
    explicit ReportLine(const std::string& event) { add("event", event); }

    ReportLine& add(const char* key, const std::string& value);
    ReportLine& add(const char* key, const char* value) { return add(key, std::string(value)); }
    ReportLine& add(const char* key, bool value);
    ReportLine& add(const char* key, int value) { return add(key, int64_t(value)); }
    ReportLine& add(const char* key, int64_t value);
    ReportLine& add(const char* key, double value);  ///< not finite: "nan", "inf", "-inf"
    ReportLine& add(const char* key, const std::vector<double>& values);
    ReportLine& add(const char* key, const std::vector<std::string>& values);
    ReportLine& addJson(const char* key, const std::string& json);  ///< text that is JSON already

    std::string text() const { return "{" + fields_ + "}"; }

private:
    void begin(const char* key);
    std::string fields_;
};

/// Why a run ended early; `kind` is one of README.md's.
struct Failure {
    std::string kind, message, detail;
    int rank = -1;  ///< < 0: no one rank
    int line = 0;   ///< of the candidate
    std::string shape;

    ReportLine toLine() const;
};

/// The descriptor of the report: CUCO_REPORT_FD, or standard output for a person who runs the harness by hand.
int reportDescriptor();
/// Writes the line and its end; false when the reader is gone.
bool writeReport(int descriptor, const std::string& line);
/// The same of whole lines.
bool writeText(int descriptor, const std::string& lines);

}  // namespace cuco_harness
