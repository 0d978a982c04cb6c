"""The settings of a recipe's stages.

The type of a field is its check: choices, or the bounds of a number, or a function that takes the
value and its name. `checks` has what depends on other settings.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from neardup.base.validation import check_threshold
from neardup.recipe.ignored import check_ignored
from neardup.recipe.measures import MeasureName

BUNDLED = "bundled"
EXTENDED = "extended"
NONE = "none"
CORPUS = "corpus"

#: Settings that are lists of words, by name, with their stages. A plus before the name of a file
#: adds its words to the bundled ones.
WORD_LISTS = {"user_dictionary": "segment", "stop_words": "weigh", "markers": "weigh"}

#: Units of a text that is already cut: words with tags, and words with a separator between them.
TAGGED = ("tagged", "ictclas")
SEPARATED = "separated"

#: Units that are runs of `k` characters.
RUNS = ("shingles", "script-shingles", "by-script")

#: Settings that apply to units that need no signs, and the value that is not ``keep``.
PLAIN = {"punctuation": "drop", "ends": "drop", "numbers": "value"}

#: The units to which these settings apply.
PLAIN_UNITS = (*RUNS, "unicode-words")

#: Letters that become others.
Folding = Literal["traditional", "points", "look-alikes"]

#: A number of characters in a shingle, and a number of anything else.
_Characters = Annotated[int, 1, 64]
_Count = Annotated[int, 1, 2**31 - 1]

#: Settings that name a file, unless they are one of these words.
FILES = (
    ("segment", "user_dictionary", ("",)),
    ("weigh", "idf", (NONE, BUNDLED, CORPUS)),
    ("weigh", "stop_words", (NONE, BUNDLED)),
    ("weigh", "markers", (NONE, BUNDLED, EXTENDED)),
)


@dataclass(frozen=True, kw_only=True)
class Normalize:
    """Stage normalize: differences that are removed before texts are compared.

    Parameters
    ----------
    nfkc : bool, default=True
        Unicode compatibility form, so that full-width and half-width forms match.
    lowercase : bool, default=True
        Lower case, character by character.
    whitespace : {"keep", "collapse", "by-script"}, default="collapse"
        ``collapse`` makes every run of white space one space and trims the
        text; ``by-script`` also removes a run next to a Chinese or Japanese
        character, where it is only a line wrap.
    drop_invisible : bool, default=True
        Drop control characters and invisible format characters.
    strip_markup : bool, default=False
        Drop HTML tags, comments, scripts and styles, and decode entities.
    fold : tuple of {"traditional", "points", "look-alikes"}, default=()
        Letters that become others: ``traditional`` makes traditional Chinese characters
        simplified, each by itself; ``points`` drops Arabic and Hebrew points and tatweel, and
        unites the forms of alef, yeh and kaf, and ta marbuta with heh; ``look-alikes``
        replaces letters of another script inside a word, such as a Cyrillic ``а`` between
        Latin letters, and letters inside a number, such as ``2O24``.
    punctuation : {"drop", "keep"}, default="drop"
        ``drop`` treats punctuation, symbols and emoji as white space, so that texts with the
        same letters and digits are equal; points and colons inside numbers stay. It applies to
        units that are runs of characters and to ``unicode-words``; others need the punctuation.
    ends : {"drop", "keep"}, default="drop"
        ``drop`` leaves out links, @names, #tags and phrases such as ``Read more`` or ``RT`` at
        the begin and the end of a text, unless hardly anything else is left. It applies to the
        same units as `punctuation`.
    ignore : tuple of str, default=()
        What does not count: ``numbers``, ``dates`` (and times), ``links``, ``names`` (@names and
        #tags), ``punctuation``, and regular expressions. It is not for units that are already
        cut. A text of which all is ignored duplicates only an identical text.
    numbers : {"value", "keep"}, default="value"
        ``value`` spells each number, date and time by its value, so that 三百二十五 is 325 and
        2026年3月5日 is 2026-03-05. It applies to the same units as `punctuation`.
    """

    nfkc: bool = True
    lowercase: bool = True
    whitespace: Literal["keep", "collapse", "by-script"] = "collapse"
    drop_invisible: bool = True
    strip_markup: bool = False
    fold: tuple[Folding, ...] = ()
    punctuation: Literal["drop", "keep"] = "drop"
    ends: Literal["drop", "keep"] = "drop"
    ignore: Annotated[tuple[str, ...], check_ignored] = ()
    numbers: Literal["value", "keep"] = "value"

    def settings(self) -> dict[str, Any]:
        """Return the settings, with lists in one order."""
        return asdict(self) | {
            "fold": tuple(name for name in get_args(Folding) if name in self.fold),
            "ignore": check_ignored(self.ignore, "normalize.ignore"),
        }


@dataclass(frozen=True, kw_only=True)
class Segment:
    """Stage segment: the units of a text.

    Parameters
    ----------
    units : str, default="by-script"
        ``words`` (jieba, with part of speech), ``unicode-words``, ``shingles``
        (runs of `k` characters), ``script-shingles`` (the same, but of 8/7 `k`
        where a text has spaces between words), ``by-script`` (runs of `k` characters in
        scripts without spaces, words elsewhere), ``tagged`` (the text is
        already ``word/tag word/tag``), ``ictclas`` (the same, with lines joined and
        only U+0020 between tokens, as the BKDR program reads it), ``separated`` (the text
        is already cut, with `by` between its words), or
        ``module:function``, a callable ``text -> [(word, tag), ...]``.
    k : int, default=2
        Characters in a shingle; 1 to 64.
    drop_tags : tuple of str, default=()
        For ``tagged`` and ``ictclas``: tokens that contain one of these are dropped.
    by : str, default=""
        For ``separated``: what is between two words. Everything between two of them is a
        word, also a blank and the empty text.
    user_dictionary : str, default=""
        For ``words``: a file of extra words in jieba's format, in UTF-8 or GBK.
    """

    units: str = "by-script"
    k: _Characters = 2
    drop_tags: tuple[str, ...] = ()
    by: str = ""
    user_dictionary: str = ""

    def settings(self) -> dict[str, Any]:
        """Return the settings that the units use."""
        settings = asdict(self)
        if self.units != SEPARATED:
            del settings["by"]
        return settings


@dataclass(frozen=True, kw_only=True)
class Weigh:
    """Stage weigh: the features of a text, and their weights.

    Parameters
    ----------
    scheme : {"once", "tf", "share", "tf-idf", "improved"}, default="tf"
        The weight of a feature; see ``docs/methods.md``.
    idf : str, default="none"
        Where document frequencies come from: ``none``, ``corpus`` (counted in
        a first pass), ``bundled`` (a general table), or a file saved by
        ``neardup idf``.
    min_document_frequency : int, default=1
        Leave out words in fewer documents (scikit-learn's ``min_df``); at least 1,
        which leaves out no words. Above 1, `idf` must be ``corpus`` or a file,
        since otherwise no documents are counted. A word that is missing from the
        file counts as being in one document.
    top : int or None, default=None
        Keep only this many features of highest weight; at least 1.
    stop_words : str, default="none"
        ``none``, ``bundled`` (Chinese and English), or a file of one word per line, in
        UTF-8 or GBK; with a plus before its name, the bundled words count too:
        ``+own.txt``.
    markers : str, default="none"
        For ``improved``: ``none``, ``bundled`` (Chinese words of summary and
        contrast), ``extended`` (these and seven more groups), or a file of one
        marker per line, as for `stop_words`.
    marker_match : {"word", "contains"}, default="word"
        For ``improved``: with ``word``, a marker of one or two characters marks only the
        equal word, a longer one every word that contains it; with ``contains``, which is
        the published definition, every marker marks the words that contain it.
    drop_punctuation : bool, default=False
        Drop units without a letter or digit.
    lowercase_units : bool, default=False
        Lower-case each unit after segmenting.
    """

    scheme: Literal["once", "tf", "share", "tf-idf", "improved"] = "tf"
    idf: str = NONE
    min_document_frequency: _Count = 1
    top: _Count | None = None
    stop_words: str = NONE
    markers: str = NONE
    marker_match: Literal["word", "contains"] = "word"
    drop_punctuation: bool = False
    lowercase_units: bool = False


@dataclass(frozen=True, kw_only=True)
class Sketch:
    """Stage sketch: features to a short summary.

    Parameters
    ----------
    kind : {"simhash", "minhash", "sample"}, default="simhash"
        ``simhash`` makes a fingerprint and weighs features; ``minhash`` makes a
        signature of the set of features, ``sample`` keeps a share of the
        features themselves. The latter two need the scheme ``once``.
    bits : int, default=128
        For ``simhash``: width of the fingerprint; 32, 64, 128 or 256 with the
        hash ``xxh3``, 1 to 256 with ``news``, 1 to 64 with ``bkdr``.
    hash : {"xxh3", "news", "bkdr"}, default="xxh3"
        For ``simhash``: hash of a feature.
    tie : {0, 1}, default=0
        For ``simhash``: the bit where the weighted votes are equal.
    seed : int, default=31
        For the hash ``bkdr``: the multiplier, at least 1 and at most 2**31 - 1. Programs use 31,
        131 and 1313.
    num_perm : int, default=128
        For ``minhash``: values of a signature; 16 to 1024.
    size : int, default=32
        For ``sample``: smallest number of features kept of a long text, of which
        up to about twice as many are kept; 0 keeps all.

    Examples
    --------
    Five letters of weight 1 to 5, whose last five bits are their places in the
    alphabet: 00101, 11001, 00110, 10101 and 01011. The sums of the bits are -3,
    -1, 1, 1 and 9, so the fingerprint is 00111.

    >>> from neardup import fingerprint, load_recipe
    >>> five_bits = load_recipe("bkdr").replace(
    ...     weigh={"scheme": "tf"}, sketch={"bits": 5}, decide={"max_distance": 2})
    >>> text = "E/n Y/n Y/n F/n F/n F/n U/n U/n U/n U/n K/n K/n K/n K/n K/n"
    >>> f"{fingerprint(text, recipe=five_bits).value:05b}"
    '00111'

    By the recipe ``bkdr`` itself, eight bits. The word that occurs twice
    outweighs the two others, so the fingerprint is its hash.

    >>> eight_bits = load_recipe("bkdr").replace(sketch={"bits": 8}, decide={"max_distance": 3})
    >>> for word in ("渡轮", "码头"):
    ...     print(f"{fingerprint(word + '/n', recipe=eight_bits).value:08b}")
    01101101
    01010011
    >>> found = fingerprint("渡轮/n 停靠/v 码头/n 渡轮/n", recipe=eight_bits)
    >>> f"{found.value:08b}", str(found), found.blocks(2)
    ('01101101', '6d', (5, 5, 1))
    """

    kind: Literal["simhash", "minhash", "sample"] = "simhash"
    bits: int = 128
    hash: Literal["xxh3", "news", "bkdr"] = "xxh3"
    tie: Literal[0, 1] = 0
    seed: _Count = 31
    num_perm: Annotated[int, 16, 1024] = 128
    size: Annotated[int, 0, 2**31 - 1] = 32

    def settings(self) -> dict[str, Any]:
        """Return the settings that the kind of sketch uses."""
        settings = {name: getattr(self, name) for name in ("kind", *OF_KIND[self.kind])}
        if self.hash != "bkdr":
            settings.pop("seed", None)
        return settings


@dataclass(frozen=True, kw_only=True)
class Decide:
    """Stage decide: the default definition of a duplicate.

    Parameters
    ----------
    threshold : float or None, default=None
        Smallest similarity, inclusive, in (0, 1].
    max_distance : int or None, default=None
        For fingerprints: largest number of differing bits, inclusive. With
        `threshold` it bounds the candidates; without one, it decides.
    measure : str, default="content"
        The similarity that a threshold is for. ``resemblance`` compares
        shingles. ``content`` also separates content from templates: shingles of
        many documents count little, and texts that differ in their order, or in
        numbers between the same words, are less similar. ``containment`` is the
        share of one text that lies in the other, by the same evidence; it needs
        samples as sketches.
        ``aligned`` is the edit similarity by words, or by characters of scripts
        without spaces. ``sketch`` is the similarity of the sketches, unverified: for
        fingerprints the share of equal bits.
    exceeds : bool, default=False
        For fingerprints and the measure ``sketch``: a threshold must be exceeded, not only
        reached.
    direction : {"contained", "either", "both"}, default="contained"
        For ``containment``: which text must lie in the other. ``contained`` drops
        a text that lies in a kept one and keeps a longer text that has a kept one
        in it; ``either`` drops both. With ``both``, each must lie in the other, so
        that a part of a longer text is kept. Pairs have no kept text: for them,
        ``contained`` is ``either``.
    common : {"corpus", "none"}, default="corpus"
        For ``content`` and ``containment``: where common shingles are counted.
        With ``none``, all shingles are rare.
    shingle : int, default=5
        Characters in the shingles that are compared; 1 to 64.
    min_features : int, default=5
        A text with fewer distinct features has no useful sketch: it duplicates
        only an identical text, and by ``content`` one with the same letters and digits.
    """

    threshold: Annotated[float, check_threshold] | None = None
    max_distance: int | None = None
    measure: MeasureName = "content"
    exceeds: bool = False
    direction: Literal["contained", "either", "both"] = "contained"
    common: Literal["corpus", "none"] = "corpus"
    shingle: _Characters = 5
    min_features: _Count = 5

    def settings(self) -> dict[str, Any]:
        """Return the settings that the measure uses."""
        settings = asdict(self)
        if self.measure != "containment":
            del settings["direction"]
        if not self.exceeds:
            del settings["exceeds"]
        return settings


def path_of(setting: str, value: str) -> str:
    """Return the path of the file that a setting names."""
    return value.removeprefix("+") if setting in WORD_LISTS else value


def in_folder(setting: str, value: str, folder: Path) -> str:
    """Return the value of a setting that names a file, with its path seen from a folder."""
    path = path_of(setting, value)
    return value.removesuffix(path) + str(folder / path)


#: The settings that each kind of sketch uses.
OF_KIND = {
    "simhash": ("bits", "hash", "tie", "seed"),
    "minhash": ("num_perm",),
    "sample": ("size",),
}

#: The settings of each stage.
STAGES = {
    "normalize": Normalize,
    "segment": Segment,
    "weigh": Weigh,
    "sketch": Sketch,
    "decide": Decide,
}


@dataclass(frozen=True, kw_only=True)
class Stages:
    """The fields of a `Recipe`, for what computes its id and compiles it."""

    name: str
    description: str = ""
    normalize: Normalize = field(default_factory=Normalize)
    segment: Segment = field(default_factory=Segment)
    weigh: Weigh = field(default_factory=Weigh)
    sketch: Sketch = field(default_factory=Sketch)
    decide: Decide = field(default_factory=Decide)

    @property
    def callable_name(self) -> str | None:
        """The ``module:function`` of the segmenter, or None."""
        return self.segment.units if ":" in self.segment.units else None
