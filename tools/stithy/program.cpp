#include "program.hpp"

#include "ir/verify.hpp"
#include "ops/verify_types.hpp"
#include "pass/inline_calls.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <unordered_set>

namespace stithy::tool {

std::string read_file(const std::string& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) throw Error(path + ": is a folder, expected a file");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Error(path + ": cannot be read");
    file.seekg(0, std::ios::end);
    std::string text(static_cast<std::size_t>(std::max<std::streamoff>(0, file.tellg())), '\0');
    file.seekg(0);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file) throw Error(path + ": cannot be read");
    return text;
}

namespace {
bool has_tuples(const ir::Function& function) {
    std::unordered_set<const ir::Function*> seen;
    std::vector<const ir::Function*> waiting{&function};
    while (!waiting.empty()) {
        const ir::Function& f = *waiting.back();
        waiting.pop_back();
        if (!seen.insert(&f).second) continue;
        for (ir::ValueId v = 0; v < f.value_count(); ++v)
            if (f.type(v).kind() == ir::TypeKind::tuple || f.type(v).kind() == ir::TypeKind::token) return true;
        for (const ir::Op& op : f.ops())
            for (const ir::FunctionPtr& region : op.regions) waiting.push_back(region.get());
    }
    return false;
}

/// Calls inlined, tuples taken apart: those of the function itself, not of loops' regions. Tokens among the results are dropped.
class WithoutTuples {
public:
    explicit WithoutTuples(const ir::Function& function) : f_(function), builder_(function.name()) {}

    ir::FunctionPtr run() {
        for (std::size_t i = 0; i < f_.parameter_count(); ++i)
            values_.push_back({builder_.parameter(f_.type(static_cast<ir::ValueId>(i))), {}});
        for (const ir::Op& op : f_.ops()) step(op);
        std::vector<ir::ValueId> results;
        for (ir::ValueId v : f_.results()) add_results(values_[v], results);
        return builder_.finish(std::move(results));
    }

private:
    /// A value, or the members of a tuple.
    struct Piece {
        ir::ValueId value = ir::no_value;
        std::vector<Piece> members;
    };

    void step(const ir::Op& op) {
        if (op.code == ir::OpCode::tuple) {
            Piece tuple;
            tuple.members.reserve(op.operands.size());
            for (ir::ValueId v : op.operands) tuple.members.push_back(values_[v]);
            values_.push_back(std::move(tuple));
            return;
        }
        if (op.code == ir::OpCode::get_tuple_element && values_[op.operands[0]].value == ir::no_value) {
            Piece member = values_[op.operands[0]].members.at(static_cast<std::size_t>(op.get<ir::DimAttr>().dim));
            values_.push_back(std::move(member));
            return;
        }
        ir::Op copy = op;
        for (ir::ValueId& v : copy.operands) {
            if (values_[v].value == ir::no_value)
                throw ir::NotSupported("not supported: a tuple as operand of " + std::string(ir::name(op.code)), "tuples as operands");
            v = values_[v].value;
        }
        std::vector<ir::Type> types;
        for (std::uint32_t r = 0; r < op.result_count; ++r) types.push_back(f_.type(op.result(r)));
        const ir::ValueId first = builder_.append(std::move(copy), types);
        for (std::uint32_t r = 0; r < op.result_count; ++r) values_.push_back({first + r, {}});
    }

    void add_results(const Piece& piece, std::vector<ir::ValueId>& results) const {
        for (const Piece& member : piece.members) add_results(member, results);
        if (piece.value != ir::no_value && builder_.type(piece.value).is_tensor()) results.push_back(piece.value);
    }

    const ir::Function& f_;
    ir::Builder builder_;
    std::vector<Piece> values_;
};
} // namespace

ir::FunctionPtr load_program(const std::string& path) {
    const std::string text = read_file(path);
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) throw Error(path + ": the file is empty, expected StableHLO text");
    ir::FunctionPtr main;
    try {
        main = ops::parse(text, path).main();
    } catch (const ir::NotSupported&) {
        throw;
    } catch (const Error& e) { // a fault of the whole text has no place in it
        throw Error(std::string_view(e.what()).starts_with(path) ? e.what() : path + ": " + e.what());
    }
    ir::verify(*main);
    for (const ir::Type& t : main->parameter_types())
        if (!t.is_tensor()) throw ir::NotSupported(path + ": @main takes a " + t.text(), "argument of type " + t.text());
    return has_tuples(*main) ? WithoutTuples(*pass::inline_calls(main)).run() : main;
}

void refuse_custom_calls(const ir::Function& function, const std::string& path) {
    std::unordered_set<const ir::Function*> seen;
    std::vector<const ir::Function*> waiting{&function};
    while (!waiting.empty()) {
        const ir::Function& f = *waiting.back();
        waiting.pop_back();
        if (!seen.insert(&f).second) continue;
        for (const ir::Op& op : f.ops()) {
            for (const ir::FunctionPtr& region : op.regions) waiting.push_back(region.get());
            if (op.code != ir::OpCode::custom_call) continue;
            const std::string thing = "custom_call @" + op.get<ir::CustomCallAttr>().target;
            const bool checks = thing.starts_with("custom_call @check.");
            throw ir::NotSupported(
                path + ": not supported: " + thing + (checks ? "; `stithy check` runs programs that check themselves" : ""), thing);
        }
    }
}

} // namespace stithy::tool
