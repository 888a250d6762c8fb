#include "trace/tape.hpp"

#include "trace/replay.hpp"

#include <algorithm>

namespace stithy::detail {

namespace {

using ir::OpCode;
using runtime::PoolVector;

class Cut {
public:
    Cut(const ir::Function& tape, std::size_t inputs)
        : tape_(tape), inputs_(inputs), linear_(tape.value_count(), 0), live_(tape.value_count(), 0), by_linear_(tape.value_count(), 0),
          by_known_(tape.value_count(), 0) {
        std::fill_n(linear_.begin(), inputs, char{1});
        for (const ir::Op& op : tape.ops())
            if (std::any_of(op.operands.begin(), op.operands.end(), [&](ir::ValueId v) { return linear_[v] != 0; })) mark(linear_, op);
        for (ir::ValueId v : tape.results()) {
            live_[v] = 1;
            if (!linear_[v]) by_linear_[v] = 1;
        }
        for (std::size_t i = tape.ops().size(); i-- > 0;) {
            const ir::Op& op = tape.ops()[i];
            if (!is_live(op)) continue;
            mark(live_, op);
            PoolVector<char>& users = is_linear(op) ? by_linear_ : by_known_;
            for (ir::ValueId v : op.operands) {
                live_[v] = 1;
                if (!linear_[v]) users[v] = 1;
            }
        }
    }

    ir::FunctionPtr make_linear(const Arrays& kept, Arrays& residuals) const {
        std::vector<ir::ValueId> passed; // the residuals, as values of the tape
        run_known(kept, passed, residuals);
        ir::Builder b("linear");
        b.reserve(tape_.value_count(), tape_.ops().size());
        PoolVector<ir::ValueId> map(tape_.value_count(), ir::no_value);
        std::vector<ir::ValueId> results;
        for (ir::ValueId v : passed) map[v] = b.parameter(tape_.type(v));
        for (std::size_t p = 0; p < inputs_; ++p) map[p] = b.parameter(tape_.type(static_cast<ir::ValueId>(p)), true);
        for (const ir::Op& op : tape_.ops())
            if (is_live(op) && (is_linear(op) || (is_nullary(op) && by_linear_[op.first_result]))) copy(b, op, map);
        for (ir::ValueId v : tape_.results()) results.push_back(map[v]);
        return b.finish(std::move(results));
    }

private:
    static bool is_stand_in(const ir::Op& op) { return op.code == OpCode::custom_call; }
    static bool is_nullary(const ir::Op& op) { return op.operands.empty() && !is_stand_in(op); }
    static void mark(PoolVector<char>& flags, const ir::Op& op) {
        for (std::uint32_t r = 0; r < op.result_count; ++r) flags[op.result(r)] = 1;
    }
    [[nodiscard]] bool is_linear(const ir::Op& op) const { return op.result_count > 0 && linear_[op.first_result]; }
    [[nodiscard]] bool is_live(const ir::Op& op) const {
        for (std::uint32_t r = 0; r < op.result_count; ++r)
            if (live_[op.result(r)]) return true;
        return false;
    }
    void copy(ir::Builder& b, const ir::Op& op, PoolVector<ir::ValueId>& map) const {
        ir::Op copied = op;
        for (ir::ValueId& v : copied.operands) v = map[v];
        const ir::ValueId first = b.append(std::move(copied), {&tape_.type(op.first_result), op.result_count});
        for (std::uint32_t r = 0; r < op.result_count; ++r) map[op.result(r)] = first + r;
    }

    /// Computes the known values that the linear program takes; stand-ins among them are there already.
    void run_known(const Arrays& kept, std::vector<ir::ValueId>& passed, Arrays& residuals) const {
        ir::Builder b("known");
        PoolVector<ir::ValueId> map(tape_.value_count(), ir::no_value);
        std::vector<ir::ValueId> results;
        Arrays arguments;
        for (const ir::Op& op : tape_.ops()) {
            if (!is_stand_in(op) || !live_[op.first_result]) continue;
            const ir::ValueId v = op.first_result;
            if (by_known_[v]) {
                map[v] = b.parameter(tape_.type(v));
                arguments.push_back(kept[v]);
            }
            if (by_linear_[v]) {
                passed.push_back(v);
                residuals.push_back(kept[v]);
            }
        }
        for (const ir::Op& op : tape_.ops()) {
            if (is_stand_in(op) || is_linear(op) || !is_live(op)) continue;
            if (is_nullary(op)) {
                if (by_known_[op.first_result]) copy(b, op, map);
                continue;
            }
            copy(b, op, map);
            for (std::uint32_t r = 0; r < op.result_count; ++r)
                if (by_linear_[op.result(r)]) {
                    passed.push_back(op.result(r));
                    results.push_back(map[op.result(r)]);
                }
        }
        if (results.empty()) return;
        for (Array& x : replay(b.finish(std::move(results)), std::move(arguments))) residuals.push_back(std::move(x));
    }

    const ir::Function& tape_;
    std::size_t inputs_;
    PoolVector<char> linear_, live_, by_linear_, by_known_; ///< by value; used by linear, by known operations
};

} // namespace

ir::FunctionPtr cut_tape(const ir::Function& tape, std::size_t inputs, const Arrays& kept, Arrays& residuals) {
    return Cut(tape, inputs).make_linear(kept, residuals);
}

} // namespace stithy::detail
