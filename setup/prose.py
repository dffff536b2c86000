#!/usr/bin/env python3
"""Checks the text of all Markdown pages and of the comments of all code, as CONTRIBUTING.md ("Text") describes it.

usage: prose.py [--shrink]

A page has no line of more than 120 characters, text right below its title, and none of the words that are not used.
Code, tables and the targets of links are not checked.

A comment has none of these words either, and a line of nothing but a comment at most 120 characters, 100 in
SystemVerilog. That goes for Rust, C, C++, assembler, linker scripts, SystemVerilog, Python, shell, awk and TOML. Of
Python's texts in three quotes and of SystemRDL's descriptions only the words are checked. A word that has to be quoted
is written as code, in backquotes. Generated files and the fuzzers' corpus are left out.

A finding is a line `FILE:LINE: MESSAGE`. Pages that are not converted yet are in setup/prose-unconverted.txt with their
number of findings, which may only shrink. `--shrink` writes the present numbers there, if none has grown. Exit code 1
when there is a finding.
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
# What may be between two words of a comment: a line break and a mark of comments, too.
GAP = r"[\s/*#!]+"
WORD = re.compile(r"\b(" + "|".join(f"(?:{word})" for word in WORDS).replace(" ", GAP) + r")\b", re.IGNORECASE)

# What is a comment of each language, `comment` or, where its width does not count, `text`. Strings are matched as well,
# so that nothing in them begins a comment.
STRING = r'"(?:\\.|[^"\\])*"'
C = re.compile(rf"""(?P<comment>//[^\n]*|/\*.*?\*/)|\br(#*)".*?"\2|{STRING}|'(?:\\[^'\n]+|[^\\'\n])'""", re.DOTALL)
ASSEMBLER = re.compile(r"""(?P<comment>//[^\n]*|/\*.*?\*/|(?<!\S)#(?!\S)[^\n]*)|"(?:\\.|[^"\\\n])*["]""", re.DOTALL)
SHELL = re.compile(r"(?P<comment>(?<!\S)#(?![^\s#])[^\n]*)")
PYTHON = re.compile(rf'{SHELL.pattern}|(?P<text>""".*?""")', re.DOTALL)
RDL = re.compile(rf"(?P<comment>//[^\n]*)|(?P<text>{STRING})", re.DOTALL)
LANGUAGES = {
    **dict.fromkeys((".rs", ".c", ".h", ".cpp", ".ld", ".x", ".sv", ".svh"), C),
    **dict.fromkeys((".S", ".inc"), ASSEMBLER),
    **dict.fromkeys((".sh", ".awk", ".toml"), SHELL),
    **dict.fromkeys((".py", ".pyi"), PYTHON),
    ".rdl": RDL,
}
WIDTHS = {".sv": 100, ".svh": 100}
# What `fabric/flow.py regs` writes; and inputs of the fuzzers.
LEFT_OUT = re.compile(r"fabric/generated/|fabric/registers/src/[^/]+/|fuzz/corpus/")


def advice(word: str) -> str:
    """What to write in place of a word."""
    word = re.sub(GAP, " ", word)
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


def is_code(text: str, at: int) -> bool:
    """Whether a place of a comment is in a block of code, as documentation has it, or between backquotes."""
    if len(re.findall(r"^\s*//[/!]\s*(?:```|~~~)", text[:at], re.MULTILINE)) % 2:
        return True
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:].split("\n", 1)[0]
    return any(span.start() <= at - begin < span.end() for span in re.finditer(r"`[^`]*`", line))


def comment_findings(text: str, suffix: str) -> list[tuple[int, str]]:
    """The findings in the comments of a source, each with its line."""
    width = WIDTHS.get(suffix, WIDTH)
    words = list(WORD.finditer(text))
    wide = [] if suffix == ".rdl" else list(re.finditer(rf"^.{{{width + 1},}}$", text, re.MULTILINE))
    if not words and not wide:
        return []
    found = []
    comments = [match for match in LANGUAGES[suffix].finditer(text) if match.lastgroup]
    for word in words:
        if any(part.start() <= word.start() < part.end() for part in comments) and not is_code(text, word.start()):
            found.append((word.start(), f"`{re.sub(GAP, ' ', word[0])}` is not used; {advice(word[0])}"))
    for line in wide:
        begin = line.start() + len(line[0]) - len(line[0].lstrip())
        if not any(part.start() <= begin < part.end() for part in comments if part.lastgroup == "comment"):
            continue
        prose = re.sub(r"^[/*#!]+ ?", "", line[0].lstrip())
        # Tables, blocks of code, and what cannot be broken.
        if prose.startswith(("|", "    ")) or " " not in prose.strip() or is_code(text, line.start()):
            continue
        if len(re.sub(r"\]\([^)]*\)", "]", line[0])) > width:
            message = f"a comment of {len(line[0])} characters; break the line after at most {width}"
            found.append((line.start(), message))
    return [(text.count("\n", 0, at) + 1, finding) for at, finding in sorted(found)]


def main() -> int:
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\0")
    files = [file for file in sorted(set(filter(None, files))) if (ROOT / file).is_file()]
    # Of the book's table of contents mdBook defines the form.
    pages = [file for file in files if file.endswith(".md") and not file.endswith("SUMMARY.md")]
    sources = [file for file in files if Path(file).suffix in LANGUAGES and not LEFT_OUT.match(file)]
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
    in_comments = 0
    for source in sources:
        for number, finding in comment_findings((ROOT / source).read_text(), Path(source).suffix):
            in_comments += 1
            print(f"{source}:{number}: {finding}")
    failed = failed or in_comments > 0
    if "--shrink" in sys.argv and not failed:
        head = [line for line in UNCONVERTED.read_text().splitlines() if line.startswith("#")]
        body = [f"{page} {count}" for page, count in counts.items()]
        UNCONVERTED.write_text("\n".join(head + body) + "\n")
    left = sum(counts.values())
    print(f"prose: {len(pages) - len(counts)} of {len(pages)} pages are clean; {left} findings in the others; "
          f"{in_comments} in the comments of {len(sources)} sources", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
