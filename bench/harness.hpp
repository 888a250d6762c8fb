#pragma once
#include <cstdint>
#include <functional>
#include <stithy/stithy.hpp>
#include <string>
#include <utility>
#include <vector>

/// Our side of the benchmarks: works by name, timed when bench/run asks over a pipe.
namespace bench {

/// A work made ready: inputs in memory, functions jitted.
struct Prepared {
    /// Does the work n times and returns when the last is done.
    std::function<void(std::int64_t n)> run;
    /// What the work computes, compared with the peers' results. Empty: nothing to compare.
    std::function<std::vector<stithy::Array>()> result;
    /// For works that are not one time of one call: gives the figure itself (microseconds, or bytes). Then `run` stays empty.
    std::function<double()> figure;
};

struct Work {
    std::string name;
    std::function<Prepared()> prepare;
};

/// A work that runs in a fresh process: does it once and gives microseconds and the result.
struct ColdWork {
    std::string name;
    std::function<std::pair<double, std::vector<stithy::Array>>()> once;
};

// The works, one list a file.
std::vector<Work> call_works();
std::vector<Work> elementwise_works();
std::vector<Work> product_works();
std::vector<Work> loop_works();
std::vector<Work> program_works();
std::vector<ColdWork> cold_works();

/// Microseconds that f takes.
double microseconds(const std::function<void()>& f);

/// The least time of one run among samples of at least 200 us each, for `budget_ms`.
double best_time(const Prepared& work, double budget_ms);

/// Number of elements, sum, sum of magnitudes and a weighted sum of all results: what sides compare.
std::vector<double> fingerprint(const std::vector<stithy::Array>& results);

/// A jitted function called again and again on the same arguments, each call waited for.
template <class F, class... A>
Prepared jitted(F f, A... args) {
    auto compiled = stithy::jit(std::move(f));
    return {[=](std::int64_t n) {
                for (std::int64_t i = 0; i < n; ++i) compiled(args...).wait();
            },
            [=] { return std::vector<stithy::Array>{compiled(args...)}; },
            {}};
}

} // namespace bench
