// Fits the Lotka-Volterra equations to 21 years of hare and lynx pelts by maximum likelihood: the gradient goes through 2000 Runge-Kutta
// steps.
//   example_lynx_hare [DATA.csv [PICTURE.svg]]
#include "lbfgs.hpp"
#include "model.hpp"
#include "plot.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace st = stithy;
using st::Array;

namespace {

Pelts read_pelts(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw st::Error(path + ": cannot be opened");
    std::vector<double> year, hare, lynx;
    std::string line;
    std::getline(file, line); // the names of the columns
    while (std::getline(file, line)) {
        std::replace(line.begin(), line.end(), ',', ' ');
        double y = 0, h = 0, l = 0;
        if (!(std::istringstream(line) >> y >> h >> l)) throw st::Error(path + ": not three numbers: " + line);
        year.push_back(y), hare.push_back(h), lynx.push_back(l);
    }
    if (year.size() < 2) throw st::Error(path + ": fewer than two years");
    return {st::array(year), st::array(hare), st::array(lynx)};
}

Parameters starting_point() { return {Array(0.5), Array(0.02), Array(0.8), Array(0.02), Array(30.0), Array(4.0), Array(0.3), Array(0.3)}; }

template <class F>
double microseconds(F f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

template <class F>
double best_microseconds(F f, int runs = 200) {
    double best = microseconds(f);
    for (int i = 1; i < runs; ++i) best = std::min(best, microseconds(f));
    return best;
}

void print_costs(const Parameters& logs, const Pelts& data) {
    // Fresh functions, so that the first calls show what tracing, differentiating and compiling (or finding compiled) cost.
    auto value = st::jit(loss);
    auto both = st::jit(st::value_and_grad(loss));
    const auto before = st::stats();
    const double first_value = microseconds([&] { value(logs, data).wait(); });
    const double first_both = microseconds([&] { both(logs, data).first.wait(); });
    const auto after = st::stats();
    std::printf("first calls, which trace, differentiate and compile: value %.1f ms, gradient with value %.1f ms (compiled %llu, found on "
                "disk %llu)\n",
                first_value / 1e3, first_both / 1e3, static_cast<unsigned long long>(after.kernels_compiled - before.kernels_compiled),
                static_cast<unsigned long long>(after.disk_cache_hits - before.disk_cache_hits));
    const double value_us = best_microseconds([&] { value(logs, data).wait(); });
    const double both_us = best_microseconds([&] { both(logs, data).first.wait(); });
    std::printf(
        "calls after that:                                    value %.1f us, gradient with value %.1f us (2000 Runge-Kutta steps)\n\n",
        value_us, both_us);
}

plot::Plot picture(const Parameters& best, const Pelts& data) {
    const int years = static_cast<int>(data.year.size()) - 1, a_year = 10;
    const Populations path = st::jit([=](Parameters p) { return simulate(p, years * a_year, steps_a_year / a_year); })(best);
    return {"Pelts of hare and lynx in thousands, and the Lotka-Volterra equations fitted to them",
            data.year.to_vector<double>(),
            {{"hare", 'O', '.', "#3366bb", data.hare.to_vector<double>(), path.hare.to_vector<double>()},
             {"lynx", '#', ':', "#cc5522", data.lynx.to_vector<double>(), path.lynx.to_vector<double>()}}};
}

void print_fit(const Parameters& best, const Pelts& data) {
    const int years = static_cast<int>(data.year.size()) - 1;
    const Populations fit = st::jit([=](Parameters p) { return simulate(p, years, steps_a_year); })(best);
    const auto year = data.year.to_vector<double>(), hare = data.hare.to_vector<double>(), lynx = data.lynx.to_vector<double>();
    const auto fit_hare = fit.hare.to_vector<double>(), fit_lynx = fit.lynx.to_vector<double>();
    std::printf("\nyear   hare  fitted   lynx  fitted\n");
    for (std::size_t i = 0; i < year.size(); ++i)
        std::printf("%4.0f %6.1f %7.1f %6.1f %7.1f\n", year[i], hare[i], fit_hare[i], lynx[i], fit_lynx[i]);
}

/// Prints the parameters beside the known optimum; true when all agree to four digits.
bool lands_on_optimum(const Parameters& best, double value) {
    struct Row {
        const char* name;
        double found, known;
        int digits; ///< after the point, four significant ones
    };
    auto number = [](const Array& x) { return x.item<double>(); };
    const Row rows[] = {{"alpha", number(best.alpha), 0.5400, 4},
                        {"beta", number(best.beta), 0.02716, 5},
                        {"gamma", number(best.gamma), 0.7966, 4},
                        {"delta", number(best.delta), 0.02370, 5},
                        {"hare", number(best.hare), 34.60, 2},
                        {"lynx", number(best.lynx), 5.844, 3},
                        {"sigma_hare", number(best.sigma_hare), 0.2184, 4},
                        {"sigma_lynx", number(best.sigma_lynx), 0.2201, 4},
                        {"value", value, -42.7406, 4}};
    bool all_agree = true;
    std::printf("\nparameter        found      known\n");
    for (const Row& r : rows) {
        // The known numbers are rounded to their last digit, hence half of it; a tenth for the end of the search.
        const bool agrees = std::abs(r.found - r.known) <= 0.6 * std::pow(10.0, -r.digits);
        all_agree = all_agree && agrees;
        std::printf("%-10s %11.*f %10.*f%s\n", r.name, r.digits + 1, r.found, r.digits, r.known, agrees ? "" : "  differs");
    }
    return all_agree;
}

int run(int count, char** arguments) {
    const std::string csv = count > 1 ? arguments[1] : STITHY_EXAMPLE_DATA "/lynx_hare.csv";
    const std::filesystem::path svg = count > 2
                                          ? std::filesystem::path(arguments[2])
                                          : std::filesystem::absolute(arguments[0]).lexically_normal().parent_path() / "lynx_hare.svg";
    const Pelts data = read_pelts(csv);
    const Parameters start = log_of(starting_point());
    print_costs(start, data);

    auto both = st::jit(st::value_and_grad(loss));
    std::printf("iteration  evaluations         value   largest gradient   step\n");
    auto report = [](const lbfgs::Progress& p) {
        std::printf("%9d  %11d  %12.6f  %17.3e  %5.3g\n", p.iteration, p.evaluations, p.value, p.largest_gradient, p.step);
        std::fflush(stdout);
    };
    const auto result = lbfgs::minimise([&](const Parameters& logs) { return both(logs, data); }, start, report);

    const Parameters best = exp_of(result.at);
    print_fit(best, data);
    const plot::Plot drawing = picture(best, data);
    std::printf("\n%s\n", plot::in_terminal(drawing).c_str());
    std::ofstream file(svg);
    file << plot::as_svg(drawing);
    file.close();
    if (!file) throw st::Error(svg.string() + ": cannot be written");
    std::printf("the same as a picture: %s\n", svg.c_str());

    const bool landed = lands_on_optimum(best, result.last.value);
    std::printf("%s\n", !result.converged ? "the minimisation did not converge"
                        : landed          ? "on the known optimum"
                                          : "NOT on the known optimum");
    return result.converged && landed ? 0 : 1;
}

} // namespace

int main(int count, char** arguments) {
    try {
        return run(count, arguments);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "lynx_hare: %s\n", e.what());
        return 2;
    }
}
