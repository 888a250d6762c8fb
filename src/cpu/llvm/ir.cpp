#include "cpu/llvm/ir.hpp"

#include <cstring>

namespace stithy::cpu {

Ir::Ir(LLVMContextRef c, LLVMModuleRef m, const TargetOptions& options)
    : context(c), module(m), builder(LLVMCreateBuilderInContext(c)), vector_bytes(options.vector_bytes),
      pointer_type(LLVMPointerTypeInContext(c, 0)), i1_type(LLVMInt1TypeInContext(c)), i8_type(LLVMInt8TypeInContext(c)),
      i32_type(LLVMInt32TypeInContext(c)), i64_type(LLVMInt64TypeInContext(c)) {}

Ir::~Ir() { LLVMDisposeBuilder(builder); }

LLVMTypeRef Ir::scalar_type(DType dtype) const {
    if (dtype == f32) return LLVMFloatTypeInContext(context);
    if (dtype == f64) return LLVMDoubleTypeInContext(context);
    return LLVMIntTypeInContext(context, static_cast<unsigned>(dtype.bits()));
}

LLVMTypeRef Ir::widen(LLVMTypeRef element, int lanes) {
    return lanes == 1 ? element : LLVMVectorType(element, static_cast<unsigned>(lanes));
}

int Ir::lanes_of(LLVMTypeRef type) { return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? static_cast<int>(LLVMGetVectorSize(type)) : 1; }

namespace {
LLVMValueRef repeated(LLVMValueRef constant, int lanes) {
    if (lanes == 1) return constant;
    std::vector<LLVMValueRef> all(static_cast<std::size_t>(lanes), constant);
    return LLVMConstVector(all.data(), static_cast<unsigned>(lanes));
}
LLVMTypeRef element_of(LLVMTypeRef type) { return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type; }
} // namespace

LLVMValueRef Ir::integer(LLVMTypeRef type, std::int64_t value) {
    return repeated(LLVMConstInt(element_of(type), static_cast<unsigned long long>(value), 1), lanes_of(type));
}

LLVMValueRef Ir::real(LLVMTypeRef type, double value) { return repeated(LLVMConstReal(element_of(type), value), lanes_of(type)); }

LLVMValueRef Ir::from_bits(LLVMTypeRef type, std::uint64_t bits) {
    const LLVMTypeRef element = element_of(type);
    const LLVMTypeKind kind = LLVMGetTypeKind(element);
    if (kind == LLVMDoubleTypeKind || kind == LLVMFloatTypeKind) {
        const LLVMTypeRef as_int = LLVMIntTypeInContext(LLVMGetTypeContext(type), kind == LLVMDoubleTypeKind ? 64 : 32);
        return repeated(LLVMConstBitCast(LLVMConstInt(as_int, bits, 0), element), lanes_of(type));
    }
    return repeated(LLVMConstInt(element, bits, 0), lanes_of(type));
}

LLVMValueRef Ir::count_up(LLVMTypeRef type) {
    std::vector<LLVMValueRef> all;
    for (int i = 0; i < lanes_of(type); ++i) all.push_back(LLVMConstInt(element_of(type), static_cast<unsigned long long>(i), 0));
    return LLVMConstVector(all.data(), static_cast<unsigned>(all.size()));
}

LLVMValueRef Ir::splat(LLVMValueRef scalar, int lanes) const {
    if (lanes == 1) return scalar;
    if (LLVMIsConstant(scalar)) return repeated(scalar, lanes);
    const LLVMTypeRef wide = widen(LLVMTypeOf(scalar), lanes);
    const LLVMValueRef first = LLVMBuildInsertElement(builder, LLVMGetPoison(wide), scalar, index(0), "");
    return LLVMBuildShuffleVector(builder, first, LLVMGetPoison(wide), LLVMConstNull(widen(i32_type, lanes)), "");
}

LLVMValueRef Ir::lanes(LLVMValueRef vector, int first, int count) const {
    if (first == 0 && count == lanes_of(vector)) return vector;
    std::vector<LLVMValueRef> mask;
    for (int i = first; i < first + count; ++i) {
        mask.push_back(i < lanes_of(vector) ? LLVMConstInt(i32_type, static_cast<unsigned long long>(i), 0) : LLVMGetPoison(i32_type));
    }
    return LLVMBuildShuffleVector(builder, vector, LLVMGetPoison(LLVMTypeOf(vector)),
                                  LLVMConstVector(mask.data(), static_cast<unsigned>(count)), "");
}

LLVMValueRef Ir::reversed(LLVMValueRef vector) const {
    std::vector<LLVMValueRef> mask;
    for (int i = lanes_of(vector); i-- > 0;) mask.push_back(LLVMConstInt(i32_type, static_cast<unsigned long long>(i), 0));
    return LLVMBuildShuffleVector(builder, vector, LLVMGetPoison(LLVMTypeOf(vector)),
                                  LLVMConstVector(mask.data(), static_cast<unsigned>(mask.size())), "");
}

LLVMValueRef Ir::concatenated(std::span<const LLVMValueRef> equal_parts) const {
    std::vector<LLVMValueRef> parts(equal_parts.begin(), equal_parts.end());
    while (parts.size() > 1) {
        const int width = 2 * lanes_of(parts[0]);
        std::vector<LLVMValueRef> mask, next;
        for (int i = 0; i < width; ++i) mask.push_back(LLVMConstInt(i32_type, static_cast<unsigned long long>(i), 0));
        for (std::size_t i = 0; i < parts.size(); i += 2)
            next.push_back(
                LLVMBuildShuffleVector(builder, parts[i], parts[i + 1], LLVMConstVector(mask.data(), static_cast<unsigned>(width)), ""));
        parts = std::move(next);
    }
    return parts[0];
}

LLVMValueRef Ir::any(LLVMValueRef v) const {
    const int n = lanes_of(v);
    if (n == 1) return v;
    const LLVMTypeRef whole = LLVMIntTypeInContext(context, static_cast<unsigned>(n));
    return icmp(LLVMIntNE, LLVMBuildBitCast(builder, v, whole, ""), integer(whole, 0));
}

LLVMValueRef Ir::intrinsic(std::string_view name, std::initializer_list<LLVMTypeRef> types,
                           std::initializer_list<LLVMValueRef> arguments) const {
    const unsigned id = LLVMLookupIntrinsicID(name.data(), name.size());
    internal_check(id != 0, "unknown intrinsic");
    std::vector<LLVMTypeRef> overload(types);
    const LLVMValueRef f = LLVMGetIntrinsicDeclaration(module, id, overload.data(), overload.size());
    std::vector<LLVMValueRef> values(arguments);
    return LLVMBuildCall2(builder, LLVMGlobalGetValueType(f), f, values.data(), static_cast<unsigned>(values.size()), "");
}

LLVMValueRef Ir::call(const char* symbol, LLVMTypeRef result, std::span<const LLVMValueRef> arguments, bool pure) const {
    std::vector<LLVMValueRef> values(arguments.begin(), arguments.end());
    LLVMValueRef f = LLVMGetNamedFunction(module, symbol);
    std::vector<LLVMTypeRef> types;
    for (LLVMValueRef v : values) types.push_back(LLVMTypeOf(v));
    const LLVMTypeRef kind = LLVMFunctionType(result, types.data(), static_cast<unsigned>(types.size()), 0);
    if (!f) {
        f = LLVMAddFunction(module, symbol, kind);
        attribute(f, "nounwind");
        if (pure) {
            attribute(f, "willreturn");
            attribute(f, "memory", 0); // none
            attribute(f, "nocallback");
        }
    }
    return LLVMBuildCall2(builder, kind, f, values.data(), static_cast<unsigned>(values.size()), "");
}

LLVMValueRef Ir::allocate(LLVMTypeRef type) {
    const LLVMBasicBlockRef back = here();
    const LLVMBasicBlockRef first = first_block();
    if (const LLVMValueRef start = LLVMGetFirstInstruction(first))
        LLVMPositionBuilderBefore(builder, start);
    else
        at(first);
    const LLVMValueRef slot = LLVMBuildAlloca(builder, type, "");
    at(back);
    return slot;
}

LLVMValueRef Ir::load(LLVMTypeRef type, LLVMValueRef pointer, unsigned alignment) const {
    const LLVMValueRef v = LLVMBuildLoad2(builder, type, pointer, "");
    if (alignment != 0) LLVMSetAlignment(v, alignment);
    return v;
}

void Ir::store(LLVMValueRef value, LLVMValueRef pointer, unsigned alignment) const {
    const LLVMValueRef s = LLVMBuildStore(builder, value, pointer);
    if (alignment != 0) LLVMSetAlignment(s, alignment);
}

Ir::Loop Ir::open_loop(LLVMValueRef lower, LLVMValueRef upper, std::int64_t step) const {
    Loop loop;
    loop.upper = upper;
    loop.step = step;
    loop.body = block("loop");
    loop.exit = block("done");
    const LLVMBasicBlockRef before = here();
    branch(icmp(LLVMIntSLT, lower, upper), loop.body, loop.exit);
    at(loop.body);
    loop.counter = LLVMBuildPhi(builder, i64_type, "");
    LLVMValueRef first = lower;
    LLVMBasicBlockRef from = before;
    LLVMAddIncoming(loop.counter, &first, &from, 1);
    return loop;
}

void Ir::close(const Loop& loop) const {
    LLVMValueRef next = LLVMBuildNSWAdd(builder, loop.counter, index(loop.step), "");
    LLVMBasicBlockRef from = here();
    LLVMAddIncoming(loop.counter, &next, &from, 1);
    branch(icmp(LLVMIntSLT, next, loop.upper), loop.body, loop.exit);
    at(loop.exit);
}

void Ir::attribute(LLVMValueRef f, const char* name, std::uint64_t value) const {
    const unsigned kind = LLVMGetEnumAttributeKindForName(name, std::strlen(name));
    LLVMAddAttributeAtIndex(f, static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex), LLVMCreateEnumAttribute(context, kind, value));
}

void Ir::text_attribute(LLVMValueRef f, std::string_view name, std::string_view value) const {
    LLVMAddAttributeAtIndex(f, static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex),
                            LLVMCreateStringAttribute(context, name.data(), static_cast<unsigned>(name.size()), value.data(),
                                                      static_cast<unsigned>(value.size())));
}

void Ir::mark_invariant(LLVMValueRef load_instruction) const {
    const LLVMMetadataRef empty = LLVMMDNodeInContext2(context, nullptr, 0);
    LLVMSetMetadata(load_instruction, LLVMGetMDKindIDInContext(context, "invariant.load", 14), LLVMMetadataAsValue(context, empty));
}

} // namespace stithy::cpu
