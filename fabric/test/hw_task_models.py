"""What hardware tasks compute: from the definitions in docs/src/reference/hardware-tasks.md, on whole arrays in NumPy, or
by Python's own library.

Nothing here knows how the tasks are built. `frame` is the input's bytes; each model returns the output's.
"""

import hashlib
import zlib

import numpy as np

# Fractional bits of a symbol's parts.
POINT = 14


def passthrough(frame, param):
    padded = np.frombuffer(frame + bytes(-len(frame) % 4), "<u4")
    return (padded ^ np.uint32(param)).tobytes()[:len(frame)]


def crc32(frame):
    """IEEE 802.3, as zlib has it, in a word of 64 bits."""
    return zlib.crc32(frame).to_bytes(8, "little")


def sha256(frame):
    """FIPS 180-4."""
    return hashlib.sha256(frame).digest()


def gf_product(a, b):
    """Of two bytes as polynomials modulo x^8 + x^4 + x^3 + x + 1: FIPS 197, 4.2."""
    product = 0
    for bit in range(8):
        product ^= (b >> bit & 1) * a << bit
    for bit in range(14, 7, -1):
        product ^= (product >> bit & 1) * 0x11B << bit - 8
    return product


def s_box():
    """FIPS 197, 5.1.1: the inverse, found by trying, and its affine transform."""
    box = []
    for byte in range(256):
        inverse = next((b for b in range(256) if gf_product(byte, b) == 1), 0)
        circle = inverse * 0x101
        box.append((inverse ^ circle >> 4 ^ circle >> 5 ^ circle >> 6 ^ circle >> 7) & 0xFF ^ 0x63)
    return np.array(box, np.uint8)


S_BOX = s_box()
TIMES = {by: np.array([gf_product(byte, by) for byte in range(256)], np.uint8) for by in (2, 3)}
AES_CTR, AES_256 = 1, 2


def aes_round_keys(key):
    """FIPS 197, 5.2: an array of 16 bytes for each round, and one for before."""
    words, length, power = [list(key[i:i + 4]) for i in range(0, len(key), 4)], len(key) // 4, 1
    for i in range(length, 4 * (length + 7)):
        word = words[-1]
        if i % length == 0:
            word = [int(S_BOX[byte]) for byte in word[1:] + word[:1]]
            word[0] ^= power
            power = gf_product(power, 2)
        elif length == 8 and i % 8 == 4:
            word = [int(S_BOX[byte]) for byte in word]
        words.append([a ^ b for a, b in zip(word, words[-length])])
    return np.array(words, np.uint8).reshape(-1, 16)


def aes_encrypted(blocks, key):
    """FIPS 197, 5.1, of an array of blocks."""
    keys = aes_round_keys(key)
    state = blocks ^ keys[0]
    for number, round_key in enumerate(keys[1:], 1):
        # Rows are shifted: byte r of column c comes from column c + r.
        state = S_BOX[state][:, [(4 * (c + r) + r) % 16 for c in range(4) for r in range(4)]]
        if number < len(keys) - 1:
            columns = state.reshape(-1, 4, 4)
            rolled = [np.roll(columns, -r, axis=2) for r in range(4)]
            state = (TIMES[2][rolled[0]] ^ TIMES[3][rolled[1]] ^ rolled[2] ^ rolled[3]).reshape(-1, 16)
        state = state ^ round_key
    return state


def aes(frame, param):
    """The key in the first 32 bytes, the first counter in the next 16; text from the 64th on. SP 800-38A, 6.1 and 6.5."""
    header, text = frame[:64].ljust(64, b"\0"), frame[64:]
    blocks = np.frombuffer(text + bytes(-len(text) % 16), np.uint8).reshape(-1, 16)
    key = header[:32 if param & AES_256 else 16]
    if not param & AES_CTR:
        return aes_encrypted(blocks, key).tobytes()
    first = int.from_bytes(header[32:48], "big")
    counters = b"".join(((first + i) % 2**128).to_bytes(16, "big") for i in range(len(blocks)))
    stream = aes_encrypted(np.frombuffer(counters, np.uint8).reshape(-1, 16), key)
    return (blocks ^ stream).tobytes()[:len(text)]


def convolution(frame, param, width=128):
    """The kernel in the first nine bytes; from the width-th byte on rows of an image, of which the last may be short."""
    kernel = np.frombuffer(frame[:9].ljust(9, b"\0"), np.int8).reshape(3, 3).astype(np.int64)
    rows, shift = frame[width:], param & 15
    image = np.frombuffer(rows + bytes(-len(rows) % width), np.uint8).reshape(-1, width).astype(np.int64)
    if len(image) < 3:
        return b""
    around = np.lib.stride_tricks.sliding_window_view(np.pad(image, ((0, 0), (1, 1))), (3, 3))
    sums = np.einsum("yxij,ij->yx", around, kernel)
    return np.clip(np.floor(sums / 2**shift + (0.5 if shift else 0)), 0, 255).astype(np.uint8).tobytes()[:len(rows) - 2 * width]


def qam(frame, symbol_bits):
    """3GPP TS 36.211, 7.1.3 (4 bits) and 7.1.4 (6 bits)."""
    bits = np.unpackbits(np.frombuffer(frame, np.uint8)).astype(np.int64)
    bits = np.append(bits, np.zeros(-len(bits) % symbol_bits, np.int64)).reshape(-1, symbol_bits)
    sign = 1 - 2 * bits
    if symbol_bits == 4:
        levels = [sign[:, part] * (2 - sign[:, part + 2]) for part in (0, 1)]
        power = 10
    else:
        levels = [sign[:, part] * (4 - sign[:, part + 2] * (2 - sign[:, part + 4])) for part in (0, 1)]
        power = 42
    symbols = np.rint(np.stack(levels, axis=1) * 2**POINT / np.sqrt(power))
    return symbols.astype("<i2").tobytes()


def halves(a, b):
    """Halves of the sum, rounded from the middle up, and of the difference, from the middle down."""
    return (a + b + 1) >> 1, (a - b) >> 1


def turned(x, exponents, circle):
    """x times exp(-2 pi i exponents / circle), of 16 bits behind the point, rounded as `halves` are."""
    angles = -2 * np.pi * exponents / circle
    cosines = np.floor(65536 * np.cos(angles) + 0.5).astype(np.int64)
    sines = np.floor(65536 * np.sin(angles) + 0.5).astype(np.int64)
    re, im = x[..., 0], x[..., 1]
    return np.stack([(re * cosines - im * sines + 32768) >> 16, (re * sines + im * cosines + 32768) >> 16], axis=-1)


def transform(x):
    """The half-length transform of blocks of complex integers, each of 1/M: shape (..., M, 2)."""
    m = x.shape[-2]
    if m == 1:
        return x
    out = np.empty_like(x)
    n = np.arange(m // 4 if m.bit_length() % 2 else m // 2)
    sums, differences = halves(x[..., :m // 2, :], x[..., m // 2:, :])
    if m.bit_length() % 2 == 0:
        # An odd number of butterflies: one of them alone.
        out[..., 0::2, :] = transform(sums)
        out[..., 1::2, :] = transform(turned(differences, n, m))
        return out
    first, second = differences[..., :m // 4, :], differences[..., m // 4:, :]
    # The second one counts times -i: what is added and what is subtracted is of the other part.
    added_re, subtracted_re = halves(first[..., 0], second[..., 1])
    added_im, subtracted_im = halves(first[..., 1], second[..., 0])
    quarters = [*halves(sums[..., :m // 4, :], sums[..., m // 4:, :]),
                np.stack([added_re, subtracted_im], axis=-1), np.stack([subtracted_re, added_im], axis=-1)]
    for by, quarter in zip((0, 2, 1, 3), quarters):
        out[..., by::4, :] = transform(turned(quarter, n * by, m))
    return out


def fft(frame, points):
    x = np.frombuffer(frame, "<i2").astype(np.int64)
    x = np.append(x, np.zeros(-len(x) % (2 * points), np.int64)).reshape(-1, points, 2) * 2
    even = transform(x[:, 0::2])
    odd = turned(transform(x[:, 1::2]), np.arange(points // 2), points)
    both = np.concatenate([even + odd, even - odd], axis=1)
    return np.clip((both + 2) >> 2, -32768, 32767).astype("<i2").tobytes()


def fft_inputs(points):
    """Frames of 64 blocks by the kind of input, the same each time."""
    generator, samples = np.random.default_rng(1), 64 * points
    angles = 2 * np.pi * np.arange(samples) * (points // 8 + 1) / points
    tone = np.rint(32767 * np.stack([np.cos(angles), np.sin(angles)], axis=1))
    return {"noise, full scale": generator.integers(-32768, 32768, 2 * samples).astype("<i2").tobytes(),
            "noise, 1/16 of full scale": generator.integers(-2048, 2048, 2 * samples).astype("<i2").tobytes(),
            "16-QAM": qam(generator.bytes(samples // 2), 4),
            "64-QAM": qam(generator.bytes(samples * 6 // 8), 6),
            "a tone, full scale": tone.astype("<i2").tobytes()}


def fft_error(frame, points):
    """How far `fft` is from the transform in floating point: (largest in units of the last place, SNR in dB)."""
    x = np.frombuffer(frame, "<i2").astype(float).reshape(-1, points, 2)
    exact = np.fft.fft(x[..., 0] + 1j * x[..., 1], axis=1) / points
    got = np.frombuffer(fft(frame, points), "<i2").astype(float).reshape(-1, points, 2)
    error = got[..., 0] + 1j * got[..., 1] - exact
    largest = max(np.abs(error.real).max(), np.abs(error.imag).max())
    return largest, 10 * np.log10((np.abs(exact)**2).mean() / (np.abs(error)**2).mean())
