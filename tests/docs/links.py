#!/usr/bin/python3
"""Says which links of Markdown pages lead nowhere.

    links.py FILE...

Of links to places here the file must be there, and the heading behind `#`. Links to
other hosts are counted only. Prints what is wrong; the last line has the counts.
"""

import os
import re
import sys

FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.M | re.S)
INDENTED = re.compile(r"^(?: {4}|\t).*$", re.M)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"^#+ +(.*?) *#*$", re.M)


def read(path):
    with open(path, encoding="utf-8") as file:
        return FENCE.sub("", file.read())


def anchors(path):
    """What follows `#` for the headings of a page."""
    found, seen = set(), {}
    for title in HEADING.findall(read(path)):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        found.add(slug if count == 0 else f"{slug}-{count}")
    return found


def main():
    inside = outside = 0
    troubles = []
    for page in sys.argv[1:]:
        text = CODE.sub("", INDENTED.sub("", read(page)))
        for target in LINK.findall(text):
            if re.match(r"[a-z]+:", target):
                outside += 1
                continue
            inside += 1
            path, _, anchor = target.partition("#")
            file = os.path.normpath(os.path.join(os.path.dirname(page), path)) \
                if path else page
            if not os.path.exists(file):
                troubles.append(f"{page}: {target}: there is no {file}")
            elif anchor and file.endswith(".md") and anchor not in anchors(file):
                troubles.append(f"{page}: {target}: {file} has no such heading")
    print("\n".join(troubles + [f"{inside} links inside, {outside} outside"]))
    sys.exit(bool(troubles) or inside == 0)


if __name__ == "__main__":
    main()
