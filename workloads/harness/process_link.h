// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome.h"
#include "rank_link.h"

namespace cuco_harness {

/// The link of a rank that is a process of its own, through a socket to the supervisor. When the supervisor is
/// gone the process ends: nobody is left to report to.
class ProcessLink : public RankLink {
public:
    ProcessLink(int socket, int rank) : socket_(socket), rank_(rank) {}

    int rank() const override { return rank_; }
    int device() const override { return rank_; }
    bool modelled() const override { return false; }
    std::optional<CandidateFunctions> load(const std::string& path, std::string& error) override;
    std::vector<std::string> gather(const std::string& mine) override;
    int64_t commonStart() override;
    int64_t nowNs() const override;
    void delay(int64_t ns) override;
    void protect(const void*, size_t, bool, const std::string&) override {}
    cudaError_t read(void* to, const void* from, size_t bytes) override
    {
        return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
    }
    void progress(const std::string& shape, const std::string& doing) override;
    void report(const ReportLine& line) override;
    void scale(double, double) override {}
    void beginTrace(const std::string&) override {}
    std::string endTrace() override { return ""; }

    void finish(const Outcome& outcome);

private:
    void send(char kind, const std::string& bytes);
    std::string answer(char kind);

    int socket_;
    int rank_;
    std::string received_;
};

}  // namespace cuco_harness
