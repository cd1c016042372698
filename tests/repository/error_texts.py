"""Prints each error text that does not say what it is about, or not what helps, and
each line of `error_texts.tsv` that is about no such text (any more): nothing, as a rule.

A text is what stands in a call that reports an error, with {} for whatever is put into
it. It names what it is about if something is put into it, or if it has a name in it: an
option, a variable, a file, a command, a word in quotes. It says what helps if it has a
clause that begins with a verb, "; write ADDRESS:PORT", asks a question, "; is it a DVM
of Troupe?", tells what there is, "; known are tail and live", or points to a command of
ours. One that passes on the reason of another error leaves that to it.

`error_texts.tsv` lists those that may do without, in lines of reason, file and text:

    caller      of a program that calls a function wrongly; it gets a code, and the
                Standard says what is allowed
    ends        somebody or something is over, or not there (any more)
    internal    between parts of one process or node; nobody reads it as it stands
    plain       there is nothing to name
    protocol    what a peer sends is damaged, or not for it to say
    note        no error
    system      what the kernel or a library says, or the want of memory; whoever
                passes it on says what helps
    later       it could be better

--list prints those that are not on it, as lines of it. With names of sources: those in
them, whatever is on it.
"""

import collections
import os
import re
import subprocess
import sys

LIST = "tests/repository/error_texts.tsv"
LAYERS = ("config", "base", "actors", "adapters", "runtime", "c_api", "tools")
REASONS = ("caller", "ends", "internal", "plain", "protocol", "note", "system", "later")

# What they read is damaged, or what they write is of no known type: users see the code.
CODECS = (
    "adapters/wire/",
    "adapters/c_values/",
    "adapters/pmi1/",
    "actors/mesh/remoting/content_",
    "actors/mesh/sessions/",
)

# There what helps is an argument of its own.
DIAGNOSES = ("tools/diagnosis.",)

# The list only shrinks: lower these with it.
MOST_LINES = 264
MOST_LATER = 0

# Calls that report an error, or make one.
CALL = re.compile(
    r"\b(make_error|fail|complain|refuse|refusal|refused|bad|wrong|unusable|invalid"
    r"|ValidationError|runtime_error|notice|warn|log_error|fprintf(?=\(\s*stderr)|(?<=\.)error"
    r"|(?:log_?|about\([^()]*\))(?=\(\s*severity::error\b))\s*\("
)
COMMENT = re.compile(r"^[ \t]*//.*$", re.M)
TOKEN = re.compile(r'"(?P<text>(?:[^"\\]|\\.)*)"|\'(?:[^\'\\]|\\.)\'|[(){}\[\],]|[^"\'(){}\[\],]+')
PASSES_ON = re.compile(
    r"\b(?:reason_of|words_of|complaint_of|explain|what)\("
    r"|\b(?:why|reason|remedy|failure|trouble)\b"
)
# These put a name before the text themselves.
HELPERS = ("refuse", "refusal", "refused", "bad", "wrong", "unusable", "invalid", "error")

# What a clause begins with that says what to do.
VERBS = """add adopt allow ask attach build bind call cancel change check choose chmod chown
    close come compute connect continue copy correct declare deregister disconnect do
    end fetch fill free give have install kill leave let link load look lower make mend
    mount move name open pass post publish put raise read redirect register remove
    rename repair report restart run say see send separate set share shorten start stop
    take try unset use wait watch write
    """.split()
HELPS = re.compile(
    r"(?:^|[;:,(.`|]) *(?:or |and |then |here, |to )?(?:" + "|".join(VERBS) + r")\b"
    r"|\?|; .*\btrouped? [a-z]+"
    r"|\b(?:takes(?! no)|needs|knows|known are|such as|must be|must name|has to)\b"
    r"|; (?:it is|it has|there (?:is|are):?|the first are|those of) |; did you mean"
)
NAMES = re.compile(
    r"\{\}|--?[a-z]|\b[A-Z][A-Z_]{2,}|/[a-z]+|\btroupe\b|\\\"|'|\w=|\w::|\w\(\)|\bthis [a-z]+\b"
)


def arguments(source, begin):
    """What stands between the brackets of a call: one list of tokens an argument."""
    result, depth = [[]], 1
    for token in TOKEN.finditer(source, begin):
        whole = token[0]
        depth += (whole in "({[") - (whole in ")}]")
        if depth == 0:
            return result
        if whole == "," and depth == 1:
            result.append([])
        else:
            result[-1].append((token["text"], whole))
    return []


def template(tokens):
    """The text of an argument, {} for what is put into it; None: it has no text."""
    result, between, found = "", "", False
    for text, whole in tokens:
        if text is None:
            between += whole
            continue
        found = True
        result += "{}" if re.sub(r"[\s+()]", "", between) else ""
        result, between = result + text, ""
    return result + ("{}" if re.sub(r"[\s+()]", "", between) else "") if found else None


def texts_in(source):
    """Yields (line, text, passes on another, is named by its helper) of each error."""
    source = COMMENT.sub("", source)
    for call in CALL.finditer(source):
        parts = arguments(source, call.end())
        if any("make_error" in x for part in parts for _, x in part):
            continue  # That is found by itself.
        texts = [template(part) for part in parts]
        if not any(text and " " in text for text in texts):
            continue
        if call[1] == "make_error" or "severity" in "".join(x for _, x in parts[0]):
            parts, texts = parts[1:], texts[1:]
        passes_on = PASSES_ON.search("".join(x for part in parts for t, x in part if t is None))
        # The reason of an error that somebody else has put into words.
        passes_on = passes_on or (len(texts) == 2 and texts[1] is None)
        yield (
            source.count("\n", 0, call.start()) + 1,
            " | ".join("{}" if text is None else text for text in texts),
            bool(passes_on),
            call[1] in HELPERS,
        )


def read_list():
    """(file, text) -> reason."""
    result = {}
    with open(LIST, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                reason, path, text = line.rstrip("\n").split("\t")
                if reason not in REASONS or (path, text) in result:
                    print(f"{LIST}: no reason, or twice: {line.strip()}")
                result[path, text] = reason
    return result


def wanting_in(path):
    """How many errors a source has, and the texts that lack something, with what."""
    total, result = 0, {}
    with open(path, encoding="utf-8") as source:
        for line, text, passes_on, is_named in texts_in(source.read()):
            total += 1
            if not (passes_on or HELPS.search(text)):
                result[path, text] = f"{path}:{line}: says not what helps: {text}"
            elif not (is_named or NAMES.search(text)):
                result[path, text] = f"{path}:{line}: names nothing: {text}"
    return total, result


def main():
    if sys.argv[1:] and sys.argv[1] != "--list":
        for path in sys.argv[1:]:
            for what in wanting_in(path)[1].values():
                print(what)
        return
    files = subprocess.check_output(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *LAYERS], text=True
    ).split()
    total, wanting = 0, {}
    for path in files:
        if not path.endswith((".hpp", ".cpp")) or path.startswith(CODECS + DIAGNOSES):
            continue
        if os.path.exists(path):
            found = wanting_in(path)
            total += found[0]
            wanting.update(found[1])
    excused = read_list()
    if "--list" in sys.argv:
        for path, text in sorted(wanting.keys() - excused.keys()):
            print("later", path, text, sep="\t")
        return
    if total < 500:
        print("hardly any error text was found")
    for place, what in wanting.items():
        if place not in excused:
            print(what)
    for path, text in excused:
        if (path, text) not in wanting:
            print(f"{LIST}: not needed (any more): {path}: {text}")
    if len(excused) > MOST_LINES:
        print(f"{LIST}: {len(excused)} lines, and there were {MOST_LINES}: mend the text")
    later = collections.Counter(excused.values())["later"]
    if later > MOST_LATER:
        print(f"{LIST}: {later} could be better, and there were {MOST_LATER}")


main()
