#pragma once
#include <stithy/stithy.hpp>

/// The Lotka-Volterra equations, integrated by the classical Runge-Kutta method, and how likely they make the pelts that were counted.

/// What is fitted; all are positive scalars.
struct Parameters {
    stithy::Array alpha, beta;            ///< growth of the hares, and how it falls per lynx
    stithy::Array gamma, delta;           ///< decline of the lynx, and how it is made up for per hare
    stithy::Array hare, lynx;             ///< populations in the first year, in thousands of pelts
    stithy::Array sigma_hare, sigma_lynx; ///< standard deviations of the logarithms of the counts
};

/// Hares and lynx at one time (scalars), or at several (vectors).
struct Populations {
    stithy::Array hare, lynx;
};

/// The pelts of successive years, in thousands.
struct Pelts {
    stithy::Array year, hare, lynx;
};

/// Steps of the integration for each year between two counts.
inline constexpr int steps_a_year = 100;

/// Populations at the start and after each of `count` periods of `steps_each` steps; vectors of count + 1.
Populations simulate(const Parameters& p, int count, int steps_each);

/// Minus the logarithm of the likelihood, without its constant part.
stithy::Array negative_log_likelihood(const Parameters& p, const Pelts& data);

/// The same by the logarithms of the parameters, which may be any numbers: what is minimised.
stithy::Array loss(Parameters logs, Pelts data);

/// The parameters from their logarithms and back.
Parameters exp_of(const Parameters& logs);
Parameters log_of(const Parameters& p);
