#!/usr/bin/env python3
"""Frames for hardware tasks, and what the models make of them, for tests outside of this folder.

    hw_task_frames.py FOLDER         writes TASK.in and TASK.out for each task
    hw_task_frames.py TASK FRAME...  writes what a task makes of each file to FRAME.out

The first frames are those that Ker-ONE measures with, of random bits: 18,800 bits for QAM, 4,700 symbols for the FFT.
"""

import random
import sys
from pathlib import Path

import hw_task_models as models

TASKS = {
    "qam16": (2350, lambda frame: models.qam(frame, 4)),
    "qam64": (2350, lambda frame: models.qam(frame, 6)),
    "fft512": (18800, lambda frame: models.fft(frame, 512)),
    "fft1024": (18800, lambda frame: models.fft(frame, 1024)),
    "crc32": (2350, models.crc32),
    "sha256": (2350, models.sha256),
    # CTR with a key of 256 bits.
    "aes": (2350, lambda frame: models.aes(frame, models.AES_256 | models.AES_CTR)),
    # Shifted by three bits.
    "convolution": (2350, lambda frame: models.convolution(frame, 3)),
}


def main():
    if len(sys.argv) > 2:
        _, model = TASKS[sys.argv[1]]
        for frame in sys.argv[2:]:
            Path(frame + ".out").write_bytes(model(Path(frame).read_bytes()))
        return
    folder = Path(sys.argv[1])
    for name, (length, model) in TASKS.items():
        frame = random.Random(name).randbytes(length)
        (folder / f"{name}.in").write_bytes(frame)
        (folder / f"{name}.out").write_bytes(model(frame))


if __name__ == "__main__":
    main()
