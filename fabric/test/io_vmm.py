"""The I/O hypervisor's side of an I/O VMM, for tests of those: with test/io_vmm_port.sv."""

from dataclasses import dataclass

from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge

READ, WRITE, CONTROL = range(3)
(DONE, MALFORMED, NO_DEVICE, DENIED, BAD_OP, BAD_ADDRESS, BAD_LENGTH, PROTECTED, DEVICE_FAILED,
 MEMORY_FAILED) = range(10)
LENGTH_MAX = 1536


@dataclass
class Answer:
    status: int
    data: bytes
    cycles: int


class IoVmm:
    def __init__(self, dut):
        self.dut = dut
        dut.go_i.value = 0
        dut.ask_i.value = 0

    async def ask(self, port, op, addr=0, data=b"", length=None):
        """One request: the data of a Write or Control, or the length of a Read. Returns its answer."""
        dut = self.dut
        length = len(data) if length is None else length
        dut.ask_i.value = port << 45 | op << 43 | length << 32 | addr
        # Behind the data comes anything.
        padded = data + bytes((0xA5, 0x5A, 0xC3))
        for word in range((len(data) + 3) // 4):
            dut.u_port.sends[word].value = int.from_bytes(padded[4 * word:4 * word + 4], "little")
        dut.go_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.go_i.value = 0
        await RisingEdge(dut.done_o)
        await ReadOnly()
        answer = int(dut.answer_o.value)
        status, length = answer >> 11, answer & 0x7FF
        assert int(dut.words_o.value) == (length + 3) // 4 or status != DONE
        came = b"".join(int(dut.u_port.came[n].value).to_bytes(4, "little") for n in range((length + 3) // 4))
        cycles = int(dut.cycles_o.value)
        await FallingEdge(dut.clk_i)
        return Answer(status, came[:length], cycles)
