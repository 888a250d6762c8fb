#pragma once
// A struct with a base class: no tree of arrays.
#include <stithy/stithy.hpp>

struct Base {
    stithy::Array weight;
};
struct Derived : Base {
    stithy::Array bias;
};
