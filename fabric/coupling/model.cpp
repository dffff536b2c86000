// A design's model as the board takes it (model.h), around what Verilator makes of it.
//
// FABRIC_NAME is the design's name; FABRIC_TILES is there when it has ports for tiles, FABRIC_POWER when it keeps
// something without power. counters.h, which fabric/models.py writes, lets the counters of cycles go on (count_on),
// says in how many cycles that repeats what changes beside them while the design is quiet (PERIOD), and copies what is
// kept without power (keep).

#include "model.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include <verilated.h>
#include <verilated_fst_c.h>
#include <verilated_save.h>

#include "Vfabric_shell.h"
#include "Vfabric_shell___024root.h"

#include "counters.h"

namespace {

// What Verilator writes first is a number that differs from model to model.
constexpr size_t IDENTITY_BYTES = 8;

// What tears a page in each cycle without power has torn a block of flash by then.
constexpr int CYCLES_WITHOUT_POWER = 256;

constexpr size_t TILES = 16;
using TilesIn = std::array<tactus_fabric_tile_in, TILES>;

struct Model {
    Model() {
        // No workers: the board is one thread.
        context.threads(1);
        // Tracing has to be known of before the first evaluation.
        context.traceEverOn(true);
        enter();
        top = std::make_unique<Vfabric_shell>(&context);
    }
    ~Model() {
        enter();
        waves.reset();
        top.reset();
    }
    // Verilator's scopes are registered with the thread's context, not with that of their model.
    void enter() { Verilated::threadContextp(&context); }

    VerilatedContext context;
    std::unique_ptr<Vfabric_shell> top;
    std::unique_ptr<VerilatedFstC> waves;
    // What the design has taken, if it has.
    tactus_fabric_inputs inputs{};
    TilesIn tiles{};
    bool taken = false;
    uint64_t half_period = 0;
    uint64_t time = 0;
};

// Verilator's streams, to and from bytes in place of a file.
class Writer final : public VerilatedSerialize {
public:
    explicit Writer(std::vector<uint8_t>& bytes) : m_bytes(bytes) {}
    ~Writer() override { flush(); }
    void flush() override {
        m_bytes.insert(m_bytes.end(), m_bufp, m_cp);
        m_cp = m_bufp;
    }

private:
    std::vector<uint8_t>& m_bytes;
};

class Reader final : public VerilatedDeserialize {
public:
    Reader(const uint8_t* bytes, size_t size) : m_bytes(bytes), m_left(size) { m_endp = m_bufp; }
    void fill() override {
        const size_t kept = m_endp - m_cp;
        std::memmove(m_bufp, m_cp, kept);
        const size_t more = std::min(m_left, bufferSize() - kept);
        std::memcpy(m_bufp + kept, m_bytes, more);
        // Never more is read than was written; behind the end there is nothing but zeros.
        std::memset(m_bufp + kept + more, 0, bufferSize() - kept - more);
        m_bytes += more;
        m_left -= more;
        m_cp = m_bufp;
        m_endp = m_bufp + kept + more;
    }

private:
    const uint8_t* m_bytes;
    size_t m_left;
};

std::vector<uint8_t> saved(Model& model) {
    std::vector<uint8_t> bytes;
    Writer writer{bytes};
    model.enter();
    writer << *model.top;
    writer.flush();
    return bytes;
}

void put(const Vfabric_shell& top, tactus_fabric_outputs& out) {
    out.gp_rdata = top.gp_rdata_o;
    out.gp_awready = top.gp_awready_o;
    out.gp_wready = top.gp_wready_o;
    out.gp_bvalid = top.gp_bvalid_o;
    out.gp_bresp = top.gp_bresp_o;
    out.gp_arready = top.gp_arready_o;
    out.gp_rvalid = top.gp_rvalid_o;
    out.gp_rresp = top.gp_rresp_o;
    out.irq = top.irq_o;
    out.quiet = top.quiet_o;
#define REQUESTS(port) \
    out.port.awaddr = top.port##_awaddr_o; \
    out.port.wdata = top.port##_wdata_o; \
    out.port.araddr = top.port##_araddr_o; \
    out.port.awvalid = top.port##_awvalid_o; \
    out.port.awlen = top.port##_awlen_o; \
    out.port.wvalid = top.port##_wvalid_o; \
    out.port.wstrb = top.port##_wstrb_o; \
    out.port.wlast = top.port##_wlast_o; \
    out.port.bready = top.port##_bready_o; \
    out.port.arvalid = top.port##_arvalid_o; \
    out.port.arlen = top.port##_arlen_o; \
    out.port.rready = top.port##_rready_o
    REQUESTS(acp);
    REQUESTS(hp);
#undef REQUESTS
}

#ifdef FABRIC_TILES
// A field of all tiles, `bits` each, in Verilator's words.
template <typename Field>
void gather(const TilesIn& tiles, Field tactus_fabric_tile_in::*field, unsigned bits, uint32_t* words) {
    uint64_t left = 0;
    unsigned there = 0;
    for (const auto& tile : tiles) {
        left |= static_cast<uint64_t>(tile.*field & ((uint64_t{1} << bits) - 1)) << there;
        there += bits;
        if (there >= 32) {
            *words++ = static_cast<uint32_t>(left);
            left >>= 32;
            there -= 32;
        }
    }
    if (there != 0) *words = static_cast<uint32_t>(left);
}

uint64_t gather(const TilesIn& tiles, uint8_t tactus_fabric_tile_in::*field, unsigned bits) {
    std::array<uint32_t, 2> words{};
    gather(tiles, field, bits, words.data());
    return words[0] | uint64_t{words[1]} << 32;
}

void take_tiles(Vfabric_shell& top, const TilesIn& in) {
    gather(in, &tactus_fabric_tile_in::awaddr, 20, top.tile_awaddr_i.data());
    gather(in, &tactus_fabric_tile_in::wdata, 32, top.tile_wdata_i.data());
    gather(in, &tactus_fabric_tile_in::araddr, 20, top.tile_araddr_i.data());
    top.tile_awvalid_i = gather(in, &tactus_fabric_tile_in::awvalid, 1);
    top.tile_wvalid_i = gather(in, &tactus_fabric_tile_in::wvalid, 1);
    top.tile_wstrb_i = gather(in, &tactus_fabric_tile_in::wstrb, 4);
    top.tile_bready_i = gather(in, &tactus_fabric_tile_in::bready, 1);
    top.tile_arvalid_i = gather(in, &tactus_fabric_tile_in::arvalid, 1);
    top.tile_rready_i = gather(in, &tactus_fabric_tile_in::rready, 1);
}

void put_tiles(const Vfabric_shell& top, tactus_fabric_tile_out* out) {
    for (size_t i = 0; i < TILES; i++) {
        out[i].rdata = top.tile_rdata_o[i];
        out[i].awready = top.tile_awready_o >> i & 1;
        out[i].wready = top.tile_wready_o >> i & 1;
        out[i].bvalid = top.tile_bvalid_o >> i & 1;
        out[i].bresp = top.tile_bresp_o >> 2 * i & 3;
        out[i].arready = top.tile_arready_o >> i & 1;
        out[i].rvalid = top.tile_rvalid_o >> i & 1;
        out[i].rresp = top.tile_rresp_o >> 2 * i & 3;
        out[i].unused = 0;
    }
}
#else
void take_tiles(Vfabric_shell&, const TilesIn&) {}
void put_tiles(const Vfabric_shell&, tactus_fabric_tile_out* out) { std::memset(out, 0, TILES * sizeof *out); }
#endif

void take(Model& model, const tactus_fabric_inputs& in, const tactus_fabric_tile_in* tiles) {
    if (model.taken && std::memcmp(&model.inputs, &in, sizeof in) == 0
        && std::memcmp(model.tiles.data(), tiles, sizeof model.tiles) == 0)
        return;
    model.inputs = in;
    std::memcpy(model.tiles.data(), tiles, sizeof model.tiles);
    model.taken = true;
    auto& top = *model.top;
    take_tiles(top, model.tiles);
    top.gp_awaddr_i = in.gp_awaddr;
    top.gp_wdata_i = in.gp_wdata;
    top.gp_araddr_i = in.gp_araddr;
    top.gp_awvalid_i = in.gp_awvalid;
    top.gp_wvalid_i = in.gp_wvalid;
    top.gp_wstrb_i = in.gp_wstrb;
    top.gp_bready_i = in.gp_bready;
    top.gp_arvalid_i = in.gp_arvalid;
    top.gp_rready_i = in.gp_rready;
    top.event_i = in.event;
#define ANSWERS(port) \
    top.port##_rdata_i = in.port.rdata; \
    top.port##_awready_i = in.port.awready; \
    top.port##_wready_i = in.port.wready; \
    top.port##_bvalid_i = in.port.bvalid; \
    top.port##_bresp_i = in.port.bresp; \
    top.port##_arready_i = in.port.arready; \
    top.port##_rvalid_i = in.port.rvalid; \
    top.port##_rresp_i = in.port.rresp; \
    top.port##_rlast_i = in.port.rlast
    ANSWERS(acp);
    ANSWERS(hp);
#undef ANSWERS
    top.load_i = 1;
    top.eval();
    top.load_i = 0;
}

// From tiles.
constexpr TilesIn NOTHING{};

void edges(Model& model) {
    model.top->clk_i = 1;
    model.top->eval();
    if (model.waves) model.waves->dump(model.time);
    model.top->clk_i = 0;
    model.top->eval();
    if (model.waves) model.waves->dump(model.time + model.half_period);
}

// A model after reset.
std::unique_ptr<Model> created() {
    auto model = std::make_unique<Model>();
#ifdef FABRIC_POWER
    model->top->power_i = 1;
#endif
    take(*model, tactus_fabric_inputs{}, NOTHING.data());
    // Reset is asynchronous: it has to be seen to fall.
    model->top->rst_ni = 1;
    model->top->eval();
    model->top->rst_ni = 0;
    model->top->eval();
    edges(*model);
    model->top->rst_ni = 1;
    model->top->eval();
    return model;
}

}  // namespace

uint32_t tactus_fabric_version(void) { return TACTUS_FABRIC_VERSION; }

const char* tactus_fabric_name(void) { return FABRIC_NAME; }

void* tactus_fabric_new(void) {
    return created().release();
}

void tactus_fabric_delete(void* model) { delete static_cast<Model*>(model); }

void tactus_fabric_look(const void* model, tactus_fabric_outputs* outputs) {
    put(*static_cast<const Model*>(model)->top, *outputs);
}

void tactus_fabric_cycle(void* opaque, const tactus_fabric_inputs* inputs, uint64_t picoseconds,
                         tactus_fabric_outputs* outputs) {
    auto& model = *static_cast<Model*>(opaque);
    take(model, *inputs, NOTHING.data());
    model.time = picoseconds;
    edges(model);
    put(*model.top, *outputs);
}

int tactus_fabric_tiles(void) {
#ifdef FABRIC_TILES
    return TILES;
#else
    return 0;
#endif
}

void tactus_fabric_look_tiles(const void* model, tactus_fabric_tile_out* tiles_out) {
    put_tiles(*static_cast<const Model*>(model)->top, tiles_out);
}

void tactus_fabric_cycle_tiles(void* opaque, const tactus_fabric_inputs* inputs, const tactus_fabric_tile_in* tiles_in,
                               uint64_t picoseconds, tactus_fabric_outputs* outputs,
                               tactus_fabric_tile_out* tiles_out) {
    auto& model = *static_cast<Model*>(opaque);
    take(model, *inputs, tactus_fabric_tiles() == 0 ? NOTHING.data() : tiles_in);
    model.time = picoseconds;
    edges(model);
    put(*model.top, *outputs);
    put_tiles(*model.top, tiles_out);
}

void tactus_fabric_skip(void* opaque, uint64_t cycles, tactus_fabric_outputs* outputs) {
    auto& model = *static_cast<Model*>(opaque);
    take(model, tactus_fabric_inputs{}, NOTHING.data());
    // What repeats is where it was after whole periods; the last one is simulated, so that what it has kept of the
    // counters is as if all had been.
    const uint64_t counted = PERIOD == 1 ? cycles : cycles < 2 * PERIOD ? 0 : cycles / PERIOD * PERIOD - PERIOD;
    if (counted != 0) {
        count_on(*model.top->rootp, counted);
        model.top->eval();
    }
    for (uint64_t left = cycles - counted; left != 0; left--) edges(model);
    put(*model.top, *outputs);
}

void tactus_fabric_lose_power(void* opaque, uint64_t seed, tactus_fabric_outputs* outputs) {
    auto& model = *static_cast<Model*>(opaque);
#ifdef FABRIC_POWER
    model.top->power_i = 0;
    model.top->seed_i = seed;
    for (int cycle = 0; cycle < CYCLES_WITHOUT_POWER; cycle++) {
        model.top->clk_i = 1;
        model.top->eval();
        model.top->clk_i = 0;
        model.top->eval();
    }
#else
    (void)seed;
#endif
    const auto fresh = created();
    keep(*model.top->rootp, *fresh->top->rootp);
    const auto state = saved(*fresh);
    Reader reader{state.data(), state.size()};
    model.enter();
    reader >> *model.top;
    model.taken = false;
    put(*model.top, *outputs);
}

size_t tactus_fabric_save(void* model, uint8_t* bytes, size_t size) {
    const auto state = saved(*static_cast<Model*>(model));
    if (state.size() <= size) std::memcpy(bytes, state.data(), state.size());
    return state.size();
}

int tactus_fabric_restore(void* opaque, const uint8_t* bytes, size_t size) {
    auto& model = *static_cast<Model*>(opaque);
    // Verilator ends the process when a state is not its own, so that is looked at before.
    const auto own = saved(model);
    if (size != own.size() || size < IDENTITY_BYTES || std::memcmp(bytes, own.data(), IDENTITY_BYTES) != 0) return 0;
    Reader reader{bytes, size};
    model.enter();
    reader >> *model.top;
    model.taken = false;
    return 1;
}

int tactus_fabric_waves(void* opaque, const char* file, uint64_t period_picoseconds) {
    auto& model = *static_cast<Model*>(opaque);
    tactus_fabric_end_waves(opaque);
    model.enter();
    auto waves = std::make_unique<VerilatedFstC>();
    waves->set_time_unit("1ps");
    waves->set_time_resolution("1ps");
    model.top->trace(waves.get(), 99);
    waves->open(file);
    if (!waves->isOpen()) return 0;
    model.half_period = period_picoseconds / 2;
    model.waves = std::move(waves);
    return 1;
}

void tactus_fabric_end_waves(void* opaque) {
    auto& model = *static_cast<Model*>(opaque);
    if (model.waves) model.waves->close();
    model.waves.reset();
}

// board/src/fabric.rs counts on the same.
static_assert(sizeof(tactus_fabric_answers) == 16 && sizeof(tactus_fabric_requests) == 40, "model.h");
static_assert(sizeof(tactus_fabric_tile_in) == 20 && sizeof(tactus_fabric_tile_out) == 12, "model.h");
static_assert(sizeof(tactus_fabric_inputs) == 24 + 2 * 16 && offsetof(tactus_fabric_inputs, acp) == 24, "model.h");
static_assert(sizeof(tactus_fabric_outputs) == 24 + 2 * 40 && offsetof(tactus_fabric_outputs, acp) == 24, "model.h");
