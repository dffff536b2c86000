"""Calls of another VM from Linux user space (docs/src/reference/call-window.md).

    import tactus_client

    with tactus_client.open(0) as client:
        reply = client.call(1, 2)

The file needs root, as it maps /dev/mem, Python 3.9 and nothing else. A client is used by one thread at a time; further
threads and processes open clients of their own. A child process does not use its parent's.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct

WORDS = 8
"""Words of a message, and of a reply."""

SOC = "/proc/device-tree/soc"
MEMORY = "/dev/mem"

_PAGE = 4096
_IDENTITY = int.from_bytes(b"TACTCALL", "little")
_VERSION = 1
_CLIENTS_MAX = 32
_SLOT = 128
_STATE = 64
_SLOT_LIFE = 72
# Registers of the window.
_VERSION_AT, _SERVICE_AT, _DATA_AT, _LIFE_AT, _CALL_AT = 8, 16, 24, 32, 2048
_REPLIED = 1
# Lock of an open file, not of a process (fcntl.h).
_OFD_SETLK = 37


class CallError(Exception):
    """A call, or the opening of a client, has failed."""


class Closed(CallError):
    """The service is not there: it has not started yet, or restarts. Nothing was done."""

    def __init__(self) -> None:
        super().__init__("the service is not there: it has not started yet, or restarts; nothing was done")


class Failed(CallError):
    """The service has had a fault in the call, or took too long. It may have done a part of it, and restarts."""

    def __init__(self) -> None:
        super().__init__("the service has failed in this call, or took too long; a part of it may be done")


class Refused(CallError):
    """The service refuses the client: it has restarted with fewer clients, or does not keep to the convention."""

    def __init__(self) -> None:
        super().__init__("the service refuses this client: open another one")


class NoChannel(CallError):
    """The devicetree has no such channel with a window for calls."""


class NoService(CallError):
    """The VM at the other end serves no calls, or those of another version."""


class AllInUse(CallError):
    """All of the service's clients are in use."""


def _property(node: str, name: str) -> bytes | None:
    try:
        with _open(os.path.join(node, name), "rb") as file:
            return file.read(65)
    except OSError:
        return None


def _lock(file: int, start: int, size: int) -> bool:
    """Locks a part of a file for who has it open, until it is closed. False: another one has."""
    # struct flock of 64-bit Linux: type, whence, start, length, process.
    lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, start, size, 0)
    try:
        fcntl.fcntl(file, _OFD_SETLK, lock)
    except OSError:
        return False
    return True


def _node(node: str, compatible: str, name: str, number: bytes) -> tuple[int, int] | None:
    """The address and the size of a node, if it has this `compatible`, and the number in the property `name`."""
    place = _property(node, "reg")
    if (
        _property(node, "compatible") == compatible.encode() + b"\0"
        and _property(node, name) == number
        and place is not None
        and len(place) == 16
    ):
        address, size = struct.unpack(">QQ", place)
        # Whole pages, as in all devicetrees of Tactus.
        if address % _PAGE == 0 and size % _PAGE == 0 and size > 0 and max(address, size) < 1 << 62:
            return address, size
    return None


def _find(soc: str, compatible: str, name: str, channel: int) -> tuple[int, int] | None:
    """The address and the size of the node that has this `compatible`, and the channel's number in `name`."""
    try:
        nodes = sorted(os.listdir(soc))
    except OSError:
        return None
    found = (_node(os.path.join(soc, node), compatible, name, struct.pack(">I", channel)) for node in nodes)
    return next((place for place in found if place is not None), None)


class Client:
    """A client of the service at the other end of a channel.

    `service` is the number by which the service says which one it is. `life` says which life of the service gave the
    last reply; another one than before: it has restarted since, and what it kept in its memory is lost. `data` is
    memory that is shared with the service; it may be empty.
    """

    def __init__(self, channel: int, *, soc: str = SOC, memory: str = MEMORY) -> None:
        self._file = -1
        self._maps: list[mmap.mmap] = []
        if not 0 <= channel < 1 << 32:
            raise ValueError("a channel's number has 32 bits")
        window = _find(soc, "tactus,calls", "tactus,channel", channel)
        slots = _find(soc, "tactus,channel", "tactus,index", channel)
        if window is None or slots is None:
            raise NoChannel(
                f"the devicetree has no window for calls by channel {channel}: "
                'system.toml wants `calls` and `device = { compatible = "tactus,calls" }`'
            )
        self._file = os.open(memory, os.O_RDWR | os.O_SYNC | os.O_CLOEXEC)
        try:
            for address, size in ((window[0], _PAGE), slots):
                self._maps.append(mmap.mmap(self._file, size, offset=address))
            self._begin(*slots)
        except BaseException:
            self.close()
            raise

    def _begin(self, address: int, size: int) -> None:
        identity = self._register(0)
        self.life = self._register(_LIFE_AT)
        version, clients = struct.unpack("<II", struct.pack("<Q", self._register(_VERSION_AT)))
        self.service = self._register(_SERVICE_AT)
        data = self._register(_DATA_AT)
        if 0 in (identity, self.life) or self._register(_LIFE_AT) != self.life:
            raise Closed
        if (
            identity != _IDENTITY
            or version != _VERSION
            or not 1 <= clients <= _CLIENTS_MAX
            or data % 64 != 0
            or data * clients > size - _PAGE
        ):
            raise NoService("the VM at the other end serves no calls, or those of another version")
        for number in range(clients):
            if not _lock(self._file, address + number * _SLOT, _SLOT):
                continue
            self._number = number
            begin = _PAGE + number * data
            self.data = memoryview(self._maps[1])[begin : begin + data]
            return
        raise AllInUse("all clients of the service are in use: close one, or have the service allow more")

    def _load(self, offset: int) -> int:
        """Loads a byte of the window by one instruction, which is a call of the service."""
        return self._maps[0][offset]

    def _register(self, offset: int) -> int:
        return int.from_bytes(bytes(self._load(offset + byte) for byte in range(8)), "little")

    def call(self, *message: int) -> tuple[int, ...]:
        """Calls the service with up to eight words, and returns its reply's eight words.

        Raises `Closed`, `Failed`, `Refused`, or `ValueError` for a message that is none, or a client that is closed.
        """
        if len(message) > WORDS:
            raise ValueError("a message has eight words at most")
        if not self._maps:
            raise ValueError("the client is closed")
        try:
            words = struct.pack("<9Q", *message, *(0,) * (WORDS - len(message)), 0)
        except struct.error:
            raise ValueError("a word of a message is a number of 0 to 2**64 - 1") from None
        memory, slot = self._maps[1], self._number * _SLOT
        memory[slot : slot + len(words)] = words
        status = self._load(_CALL_AT + 8 * self._number)
        if status == 0:
            raise Failed if any(memory[slot + _STATE : slot + _STATE + 8]) else Closed
        if status != _REPLIED:
            raise Refused
        *reply, _, self.life = struct.unpack("<10Q", memory[slot : slot + _SLOT_LIFE + 8])
        return tuple(reply)

    def close(self) -> None:
        """Ends the client, and has another one use its slot. Its `data` can no longer be used."""
        if hasattr(self, "data"):
            self.data.release()
        while self._maps:
            self._maps.pop().close()
        if self._file >= 0:
            # The end of the file ends its lock.
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_open = open


def open(channel: int) -> Client:
    """Opens a client of the service at the other end of this VM's channel.

    Raises `Closed` (try again after a millisecond), `NoChannel`, `NoService`, `AllInUse`, or `OSError` where `/dev/mem`
    cannot be opened or mapped: this takes root.
    """
    return Client(channel)
