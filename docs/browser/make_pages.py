"""Write the engine as a web page that sends nothing, in English and Chinese: try.html, try.zh.html.

    python docs/browser/make_pages.py OUTPUT_FOLDER

Needs Rust's target wasm32-unknown-unknown, and adds it where rustup can. Without it nothing is
written, and the last line tells so.
"""

import base64
import gzip
import hashlib
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import jinja2
from markupsafe import Markup

from neardup.pages.templating import read_template
from neardup.recipe import load_recipe
from neardup.recipe.assets import core_settings
from neardup.recipe.rule import rule

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TARGET = "wasm32-unknown-unknown"
STYLES = ("report.css", "pages.css", "sides.css")


def engine():
    """Compile the engine and return its bytes; None without the target."""
    folder = subprocess.check_output(
        ["rustc", "--print", "target-libdir", "--target", TARGET], cwd=ROOT, text=True
    )
    if not Path(folder.strip()).is_dir():
        try:
            subprocess.run(["rustup", "target", "add", TARGET], cwd=ROOT, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{TARGET} cannot be added: {error}", file=sys.stderr)
            return None
    build = ["cargo", "build", "--quiet", "--locked", "--profile", "web", "-p", "neardup-web"]
    subprocess.run([*build, "--target", TARGET], cwd=ROOT, check=True)
    return (ROOT / "target" / TARGET / "web" / "neardup_web.wasm").read_bytes()


def defaults():
    """Return the default recipe and its rule, as the engine takes them."""
    recipe = load_recipe("general")
    of = rule(recipe)
    assert (of.scheme, of.measured) == ("postings", "content"), of
    return {
        "settings": core_settings(recipe),
        "resemblance": of.resemblance,
        "threshold": of.threshold,
        "shingle": of.shingle,
        "min_features": of.min_features,
    }


def digest(text):
    """Return the source of a policy that allows only this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def main():
    wasm = engine()
    if wasm is None:
        print("The page for browsers is left out.", file=sys.stderr)
        return
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    page = environment.from_string((HERE / "page.html").read_text("utf-8"))
    script = (HERE / "page.js").read_text("utf-8")
    style = "".join(map(read_template, STYLES)) + (HERE / "page.css").read_text("utf-8")
    policy = (
        f"default-src 'none'; script-src {digest(script)} 'wasm-unsafe-eval'; "
        f"style-src {digest(style)}; base-uri 'none'; form-action 'none'"
    )
    for language, words in tomllib.loads((HERE / "words.toml").read_text("utf-8")).items():
        data = {
            "words": Markup(json.dumps(words, ensure_ascii=False)),
            "defaults": Markup(json.dumps(defaults())),
            "engine": Markup(base64.b64encode(gzip.compress(wasm, mtime=0)).decode()),
        }
        # None of them has what would end the element that it is in.
        assert all("<" not in text for text in data.values())
        text = page.render(
            w=words, data=data, script=Markup(script), style=Markup(style), policy=policy
        )
        name = "try.html" if language == "en" else f"try.{language}.html"
        Path(sys.argv[1], name).write_text(text, "utf-8")
    print(f"engine: {len(wasm):,} bytes")


if __name__ == "__main__":
    main()
