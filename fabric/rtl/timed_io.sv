// The timed I/O processor: an engine for each VM, which changes and reads pins on exact cycles.
//
// Page v of the bus is VM v's (regs/timed_io.rdl), page VMS the manager's
// (regs/timed_io_manager.rdl), 4 KiB each; pages beyond answer with errors. Which page a VM can
// reach is the business of the hypervisor's page tables.
//
// A write that clears a VM is answered when its program is gone, too, ProgramWords cycles later:
// the VM that gets the engine next finds nothing of it.
//
// The time is that of the cycle in which it is NOW: what is to take effect at t is at the pins in
// the cycle in which time_o is t, and a sample of t is of what the pins were in that cycle.
module timed_io import timed_io_pkg::*; #(
  parameter int unsigned VMS  = 4,
  parameter int unsigned PINS = 32,
  localparam int unsigned ADDR_WIDTH = 12 + $clog2(VMS + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic                  s_axil_awvalid,
  output logic                  s_axil_awready,
  input  logic [ADDR_WIDTH-1:0] s_axil_awaddr,
  input  logic [2:0]            s_axil_awprot,
  input  logic                  s_axil_wvalid,
  output logic                  s_axil_wready,
  input  logic [31:0]           s_axil_wdata,
  input  logic [3:0]            s_axil_wstrb,
  output logic                  s_axil_bvalid,
  input  logic                  s_axil_bready,
  output logic [1:0]            s_axil_bresp,
  input  logic                  s_axil_arvalid,
  output logic                  s_axil_arready,
  input  logic [ADDR_WIDTH-1:0] s_axil_araddr,
  input  logic [2:0]            s_axil_arprot,
  output logic                  s_axil_rvalid,
  input  logic                  s_axil_rready,
  output logic [31:0]           s_axil_rdata,
  output logic [1:0]            s_axil_rresp,

  output logic [63:0]           time_o,
  // In step with clk_i: what comes from outside has its synchronisers before.
  input  logic [PINS-1:0]       pins_i,
  output logic [PINS-1:0]       pins_o
);

  localparam int unsigned VmBits    = VMS > 1 ? $clog2(VMS) : 1;
  localparam int unsigned PinBits   = $clog2(PINS);
  localparam int unsigned PageBits  = $clog2(VMS + 1);
  // As in timed_io_schedule.
  localparam int unsigned Turn      = 10 * VMS;
  localparam int unsigned Ahead     = Turn + 16;
  localparam int unsigned TimeBits  = $clog2(Ahead);
  localparam logic [31:0] Manager   = 32'h544d_0001;
  // The word before CANCEL's.
  localparam logic [5:0]  ScrubLast = 6'h8;

  // The bus.

  logic                  req, req_is_wr;
  logic [ADDR_WIDTH-1:0] addr;
  logic [31:0]           wr_data, wr_biten, rd_data;
  logic                  rd_ack, rd_err, wr_ack, wr_err;
  logic                  ready;  // the schedule is

  axil_slave #(.ADDR_WIDTH(ADDR_WIDTH), .DATA_WIDTH(32)) u_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_awprot,
    .s_axil_wvalid, .s_axil_wready, .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
    .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_arprot,
    .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .req_o(req), .req_is_wr_o(req_is_wr), .addr_o(addr),
    .wr_data_o(wr_data), .wr_biten_o(wr_biten),
    .req_stall_wr_i(!ready), .req_stall_rd_i(!ready),
    .rd_ack_i(rd_ack), .rd_err_i(rd_err), .rd_data_i(rd_data),
    .wr_ack_i(wr_ack), .wr_err_i(wr_err)
  );

  // An access is kept here until it is answered; axil_slave makes no other meanwhile.

  typedef enum logic [2:0] {
    Free,     // there is none
    Decode,   // whether there is something, in which page
    OfVm,     // waits for its slot in the schedule
    OfPins,   // of the manager's page
    Answered
  } access_e;

  access_e               access_q;
  logic                  is_wr_q, whole_q, error_q;
  logic [ADDR_WIDTH-1:0] addr_q;
  logic [31:0]           data_q, answer_q;
  logic [PageBits-1:0]   page;
  logic                  is_vm, is_manager, decodes, answers, is_nothing;
  // It cleared a VM: the program becomes `end`, a word a cycle.
  logic                  scrubs;
  logic                  vm_answer, vm_error, pins_answer, pins_error;
  logic [31:0]           vm_data, pins_data;
  logic                  clear;  // the access clears its VM

  assign page       = addr_q[ADDR_WIDTH-1:12];
  assign is_vm      = 32'(page) < VMS;
  assign is_manager = 32'(page) == VMS;
  assign decodes    = access_q == Decode;
  assign answers    = access_q == Answered && !scrubs;

  // What the registers refuse themselves is answered when it is decoded.
  logic        vm_rd_ack, vm_rd_err, vm_wr_ack, vm_wr_err, vm_stall_wr, vm_stall_rd;
  logic        manager_rd_ack, manager_rd_err, manager_wr_ack, manager_wr_err;
  logic        manager_stall_wr, manager_stall_rd;
  logic [31:0] vm_rd_data, manager_rd_data;

  assign is_nothing = decodes && (is_vm      ? vm_rd_err || vm_wr_err :
                                  is_manager ? manager_rd_err || manager_wr_err : 1'b1);

  assign rd_ack  = !is_wr_q && (is_nothing || answers);
  assign wr_ack  = is_wr_q && (is_nothing || answers);
  assign rd_err  = is_nothing || error_q;
  assign wr_err  = rd_err;
  assign rd_data = answer_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      access_q <= Free;
      is_wr_q  <= 1'b0;
      error_q  <= 1'b0;
      scrubs   <= 1'b0;
    end else begin
      scrubs <= clear || (scrubs && addr_q[7:2] != ScrubLast);
      case (access_q)
        Free: begin
          error_q <= 1'b0;
          is_wr_q <= req_is_wr;
          if (req && ready) access_q <= Decode;
        end
        Decode: access_q <= is_nothing ? Free : is_vm ? OfVm : OfPins;
        OfVm: begin
          error_q <= vm_error;
          if (vm_answer) access_q <= Answered;
        end
        OfPins: begin
          error_q <= pins_error;
          if (pins_answer) access_q <= Answered;
        end
        Answered: if (!scrubs) access_q <= Free;
        default:  access_q <= Free;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (access_q == Free) begin
      addr_q  <= addr;
      data_q  <= wr_data;
      whole_q <= wr_biten == '1;
    end else if (scrubs) begin
      // Where CANCEL is, and once round: the address is the schedule's place in the program.
      addr_q[7:2] <= addr_q[7:2] + 1'b1;
    end
    if (clear) data_q <= '0;
    // Of what is not there, zeros.
    if (access_q == Free || (access_q == OfPins && pins_error)) begin
      answer_q <= '0;
    end else begin
      answer_q <= is_vm ? vm_data : pins_data;
    end
  end

  // The registers say what there is, and what of it can be read and written; none keeps anything,
  // and what is read comes from where it is kept, with all fields in their places.

  timed_io_regs_pkg::timed_io__in_t                  to_vm;
  timed_io_regs_pkg::timed_io__out_t                 from_vm;
  timed_io_manager_regs_pkg::timed_io_manager__in_t  to_manager;
  timed_io_manager_regs_pkg::timed_io_manager__out_t from_manager;

  timed_io_regs u_vm_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(decodes && is_vm), .s_cpuif_req_is_wr(is_wr_q), .s_cpuif_addr(addr_q[11:0]),
    .s_cpuif_wr_data(data_q), .s_cpuif_wr_biten('1),
    .s_cpuif_req_stall_wr(vm_stall_wr), .s_cpuif_req_stall_rd(vm_stall_rd),
    .s_cpuif_rd_ack(vm_rd_ack), .s_cpuif_rd_err(vm_rd_err), .s_cpuif_rd_data(vm_rd_data),
    .s_cpuif_wr_ack(vm_wr_ack), .s_cpuif_wr_err(vm_wr_err),
    .hwif_in(to_vm), .hwif_out(from_vm)
  );

  timed_io_manager_regs u_manager_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(decodes && is_manager), .s_cpuif_req_is_wr(is_wr_q),
    .s_cpuif_addr(addr_q[11:0]), .s_cpuif_wr_data(data_q), .s_cpuif_wr_biten('1),
    .s_cpuif_req_stall_wr(manager_stall_wr), .s_cpuif_req_stall_rd(manager_stall_rd),
    .s_cpuif_rd_ack(manager_rd_ack), .s_cpuif_rd_err(manager_rd_err),
    .s_cpuif_rd_data(manager_rd_data),
    .s_cpuif_wr_ack(manager_wr_ack), .s_cpuif_wr_err(manager_wr_err),
    .hwif_in(to_manager), .hwif_out(from_manager)
  );

  logic vm_reads, vm_writes, manager_reads, manager_writes;
  assign vm_reads       = answers && is_vm && !is_wr_q;
  assign vm_writes      = answers && is_vm && is_wr_q;
  assign manager_reads  = answers && is_manager && !is_wr_q;
  assign manager_writes = answers && is_manager && is_wr_q;

  assign to_vm.ID          = {vm_reads, 32'b0};
  assign to_vm.STATUS      = {vm_reads, 32'b0};
  assign to_vm.NOW         = {vm_reads, 32'b0};
  assign to_vm.START       = {vm_reads, 32'b0, vm_writes};
  assign to_vm.PERIOD      = {vm_reads, 32'b0, vm_writes};
  assign to_vm.RUNS        = {vm_reads, 32'b0, vm_writes};
  assign to_vm.RUN         = vm_writes;
  assign to_vm.CANCEL      = vm_writes;
  assign to_vm.SAMPLE      = {vm_reads, 32'b0};
  assign to_vm.REPORT      = {vm_reads, 32'b0, vm_writes};
  assign to_vm.REPORT_TIME = {vm_reads, 32'b0};
  assign to_vm.PROGRAM     = {vm_reads, 32'b0, vm_writes};
  assign to_manager.ID     = {manager_reads, 32'b0};
  assign to_manager.SIZE   = {manager_reads, 32'b0};
  assign to_manager.PINS   = {manager_reads, 32'b0, manager_writes};

  logic unused_registers;
  assign unused_registers = ^{from_vm, from_manager, vm_stall_wr, vm_stall_rd, manager_stall_wr,
                              manager_stall_rd, vm_rd_ack, vm_wr_ack, manager_rd_ack,
                              manager_wr_ack, vm_rd_data, manager_rd_data, addr_q[1:0]};

  // Time.

  logic [63:0] now_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      now_q <= '0;
    end else begin
      now_q <= now_q + 1'b1;
    end
  end

  assign time_o = now_q;

  // The schedules, and the engines.

  logic [VmBits-1:0]            vm;
  logic                         store, arm, disarm, stop, take, report_taken;
  logic [4:0]                   sample_address;
  logic [5:0]                   store_address, arm_entry;
  logic [WordBits-1:0]          store_word;
  logic [TimeBits-1:0]          arm_time;
  logic [VMS-1:0]               armed, running, missed;
  logic [VMS-1:0][Lines-1:0]    sample, granted, inputs, lines;
  logic [VMS-1:0][5:0]          samples;
  logic [VMS-1:0][2:0]          cause;
  logic [VMS-1:0][TimeBits-1:0] report_time;

  timed_io_schedule #(.VMS(VMS)) u_schedule (
    .clk_i, .rst_ni, .now_i(now_q), .ready_o(ready),
    .access_i(access_q == OfVm), .access_vm_i(page[VmBits-1:0]), .access_write_i(is_wr_q),
    .access_word_i(addr_q[11:2]), .access_whole_i(whole_q), .access_data_i(data_q),
    .answer_o(vm_answer), .answer_error_o(vm_error), .answer_data_o(vm_data),
    .vm_o(vm), .store_o(store), .store_address_o(store_address), .store_word_o(store_word),
    .arm_o(arm), .arm_time_o(arm_time), .arm_entry_o(arm_entry), .disarm_o(disarm), .stop_o(stop),
    .clear_o(clear), .sample_address_o(sample_address), .take_o(take),
    .report_taken_o(report_taken),
    .armed_i(armed), .running_i(running), .sample_i(sample), .samples_i(samples),
    .missed_i(missed), .cause_i(cause), .report_time_i(report_time)
  );

  for (genvar v = 0; v < VMS; v++) begin : gen_engine
    logic   is_this, is_page;
    cause_e its_cause;

    assign is_this  = 32'(vm) == v;
    assign cause[v] = its_cause;
    // Only accesses store.
    assign is_page  = 32'(page) == v;

    timed_io_engine #(.TIME_BITS(TimeBits)) u_engine (
      .clk_i, .rst_ni, .now_i(now_q[TimeBits-1:0]),
      .store_i((store || scrubs) && is_page),
      .store_address_i(store_address), .store_word_i(store_word),
      .arm_i(arm && is_this), .arm_time_i(arm_time), .arm_entry_i(arm_entry),
      .disarm_i(disarm && is_this), .stop_i(stop && is_this),
      .clear_i((clear && is_this) || !ready),
      .armed_o(armed[v]), .running_o(running[v]),
      .granted_i(granted[v]), .inputs_i(inputs[v]), .lines_o(lines[v]),
      .sample_address_i(sample_address), .take_i(take && is_this),
      .sample_o(sample[v]), .samples_o(samples[v]),
      .report_taken_i(report_taken && is_this), .missed_o(missed[v]), .cause_o(its_cause),
      .report_time_o(report_time[v])
    );
  end

  // The manager's page, and the pins.

  logic              is_pin, pins_refused, pin_refused, pin_owned;
  logic [5:0]        pin;
  logic [VmBits-1:0] pin_vm;

  assign is_pin     = addr_q[8];
  assign pin        = addr_q[7:2];
  assign pins_refused = (is_pin && 32'(pin) >= PINS)
                        || (is_wr_q && (!whole_q || data_q[30:6] != '0 || 32'(data_q[5:0]) >= VMS));
  assign pins_error   = pins_refused || (is_wr_q && pin_refused);
  assign pins_data    = is_pin    ? {pin_owned, 25'b0, pin_owned ? 6'(pin_vm) : 6'b0} :
                      addr_q[2] ? {16'(Ahead), 8'(PINS), 8'(VMS)} : Manager;

  timed_io_pins #(.VMS(VMS), .PINS(PINS)) u_pins (
    .clk_i, .rst_ni,
    .access_i(access_q == OfPins), .set_i(is_wr_q && !pins_refused), .pin_i(PinBits'(pin)),
    .owned_i(data_q[31]), .vm_i(VMS > 1 ? VmBits'(data_q[5:0]) : '0),
    .answer_o(pins_answer), .refused_o(pin_refused),
    .owned_o(pin_owned), .vm_o(pin_vm),
    .lines_i(lines), .granted_o(granted), .inputs_o(inputs),
    .pins_i, .pins_o
  );

endmodule
