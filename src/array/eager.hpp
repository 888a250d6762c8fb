#pragma once
#include "array/key.hpp"
#include "array/trace.hpp"
#include "cpu/executable.hpp"

#include <functional>
#include <vector>

/// Operations that run at once: each is a program of one operation (with the conversions and broadcasts that it implies), kept for the next
/// time by operation, attribute and operand types. Values of numbers are no part of the key.
namespace stithy::detail {

/// A compiled operation.
struct EagerProgram final : public RefCounted {
    std::vector<std::uint64_t> key;
    std::uint64_t hash = 0;
    Ref<cpu::Executable> executable;
    ir::FunctionPtr function; ///< keeps regions alive, whose addresses stand in the key
};

/// The program of a key; on a miss `make` gives its Function. `donated`: bit i, the program may use the memory of input i.
/// The cache is process-wide, bounded (the least recently missed go first), with a small table per thread in front of it.
Ref<EagerProgram> eager_program(const Key& key, std::uint64_t donated, const std::function<ir::FunctionPtr()>& make);

/// Calls a program and makes arrays of its results. Bit i of `reusable`: input i is given away.
void run_program(const EagerProgram& program, std::span<Ref<runtime::Buffer>> inputs, std::uint64_t reusable, std::span<Array> results,
                 const Location& location);

/// As run_now, of one result.
Array run_now1(const Operation& operation);

/// Operands smaller than this many bytes are not worth a program that writes in place.
inline constexpr std::int64_t least_bytes_in_place = 16384;

} // namespace stithy::detail
