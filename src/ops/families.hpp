#pragma once
#include "ops/rules.hpp"

/// Each family of operations keeps its rows in its own file and gives them out here; rules.cpp joins them to the table.
/// Of an operation that is not in the family: an empty Rule.
namespace stithy::ops {

Rule find_elementwise(OpCode code);  // elementwise.cpp
Rule find_constant(OpCode code);     // constant.cpp: constant, iota
Rule find_reshape(OpCode code);      // reshape.cpp: broadcast_in_dim, reshape, transpose, reverse, bitcast_convert
Rule find_slice(OpCode code);        // slice.cpp: slice, concatenate, pad
Rule find_token(OpCode code);        // token.cpp: optimization_barrier, create_token, after_all
Rule find_dynamic(OpCode code);      // dynamic.cpp: dynamic_slice, dynamic_update_slice
Rule find_gather(OpCode code);       // gather.cpp
Rule find_scatter(OpCode code);      // scatter.cpp
Rule find_reduce(OpCode code);       // reduce.cpp
Rule find_dot(OpCode code);          // dot.cpp
Rule find_control(OpCode code);      // control.cpp: while, case, if, call, loop, tuple, get_tuple_element, custom_call
Rule find_linear_types(OpCode code); // linear_types.cpp: accumulators and stacks

} // namespace stithy::ops
