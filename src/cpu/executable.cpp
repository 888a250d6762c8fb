#include "cpu/executable.hpp"

#include "base/small_vector.hpp"
#include "cpu/kernel_cache.hpp"
#include "cpu/walker.hpp"
#include "runtime/allocator.hpp"
#include "runtime/float_mode.hpp"
#include "runtime/parallel.hpp"
#include "runtime/queue.hpp"

#include <algorithm>
#include <optional>

namespace stithy::cpu {

using runtime::Buffer;
using BufferRef = Executable::BufferRef;
using Source = plan::Memory::Source;
using Result = plan::ResultSource::Kind;

namespace {

/// The call's scratch memory.
class Arena {
public:
    explicit Arena(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)), block_(bytes > 0 ? runtime::allocate(bytes_) : nullptr) {}
    ~Arena() {
        if (block_) runtime::deallocate(block_, bytes_);
    }
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(block_); }

private:
    std::size_t bytes_;
    void* block_;
};

/// A result fits in the memory of an input when the sizes are equal.
bool takes(const plan::Plan& plan, std::size_t input, std::size_t result) {
    return plan.inputs[input].bytes() == plan.results[result].bytes();
}

/// Runs f; when memory is short, the error names the function and the user's line.
template <class F>
auto name_shortage(const plan::Plan& plan, const Location& location, F f) {
    try {
        return f();
    } catch (const runtime::OutOfMemory& e) {
        fail(plan.name, e.what(), location);
    }
}

} // namespace

/// What call() is made of.
struct Executable::Impl {
    /// Below it a first call runs in its caller's thread: while that planned, the executor fell asleep, and waking it costs what the wait
    /// does.
    static constexpr double first_limit_us = 2 * runtime::Queue::inline_limit_us;

    static bool runs_inline(const Executable& e) {
        if (e.called_.load(std::memory_order_relaxed)) [[likely]]
            return runtime::cpu_queue().run_inline(e.plan_.estimate_us);
        e.called_.store(true, std::memory_order_relaxed);
        return runtime::cpu_queue().run_inline(e.plan_.estimate_us, first_limit_us);
    }

    using Inputs = std::span<const BufferRef>;
    using Outputs = std::span<BufferRef>;

    /// A nest whose buffers are inputs and results, on inputs that are there: false when another way must be taken.
    static bool run_single(const Executable& e, Inputs inputs, const Reusable& reusable, Outputs outputs, const Location& location) {
        const plan::Plan& plan = e.plan_;
        for (const BufferRef& b : inputs)
            if (!b->ready()) return false;
        if (!runs_inline(e)) return false;
        const plan::Step& step = plan.steps[0];
        SmallVector<void*, 24> pointers(step.buffer_count);
        allocate_outputs(e, inputs, reusable, outputs);
        for (std::uint32_t i = 0; i < step.buffer_count; ++i) {
            const plan::Memory& m = plan.buffers[plan.step_buffers[i]];
            const BufferRef& b = m.source == Source::input    ? inputs[m.index]
                                 : m.source == Source::result ? outputs[m.index]
                                                              : e.constants_[m.index];
            pointers[i] = b->data();
        }
        runtime::Runtime runtime = runtime::make_runtime();
        const runtime::DefaultFloatMode mode;
        const std::int32_t status = run_nest(step, e.code_[0], runtime, pointers.data(), plan.params.data());
        if (status != runtime::native_ok) [[unlikely]] {
            try {
                raise_status(runtime.record, status, step, location);
            } catch (...) {
                fail_outputs(e, outputs, std::current_exception());
            }
        }
        return true;
    }

    /// Memory for results that are made: a dying input's, else fresh. Other results are left to share_outputs.
    static void allocate_outputs(const Executable& e, Inputs inputs, const Reusable& reusable, Outputs outputs) {
        for (std::size_t r = 0; r < outputs.size(); ++r) {
            if (e.plan_.result_sources[r].kind != Result::made) continue;
            const std::int32_t donor = e.donor_[r];
            if (donor >= 0 && reusable[static_cast<std::size_t>(donor)] && inputs[static_cast<std::size_t>(donor)]->exclusive()) {
                outputs[r] = inputs[static_cast<std::size_t>(donor)];
                continue;
            }
            outputs[r] = Buffer::allocate(static_cast<std::size_t>(e.plan_.results[r].bytes()));
        }
    }

    static void share_outputs(const Executable& e, Inputs inputs, Outputs outputs) {
        for (std::size_t r = 0; r < outputs.size(); ++r) {
            const plan::ResultSource& source = e.plan_.result_sources[r];
            if (source.kind == Result::input)
                outputs[r] = inputs[source.index];
            else if (source.kind == Result::constant)
                outputs[r] = e.constants_[source.index];
            else if (source.kind == Result::result)
                outputs[r] = outputs[source.index];
        }
    }

    static void fail_outputs(const Executable& e, Outputs outputs, std::exception_ptr exception) {
        const auto failure = make_ref<runtime::Failure>(std::move(exception));
        runtime::cpu_queue().note_failure(failure);
        fail_outputs(e, outputs, failure);
    }

    static void fail_outputs(const Executable& e, Outputs outputs, const Ref<runtime::Failure>& failure) {
        for (std::size_t r = 0; r < outputs.size(); ++r)
            if (e.plan_.result_sources[r].kind == Result::made || e.plan_.result_sources[r].kind == Result::result)
                outputs[r] = Buffer::make_failed(static_cast<std::size_t>(e.plan_.results[r].bytes()), failure);
    }

    /// Runs the steps on memory that is there.
    static void walk(const Executable& e, void* const* inputs, void* const* results, const Location& location) {
        const plan::Plan& plan = e.plan_;
        const Arena arena(plan.arena_bytes);
        SmallVector<void*, 64> buffers(plan.buffers.size());
        for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
            const plan::Memory& m = plan.buffers[b];
            switch (m.source) {
            case Source::input: buffers[b] = inputs[m.index]; break;
            case Source::result: buffers[b] = results[m.index]; break;
            case Source::arena: buffers[b] = arena.data() + m.offset; break;
            case Source::constant: buffers[b] = e.constants_[m.index]->data(); break;
            }
        }
        const runtime::DefaultFloatMode mode;
        std::optional<runtime::ThreadLimit> limit;
        if (e.threads_ > 0) limit.emplace(e.threads_);
        run_steps(plan, e.code_, buffers.data(), location);
    }

    static void run_here(const Executable& e, Inputs inputs, const Reusable& reusable, Outputs outputs, const Location& location) {
        SmallVector<void*, 32> in(inputs.size()), out(outputs.size());
        for (std::size_t i = 0; i < inputs.size(); ++i) in[i] = inputs[i]->data();
        allocate_outputs(e, inputs, reusable, outputs);
        for (std::size_t r = 0; r < outputs.size(); ++r) out[r] = outputs[r] ? outputs[r]->data() : nullptr;
        try {
            name_shortage(e.plan_, location, [&] { walk(e, in.data(), out.data(), location); });
        } catch (...) {
            fail_outputs(e, outputs, std::current_exception());
        }
        share_outputs(e, inputs, outputs);
    }

    class CallTask final : public runtime::Task {
    public:
        CallTask(const Executable& e, const Location& location) : executable_(&e), location_(location) {}

        void run() override {
            name_shortage(executable_->plan_, location_, [&] { compute(); });
        }

        std::vector<bool> given;

    private:
        void compute() {
            const Executable& e = *executable_;
            SmallVector<void*, 32> in(inputs.size()), out(e.plan_.results.size());
            for (std::size_t i = 0; i < inputs.size(); ++i) in[i] = inputs[i]->data();
            std::size_t k = 0;
            for (std::size_t r = 0; r < out.size(); ++r) {
                out[r] = nullptr;
                if (e.plan_.result_sources[r].kind != Result::made) continue;
                Buffer& result = *results[k++];
                const std::int32_t donor = e.donor_[r];
                if (donor >= 0 && given[static_cast<std::size_t>(donor)] && inputs[static_cast<std::size_t>(donor)]->exclusive())
                    result.adopt(std::move(inputs[static_cast<std::size_t>(donor)]));
                else
                    result.materialize();
                out[r] = result.data();
            }
            walk(e, in.data(), out.data(), location_);
            inputs.clear();
        }

        Ref<const Executable> executable_;
        Location location_;
    };

    /// Queues the call. `mine`: the inputs may be moved from where they are given away.
    static void queue(const Executable& e, Inputs inputs, BufferRef* mine, const Reusable& reusable, Outputs outputs,
                      const Location& location) {
        auto task = std::make_unique<CallTask>(e, location);
        task->given.resize(inputs.size());
        for (std::size_t r = 0; r < outputs.size(); ++r) {
            if (e.plan_.result_sources[r].kind != Result::made) continue;
            outputs[r] = Buffer::make_pending(static_cast<std::size_t>(e.plan_.results[r].bytes()));
            task->results.push_back(outputs[r]);
            task->bytes_held += outputs[r]->size();
        }
        share_outputs(e, inputs, outputs);
        task->inputs.reserve(inputs.size());
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            task->given[i] = reusable[i];
            if (mine && reusable[i])
                task->inputs.push_back(std::move(mine[i]));
            else
                task->inputs.push_back(inputs[i]);
        }
        task->bytes_held += static_cast<std::uint64_t>(e.plan_.arena_bytes);
        runtime::cpu_queue().submit(std::move(task));
    }

    static void call(const Executable& e, Inputs inputs, BufferRef* mine, const Reusable& reusable, Outputs outputs,
                     const Location& location) {
        internal_check(inputs.size() == e.plan_.inputs.size() && outputs.size() == e.plan_.results.size(),
                       "a call with a wrong number of arguments");
        if (e.single_ && run_single(e, inputs, reusable, outputs, location)) return;
        if (e.plan_.steps.empty()) {
            allocate_outputs(e, inputs, Reusable(0), outputs); // of no elements
            return share_outputs(e, inputs, outputs);
        }
        bool ready = true;
        for (const BufferRef& b : inputs) {
            if (b->failed()) {
                fail_outputs(e, outputs, b->failure());
                return share_outputs(e, inputs, outputs);
            }
            ready = ready && b->ready();
        }
        if (ready && runs_inline(e)) return run_here(e, inputs, reusable, outputs, location);
        queue(e, inputs, mine, reusable, outputs, location);
    }
};

Executable::Executable(plan::Plan plan) : plan_(std::move(plan)) {
    std::vector<const plan::Nest*> nests;
    for (const plan::Nest& n : plan_.nests) nests.push_back(&n);
    const std::vector<runtime::NativeFunction> code = native_code(nests);
    for (const plan::Step& s : plan_.steps) code_.push_back(s.kind == plan::Step::Kind::nest ? code[s.nest] : nullptr);
    for (const ir::Literal& l : plan_.constants) {
        constants_.push_back(Buffer::allocate(static_cast<std::size_t>(l.type().bytes())));
        l.copy_to(static_cast<std::byte*>(constants_.back()->data()));
    }
    donor_.assign(plan_.results.size(), -1);
    std::vector<bool> promised(plan_.inputs.size(), false);
    for (const plan::Donation& d : plan_.donations) {
        if (donor_[d.result] >= 0 || promised[d.input] || !takes(plan_, d.input, d.result)) continue;
        donor_[d.result] = static_cast<std::int32_t>(d.input);
        promised[d.input] = true;
    }
    single_ = plan_.steps.size() == 1 && plan_.steps[0].kind == plan::Step::Kind::nest && plan_.arena_bytes == 0 &&
              plan_.estimate_us >= 0 &&
              std::all_of(plan_.result_sources.begin(), plan_.result_sources.end(), [](const auto& s) { return s.kind == Result::made; });
    for (const plan::BufferId b : plan_.step_buffers) single_ = single_ && plan_.buffers[b].source != Source::arena;
}

Ref<Executable> Executable::make(const ir::FunctionPtr& function, const CompileOptions& options) {
    plan::PlanOptions plan_options;
    plan_options.optimize = options.optimize;
    auto executable = Ref<Executable>::adopt(new Executable(plan::make_plan(function, plan_options)));
    executable->threads_ = options.threads;
    if (options.threads > 0) executable->single_ = false;
    return executable;
}

void Executable::call(std::span<BufferRef> inputs, Reusable reusable, std::span<BufferRef> outputs, const Location& location) const {
    name_shortage(plan_, location, [&] { Impl::call(*this, inputs, inputs.data(), reusable, outputs, location); });
}

void Executable::call(std::span<const BufferRef> inputs, Reusable reusable, std::span<BufferRef> outputs, const Location& location) const {
    name_shortage(plan_, location, [&] { Impl::call(*this, inputs, nullptr, reusable, outputs, location); });
}

} // namespace stithy::cpu
