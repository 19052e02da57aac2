"""print for C that is generated: lines are cut to 116 columns, behind a comma or inside a string. Others use it."""
import builtins
import re

WIDTH = 116
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|/\*.*?\*/|.', re.S)
CHARACTER = re.compile(r'\\[0-7]{1,3}|\\.|.', re.S)


def parts(line):
    """What a line may be cut between: strings, comments, and the rest up to each comma with its space."""
    rest = ""
    for token in TOKEN.findall(line):
        if token[0] == '"' or token.startswith("/*"):
            if rest:
                yield rest
            rest = token
        else:
            rest += token
            if rest.endswith(", "):
                yield rest
                rest = ""
    if rest:
        yield rest


def pieces(string, room):
    """A part with a string as several parts, each of so many columns."""
    cut = string.index('"') + 1
    out, inside = string[:cut], True
    for c in CHARACTER.findall(string[cut:]):
        inside = inside and c != '"'
        if inside and len(out) + len(c) >= room:
            yield out + '"'
            out = '"'
        out += c
    yield out


def narrow(line):
    if len(line) <= WIDTH:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    out = [""]
    for part in parts(line):
        if len(out[-1]) + len(part.rstrip()) > WIDTH and out[-1].strip():
            out.append(indent)
        if len(out[-1]) + len(part.rstrip()) > WIDTH and '"' in part and "/*" not in part:
            first, *more = pieces(part, WIDTH - len(indent) - 2)
            out[-1] += first
            out += [indent + p for p in more]
        else:
            out[-1] += part
    return "\n".join(x.rstrip() for x in out)


def print(*words, flush=False):
    builtins.print("\n".join(narrow(line) for line in " ".join(map(str, words)).split("\n")), flush=flush)
