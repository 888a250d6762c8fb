#pragma once
/// All operations on arrays.
#include "stithy/creation.hpp"
#include "stithy/elementwise.hpp"
#include "stithy/files.hpp"
#include "stithy/printing.hpp"
#include "stithy/products.hpp"
#include "stithy/reductions.hpp"
#include "stithy/shaping.hpp"
