#pragma once
#include "base/error.hpp"
#include "cpu/llvm/llvm_c.hpp"
#include "cpu/llvm_interface.hpp"
#include "stithy/dtype.hpp"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stithy::cpu {

/// A thin layer over LLVM's builder: types by dtype and lanes (1: a scalar), constants, intrinsics, blocks. Values of bool are i1, in
/// memory a byte.
class Ir {
public:
    Ir(LLVMContextRef context, LLVMModuleRef module, const TargetOptions& options);
    ~Ir();
    Ir(const Ir&) = delete;
    Ir& operator=(const Ir&) = delete;

    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMValueRef function = nullptr;
    int vector_bytes;
    LLVMTypeRef pointer_type, i1_type, i8_type, i32_type, i64_type;

    // --- types and constants ---
    LLVMTypeRef scalar_type(DType dtype) const;
    LLVMTypeRef type(DType dtype, int lanes) const { return widen(scalar_type(dtype), lanes); }
    LLVMTypeRef memory_type(DType dtype, int lanes) const { return widen(dtype.is_bool() ? i8_type : scalar_type(dtype), lanes); }
    static LLVMTypeRef widen(LLVMTypeRef element, int lanes);
    LLVMTypeRef integer_type(int bits, int lanes) const { return widen(LLVMIntTypeInContext(context, static_cast<unsigned>(bits)), lanes); }
    /// The same number in every lane of a type.
    static LLVMValueRef integer(LLVMTypeRef type, std::int64_t value);
    static LLVMValueRef real(LLVMTypeRef type, double value);
    LLVMValueRef index(std::int64_t value) const { return integer(i64_type, value); }
    static LLVMValueRef from_bits(LLVMTypeRef type, std::uint64_t bits);
    /// 0, 1, 2, ... of an integer vector type.
    static LLVMValueRef count_up(LLVMTypeRef type);
    static int lanes_of(LLVMTypeRef type);
    static int lanes_of(LLVMValueRef v) { return lanes_of(LLVMTypeOf(v)); }

    // --- values ---
    LLVMValueRef splat(LLVMValueRef scalar, int lanes) const;
    LLVMValueRef select(LLVMValueRef p, LLVMValueRef a, LLVMValueRef b) const { return LLVMBuildSelect(builder, p, a, b, ""); }
    LLVMValueRef icmp(LLVMIntPredicate p, LLVMValueRef a, LLVMValueRef b) const { return LLVMBuildICmp(builder, p, a, b, ""); }
    LLVMValueRef fcmp(LLVMRealPredicate p, LLVMValueRef a, LLVMValueRef b) const { return LLVMBuildFCmp(builder, p, a, b, ""); }
    LLVMValueRef add(LLVMValueRef a, LLVMValueRef b) const { return LLVMBuildAdd(builder, a, b, ""); }
    LLVMValueRef sub(LLVMValueRef a, LLVMValueRef b) const { return LLVMBuildSub(builder, a, b, ""); }
    LLVMValueRef mul(LLVMValueRef a, LLVMValueRef b) const { return LLVMBuildMul(builder, a, b, ""); }
    LLVMValueRef bit_and(LLVMValueRef a, LLVMValueRef b) const { return LLVMBuildAnd(builder, a, b, ""); }
    LLVMValueRef bit_or(LLVMValueRef a, LLVMValueRef b) const { return LLVMBuildOr(builder, a, b, ""); }
    /// Lanes [first, first + count) of a vector; a scalar when count is 1 and `scalar` is asked for.
    LLVMValueRef lanes(LLVMValueRef vector, int first, int count) const;
    LLVMValueRef lane(LLVMValueRef vector, int at) const { return LLVMBuildExtractElement(builder, vector, index(at), ""); }
    LLVMValueRef reversed(LLVMValueRef vector) const;
    LLVMValueRef concatenated(std::span<const LLVMValueRef> equal_parts) const;
    /// True in a bool when any lane is.
    LLVMValueRef any(LLVMValueRef lanes) const;
    /// Overloaded intrinsic: `types` are the overload's types.
    LLVMValueRef intrinsic(std::string_view name, std::initializer_list<LLVMTypeRef> types,
                           std::initializer_list<LLVMValueRef> arguments) const;
    LLVMValueRef intrinsic(std::string_view name, LLVMTypeRef type, std::initializer_list<LLVMValueRef> arguments) const {
        return intrinsic(name, {type}, arguments);
    }
    /// Call of an outside function by name; pure ones may be merged and moved.
    LLVMValueRef call(const char* symbol, LLVMTypeRef result, std::span<const LLVMValueRef> arguments, bool pure) const;

    // --- memory ---
    LLVMValueRef allocate(LLVMTypeRef type); ///< in the frame, in the function's first block
    LLVMValueRef load(LLVMTypeRef type, LLVMValueRef pointer, unsigned alignment = 0) const;
    void store(LLVMValueRef value, LLVMValueRef pointer, unsigned alignment = 0) const;
    LLVMValueRef element(LLVMTypeRef type, LLVMValueRef pointer, LLVMValueRef at) const {
        return LLVMBuildGEP2(builder, type, pointer, &at, 1, "");
    }
    LLVMValueRef moved(LLVMValueRef pointer, LLVMValueRef bytes) const { return element(i8_type, pointer, bytes); }

    // --- control ---
    LLVMBasicBlockRef block(const char* name = "") const { return LLVMAppendBasicBlockInContext(context, function, name); }
    LLVMBasicBlockRef here() const { return LLVMGetInsertBlock(builder); }
    void at(LLVMBasicBlockRef b) const { LLVMPositionBuilderAtEnd(builder, b); }
    void jump(LLVMBasicBlockRef to) const { LLVMBuildBr(builder, to); }
    void branch(LLVMValueRef p, LLVMBasicBlockRef yes, LLVMBasicBlockRef no) const { LLVMBuildCondBr(builder, p, yes, no); }

    /// A loop of i64 from lower while counter < upper, nothing when lower >= upper. The builder stands in the body until `close`.
    struct Loop {
        LLVMValueRef counter = nullptr;
        LLVMValueRef upper = nullptr;
        LLVMBasicBlockRef body = nullptr, exit = nullptr;
        std::int64_t step = 1;
    };
    Loop open_loop(LLVMValueRef lower, LLVMValueRef upper, std::int64_t step = 1) const;
    void close(const Loop& loop) const;

    void attribute(LLVMValueRef f, const char* name, std::uint64_t value = 0) const;
    void text_attribute(LLVMValueRef f, std::string_view name, std::string_view value) const;
    void mark_invariant(LLVMValueRef load_instruction) const;

private:
    LLVMBasicBlockRef first_block() const { return LLVMGetEntryBasicBlock(function); }
};

/// Whether code for these options has fused multiply-add.
inline bool has_fma(const TargetOptions& options) { return options.vector_bytes >= 32; }

} // namespace stithy::cpu
