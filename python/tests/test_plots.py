"""Pictures are those of the report."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import tactus


def test_plots_are_the_reports_pictures(sampled: tactus.Board, tmp_path: Path) -> None:
    (plot,) = sampled.plots()
    assert plot.title == "dispatch of rtos"
    assert ET.fromstring(plot.svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert plot._repr_svg_() == plot.svg == sampled.plot("rtos", "dispatch").svg
    assert "board soc at 666.7 MHz, fast, seed 1" in plot.svg
    sampled.report(tmp_path)
    written = (tmp_path / "rtos-dispatch.svg").read_text()
    # The report's names the commit, too.
    assert len(written) >= len(plot.svg)
    assert written.splitlines()[-5:] == plot.svg.splitlines()[-5:]
    plot.save(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text() == plot.svg


def test_the_fabrics_pins_are_kept_and_drawn(system: Callable[[str], tactus.System]) -> None:
    board = tactus.Board(system("io-restart"), pins=True)
    board.run()
    pins = board.pins()
    assert len(pins) > 10
    assert pins["cycle"] == sorted(pins["cycle"])
    assert all(0 < seconds <= board.time for seconds in pins["seconds"])
    assert board.fork().pins().to_dict() == pins.to_dict()
    plot = board.pins_plot(changes=8)
    assert ET.fromstring(plot.svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert "pin 0" in plot.svg and "pin 7" in plot.svg
