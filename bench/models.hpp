#pragma once
#include "model.hpp"

#include <stithy/stithy.hpp>
#include <vector>

/// The programs that both the warm and the cold works run.
namespace bench {

// Springs: 200 masses, every pair joined, 5000 explicit steps.
stithy::Array springs(stithy::Array stiffness, stithy::Array start);
stithy::Array springs_stiffness();
stithy::Array springs_start();

// 60 scalars carried through 100 steps.
stithy::Array sixty_leaves(std::vector<stithy::Array> leaves);
std::vector<stithy::Array> sixty_leaves_start();

// A Kalman filter over 500 observations.
struct Noise {
    stithy::Array log_process, log_measurement;
};
stithy::Array kalman(Noise noise, stithy::Array observations);
stithy::Array kalman_observations();
Noise kalman_noise();

// The fit of examples/lynx_hare.
Pelts lynx_hare_data();
Parameters lynx_hare_start();

} // namespace bench
