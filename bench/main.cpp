// stithy_bench --serve: answers requests of bench/run, a line each, with a line of JSON.
//     check NAME             {"check": [...]}  makes the work ready, runs it once
//     time NAME MILLISECONDS {"us": ...}       the best time of one run within that budget
// stithy_bench --cold NAME: runs a work once, for a fresh process, and prints {"us": ..., "check": [...]}.
// stithy_bench [PATTERN]: times our side alone and prints a line a work.
#include "harness.hpp"

#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

namespace bench {
namespace {

std::vector<Work> all_works() {
    std::vector<Work> works;
    for (auto list : {call_works, elementwise_works, product_works, loop_works, program_works})
        for (Work& w : list()) works.push_back(std::move(w));
    return works;
}

std::string json(const std::vector<double>& values) {
    std::string out = "[";
    char text[40];
    for (double v : values) {
        std::snprintf(text, sizeof text, "%s%.17g", out.size() > 1 ? ", " : "", v);
        out += text;
    }
    return out + "]";
}

std::string json(double value) {
    const std::string list = json(std::vector<double>{value});
    return list.substr(1, list.size() - 2);
}

std::string json_error(const std::string& text) {
    std::string out = "{\"error\": \"";
    for (char c : text) out += c == '\n' ? ' ' : c == '"' || c == '\\' ? '\'' : c;
    return out + "\"}";
}

/// Works by name, each made ready when first asked for.
class Bench {
public:
    std::string answer(const std::string& request) {
        std::istringstream words(request);
        std::string command, name;
        double budget_ms = 100;
        words >> command >> name >> budget_ms;
        try {
            const Prepared& work = prepared(name);
            if (command == "check") return "{\"check\": " + json(work.result ? fingerprint(work.result()) : std::vector<double>{}) + "}";
            if (command == "time") return "{\"us\": " + json(best_time(work, budget_ms)) + "}";
            return json_error("no such request: " + command);
        } catch (const std::exception& e) {
            return json_error(e.what());
        }
    }

private:
    const Prepared& prepared(const std::string& name) {
        if (auto found = ready_.find(name); found != ready_.end()) return found->second;
        for (const Work& w : works_)
            if (w.name == name) return ready_.emplace(name, w.prepare()).first->second;
        throw stithy::Error("no such work: " + name);
    }

    std::vector<Work> works_ = all_works();
    std::map<std::string, Prepared> ready_;
};

int serve() {
    Bench bench;
    std::string line;
    while (std::getline(std::cin, line) && line != "quit") std::cout << bench.answer(line) << std::endl;
    return 0;
}

int run_cold(const std::string& name) {
    for (const ColdWork& work : cold_works())
        if (work.name == name) {
            const auto [us, results] = work.once();
            std::printf("{\"us\": %.3f, \"check\": %s}\n", us, json(fingerprint(results)).c_str());
            return 0;
        }
    std::fprintf(stderr, "no such work: %s\n", name.c_str());
    return 2;
}

int run_alone(const std::string& pattern) {
    Bench bench;
    for (const Work& work : all_works())
        if (work.name.find(pattern) != std::string::npos) {
            const std::string check = bench.answer("check " + work.name);
            std::printf("%-22s %s %s\n", work.name.c_str(), bench.answer("time " + work.name + " 200").c_str(), check.c_str());
            std::fflush(stdout);
        }
    return 0;
}

} // namespace
} // namespace bench

int main(int count, char** arguments) {
    const std::string first = count > 1 ? arguments[1] : "";
    try {
        if (first == "--serve") return bench::serve();
        if (first == "--cold" && count == 3) return bench::run_cold(arguments[2]);
        return bench::run_alone(first);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "stithy_bench: %s\n", e.what());
        return 2;
    }
}
