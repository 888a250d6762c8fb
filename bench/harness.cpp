#include "harness.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace bench {

double microseconds(const std::function<void()>& f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

double best_time(const Prepared& work, double budget_ms) {
    if (work.figure) {
        double best = work.figure(), spent = 0;
        while (spent < 1e3 * budget_ms) spent += microseconds([&] { best = std::min(best, work.figure()); });
        return best;
    }
    const double one = std::max(0.01, microseconds([&] { work.run(1); }));
    const auto n = static_cast<std::int64_t>(std::clamp(200 / one, 1.0, 1e5));
    double best = 1e300, spent = 0;
    for (int samples = 0; samples < 3 || spent < 1e3 * budget_ms; ++samples) {
        const double sample = microseconds([&] { work.run(n); });
        spent += sample;
        best = std::min(best, sample / static_cast<double>(n));
    }
    return best;
}

std::vector<double> fingerprint(const std::vector<stithy::Array>& results) {
    double count = 0, sum = 0, magnitude = 0, weighted = 0;
    std::int64_t place = 0;
    for (const stithy::Array& r : results)
        for (double v : r.astype(stithy::f64).to_vector<double>()) {
            count += 1;
            sum += v;
            magnitude += std::abs(v);
            weighted += v * static_cast<double>(place++ % 97 + 1) / 97;
        }
    return {count, sum, magnitude, weighted};
}

} // namespace bench
