#!/usr/bin/env python3
"""Checks the text of all Markdown pages, as CONTRIBUTING.md ("Text") describes it: no line of more than 120 characters,
text right below a page's title, and none of the words that are not used. Code, tables and the targets of links are not
checked.

usage: prose.py [--shrink]

Pages that are not converted yet are in setup/prose-unconverted.txt with their number of findings, which may only
shrink. `--shrink` writes the present numbers there, if none has grown. Exit code 1 when there is a finding.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNCONVERTED = ROOT / "setup/prose-unconverted.txt"
WIDTH = 120
# Each with what to write instead.
WORDS = {
    r"somebody|someone": "name the subject: a VM, a vCPU, a hart, the caller",
    r"nobody|no one": "name the subject: no VM, no vCPU, no hart",
    r"whoever|whomever": "name the subject: the VM that ...",
    r"anew": "again",
    r"ever more seldom|seldom": "rarely; rate-limited",
    r"the begin": "the beginning, the start",
    r"hurry": "fast path, urgent",
    r"contradictions?": "error, conflict",
    r"goes elsewhere|gone elsewhere": "is migrated, is stale",
}
WORD = re.compile(r"\b(" + "|".join(f"(?:{word})" for word in WORDS) + r")\b", re.IGNORECASE)


def advice(word: str) -> str:
    """What to write in place of a word."""
    return next(advice for pattern, advice in WORDS.items() if re.fullmatch(pattern, word, re.IGNORECASE))


def findings(text: str) -> list[tuple[int, str]]:
    """A page's findings, each with its line."""
    found = []
    fence = None
    # The page's first line of text below its title.
    begins = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if fence or mark:
            if begins is None:
                begins = (number, False)
            fence = (None if mark and mark[1] == fence else fence) if fence else mark[1]
            continue
        if begins is None and number > 1 and line and not line.startswith("<!--"):
            begins = (number, not line.startswith(("#", "|")))
        if line.startswith(("|", "<!--")):
            continue
        prose = re.sub(r"`[^`]*`", "`code`", line)
        prose = re.sub(r"\]\([^)]*\)", "]", prose)
        if len(re.sub(r"\]\([^)]*\)", "]", line)) > WIDTH:
            found.append((number, f"{len(line)} characters; break the line after at most {WIDTH}"))
        for word in WORD.findall(prose):
            found.append((number, f"`{word}` is not used; {advice(word)}"))
    if begins and not begins[1]:
        found.append((begins[0], "no text below the title; say who needs the page and what they get"))
    return found


def main() -> int:
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "*.md"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\0")
    # Of the book's table of contents mdBook defines the form.
    pages = [page for page in sorted(filter(None, files)) if not page.endswith("SUMMARY.md") and (ROOT / page).is_file()]
    lines = [line for line in UNCONVERTED.read_text().splitlines() if line and not line.startswith("#")]
    allowed = {page: int(count) for page, count in (line.rsplit(maxsplit=1) for line in lines)}
    counts = {}
    failed = False
    for page in pages:
        found = findings((ROOT / page).read_text())
        limit = allowed.get(page, 0)
        if found:
            counts[page] = min(len(found), limit)
        if len(found) > limit:
            failed = True
            if limit:
                print(f"{page}: {len(found)} findings, and {limit} when it was last counted")
            for number, finding in found:
                print(f"{page}:{number}: {finding}")
        elif len(found) < limit and "--shrink" not in sys.argv:
            failed = True
            print(f"{page}: {len(found)} findings, less than the {limit} allowed: run setup/prose.py --shrink")
    for page in sorted(allowed.keys() - set(pages)):
        failed = True
        print(f"{page}: not there any more; remove it from {UNCONVERTED.relative_to(ROOT)}")
    if "--shrink" in sys.argv and not failed:
        head = [line for line in UNCONVERTED.read_text().splitlines() if line.startswith("#")]
        body = [f"{page} {count}" for page, count in counts.items()]
        UNCONVERTED.write_text("\n".join(head + body) + "\n")
    left = sum(counts.values())
    print(f"prose: {len(pages) - len(counts)} of {len(pages)} pages are clean; {left} findings in the others", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
