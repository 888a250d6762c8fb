#include "program.hpp"

#include "ir/verify.hpp"
#include "ops/value.hpp"
#include "ops/verify_types.hpp"

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
void add_flat(ops::Builder& builder, ir::ValueId value, std::vector<ir::ValueId>& results) {
    const ir::Type type = builder.type(value);
    if (type.kind() == ir::TypeKind::tensor) results.push_back(value);
    if (type.kind() != ir::TypeKind::tuple) return;
    for (std::size_t i = 0; i < type.members().size(); ++i) {
        ir::Op element;
        element.code = ir::OpCode::get_tuple_element;
        element.operands = {value};
        element.attr = ir::make_attr(ir::DimAttr{static_cast<std::int64_t>(i)});
        add_flat(builder, builder.append(std::move(element), std::span(&type.members()[i], 1)), results);
    }
}

ir::FunctionPtr with_flat_results(const ir::FunctionPtr& function) {
    const std::vector<ir::Type> types = function->result_types();
    if (std::all_of(types.begin(), types.end(), [](const ir::Type& t) { return t.is_tensor(); })) return function;
    ops::Builder builder(function->name());
    ops::Values parameters;
    for (const ir::Type& t : function->parameter_types()) parameters.emplace_back(builder, builder.parameter(t));
    std::vector<ir::ValueId> results;
    for (const ops::Value& v : ops::inline_call(builder, *function, parameters)) add_flat(builder, v.id(), results);
    return builder.finish(std::move(results));
}
} // namespace

ir::FunctionPtr load_program(const std::string& path) {
    const ir::FunctionPtr main = ops::parse(read_file(path), path).main();
    ir::verify(*main);
    for (const ir::Type& t : main->parameter_types())
        if (!t.is_tensor()) throw ir::NotSupported(path + ": @main takes a " + t.text(), "argument of type " + t.text());
    return with_flat_results(main);
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
            throw ir::NotSupported(path + ": not supported: " + thing, thing);
        }
    }
}

} // namespace stithy::tool
