"""Uses `tactus_client` before a machine of `clients.rs`, which is at the other end of standard input and output."""

import sys
from collections.abc import Callable

import tactus_client

SOC, MEMORY = sys.argv[1:]
MESSAGE = (1, 2, 3, 2**64 - 1, 5, 6, 7, 8)
CHANNEL = 5


def ask(text: str) -> int:
    print(text, flush=True)
    return int(input())


class Client(tactus_client.Client):
    """A client whose loads the test serves."""

    def __init__(self, channel: int) -> None:
        super().__init__(channel, soc=SOC, memory=MEMORY)

    def _load(self, offset: int) -> int:
        return ask(f"load {offset}")


def replied(message: tuple[int, ...]) -> tuple[int, ...]:
    message += (0,) * (8 - len(message))
    return tuple((3 * word + 1) % 2**64 for word in message)


def raises(error: type[Exception], use: Callable[[], object]) -> None:
    try:
        use()
    except error as raised:
        assert str(raised), "an error without a text"
    else:
        raise AssertionError(f"no {error.__name__}")


with Client(CHANNEL) as first, Client(CHANNEL) as second:
    assert (first.service, first.life) == (0x0123456789ABCDEF, 77)
    assert first.call(*MESSAGE) == replied(MESSAGE)
    assert second.call(9) == replied((9,))
    assert first.call() == replied(())
    # The service counts in each client's data.
    assert len(first.data) == 2048
    assert (first.data[0], second.data[0]) == (2, 1)

    raises(ValueError, lambda: first.call(*range(9)))
    raises(ValueError, lambda: first.call(2**64))
    raises(ValueError, lambda: first.call(-1))
    raises(ValueError, lambda: first.call("1"))
    ask("mode down")
    raises(tactus_client.Closed, first.call)
    raises(tactus_client.Closed, lambda: Client(CHANNEL))
    ask("mode fails")
    raises(tactus_client.Failed, first.call)
    ask("mode serves")
    ask("life 78")
    assert first.call(*MESSAGE) == replied(MESSAGE)
    assert (first.life, second.life) == (78, 77)

    third, fourth = Client(CHANNEL), Client(CHANNEL)
    raises(tactus_client.AllInUse, lambda: Client(CHANNEL))
    third.close()
    third.close()
    with Client(CHANNEL) as again:
        assert again.call(4) == replied((4,))
    fourth.close()
    raises(ValueError, fourth.call)
    # It restarts with fewer clients.
    ask("clients 1")
    raises(tactus_client.Refused, second.call)
    ask("clients 4")

ask("mode hostile")
raises(tactus_client.NoService, lambda: Client(CHANNEL))
ask("mode serves")
raises(tactus_client.NoChannel, lambda: Client(CHANNEL + 1))
raises(ValueError, lambda: Client(-1))
raises(OSError, lambda: tactus_client.Client(CHANNEL, soc=SOC, memory="/nowhere"))
print("done")
