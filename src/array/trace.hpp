#pragma once
#include "array/node.hpp"
#include "ir/function.hpp"
#include "runtime/intrusive.hpp"

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <thread>

namespace stithy::detail {

/// An operation on arrays, as every public function asks for it. Views into the caller's memory: lives as long as the call.
struct Operation {
    ir::OpCode code{};
    std::span<const Array> operands;
    ir::AttrPtr attr;
    std::span<const ir::FunctionPtr> regions;
    /// Result types where operands and attributes leave them open, as ops::emit takes them.
    std::span<const ir::Type> declared;
    Location location;
    ir::Effect effect = ir::Effect::pure;
    /// Bit i: the caller gives up operands[i].
    std::uint64_t dying = 0;
};

/// One run of a user's function under a transformation, which collects its operations. Counted: values keep their trace's object alive
/// after its end, so that a value that escaped can say so.
class Trace : public RefCounted {
public:
    enum class Kind : std::uint8_t {
        staging,   ///< values are symbols
        recording, ///< each value also holds the value one level below
    };

    /// `name` is what the user called: "jit", "grad", "fori_loop", ...
    Trace(Kind kind, std::string name);
    virtual ~Trace() = default;

    [[nodiscard]] Kind kind() const { return kind_; }
    [[nodiscard]] bool is_staging() const { return kind_ == Kind::staging; }
    [[nodiscard]] const std::string& name() const { return name_; }
    /// Place on the stack of traces, 1 for the outermost; set when it is pushed.
    [[nodiscard]] int level() const { return level_; }
    [[nodiscard]] std::thread::id thread() const { return thread_; }
    [[nodiscard]] bool alive() const { return alive_.load(std::memory_order_acquire); }

    /// Collects one operation. Operands are plain arrays, values of lower traces, or values of this trace; all checked (alive, this
    /// thread). Results are arrays of this trace, or of a lower one where the result does not depend on this trace.
    virtual Arrays bind(const Operation& operation) = 0;

private:
    friend class TraceScope;
    Kind kind_;
    int level_ = 0;
    std::string name_;
    std::thread::id thread_;
    std::atomic<bool> alive_{false};
};

/// While it lives, the trace is the innermost of this thread; then it has ended, for good. Scopes nest strictly.
class TraceScope {
public:
    explicit TraceScope(Trace& trace);
    ~TraceScope();
    TraceScope(const TraceScope&) = delete;
    TraceScope& operator=(const TraceScope&) = delete;

private:
    Ref<Trace> trace_;
};

/// While it lives, this thread's stack of traces is cut off at `level` (0: empty): for whoever runs code on behalf of a lower trace, or of
/// none.
class TraceStackLimit {
public:
    explicit TraceStackLimit(int level);
    ~TraceStackLimit();
    TraceStackLimit(const TraceStackLimit&) = delete;
    TraceStackLimit& operator=(const TraceStackLimit&) = delete;

private:
    std::vector<Trace*> hidden_;
};

/// This thread's traces, outermost first.
std::span<Trace* const> trace_stack();
/// The innermost staging trace of this thread; null when there is none.
Trace* innermost_staging();
/// The constant operation of a splat array, in the innermost staging trace.
Array stage_splat(const Array& splat, const Location& location);

} // namespace stithy::detail
