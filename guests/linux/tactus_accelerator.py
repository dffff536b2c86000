"""Accelerators from Linux user space (docs/src/how-to/share-an-accelerator.md).

    import tactus_accelerator

    with tactus_accelerator.open("sha256") as sha256:
        sha256.memory[:3] = b"abc"
        sha256.submit(size=3, output=4096, output_size=32)
        sha256.wait()
        print(sha256.memory[4096:4128].hex())

The file needs tactus_client.py, root, as it maps /dev/mem, a huge page, Python 3.9 and nothing else. One program at a
time has a device, and one thread of it. The device writes to physical memory: who kills a program while it computes
leaves the device writing to memory that is no longer the program's, until the next one opens the device.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import platform
import struct
import time

import tactus_client

SOC = tactus_client.SOC
MEMORY = tactus_client.MEMORY
PAGEMAP = "/proc/self/pagemap"

_PAGE = 4096
_HUGE_PAGE = 2 << 20
_KIND = 0x5644
# Where a VM's memory begins. Devices count from there.
_RAM_BASE = 0x8000_0000
# Registers (fabric/regs/virtual_device.rdl).
_ID, _START, _OVER, _PARAMETER, _INPUT, _SIZE = 0, 8, 12, 16, 20, 24
_RESULT, _CYCLES, _END, _OUTPUT = 32, 36, 40, 64
# Anonymous memory of huge pages, populated (the kernel's include/uapi/asm-generic/mman.h).
_MAP_HUGE_PAGES, _MAP_POPULATE = 0x40000, 0x8000
# Seconds between two looks whether a computation is over.
_LOOK = 20e-6

_ERRORS = {
    13: "the computation was ended",
    14: "the device was taken from a task that did not stop in time",
    15: "there was no region for the task",
}


class AcceleratorError(Exception):
    """A computation, or the opening of a device, has failed. `error` is that of the device, or 0."""

    def __init__(self, text: str, error: int = 0) -> None:
        super().__init__(text)
        self.error = error


class NoDevice(AcceleratorError):
    """The VM has no virtual device of that task."""


class InUse(AcceleratorError):
    """Another program has the device."""


class NoHugePage(AcceleratorError):
    """There is no huge page, or the kernel does not say where it is."""


class _Registers:
    """Loads and stores of 32 bits, which Python does not promise: it may copy byte by byte, and orders nothing.

    A store is done behind all that the program has stored before, and a load before all that it loads later.
    """

    # fence iorw, iorw; sw a1, 0(a0); ret; and lwu a0, 0(a0); fence iorw, iorw; ret
    _CODE = struct.pack("<6I", 0x0FF0_000F, 0x00B5_2023, 0x0000_8067, 0x0005_6503, 0x0FF0_000F, 0x0000_8067)

    def __init__(self, page: mmap.mmap) -> None:
        if platform.machine() != "riscv64":
            raise OSError(errno.ENOTSUP, "this library is for RISC-V alone")
        self._code = mmap.mmap(-1, _PAGE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self._code.write(self._CODE)
        code = ctypes.addressof(ctypes.c_char.from_buffer(self._code))
        flush = getattr(ctypes.CDLL(None), "__riscv_flush_icache")
        flush(ctypes.c_void_p(code), ctypes.c_void_p(code + len(self._CODE)), ctypes.c_ulong(0))
        self._store = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32)(code)
        self._load = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p)(code + 12)
        self._page = ctypes.addressof(ctypes.c_char.from_buffer(page))

    def load(self, register: int) -> int:
        value: int = self._load(self._page + register)
        return value

    def store(self, register: int, value: int) -> None:
        self._store(self._page + register, value)


class Accelerator:
    """The VM's virtual device of a task, and `memory`, which is shared with it: input and output.

    `cycles` is how many cycles of the fabric the last computation took.
    """

    def __init__(self, task: str, *, soc: str = SOC, memory: str = MEMORY) -> None:
        self._file = -1
        self._device: mmap.mmap | None = None
        self._pages: mmap.mmap | None = None
        self.cycles = 0
        address = _find(soc, task)
        if address is None:
            raise NoDevice(f"this VM has no virtual device of {task}: `[[vm.accelerator]]` in system.toml gives it one")
        self._file = os.open(memory, os.O_RDWR | os.O_SYNC | os.O_CLOEXEC)
        try:
            if not tactus_client._lock(self._file, address, _PAGE):
                raise InUse(f"another program has the device of {task}")
            self._device = mmap.mmap(self._file, _PAGE, offset=address)
            self._registers = _Registers(self._device)
            if self._registers.load(_ID) >> 16 != _KIND:
                raise NoDevice(f"there is no virtual device of {task} at 0x{address:x}")
            # What its last program has left in it.
            self.cancel()
            self._pages, self._offset = _huge_page()
            self.memory = memoryview(self._pages)
        except BaseException:
            self.close()
            raise

    def submit(self, *, size: int, output: int, output_size: int, input: int = 0, parameter: int = 0) -> None:
        """Asks the device for a computation, and returns at once; `wait` is to follow.

        `input` and `output` are places in `memory`, multiples of 8; `output_size` is what the task writes of so much
        input (docs/src/reference/hardware-tasks.md). Raises `ValueError` for what goes beyond the memory; nothing is
        begun then.
        """
        self._check()
        for place, length in ((input, size), (output, output_size)):
            if place < 0 or place % 8 != 0 or length < 0 or place + length > _HUGE_PAGE:
                raise ValueError("input or output goes beyond the accelerator's memory, or is no multiple of 8")
        if not 0 <= parameter < 1 << 32:
            raise ValueError("a parameter has 32 bits")
        self._registers.store(_INPUT, self._offset + input)
        self._registers.store(_SIZE, size)
        self._registers.store(_OUTPUT, self._offset + output)
        self._registers.store(_PARAMETER, parameter)
        self._registers.store(_START, 1)

    def is_over(self) -> bool:
        """Whether no computation is under way or asked for, and one has been."""
        self._check()
        return self._registers.load(_START) & 1 == 0 and self._registers.load(_OVER) & 1 == 1

    def wait(self, timeout: float | None = None) -> None:
        """Waits until the computation is over; other programs run meanwhile.

        Raises `AcceleratorError` where it has ended with an error, and `TimeoutError` after so many seconds: wait
        again, or cancel it.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while not self.is_over():
            if end is not None and time.monotonic() >= end:
                raise TimeoutError("the computation is still under way")
            time.sleep(_LOOK)
        self.cycles = self._registers.load(_CYCLES)
        error = self._registers.load(_RESULT) & 0xF
        if error:
            raise AcceleratorError(_ERRORS.get(error, f"the task ended with its error {error}"), error)

    def cancel(self) -> None:
        """Ends what the device computes, or was asked to compute. Its memory is then the program's alone."""
        if self._device is None:
            raise ValueError("the device is closed")
        self._registers.store(_END, 1)
        while self._registers.load(_END) & 1:
            time.sleep(_LOOK)

    def _check(self) -> None:
        if self._pages is None:
            raise ValueError("the device is closed")

    def close(self) -> None:
        """Gives the device to others; what it computes is ended. Its `memory` can no longer be used."""
        if self._pages is not None:
            # The huge page goes only after that, as the device writes to it.
            self.cancel()
            self.memory.release()
            self._pages.close()
            self._pages = None
        if self._device is not None:
            self._device.close()
            self._device = None
        if self._file >= 0:
            # The end of the file ends its lock.
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Accelerator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _find(soc: str, task: str) -> int | None:
    """The address of a task's device, from the node that has the task's name."""
    try:
        nodes = sorted(os.listdir(soc))
    except OSError:
        return None
    for node in nodes:
        number = tactus_client._property(os.path.join(soc, node), "tactus,task")
        if node.startswith(f"{task}@") and number is not None and len(number) == 4:
            place = tactus_client._node(os.path.join(soc, node), "tactus,virtual-device", "tactus,task", number)
            return None if place is None else place[0]
    return None


def _huge_page() -> tuple[mmap.mmap, int]:
    """A huge page, which is physically contiguous, and its place in the VM's memory."""
    try:
        # Permits a huge page for each program, as far as memory allows.
        with _open("/proc/sys/vm/nr_overcommit_hugepages", "w") as file:
            file.write("64")
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_HUGE_PAGES | _MAP_POPULATE
        pages = mmap.mmap(-1, _HUGE_PAGE, flags=flags)
    except OSError as error:
        raise NoHugePage("there is no huge page: this takes root, and 2 MiB of memory in one piece") from error
    address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    with _open(PAGEMAP, "rb", buffering=0) as file:
        file.seek(address // _PAGE * 8)
        entry = int.from_bytes(file.read(8), "little")
    # Bits 54:0 of a present page are its frame number, or 0 for who may not know it (the kernel's
    # admin-guide/mm/pagemap).
    physical = (entry & ((1 << 55) - 1)) * _PAGE
    if physical < _RAM_BASE:
        pages.close()
        raise NoHugePage("the kernel does not say where memory is: only root is told")
    return pages, physical - _RAM_BASE


_open = open


def open(task: str) -> Accelerator:
    """Opens the VM's virtual device of a task, by the task's name.

    Raises `NoDevice`, `InUse`, `NoHugePage`, or `OSError` where `/dev/mem` cannot be opened or mapped: this takes root.
    """
    return Accelerator(task)
