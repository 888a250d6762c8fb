#include "cpu/object_loader.hpp"

#include "base/error.hpp"
#include "cpu/code_memory.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <limits>

namespace stithy::cpu {

namespace {

constexpr std::uint32_t unwind_section = 0x70000001; // SHT_X86_64_UNWIND: not needed, nothing unwinds through kernels
constexpr std::size_t stub_bytes = 8;                // jmp *slot(%rip), padded
constexpr std::size_t section_limit = std::size_t{1} << 24;

[[noreturn]] void malformed(const std::string& what) { internal_error("compiled object: " + what); }

/// Reads a plain struct at an offset that may lie anywhere.
template <class T>
T read_at(std::span<const std::byte> bytes, std::uint64_t offset) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) malformed("cut short");
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
}

enum class Part { none, code, data };

struct Section {
    Elf64_Shdr header{};
    Part part = Part::none;
    std::size_t offset = 0; // within its part
};

class Loader {
public:
    Loader(std::span<const std::byte> object, const SymbolResolver& resolve) : object_(object), resolve_(resolve) {}

    std::vector<std::pair<std::string, void*>> load(std::size_t& bytes) {
        read_sections();
        read_symbols();
        place_sections();
        block_ = allocate_code(code_bytes_, data_bytes_);
        copy_sections();
        resolve_symbols();
        for (const Section& s : sections_)
            if (s.header.sh_type == SHT_RELA) relocate(s);
        block_.seal();
        bytes = block_.executable + block_.writable;
        return exported();
    }

private:
    void read_sections() {
        const auto header = read_at<Elf64_Ehdr>(object_, 0);
        if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
            header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_X86_64 || header.e_type != ET_REL)
            malformed("not a relocatable ELF object for x86-64");
        if (header.e_shentsize != sizeof(Elf64_Shdr)) malformed("section headers of another size");
        for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
            Section s;
            s.header = read_at<Elf64_Shdr>(object_, header.e_shoff + i * sizeof(Elf64_Shdr));
            const Elf64_Shdr& h = s.header;
            if (h.sh_type != SHT_NOBITS && h.sh_type != SHT_NULL &&
                (h.sh_offset > object_.size() || object_.size() - h.sh_offset < h.sh_size))
                malformed("a section lies outside");
            if (h.sh_size > section_limit) malformed("a section is too large");
            sections_.push_back(s);
        }
        if (header.e_shstrndx >= sections_.size()) malformed("no section names");
        names_ = &sections_[header.e_shstrndx].header;
    }

    std::string_view text(const Elf64_Shdr& table, std::uint64_t at) const {
        if (table.sh_type != SHT_STRTAB || at >= table.sh_size) malformed("a name lies outside its table");
        const auto* begin = reinterpret_cast<const char*>(object_.data() + table.sh_offset + at);
        return {begin, strnlen(begin, table.sh_size - at)};
    }

    void read_symbols() {
        for (std::size_t i = 0; i < sections_.size(); ++i) {
            const Elf64_Shdr& h = sections_[i].header;
            if (h.sh_type != SHT_SYMTAB) continue;
            if (symbol_section_ != 0 || h.sh_entsize != sizeof(Elf64_Sym)) malformed("an odd symbol table");
            if (h.sh_link >= sections_.size()) malformed("no symbol names");
            symbol_section_ = i;
            for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= h.sh_size; at += sizeof(Elf64_Sym))
                symbols_.push_back(read_at<Elf64_Sym>(object_, h.sh_offset + at));
        }
        if (symbol_section_ == 0) malformed("no symbol table");
    }

    void place(Section& s, Part part, std::size_t& end) {
        const std::uint64_t align = s.header.sh_addralign == 0 ? 1 : s.header.sh_addralign;
        if ((align & (align - 1)) != 0 || align > 4096) malformed("an odd alignment");
        end = (end + align - 1) & ~(align - 1);
        s.part = part;
        s.offset = end;
        end += s.header.sh_size;
        if (end > section_limit) malformed("too large");
    }

    void place_sections() {
        for (Section& s : sections_) {
            const Elf64_Shdr& h = s.header;
            const std::string_view name = text(*names_, h.sh_name);
            if ((h.sh_flags & SHF_ALLOC) == 0 || h.sh_size == 0 || h.sh_type == unwind_section || name == ".eh_frame" ||
                name.starts_with(".note"))
                continue;
            if ((h.sh_flags & SHF_TLS) != 0) malformed("thread-local variables are not supported");
            if (h.sh_type != SHT_PROGBITS && h.sh_type != SHT_NOBITS)
                malformed("section " + std::string(name) + " is of a kind that is not supported");
            // Data that is only relocated, not written later, stays with the code.
            const bool writable = (h.sh_flags & SHF_WRITE) != 0 && !name.starts_with(".data.rel.ro");
            place(s, writable ? Part::data : Part::code, writable ? data_bytes_ : code_bytes_);
        }
        stubs_ = (code_bytes_ + 15) & ~std::size_t{15};
        slots_ = stubs_ + symbols_.size() * stub_bytes;
        code_bytes_ = slots_ + symbols_.size() * sizeof(void*);
    }

    [[nodiscard]] std::byte* address(const Section& s) const {
        return block_.base + (s.part == Part::data ? block_.executable : 0) + s.offset;
    }

    void copy_sections() const {
        for (const Section& s : sections_)
            if (s.part != Part::none && s.header.sh_type == SHT_PROGBITS)
                std::memcpy(address(s), object_.data() + s.header.sh_offset, s.header.sh_size);
    }

    [[nodiscard]] std::string symbol_name(const Elf64_Sym& symbol) const {
        return std::string(text(sections_[sections_[symbol_section_].header.sh_link].header, symbol.st_name));
    }

    std::byte* resolve(const Elf64_Sym& symbol) {
        if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS || ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC)
            malformed("a symbol of a kind that is not supported");
        if (symbol.st_shndx == SHN_ABS) return reinterpret_cast<std::byte*>(symbol.st_value);
        if (symbol.st_shndx == SHN_UNDEF) {
            const std::string name = symbol_name(symbol);
            if (name.empty() || name == "_GLOBAL_OFFSET_TABLE_") return nullptr;
            void* found = resolve_(name);
            if (found == nullptr && ELF64_ST_BIND(symbol.st_info) != STB_WEAK) malformed("no address for '" + name + "'");
            return static_cast<std::byte*>(found);
        }
        if (symbol.st_shndx >= sections_.size()) malformed("a symbol of an unknown section");
        const Section& s = sections_[symbol.st_shndx];
        if (symbol.st_value > s.header.sh_size) malformed("a symbol lies outside its section");
        return s.part == Part::none ? nullptr : address(s) + symbol.st_value;
    }

    void resolve_symbols() {
        addresses_.reserve(symbols_.size());
        for (std::size_t i = 0; i < symbols_.size(); ++i) {
            std::byte* found = resolve(symbols_[i]);
            addresses_.push_back(found);
            std::memcpy(slot(i), &found, sizeof found);
            const std::int64_t distance = slot(i) - (stub(i) + 6);
            const auto displacement = static_cast<std::int32_t>(distance);
            const std::uint8_t jump[2] = {0xff, 0x25};
            std::memcpy(stub(i), jump, 2);
            std::memcpy(stub(i) + 2, &displacement, 4);
        }
    }

    [[nodiscard]] std::byte* slot(std::size_t symbol) const { return block_.base + slots_ + symbol * sizeof(void*); }
    [[nodiscard]] std::byte* stub(std::size_t symbol) const { return block_.base + stubs_ + symbol * stub_bytes; }

    void relocate(const Section& list) {
        if (list.header.sh_info >= sections_.size() || list.header.sh_link != symbol_section_) malformed("an odd relocation section");
        const Section& target = sections_[list.header.sh_info];
        if (target.part == Part::none) return;
        if (list.header.sh_entsize != sizeof(Elf64_Rela)) malformed("relocations of another size");
        if (target.header.sh_type != SHT_PROGBITS) malformed("relocations of an empty section");
        for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= list.header.sh_size; at += sizeof(Elf64_Rela))
            relocate(target, read_at<Elf64_Rela>(object_, list.header.sh_offset + at));
    }

    void relocate(const Section& target, const Elf64_Rela& r) const {
        const std::uint64_t type = ELF64_R_TYPE(r.r_info), index = ELF64_R_SYM(r.r_info);
        const std::size_t width = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
        if (type == R_X86_64_NONE) return;
        if (index >= symbols_.size()) malformed("a relocation names no symbol");
        if (r.r_offset > target.header.sh_size || target.header.sh_size - r.r_offset < width)
            malformed("a relocation lies outside its section");
        std::byte* const place = address(target) + r.r_offset;
        const std::int64_t at = number(place), symbol = number(addresses_[index]);
        if (symbols_[index].st_shndx != SHN_UNDEF && symbols_[index].st_shndx != SHN_ABS && addresses_[index] == nullptr)
            malformed("a relocation refers to a section that is not loaded");
        switch (type) {
        case R_X86_64_64: write64(place, symbol + r.r_addend); return;
        case R_X86_64_PC64: write64(place, symbol + r.r_addend - at); return;
        case R_X86_64_PC32: write32(place, reach(index, r, target, at, false) + r.r_addend - at); return;
        case R_X86_64_PLT32: write32(place, reach(index, r, target, at, true) + r.r_addend - at); return;
        case R_X86_64_GOTPCREL:
        case R_X86_64_GOTPCRELX:
        case R_X86_64_REX_GOTPCRELX: write32(place, number(slot(index)) + r.r_addend - at); return;
        case R_X86_64_32: {
            const std::int64_t value = symbol + r.r_addend;
            if (value < 0 || value > std::numeric_limits<std::uint32_t>::max()) malformed("a 32-bit address does not reach");
            const auto word = static_cast<std::uint32_t>(value);
            std::memcpy(place, &word, 4);
            return;
        }
        case R_X86_64_32S: write32(place, symbol + r.r_addend); return;
        default: malformed("relocation of type " + std::to_string(type) + " is not supported");
        }
    }

    /// The symbol itself where a 32-bit displacement reaches it, else, for a call or a jump, its stub.
    [[nodiscard]] std::int64_t reach(std::size_t index, const Elf64_Rela& r, const Section& target, std::int64_t at, bool plt) const {
        const std::int64_t symbol = number(addresses_[index]), distance = symbol + r.r_addend - at;
        if (distance >= std::numeric_limits<std::int32_t>::min() && distance <= std::numeric_limits<std::int32_t>::max()) return symbol;
        const auto before = r.r_offset == 0 ? std::byte{0} : address(target)[r.r_offset - 1];
        if (!plt && before != std::byte{0xe8} && before != std::byte{0xe9})
            malformed("'" + symbol_name(symbols_[index]) + "' is out of reach");
        return number(stub(index));
    }

    static std::int64_t number(const std::byte* p) { return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p)); }
    static void write64(std::byte* place, std::int64_t value) { std::memcpy(place, &value, 8); }
    static void write32(std::byte* place, std::int64_t value) {
        const auto word = static_cast<std::int32_t>(value);
        if (word != value) malformed("a 32-bit displacement does not reach");
        std::memcpy(place, &word, 4);
    }

    [[nodiscard]] std::vector<std::pair<std::string, void*>> exported() const {
        std::vector<std::pair<std::string, void*>> list;
        for (std::size_t i = 0; i < symbols_.size(); ++i) {
            const Elf64_Sym& s = symbols_[i];
            if (s.st_shndx != SHN_UNDEF && ELF64_ST_BIND(s.st_info) != STB_LOCAL && addresses_[i] != nullptr)
                list.emplace_back(symbol_name(s), addresses_[i]);
        }
        return list;
    }

    std::span<const std::byte> object_;
    const SymbolResolver& resolve_;
    std::vector<Section> sections_;
    const Elf64_Shdr* names_ = nullptr;
    std::size_t symbol_section_ = 0;
    std::vector<Elf64_Sym> symbols_;
    std::vector<std::byte*> addresses_;
    std::size_t code_bytes_ = 0, data_bytes_ = 0, stubs_ = 0, slots_ = 0;
    CodeBlock block_;
};

} // namespace

void* LoadedCode::symbol(std::string_view name) const {
    for (const auto& [known, address] : symbols_)
        if (known == name) return address;
    return nullptr;
}

LoadedCode load_object(std::span<const std::byte> object, const SymbolResolver& resolve) {
    LoadedCode code;
    code.symbols_ = Loader(object, resolve).load(code.bytes_);
    return code;
}

} // namespace stithy::cpu
