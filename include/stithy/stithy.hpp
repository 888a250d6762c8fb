#pragma once
/// Everything.
#include "stithy/array.hpp"
#include "stithy/ops.hpp"
#include "stithy/stats.hpp"
