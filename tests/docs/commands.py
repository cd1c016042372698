#!/usr/bin/python3
"""Looks at command lines that no test runs as they stand.

    commands.py SOURCE BIN FILE...

Of pages: what is indented, and what stands in backquotes; ```sh blocks are for
tests/install/tutorial. Of other files: comments, and what units start. A script must be
there and executable, each of its options one that its --help lists (without --help: one
that it has words for), and each other word one that it knows. Of troupe and trouped the
commands and options are those of --help; of builds, targets and variables are those of
the sources. Words in capitals stand for something.

Prints what is wrong, then `not run: FILE: COMMAND: REASON`, by the table beside this
script, for each command line that is indented or has arguments. What tells the version
is run.
"""

import functools
import os
import pathlib
import re
import subprocess
import sys

OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
FENCE = re.compile(r"^ *(```|~~~).*?^ *\1\s*$", re.M | re.S)
SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
PATH = r"(?:\.ci|bench|build/bin|scripts)/\w+"
BEFORE = r"(?:sudo |nice -n \S+ |\w+=\S* )*"
STARTED = re.compile(r"^Exec\w+=@TROUPE_BINDIR@/(.*)$", re.M)
TARGET = r"(?:executable|library|target|program)\(\s*{}\b"


def reasons():
    path = pathlib.Path(__file__).with_suffix(".tsv")
    rows = [x.split("\t") for x in path.read_text(encoding="utf-8").splitlines()]
    return {x[0]: x[1] for x in rows if len(x) == 2}


class Pages:
    """The command lines of files."""

    def __init__(self, beginnings):
        others = "|".join(x for x in beginnings if x != "troupe" and "/" not in x)
        self.known = re.compile(rf"{PATH}|trouped?|{others}")
        line = rf"({BEFORE}(?:{PATH}|(?:{others}) ).*)$"
        self.indented = re.compile(rf"^ {{4,}}{line}", re.M)
        self.comment = re.compile(rf"^ *#(?: +|.*: ){line}"
                                  rf"|^ *(?://|\*) {{3}}(trouped? .*)$", re.M)

    def lines(self, path):
        """(command line, whether it stands by itself) of a file."""
        text = FENCE.sub("", path.read_text(encoding="utf-8"))
        if path.suffix == ".md":
            found = self.indented.findall(text)
        else:
            comments = self.comment.findall(SPAN.sub("", text))
            found = [x or y for x, y in comments] + STARTED.findall(text)
        paragraphs = [re.sub(r"\n *(?:# *)?", " ", x)
                      for x in re.split(r"\n[ #]*\n", text)]
        spans = [x for paragraph in paragraphs for _, x in SPAN.findall(paragraph)]
        for line, alone in [(x, True) for x in found] + [(x, False) for x in spans]:
            # Behind two spaces is what it does.
            line = re.split(r"\s{2,}|\s#", line.strip())[0].replace("\\|", "|")
            for part in re.split(r" && | \| ", line):
                part = re.sub(rf"^{BEFORE}", "", part).rstrip(" &")
                first, *rest = part.split(" ")
                # Of a program people say what it does, too.
                is_told = alone or (bool(rest) if "/" in first else " -" in part)
                if self.known.fullmatch(first):
                    yield part, is_told


class Sources:
    """What commands and options there are."""

    def __init__(self, source, bin_folder):
        self.source, self.bin = source, bin_folder
        self.rules = "".join(
            x.read_text(encoding="utf-8")
            for pattern in ("CMakeLists.txt", "*/CMakeLists.txt", "*/*/CMakeLists.txt",
                            "*/*make")
            for x in sorted(source.glob(pattern)) if x.parent != source / "build")

    @functools.lru_cache(maxsize=None)
    def output(self, *words):
        ran = subprocess.run(words, check=False, text=True, capture_output=True,
                             stdin=subprocess.DEVNULL, timeout=60)
        return ran.stdout if ran.returncode == 0 else ""

    def has_target(self, name):
        return re.search(TARGET.format(re.escape(name)), self.rules) is not None

    def troubles(self, line, page):
        """What is wrong with a command line."""
        words = [x.strip("[]()") for x in line.split(" ")]
        first, *rest = [x for x in words if x.strip(".…")]
        if first in ("troupe", "trouped"):
            return self.of_ours(first, rest)
        if first.startswith("build/bin/"):
            name = first.removeprefix("build/bin/")
            if name in ("troupe", "trouped"):
                return self.of_ours(name, rest)
            return [] if self.has_target(name) else [f"nothing builds {name}"]
        return self.of_script(first, rest) if "/" in first else self.of_others(rest, page)

    def of_script(self, first, rest):
        path = self.source / first
        if not path.is_file() or not os.access(path, os.X_OK):
            return [f"{first} is not there, or nobody may run it"]
        if not rest:
            return []
        text = path.read_text(encoding="utf-8")
        says = text
        if "argparse" in text:
            says = self.output(path, "--help")
            if not says:
                return [f"{first} --help fails"]
        options = set(OPTION.findall(says))
        wrong = []
        for word in rest:
            option = OPTION.match(word)
            if option:
                if option[0] not in options:
                    wrong.append(f"{first} has no {option[0]}")
            # Its own words, targets, and patterns of tests.
            elif re.fullmatch(r"[a-z][a-z_.]+", word) and not (
                    re.search(rf"\b{re.escape(word)}", says + text)
                    or self.has_target(word)
                    or (self.source / "tests").joinpath(*word.split(".")).is_dir()):
                wrong.append(f"{first} knows no {word}")
        return wrong

    def of_ours(self, first, rest):
        """Of troupe, troupe COMMAND, troupe COMMAND VERB and trouped."""
        program = self.bin / first
        commands = [[]]
        if first == "troupe" and rest and re.match("[a-z]", rest[0]):
            commands = [[x] for x in rest.pop(0).split("|")]
        # Whatever follows is a topic.
        if commands == [["help"]]:
            return []
        options, wrong = {"--help", "--version"}, []
        for command in commands:
            says = self.output(program, *command, "--help")
            if not says:
                wrong.append(f"{first} has no {' '.join(command)}")
            options.update(OPTION.findall(says))
            verbs = re.findall(r"^  ([a-z]+)\b", says.partition("\nCommands:\n")[2], re.M)
            for verb in verbs if rest and command else []:
                if rest[0].isupper() or verb in rest[0].split("|"):
                    options.update(OPTION.findall(
                        self.output(program, *command, verb, "--help")))
        for word in rest:
            # What is behind the program is its own.
            if word == "--" or "./" in word:
                break
            option = OPTION.match(word)
            if option and option[0] not in options:
                wrong.append(f"{' '.join([first, *commands[0]])} has no {option[0]}")
        return wrong

    def of_others(self, rest, page):
        wrong = []
        for word, following in zip(rest, rest[1:] + [""]):
            variable = re.match(r"-D(TROUPE_\w+)=", word)
            if word == "--target" and not self.has_target(following):
                wrong.append(f"there is no target {following}")
            elif variable and variable[1] not in self.rules:
                wrong.append(f"there is no {variable[1]}")
            elif re.search(r"\w\.yml$|file$", word) and not any(
                    (x / word).is_file() for x in (self.source, page.parent)):
                wrong.append(f"there is no {word}")
        return wrong


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    source, bin_folder, *files = map(pathlib.Path, sys.argv[1:])
    table = reasons()
    pages, sources = Pages(table), Sources(source, bin_folder)
    wrong, not_run, count = {}, {}, 0
    for file in files:
        for line, is_told in pages.lines(source / file):
            count += 1
            name = f"{file}: {line}"
            wrong.update({f"{name}: {x}": True
                          for x in sources.troubles(line, source / file)})
            if line == "troupe --version":
                if not sources.output(bin_folder / "troupe", "--version"):
                    wrong[f"{name}: it fails"] = True
            elif is_told:
                not_run[name] = next(
                    (x for beginning, x in table.items() if line.startswith(beginning)), "")
    for x in wrong:
        print(x)
    for x, reason in not_run.items():
        print(f"not run: {x}: {reason}")
    print(f"{count} commands, {len(not_run)} not run, {len(wrong)} wrong")
    sys.exit(bool(wrong) or count == 0)


if __name__ == "__main__":
    main()
