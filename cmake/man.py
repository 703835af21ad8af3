#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Man pages: section 3 from the comments of the headers, and grapnel(1) from what the command says of itself.

Section 3: a comment with a line "gn_name, gn_other - what it does" makes a page for the functions and macros
that follow it, up to the next comment, or, where none follow, for those that its indented lines show. Functions of
headers in detail/ are not for users, and have none. Each struct and enum that a prototype names, or a member of such
a struct, has a page with its members; types of the same header are on the function's page, too.
Usage: man.py functions INCLUDE-FOLDER OUTPUT-FOLDER VERSION DATE
       man.py command GRAPNEL-COMMAND OUTPUT-FOLDER VERSION DATE
"""
import os
import pathlib
import re
import subprocess
import sys
import textwrap

NAME = r"(?:gn|simt|GN|SIMT)_[A-Za-z0-9]\w*"
TITLE = re.compile(rf"{NAME}[()\w, ]* - ")
FUNCTION = re.compile(rf"^(?!typedef)[A-Za-z][\w *]*?[ *]({NAME})\([^{{;]*\)\s*[{{;]", re.M)
MACRO = re.compile(rf"^#define ({NAME})(\([^)]*\))?", re.M)
SHOWN = re.compile(r"^    (\S.*\).*)", re.M)
COMMENT = re.compile(r"^/\*.*?\*/", re.M | re.S)
TYPE = re.compile(r"^((?:struct|enum) (\w+)) \{.*?\};", re.M | re.S)
TYPE_NAME = re.compile(rf"\b(?:struct|enum) ({NAME})\b")
# A user has these by value, and leaves their members to the library's functions.
CLOSED = re.compile(r"gn_array|gn_nvmeq(_state|_slot)?|gn_net_group|\w+_view|\w+__\w+")
# What begins an item of a list in a comment.
ITEM = re.compile(r"@(\S.*?)  +(\S.*)|(\w+:)  +(\S.*)| {2,3}(?:(-|\d+\.) |(\S.*?)  +)(\S.*)")
WIDTH = 72 # of a line that is kept: man indents it by 7
# Not on the pages of functions: nearly every function takes them.
EVERYWHERE = {"gn_error", "simt_grid"}


def lines_of(comment):
    """The text of a comment, without its stars."""
    text = re.sub(r"^ ?\* ?|^/\* ?", "", comment[:-2], flags=re.M)
    return text.strip("\n").rstrip().split("\n")


def escaped(text):
    return text.replace("\\", "\\e").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")


def kept(text):
    """Code as roff: it can be copied, and no line is a request."""
    return re.sub(r"^(?=\.)", r"\\&", escaped(text).replace("-", "\\-").replace("'", "\\(aq"), flags=re.M)


def prose(text):
    """Words as roff, in one line. What stands in backquotes is code, and so is a negative code."""
    pieces = re.split(r"`([^`]*)`", re.sub(r"(?<!\S)@(?=\w)", "", text))
    pieces[::2] = [escaped(piece).replace("-GN_", "\\-GN_") for piece in pieces[::2]]
    pieces[1::2] = [f"\\fB{kept(piece)}\\fP" for piece in pieces[1::2]]
    return "".join(pieces)


def roff(text):
    """The same in lines. None is a request, and none seems to end a sentence, behind which roff puts two blanks."""
    lines = "\n".join(textwrap.wrap(prose(text), 76, break_long_words=False, break_on_hyphens=False))
    return re.sub(r"([.!?][\"')]*)$", r"\1\\&", re.sub(r"^(?=[.'])", r"\\&", lines, flags=re.M), flags=re.M)


def upper(text):
    return text if re.match(r"\w+_", text) else text[:1].upper() + text[1:]


def blocks(lines):
    """The parts of a comment, each a tag and its lines: paragraphs (""), items of lists ("name", "-", "1."), and lines that
    are kept as they are, because they are indented by four or more (None)."""
    found, column, goes_on = [], 0, False # column: of the last item's text; goes_on: the last part may have one more line
    for line in lines:
        item = ITEM.match(line)
        if not item and re.fullmatch(r" {2,3}\S.*\S \S", line[: column + 1]): # a name as long as the column allows
            item = ITEM.match(line[:column] + " " + line[column:])
        tag = found[-1][0] if goes_on else ""
        if goes_on and not item and (re.match(" {4}|$" if tag is None else "  " if tag else r"\S", line)):
            found[-1][1].append(line)
        elif not line:
            goes_on = False
        else:
            if item:
                column = item.start(item.lastindex)
                groups = [group for group in item.groups() if group]
                found.append((groups[0].replace("@", ""), groups[1:]))
            else:
                found.append((None if line.startswith("    ") else "", [line]))
            goes_on = True
    return found


def body(lines):
    out = []
    for tag, part in blocks(lines):
        text = " ".join(" ".join(part).split())
        if tag is None:
            out.append(".PP\n.RS 4\n.nf\n" + kept(textwrap.dedent("\n".join(part)).strip("\n")) + "\n.fi\n.RE")
        elif tag == "-":
            out.append(f".IP \\(bu 2\n{roff(text)}")
        elif re.fullmatch(r"\d+\.", tag):
            out.append(f".IP {tag} 3\n{roff(text)}")
        else:
            out.append((f".TP 7\n\\fB{kept(tag)}\\fP\n" if tag else ".PP\n") + roff(text))
    return "".join(piece + "\n" for piece in out)


def head(name, number, version, date):
    """The first lines of a page: names are not hyphenated, and so no line is spread."""
    return f'.TH {name} {number} "{date}" "Grapnel {version}" "Grapnel"\n.nh\n.if n .ad l\n'


def section(title, text):
    return f".SH {title}\n" + re.sub(r"^\.PP\n", "", text)


def broken(prototype):
    """A prototype as lines that fit behind the indent of a page in 80 columns, broken between arguments only."""
    name, bracket, arguments = prototype.partition("(")
    lines = [name + bracket]
    for argument in re.split(r"(?<=,) ", arguments):
        if len(lines[-1] + argument) > WIDTH:
            lines.append("    ")
        lines[-1] += argument + " "
    return "\n".join(line.rstrip() for line in lines)


def split_returns(lines):
    """The description, and what begins with "Returns" up to the end of its paragraph."""
    description, returns, inside = [], [], False
    for line in lines:
        start = re.search(r"(?:^(?! )|(?<=[.:;] ))Returns?(?: |$)", line)
        if start and not inside:
            inside = True
            description.append(line[: start.start()].rstrip())
            returns.append(line[start.start():])
        elif inside and line:
            returns.append(line)
        else:
            inside = False
            description.append(line)
    return description, returns


def named_in_order(lines, titles):
    return re.findall(NAME, " ".join(lines[n].split(" - ")[0] for n in titles))


def pages_of(text):
    """Of every comment that describes functions: their prototypes, its lines, which of these name functions,
    the introduction of the header, and the comment of the part they are in: it stands between a line "---- part ----" and
    a blank line."""
    comments = list(COMMENT.finditer(text))
    introduction, part, begins = [], [], False
    for k, comment in enumerate(comments):
        lines = lines_of(comment.group())
        if re.match(r"[\w/]+\.h - ", lines[0]):
            introduction = lines
        titles = [n for n, line in enumerate(lines) if TITLE.match(line)]
        if re.match(r"---- .* ----$", lines[0]):
            part, begins = [], True
            continue
        of_part = begins and not titles and text.startswith("\n\n", comment.end())
        part, begins = (lines if of_part else part), False
        if not titles:
            continue
        code = text[comment.end(): comments[k + 1].start() if k + 1 < len(comments) else len(text)]
        found = {m.group(1): " ".join(m.group(0)[:-1].split()) + ";" for m in FUNCTION.finditer(code)}
        named = set(named_in_order(lines, titles))
        for m in MACRO.finditer(code):
            if m.group(1) in named:
                found.setdefault(m.group(1), m.group(0))
        if not found:  # families of functions that macros make: the comment itself shows how they are called
            shown = [line for line in lines if SHOWN.match(line)]
            lines = [line for line in lines if line not in shown]
            found = dict.fromkeys(named_in_order(lines, titles), "")
            found[next(iter(found))] = "\n".join(line.strip() for line in shown)
        if found:
            yield found, lines, titles, introduction, part


def headers_for(folder):
    """Of every header the public one that a program includes for it: of those that bring it in, the one that brings least."""
    def brought_by(file, found):
        if file not in found:
            found.add(file)
            for name in re.findall(r"^#include <grapnel/([\w/]+\.h)>", file.read_text(encoding="ascii"), re.M):
                brought_by(folder / name, found)
        return found

    brought = {file: brought_by(file, set()) for file in sorted(folder.glob("*.h"))}
    best = {}
    for public in sorted(brought, key=lambda file: -len(brought[file])):
        best.update(dict.fromkeys(brought[public], public.name))
    return best


def types_of(folder):
    """Of every struct and enum that is not internal: the header that a program includes, the comment before it, its definition."""
    found = {}
    for file, header in sorted(headers_for(folder).items()):
        text = file.read_text(encoding="ascii")
        comments = {c.end(): lines_of(c.group()) for c in COMMENT.finditer(text)}
        for m in TYPE.finditer(text):
            if not re.search("__|^(?!gn_|simt_)", m.group(2)):
                found[m.group(2)] = (header, comments.get(m.start() - 1, []), m.group(0))
    return found


def narrow(definition):
    """Members whose long comments stand before them in lines that fit, because a terminal cuts what is kept at its edge."""
    def fitting(m):
        indent, code, comment = m.groups()
        if len(max(m.group().split("\n"), key=len)) <= WIDTH:
            return m.group()
        lines = []
        for tag, part in blocks(lines_of("/*" + comment.replace("\n" + indent, "\n") + "*/")):
            text = " ".join(" ".join([f"- {tag}: " if tag else "", *part]).split())
            lines += textwrap.wrap(text, WIDTH - 6 - len(indent), subsequent_indent="  " if tag else "", break_on_hyphens=False)
        told = f"\n{indent} * ".join(["/*", *lines]) + f"\n{indent} */" if len(lines) > 1 else f"/* {lines[0]} */"
        return indent + told + (f"\n{indent}{code}" if code else "")
    return re.sub(r"^( *)([^\n]*?) */\*(.*?)\*/$", fitting, definition.replace("\t", "    "), flags=re.M | re.S)


def told_members(name, definition):
    if CLOSED.fullmatch(name):
        return f".nf\n{kept(definition.split(' {')[0])} {{ ... }};\n.fi\n.PP\nThe library's functions use its members.\n"
    return f".nf\n{kept(narrow(definition))}\n.fi\n"


def wanted(prototypes, types):
    """The types that the prototypes name, and those of the members of these."""
    ahead, names = TYPE_NAME.findall(prototypes), []
    while ahead:
        name = ahead.pop(0)
        if name in types and name not in names:
            names.append(name)
            ahead += TYPE_NAME.findall(types[name][2]) if not CLOSED.fullmatch(name) else []
    return names


def see_also(names):
    return section("SEE ALSO", ",\n".join(f".BR {name} (3)" for name in names) + "\n") if names else ""


def type_page(name, header, comment, definition, users, version, date):
    text = " ".join(comment) or f"{definition.split()[0]} of <grapnel/{header}>"
    summary = re.split(r"(?<=\w)[.;:](?: |$)", re.sub(r" \([^)]*\)", "", text))[0]
    about = section("DESCRIPTION", body(comment)) if comment else ""
    return (f'{head(name, 3, version, date)}.SH NAME\n{name} \\- {prose(summary[:1].lower() + summary[1:])}\n'
            f".SH SYNOPSIS\n.nf\n#include <grapnel/{header}>\n.fi\n.PP\n{told_members(name, definition)}{about}{see_also(users)}")


def page(header, found, lines, titles, introduction, part, others, types, version, date):
    names = list(found)
    text = [re.sub(r"(at )?the top of this file", lambda m: "in NOTES" if m.group(1) else "NOTES", line) for line in lines]
    for n in titles:
        # Several titles of one comment keep their names; a single one is the name of the page.
        title, what = text[n].split(" - ", 1)
        text[n] = upper(what) if len(titles) == 1 else f"{title}: {what}"
    first = " ".join(line.strip() for line in lines[titles[0]:]).split(" - ", 1)[1]
    summary = re.split(r"(?<=[\w\"])[.;](?: |$)|(?<=\?) | @", re.sub(r" \([^)]*\)", "", first))[0]
    description, returns = split_returns([line for piece in text for line in re.split(r"(?<!,) (?=@\w+  )", piece)])
    of_part, returns_of_part = split_returns(part)
    sections = [("DESCRIPTION", body(description) + body(of_part))]
    if all(re.match(r"(SIMT_\w+ )?int ", prototype) for prototype in found.values()):
        returns = returns or returns_of_part
    if returns:
        sections.append(("RETURN VALUE", body(returns)))
    named = wanted(" ".join(found.values()), types)
    here = [name for name in named if types[name][0] == header and name not in EVERYWHERE and not CLOSED.fullmatch(name)
            and name in " ".join(found.values())]
    if here:
        sections.append(("TYPES", ".PP\n".join(told_members(name, types[name][2]) + body(types[name][1]) for name in here)))
    others = others + [name for name in named if name not in others and name not in found]
    if len(introduction) > 1:
        about = [upper(introduction[0].split(" - ", 1)[1])] + introduction[1:]
        scope = f"This holds for all functions of\n.IR <grapnel/{header}> .\n"
        sections.append(("NOTES", scope + body(about)))
    prototypes = "\n".join(kept(broken(piece)) for p in found.values() for piece in p.split("\n") if piece)
    out = [head(names[0], 3, version, date) +
           f".SH NAME\n{', '.join(names)} \\- {prose(summary)}\n"
           f".SH SYNOPSIS\n.nf\n#include <grapnel/{header}>\n\n{prototypes}\n.fi\n"]
    return "".join(out + [section(*parts) for parts in sections]) + see_also(others)


def functions(source, folder, version, date):
    pages, types = [], types_of(pathlib.Path(source) / "grapnel")
    for file in sorted((pathlib.Path(source) / "grapnel").glob("*.h")):
        pages += [(file.name, *described) for described in pages_of(file.read_text(encoding="ascii"))]
    functions = {name for p in pages for name in p[1]}
    for name in wanted(" ".join(piece for p in pages for piece in p[1].values()), types):
        if name not in functions: # gn_auto_advice is both
            users = [next(iter(p[1])) for p in pages if name in set(TYPE_NAME.findall(" ".join(p[1].values()))) - EVERYWHERE]
            (folder / f"{name}.3").write_text(type_page(name, *types[name], users, version, date), encoding="ascii")
    for header, found, *rest in pages:
        names = list(found)
        others = [next(iter(p[1])) for p in pages if p[0] == header and p[1] is not found]
        text = page(header, found, *rest, others, types, version, date)
        (folder / f"{names[0]}.3").write_text(text, encoding="ascii")
        for name in names[1:]:
            (folder / f"{name}.3").write_text(f".so man3/{names[0]}.3\n", encoding="ascii")


def help_of(command, path):
    """What `grapnel PATH --help` prints, a paragraph or an option a line."""
    environment = {**os.environ, "ARGP_HELP_FMT": "rmargin=4000", "LC_ALL": "C"}
    arguments = [command, *path.split()[1:], "--help"]
    done = subprocess.run(arguments, env=environment, check=True, stdout=subprocess.PIPE, encoding="ascii")
    return done.stdout.split("\n")


def told(lines):
    """Lines of a help text as roff. What is set off by two spaces is an item. What all have is left out."""
    out = []
    for line in lines:
        item = re.match(r" {2,}(\S.*?)(?: {2,}(.*))?$", line)
        if re.search(r" --(help|usage|version)  +[GP]|^Mandatory or optional arguments", line):
            continue
        if item:
            out.append(f".TP\n.B {kept(item.group(1))}\n{roff(item.group(2) or '')}".rstrip())
        else:
            out.append(".PP\n" + roff(line.strip()) if line.strip() else "")
    return "\n".join(piece for piece in out if piece) + "\n"


def subcommands(path, lines):
    """Those that a help text lists, or names in quotes."""
    names = re.findall(rf"^  ([a-z][\w-]*)  |^'{path} ([a-z][\w-]*) ", "\n".join(lines), re.M)
    return [f"{path} {listed or quoted}" for listed, quoted in names]


def command_page(command, version, date):
    lines = help_of(command, "grapnel")
    paths, texts = subcommands("grapnel", lines), []
    while paths:
        path = paths.pop(0)
        if path.count(" ") > 2:
            sys.exit(f"man.py: the help of {path} lists what is no subcommand: write it in another form")
        text = help_of(command, path)
        paths = subcommands(path, text) + paths
        texts.append(f".SS {path}\n.B {kept(text[0][len('Usage: '):])}\n" + told(text[1:]))
    return (head("grapnel", 1, version, date) +
            f".SH NAME\ngrapnel \\- {prose(lines[1].rstrip('.'))}\n"
            f".SH SYNOPSIS\n.B {kept(lines[0][len('Usage: '):])}\n.SH DESCRIPTION\n{told(lines[2:])}"
            f".SH SUBCOMMANDS\n{''.join(texts)}")


def main():
    what, source, folder, version, date = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if what == "command":
        (folder / "grapnel.1").write_text(command_page(source, version, date), encoding="ascii")
    else:
        functions(source, folder, version, date)


if __name__ == "__main__":
    main()
