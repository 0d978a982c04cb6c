"""``neardup recipes``: the built-in recipes, or one of them as TOML."""

from __future__ import annotations

from typing import Annotated, Literal

from neardup.base.display import pad
from neardup.base.messages import Message
from neardup.base.validation import check_choice
from neardup.cli.terminal import translate
from neardup.options import options as o
from neardup.recipe import NAMES, BuiltIn, Sketch, load_recipe
from neardup.recipe.stages import WORD_LISTS
from neardup.recipe.word_lists import words_of


def run(
    *,
    recipe: Annotated[
        BuiltIn | str | None,
        o.Argument("Print this recipe as TOML: a built-in one, or a .toml file.", metavar="[NAME]"),
    ],
    words: Annotated[
        Literal["stop_words", "markers", "user_dictionary"] | None,
        o.Option(
            "Print the words of one of the recipe's lists instead, one on each line: stop_words, "
            "markers or user_dictionary. The default recipe is improved, with the bundled lists.",
            o.OUTPUT,
        ),
    ],
) -> None:
    """List the recipes, or print one as TOML, as a start for your own.

    Examples:
        neardup recipes
        neardup recipes news > my-news.toml
        neardup recipes --words stop_words > stop-words.txt
    """
    if words is not None:
        check_choice(words, "words", tuple(WORD_LISTS))
        for word in words_of(load_recipe(recipe or "improved"), words):
            print(word)
        return
    if recipe is not None:
        chosen = load_recipe(recipe)
        print(f"# id {chosen.id}\n{chosen.to_toml()}", end="")
        return
    for name in NAMES:
        known = load_recipe(name)
        description = translate(Message(known.description))
        if name == NAMES[0]:
            description = translate(Message("{recipe} (default)", recipe=description))
        print(f"{name:<16}{pad(translate(_describe_sketch(known.sketch)), 14)}{description}")


def _describe_sketch(sketch: Sketch) -> Message:
    if sketch.kind == "simhash":
        return Message("{bits} bits", bits=sketch.bits)
    if sketch.kind == "minhash":
        return Message("{values} values", values=sketch.num_perm)
    return Message("sample of {size}", size=sketch.size) if sketch.size else Message("all shingles")
