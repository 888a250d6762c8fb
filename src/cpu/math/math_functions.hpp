#pragma once

/// The functions of one value that this library has of its own; the vector functions are reached by name only (cpu/math/math_table.hpp).
extern "C" {

double stithy_cbrt_f64(double x);
double stithy_rsqrt_f64(double x);
float stithy_rsqrt_f32(float x);
double stithy_logistic_f64(double x);
float stithy_logistic_f32(float x);
}
