#pragma once
#include "base/error.hpp"
#include "ir/function.hpp"
#include "plan/plan.hpp"
#include "runtime/buffer.hpp"
#include "runtime/intrusive.hpp"
#include "runtime/native.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace stithy::cpu {

struct CompileOptions {
    int threads = 0;           ///< most threads that a call uses; 0: no limit of its own
    std::vector<bool> donated; ///< inputs that calls usually give away (a hint; what may be reused is decided by each call)
    bool optimize = true;      ///< run the passes first
};

/// A set of inputs: bit i of word i / 64; missing words are 0.
class Reusable {
public:
    Reusable(std::uint64_t bits) : first_(bits) {}
    Reusable(std::span<const std::uint64_t> words) : first_(words.empty() ? 0 : words[0]), words_(words) {}
    [[nodiscard]] bool operator[](std::size_t i) const {
        if (i < 64) return (first_ >> i & 1) != 0;
        return i / 64 < words_.size() && (words_[i / 64] >> (i % 64) & 1) != 0;
    }
    [[nodiscard]] bool none() const { return first_ == 0 && words_.size() <= 1; }

private:
    std::uint64_t first_;
    std::span<const std::uint64_t> words_;
};

/// A function made ready to run on the CPU: a plan and its machine code. Immutable; calls may come from several threads.
class Executable final : public RefCounted {
public:
    using BufferRef = Ref<runtime::Buffer>;

    /// Plans and compiles. Throws Error for what is not supported.
    static Ref<Executable> make(const ir::FunctionPtr& function, const CompileOptions& options = {});

    /// Computes outputs[r] (set to new handles) from inputs. Bit i of `reusable` says that the caller gives its handle of input i away: it
    /// may be moved from, and its memory serves a result when nobody else holds it. Runs at once when that is quick and the inputs are
    /// ready, else queues: outputs are then pending. Throws Error before any input is moved from; failures of the computation itself live
    /// in the outputs.
    void call(std::span<BufferRef> inputs, Reusable reusable, std::span<BufferRef> outputs, const Location& location = Location()) const;
    /// The same; the caller keeps its handles, and an input is reused when the caller's handle is the only one and marked.
    void call(std::span<const BufferRef> inputs, Reusable reusable, std::span<BufferRef> outputs,
              const Location& location = Location()) const;

    [[nodiscard]] const std::vector<ir::Type>& input_types() const { return plan_.inputs; }
    [[nodiscard]] const std::vector<ir::Type>& result_types() const { return plan_.results; }
    [[nodiscard]] const plan::Plan& plan() const { return plan_; }

private:
    struct Impl;
    explicit Executable(plan::Plan plan);

    plan::Plan plan_;
    std::vector<runtime::NativeFunction> code_; ///< one per step; null for copies
    std::vector<BufferRef> constants_;
    std::vector<std::int32_t> donor_; ///< input that result r may take over, or -1
    int threads_ = 0;
    mutable std::atomic<bool> called_{false};
    bool single_ = false; ///< one nest whose buffers are inputs and results: the quick way
};

} // namespace stithy::cpu
