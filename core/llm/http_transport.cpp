// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/http_transport.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <new>

namespace cuco {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;

void initialiseCurl()
{
    static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (once != CURLE_OK)
        throw std::bad_alloc();
}

int cleanUpMulti(void* multi)
{
    return curl_multi_cleanup(multi);
}

struct Transfer {
    HttpAnswer answer;
    const HttpLimits* limits = nullptr;
    const HttpReceiver* receive = nullptr;
    Clock::time_point start = Clock::now(), last_byte;
    std::uint64_t header_bytes = 0;
    std::exception_ptr thrown;
};

std::string lower(std::string_view text)
{
    std::string out(text);
    std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view blanks = " \t\r\n";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    return text.substr(0, text.find_last_not_of(blanks) + 1);
}

// No exception may pass through curl: the callbacks keep it and end the
// transfer.

std::size_t takeHeader(char* data, std::size_t size, std::size_t count, void* user)
{
    auto& transfer = *static_cast<Transfer*>(user);
    const std::string_view line(data, size * count);
    try {
        transfer.header_bytes += line.size();
        if (transfer.header_bytes > transfer.limits->header_bytes) {
            transfer.answer.fault = HttpFault::too_large;
            return 0;
        }
        if (line.starts_with("HTTP/")) {  // a proxy's or an interim answer may have come before
            transfer.answer.headers.clear();
            const std::size_t blank = line.find(' ');
            if (blank != std::string_view::npos)
                transfer.answer.status = std::atoi(std::string(line.substr(blank, 4)).c_str());
        } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
            transfer.answer.headers[lower(line.substr(0, colon))] = trimmed(line.substr(colon + 1));
        }
    } catch (...) {
        transfer.thrown = std::current_exception();
        return 0;
    }
    return line.size();
}

std::size_t takeBody(char* data, std::size_t size, std::size_t count, void* user)
{
    auto& transfer = *static_cast<Transfer*>(user);
    HttpAnswer& answer = transfer.answer;
    const std::string_view piece(data, size * count);
    try {
        transfer.last_byte = Clock::now();
        if (answer.first_byte == microseconds(0))
            answer.first_byte = duration_cast<microseconds>(transfer.last_byte - transfer.start);
        if (answer.body.size() + piece.size() > transfer.limits->response_bytes) {
            answer.fault = HttpFault::too_large;
            return CURL_WRITEFUNC_ERROR;
        }
        answer.body += piece;
        if (answer.status == 200 && *transfer.receive && !(*transfer.receive)(piece)) {
            answer.fault = HttpFault::receiver;
            return CURL_WRITEFUNC_ERROR;
        }
    } catch (...) {
        transfer.thrown = std::current_exception();
        return CURL_WRITEFUNC_ERROR;
    }
    return piece.size();
}

/// Why a key may not go there; empty when it may.
std::string refusal(const HttpRequest& request)
{
    const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), curl_url_cleanup);
    const auto part = [&](CURLUPart which) -> std::string {
        char* text = nullptr;
        if (curl_url_get(url.get(), which, &text, 0) != CURLUE_OK)
            return {};
        std::string copy = text;
        curl_free(text);
        return copy;
    };
    if (curl_url_set(url.get(), CURLUPART_URL, request.url.c_str(), 0) != CURLUE_OK)
        return "It is no URL.";
    const std::string scheme = part(CURLUPART_SCHEME), host = part(CURLUPART_HOST);
    if (scheme != "https" && scheme != "http")
        return "It must begin with https:// or http://.";
    if (!part(CURLUPART_USER).empty() || !part(CURLUPART_PASSWORD).empty())
        return "It must not contain a user name or a password.";
    if (scheme == "http" && !request.key.empty() && host != "localhost" && host != "127.0.0.1" && host != "[::1]")
        return "A key goes over plain http to this machine only; use https.";
    if (!request.key.fitsHeader() ||
        !std::ranges::all_of(request.secrets, [](const Secret& secret) { return secret.fitsHeader(); }))
        return "The key has characters that no key has, such as a line break in "
               "the middle.";
    return {};
}

HttpFault faultOf(CURLcode code, const HttpAnswer& answer)
{
    switch (code) {
        case CURLE_OK:
            return HttpFault::none;
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_ISSUER_ERROR:
        case CURLE_SSL_CERTPROBLEM:
            return HttpFault::tls;
        default:
            return answer.sent ? HttpFault::interrupted : HttpFault::unreachable;
    }
}

}  // namespace

std::string HttpRequest::redact(std::string_view text) const
{
    std::string kept = key.redact(text);
    for (const Secret& secret : secrets)
        kept = secret.redact(kept);
    return kept;
}

HttpTransport::HttpTransport(HttpLimits limits) : limits_(std::move(limits))
{
    initialiseCurl();
}

HttpTransport::~HttpTransport() = default;

HttpTransport::Multi HttpTransport::takeIdle()
{
    {
        const std::scoped_lock lock(mutex_);
        if (!idle_.empty()) {
            Multi multi = std::move(idle_.back());
            idle_.pop_back();
            return multi;
        }
    }
    Multi multi(curl_multi_init(), cleanUpMulti);
    if (!multi)
        throw std::bad_alloc();
    return multi;
}

HttpAnswer HttpTransport::post(const HttpRequest& request, const HttpReceiver& receive, const std::stop_token& stop,
                               std::optional<Clock::time_point> deadline)
{
    Transfer transfer;
    transfer.limits = &limits_;
    transfer.receive = &receive;
    HttpAnswer& answer = transfer.answer;
    if (const std::string why = refusal(request); !why.empty()) {
        answer.fault = HttpFault::refused_url;
        answer.fault_text = why;
        return answer;
    }
    const Clock::time_point end = deadline.value_or(transfer.start + limits_.total);

    curl_slist* list = nullptr;
    const auto add = [&list](const std::string& line) {
        curl_slist* const longer = curl_slist_append(list, line.c_str());
        if (longer == nullptr)
            throw std::bad_alloc();
        list = longer;
    };
    const auto free_list = [](curl_slist** owned) { curl_slist_free_all(*owned); };
    const std::unique_ptr<curl_slist*, decltype(free_list)> list_owner(&list, free_list);
    add("Expect:");  // no round trip before a large body
    for (const auto& [name, value] : request.headers)
        add(name + ": " + value);
    if (!request.key.empty() && !request.key_header.empty())
        add(request.key_header + ": " + request.key_prefix + request.key.reveal());

    Multi multi = takeIdle();
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy(curl_easy_init(), curl_easy_cleanup);
    if (!easy)
        throw std::bad_alloc();
    std::array<char, CURL_ERROR_SIZE> message{};
    bool set = true;
    const auto option = [&](CURLoption name, auto value) {
        set = set && curl_easy_setopt(easy.get(), name, value) == CURLE_OK;
    };
    option(CURLOPT_URL, request.url.c_str());
    option(CURLOPT_PROTOCOLS_STR, "http,https");
    option(CURLOPT_POST, 1L);
    option(CURLOPT_POSTFIELDS, request.body.data());
    option(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    option(CURLOPT_HTTPHEADER, list);
    option(CURLOPT_USERAGENT, "cuco");
    option(CURLOPT_FOLLOWLOCATION, 0L);
    option(CURLOPT_SSL_VERIFYPEER, 1L);
    option(CURLOPT_SSL_VERIFYHOST, 2L);
    option(CURLOPT_NOSIGNAL, 1L);
    option(CURLOPT_QUICK_EXIT,
           1L);  // a name server that does not answer must not hold up a cancel
    option(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits_.connect.count()));
    option(CURLOPT_ERRORBUFFER, message.data());
    option(CURLOPT_HEADERFUNCTION, takeHeader);
    option(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
    option(CURLOPT_WRITEFUNCTION, takeBody);
    option(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
    if (!limits_.ca_file.empty())
        option(CURLOPT_CAINFO, limits_.ca_file.c_str());
    if (!set || curl_multi_add_handle(multi.get(), easy.get()) != CURLM_OK) {
        answer.fault = HttpFault::unreachable;
        answer.fault_text = "libcurl did not take the request.";
        return answer;
    }

    std::optional<CURLcode> code;
    {
        const std::stop_callback wake(stop, [&multi] { curl_multi_wakeup(multi.get()); });
        while (true) {
            int running = 0, left = 0;
            CURLMcode state = curl_multi_perform(multi.get(), &running);
            if (const CURLMsg* done = curl_multi_info_read(multi.get(), &left); done && done->msg == CURLMSG_DONE) {
                code = done->data.result;
                break;
            }
            if (stop.stop_requested()) {
                answer.fault = HttpFault::cancelled;
                break;
            }
            const bool may_stall = request.streamed && limits_.stall.count() > 0 && answer.first_byte.count() > 0;
            const Clock::time_point give_up = may_stall ? std::min(end, transfer.last_byte + limits_.stall) : end;
            const auto remaining = duration_cast<milliseconds>(give_up - Clock::now()).count();
            if (remaining <= 0) {
                answer.fault = give_up < end ? HttpFault::stalled : HttpFault::deadline;
                break;
            }
            if (state == CURLM_OK)
                state = curl_multi_poll(multi.get(), nullptr, 0, static_cast<int>(std::min<long>(remaining, 1000)),
                                        nullptr);
            if (state != CURLM_OK) {
                code = CURLE_FAILED_INIT;
                break;
            }
        }
    }
    long request_bytes = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_REQUEST_SIZE, &request_bytes);
    curl_multi_remove_handle(multi.get(), easy.get());
    answer.sent = request_bytes > 0;
    answer.total = duration_cast<microseconds>(Clock::now() - transfer.start);
    if (transfer.thrown)
        std::rethrow_exception(transfer.thrown);
    if (answer.fault == HttpFault::none && code) {
        answer.fault = faultOf(*code, answer);
        if (*code != CURLE_OK)
            answer.fault_text = request.redact(message[0] != '\0' ? message.data() : curl_easy_strerror(*code));
    }
    if (answer.fault == HttpFault::none) {
        const std::scoped_lock lock(mutex_);
        idle_.push_back(std::move(multi));
    }
    return answer;
}

}  // namespace cuco
