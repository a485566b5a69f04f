#!/usr/bin/env python3
"""Puts the pages together: template, styles, libraries and the modules of each become one C source.

    bundle.py OUT.c               what the build compiles in; without the libraries the pages are empty and say why
    bundle.py --html DATA [PAGE]  a whole page with the data of a file, on stdout, for work on it

The modules (*.js here) are joined in the order of their imports, each as a function of its own that hands on what it
exports. Python's standard library alone.
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import fetch

HERE = fetch.HERE
LIBRARIES = {"uplot": "dist/uPlot.iife.min.js", "d3-hierarchy": "dist/d3-hierarchy.min.js"}
GLOBALS = {"uplot": "uPlot", "d3-hierarchy": "d3"}  # what they call themselves in a page
STYLES = {"uplot": "dist/uPlot.min.css"}
MARK = "/*DATA*/"
PAGES = {"report": ("index.html", "app.js"), "diff": ("diff.html", "diff.js"), "evaluation": ("evaluation.html", "evaluation.js"),
         "times": ("times.html", "times.js"), "study": ("study.html", "study.js"), "explore": ("explore.html", "explore.js")}
IMPORT = re.compile(r'^import (.+?) from "([^"]+)";\n', re.M)
EXPORT = re.compile(r"^export ((?:function|const|let|class) +(\w+))", re.M)


def modules(name, done):
    """Names of the app's modules, each after those it imports."""
    text = (HERE / name).read_text()
    for _, other in IMPORT.findall(text):
        if other.startswith("./") and other[2:] not in done:
            modules(other[2:], done)
        elif not other.startswith("./") and other not in LIBRARIES:
            sys.exit(f"web/{name}: {other} is not one of the libraries in web/bundle.py")
    if name not in done:
        done.append(name)
    return done


def variable(name):
    return "module_" + name[2:-3] if name.startswith("./") else f"globalThis.{GLOBALS[name]}"


def join_modules(start):
    parts = []
    for name in modules(start, []):
        text = IMPORT.sub(lambda found: f"const {found[1].replace('* as ', '')} = {variable(found[2])};\n", (HERE / name).read_text())
        exports = ", ".join(word for _, word in EXPORT.findall(text))
        parts.append(f"const {variable('./' + name)} = (() => {{\n{EXPORT.sub(chr(92) + '1', text)}return {{ {exports} }};\n}})();")
    return "\n".join(parts)


def styles():
    """The colours of the dark theme hold when it is chosen, and when the system is dark and nothing is chosen."""
    own = (HERE / "app.css").read_text()
    dark = re.search(r':root\[data-theme="dark"\] (\{.*?\n\})', own, re.S)[1]
    own = own.replace("/*DARK*/", f'@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {dark} }}')
    return "\n".join([*(fetch.read(*item) for item in STYLES.items()), own])


def licences():
    return "\n\n".join(f"{name}\n\n{fetch.read(name, 'LICENSE').strip()}" for name in LIBRARIES)


def page(name):
    template, start = PAGES[name]
    parts = {
        "<!--LICENCES-->": f"<!--\nplimsoll, Apache-2.0. This page contains:\n\n{licences()}\n-->",
        "/*STYLES*/": styles(),
        "/*LIBRARIES*/": "\n".join(fetch.read(*item) for item in LIBRARIES.items()),
        "/*APP*/": join_modules(start),
    }
    for mark, text in parts.items():
        if "</script" in text or (mark == "<!--LICENCES-->" and "--" in text[4:-3]):
            sys.exit(f"web: what replaces {mark} would end its element early")
    # Literally: what is put in may hold anything, marks of the others included.
    pieces = re.split("|".join(map(re.escape, parts)), (HERE / template).read_text())
    found = re.findall("|".join(map(re.escape, parts)), (HERE / template).read_text())
    return pieces[0] + "".join(parts[mark] + piece for mark, piece in zip(found, pieces[1:]))


def c_source(pages, missing):
    lines = ['/* Made by web/bundle.py. */', '#include "report/page.h"', ""]
    for page_name, html in pages.items():
        prefix = "plm_html" if page_name == "report" else f"plm_html_{page_name}"
        before, _, after = html.partition(MARK)
        for name, text in (("before", before), ("after", after)):
            data = text.encode()
            rows = [",".join(map(str, data[i:i + 40])) for i in range(0, len(data), 40)]
            lines += [f"const unsigned char {prefix}_{name}[] = {{", ",\n".join(rows + ["0"]), "};",
                      f"const size_t {prefix}_{name}_size = {len(data)};"]
    quoted = missing.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    lines += [f'const char plm_html_missing[] = "{quoted}";', ""]
    return "\n".join(lines)


def main():
    if len(sys.argv) in (3, 4) and sys.argv[1] == "--html":
        fetch.fetch_all()
        before, _, after = page(sys.argv[3] if len(sys.argv) > 3 else "report").partition(MARK)
        sys.stdout.write(before + Path(sys.argv[2]).read_text() + after)
        return
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    pages, missing = dict.fromkeys(PAGES, ""), ""
    try:
        fetch.fetch_all()
        pages = {name: page(name) for name in PAGES}
    except fetch.Missing as error:
        missing = str(error)
        print(f"plimsoll: this build will have no page (--html): {missing}", file=sys.stderr)
    out, text = Path(sys.argv[1]), c_source(pages, missing)
    # Only a change is written, so that a build that changes nothing compiles nothing.
    if not out.exists() or out.read_text() != text:
        out.write_text(text)


if __name__ == "__main__":
    main()
