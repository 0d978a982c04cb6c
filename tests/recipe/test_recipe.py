"""Recipes: values with an id, saved as TOML."""

import dataclasses
import re
import tomllib
from contextlib import contextmanager

import pytest
import tomli_w
from tests.run.plans import plan

from neardup import (
    Index,
    IndexMismatchError,
    InputError,
    ParameterError,
    Recipe,
    explain,
    fingerprint,
    load_recipe,
)
from neardup.cli.options import choose_recipe
from neardup.recipe import NAMES, assets
from neardup.recipe.measures import MEASURES_OF_TEXTS
from neardup.recipe.text_inputs import without_markup

CHANGES = [
    ("normalize", "nfkc", False),
    ("normalize", "lowercase", False),
    ("normalize", "whitespace", "keep"),
    ("normalize", "drop_invisible", False),
    ("normalize", "strip_markup", True),
    ("normalize", "fold", ("points",)),
    ("normalize", "punctuation", "keep"),
    ("normalize", "ends", "keep"),
    ("normalize", "ignore", ("numbers",)),
    ("normalize", "numbers", "keep"),
    ("segment", "units", "shingles"),
    ("segment", "k", 3),
    ("segment", "drop_tags", ("wn",)),
    ("weigh", "marker_match", "contains"),
    ("weigh", "scheme", "share"),
    ("weigh", "idf", "bundled"),
    ("weigh", "top", 7),
    ("weigh", "markers", "extended"),
    ("weigh", "stop_words", "bundled"),
    ("weigh", "markers", "bundled"),
    ("weigh", "drop_punctuation", True),
    ("weigh", "lowercase_units", True),
    ("sketch", "bits", 64),
    ("sketch", "tie", 1),
    ("decide", "threshold", 0.9),
    ("decide", "max_distance", 9),
    ("decide", "common", "none"),
    ("decide", "shingle", 4),
    ("decide", "min_features", 1),
]
#: Digests of the built-in recipes: whoever changes one changes FORMAT or a measure's version.
IDS = {
    "general": "4386034127ef",
    "strict": "4386034127ef",
    "containment": "2c06f1b1aeac",
    "aligned": "7b8abf241a87",
    "characters": "a05bb1a2c48f",
    "classic": "8773e5168373",
    "keywords": "8d9e831a9d41",
    "improved": "8763ee3a6aa8",
    "shingle": "d3c9324f6523",
    "shingle-sample": "f67e3db28c5b",
    "minhash": "074663659231",
    "news": "94d332f57a29",
    "news-words": "99944a4ee0fa",
    "bkdr": "519c95e13cba",
}
#: A recipe, values of a stage, and whether each of them has an id of its own.
VALUES = [
    *(("characters", stage, [{}, {name: v}], stage != "decide") for stage, name, v in CHANGES),
    ("containment", "decide", [{"direction": d} for d in ("contained", "either", "both")], False),
    (
        "general",
        "decide",
        [{"measure": name} for name in ("content", "containment", "aligned", "resemblance")],
        True,
    ),
    ("bkdr", "sketch", [{"hash": name} for name in ("xxh3", "news", "bkdr")], True),
    ("bkdr", "sketch", [{"seed": seed} for seed in (31, 131, 1313)], True),
    (
        "characters",
        "sketch",
        [
            *({"kind": "simhash"}, {"kind": "minhash"}, {"kind": "minhash", "num_perm": 64}),
            *({"kind": "sample", **size} for size in ({}, {"size": 64}, {"size": 0})),
        ],
        True,
    ),
    ("news", "segment", [{"units": "separated", "by": by} for by in (" ", ",", ", ")], True),
    ("keywords", "weigh", [{"min_document_frequency": least} for least in (1, 2, 3)], True),
]


@pytest.mark.parametrize(("name", "stage", "values", "is_own"), VALUES)
def test_id_changes_with_the_bits_and_not_with_the_decision(name, stage, values, is_own):
    recipe = load_recipe(name)
    changed = [recipe.replace(**{stage: value}) for value in values]
    assert len({one.id for one in changed}) == (len(values) if is_own else 1)
    for one, value in zip(changed, values, strict=True):
        made = getattr(one, stage)
        assert {setting: getattr(made, setting) for setting in value} == value
    if values[0] == {}:
        before = {setting: getattr(getattr(recipe, stage), setting) for setting in values[1]}
        assert changed[1].replace(**{stage: before}) == recipe


def test_every_setting_is_in_the_list():
    listed = {(stage, setting) for _, stage, many, _ in VALUES for one in many for setting in one}
    listed |= {(stage, setting) for stage, setting, *_ in FILES}
    recipe = load_recipe("characters")
    stages = ("normalize", "segment", "weigh", "sketch", "decide")
    known = {(s, f.name) for s in stages for f in dataclasses.fields(getattr(recipe, s))}
    assert known - listed == {("decide", "exceeds")}


def test_recipes_with_unchanged_results_keep_their_ids():
    recipes = {name: load_recipe(name) for name in NAMES}
    recipes["improved"] = recipes["improved"].for_single_texts()
    assert {name: recipe.id.rpartition("-")[2] for name, recipe in recipes.items()} == IDS


@contextmanager
def version_of_content(version):
    with pytest.MonkeyPatch.context() as patch:
        content = dataclasses.replace(MEASURES_OF_TEXTS["content"], version=version)
        patch.setitem(MEASURES_OF_TEXTS, "content", content)
        assets._digest.cache_clear()
        yield
    assets._digest.cache_clear()


def test_the_id_changes_with_the_version_of_content_where_content_decides():
    recipes = {name: load_recipe(name) for name in NAMES}
    recipes["classic, threshold"] = recipes["classic"].replace(
        decide={"measure": "content", "threshold": 0.5}
    )
    resemblance = {"measure": "resemblance"}
    recipes["general, resemblance"] = recipes["general"].replace(decide=resemblance)
    with version_of_content(MEASURES_OF_TEXTS["content"].version - 1):
        before = {name: recipe.id for name, recipe in recipes.items()}
    changed = {name for name, recipe in recipes.items() if recipe.id != before[name]}
    assert changed == {"general", "strict", "classic, threshold"}


@pytest.mark.parametrize("options", [{}, {"recipe": "classic", "measure": "content"}])
def test_index_by_another_version_of_content_is_refused(options, tmp_path):
    with version_of_content(MEASURES_OF_TEXTS["content"].version - 1):
        for _ in range(2):
            Index(tmp_path / "index.db", **options).close()
        Index(tmp_path / "other.db", recipe="classic").close()
    with pytest.raises(IndexMismatchError, match=r"have the recipe .*the neardup that made it"):
        Index(tmp_path / "index.db")
    # Where content does not decide, every version opens it.
    with Index(tmp_path / "other.db") as index:
        assert index.stats().recipe_id == load_recipe("classic").id


def test_the_digest_does_not_change_with_the_words_about_it():
    recipe = load_recipe("characters")
    assert recipe.replace(description="another").id == recipe.id
    renamed = recipe.replace(name="another").id
    assert renamed.partition("-")[2] == recipe.id.partition("-")[2]
    assert renamed.startswith("another-")


FILES = [
    ("segment", "user_dictionary", "渡轮 10 n\n", "渡轮 11 n\n", {"segment": {"units": "words"}}),
    ("weigh", "stop_words", "的\n", "了\n", {}),
    ("weigh", "markers", "总之\n", "但是\n", {"weigh": {"scheme": "improved", "idf": "bundled"}}),
]


@pytest.mark.parametrize(("stage", "setting", "content", "other", "rest"), FILES)
def test_the_contents_of_files_decide_the_id(stage, setting, content, other, rest, tmp_path):
    ids = []
    for name, contents in (("a", content), ("b", content), ("c", other)):
        path = tmp_path / name
        path.write_text(contents, "utf-8")
        recipe = load_recipe("characters").replace(**rest)
        ids.append(recipe.replace(**{stage: {setting: str(path)}}).id)
    assert ids[0] == ids[1] != ids[2]


def test_a_changed_file_is_a_changed_recipe(tmp_path):
    """The same path with other contents in one process, as in a notebook."""
    path = tmp_path / "stop.txt"
    recipe = load_recipe("characters").replace(weigh={"stop_words": str(path)})
    made = []
    for word in ("tea", "bread"):
        path.write_text(word + "\n", "utf-8")
        made.append((recipe.id, fingerprint("tea and bread", recipe=recipe).value))
    assert made[0][0] != made[1][0]
    assert made[0][1] != made[1][1]


@pytest.mark.parametrize("name", NAMES)
def test_toml_has_the_settings_of_the_kind_of_sketch(name):
    recipe = load_recipe(name)
    written = {
        "simhash": {"kind", "bits", "hash", "tie"},
        "minhash": {"kind", "num_perm"},
        "sample": {"kind", "size"},
    }
    expected = written[recipe.sketch.kind] | ({"seed"} if name == "bkdr" else set())
    table = tomllib.loads(recipe.to_toml())
    assert set(table["sketch"]) == expected
    assert ("direction" in table["decide"]) == (name == "containment")


RECIPES = [load_recipe(name) for name in NAMES]
#: With settings of all kinds.
RECIPES.append(
    load_recipe("characters").replace(
        name='quote " and \\',
        segment={"units": "tagged", "drop_tags": ("wn", "wd")},
        weigh={"top": 3},
        decide={"threshold": None, "max_distance": 4},
    )
)
RECIPES.append(load_recipe("news").replace(name="cut", segment={"units": "separated", "by": " "}))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_toml_round_trip(recipe, tmp_path):
    path = tmp_path / "r.toml"
    path.write_text(recipe.to_toml(), "utf-8")
    assert load_recipe(path) == load_recipe(str(path)) == recipe
    assert load_recipe(path).id == recipe.id


#: Recipes, lines of TOML, and the refusal, which names the last setting unless it begins with one.
REFUSED = {
    "": {
        "sketch.bits = 48": "parameter must be one of 32, 64, 128, 256. Got 48",
        "sketch.bits = true": "Got True",
        "sketch.bits = 64.0": "whole number.*Got 64.0",
        "sketch.hash = 'bkdr'": "'sketch.bits'.*from 1 to 64 with the hash 'bkdr'. Got 128",
        "sketch.hash = 'bkdr'\nsketch.bits = 0": "from 1 to 64.*'bkdr'. Got 0",
        "sketch.hash = 'bkdr'\nsketch.bits = 5.0": "whole number.*Got 5.0",
        "sketch.hash = 'bkdr'\nsketch.bits = 8\ndecide.max_distance = 9": "from 0 to 8, the width "
        "of a fingerprint. Got 9",
        "sketch.width = 64": "bits",
        "sketch.tie = 1.0": "",
        "sketch = 64": "must be a table",
        "hash.bits = 64": "no setting 'hash'.*sketch",
        "weigh.min_document_frequency = 0": "from 1 to .* Got 0",
        "weigh.min_document_frequency = 0.5": "Got 0.5",
        "weigh.min_document_frequency = 2": "must be 1 with the idf 'none'.*Got 2",
        "weigh.scheme = 'tf-idf'\nweigh.idf = 'bundled'\nweigh.min_document_frequency = 2": "must "
        "be 1 with the idf 'bundled'.*Got 2",
        "weigh.scheme = 'tf-idf'": "'weigh.idf'.*'tf-idf'",
        "weigh.top = 0": "",
        f"weigh.top = {2**62}": "",
        "segment.k = 0": "from 1 to 64. Got 0",
        "segment.k = 65": "from 1 to 64. Got 65",
        "segment.k = 1.5": "Got 1.5",
        "segment.units = 'letters'": "or module:function",
        "segment.units = 'separated'": "'segment.by'.*between two words",
        "segment.units = 'separated'\nsegment.by = 7": "text.*Got 7",
        "segment.by = ' '": "left out.*Got ' '",
        "segment.drop_tags = 'wn'": "",
        "segment.drop_tags = [1]": "",
        "normalize.nfkc = 1": "True or False",
        "normalize.whitespace = 'gone'": "",
        # A list of a file is shown as a list.
        "normalize.whitespace = ['keep']": r"Got \['keep'\] instead\.$",
        "normalize.whitespace = []": r"Got \[\] instead\.$",
        "normalize.fold = ['upper', 'points']": r"Got \['upper', 'points'\] instead\.$",
        "decide.threshold = 0": "above 0",
        "decide.threshold = 80": r"0\.8\?.*Got 80",
        "decide.max_distance = 129": "from 0 to 128",
        "decide.shingle = 0": "",
        f"decide.shingle = {2**62}": "",
        "decide.min_features = -1": "",
        f"decide.min_features = {2**33}": "",
        "name = 7": "",
        "description = []": "",
    },
    "characters": {
        "sketch.num_perm = 64": "'simhash'.*Got 64",
        "sketch.size = 64": "'simhash'.*Got 64",
    },
    "minhash": {
        "sketch.bits = 64": "'minhash'.*Got 64",
        "sketch.hash = 'news'": "'minhash'.*Got 'news'",
        "sketch.tie = 1": "'minhash'.*Got 1",
        "sketch.size = 0": "'minhash'.*Got 0",
        "sketch.num_perm = 15": "from 16 to 1024. Got 15",
        "sketch.num_perm = 1025": "from 16 to 1024. Got 1025",
        "weigh.scheme = 'tf'": "once.*'minhash'.*Got 'tf'",
        "weigh.top = 9": "'weigh.scheme'.*without top.*Got 'once, top 9'",
        "decide.max_distance = 3": "'minhash'.*Got 3",
    },
    "containment": {
        "sketch.kind = 'minhash'\nsketch.size = 32": "'sketch.kind'.*similar length",
        "decide.direction = 'kept'": "",
        "decide.measure = 'content'\ndecide.direction = 'both'": "left out",
    },
    "general": {
        "sketch.bits = 64": "'sample'.*Got 64",
        "sketch.num_perm = 64": "'sample'.*Got 64",
        "sketch.size = -1": "from 0",
        "sketch.kind = 'bloom'": "simhash, minhash, sample",
        "weigh.scheme = 'share'": "once.*'sample'.*Got 'share'",
        "decide.max_distance = 0": "'sample'.*Got 0",
        "decide.measure = 'bits'": "content, resemblance, containment, aligned, sketch",
        "decide.common = 'bundled'": "corpus, none",
    },
}


@pytest.mark.parametrize(
    ("name", "lines", "message"),
    [(name, *row) for name, rows in REFUSED.items() for row in rows.items()],
)
def test_wrong_settings_are_refused(name, lines, message, tmp_path):
    if not message.startswith(("'", "no setting")):
        message = f"'{lines.splitlines()[-1].partition(' ')[0]}'.*{message}"
    changes = tomllib.loads(lines)
    table = tomllib.loads(load_recipe(name).to_toml()) if name else {}
    for stage, settings in changes.items():
        table[stage] = table.get(stage, {}) | settings if isinstance(settings, dict) else settings
    path = tmp_path / "r.toml"
    path.write_text(tomli_w.dumps(table), "utf-8")
    with pytest.raises(ParameterError, match=message):
        load_recipe(path)
    if name:
        with pytest.raises(ParameterError, match=message):
            load_recipe(name).replace(**changes)


@pytest.mark.parametrize("name", ["minhash", "general"])
def test_measure_may_be_of_the_sketches(name):
    recipe = load_recipe(name).replace(decide={"measure": "sketch"})
    measure = {"minhash": "equal_values", "general": "sampled_resemblance"}[name]
    assert plan(1000, recipe=recipe).measure == measure


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "cannot be read: No such file"),
        (b"name = \xff", "not a TOML file"),
        (b"name =", "not a TOML file: Invalid value"),
    ],
)
def test_missing_or_invalid_recipe_files_are_refused(data, message, tmp_path):
    if data:
        (tmp_path / "r.toml").write_bytes(data)
    with pytest.raises(InputError, match=rf"r\.toml: {message}"):
        load_recipe(tmp_path / "r.toml")
    with pytest.raises(ParameterError, match=r"'recipe'.*general, strict, contain.*Got 'nosuch'"):
        load_recipe("nosuch")
    with pytest.raises(ParameterError, match="of the kind simhash: characters, classic, "):
        load_recipe("SimHash")


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (None, ": cannot be read: No such file"),
        # GBK has no such byte.
        (b"a\r\nb\n\xff\n", ", line 3: neither UTF-8 nor GBK. Expected .*on each line"),
    ],
)
@pytest.mark.parametrize(("stage", "setting", "rest"), [(s, n, r) for s, n, _, _, r in FILES])
def test_unreadable_lists_are_refused(stage, setting, rest, contents, message, tmp_path):
    path = tmp_path / "bad"
    if contents:
        path.write_bytes(contents)
    recipe = load_recipe("characters").replace(**rest).replace(**{stage: {setting: str(path)}})
    with pytest.raises(InputError, match=f"bad{message}"):
        fingerprint("text", recipe=recipe)


def test_recipes_are_values():
    recipe = load_recipe("characters")
    assert hash(recipe) == hash(load_recipe("characters"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        recipe.name = "other"
    assert load_recipe(recipe) is recipe
    assert Recipe(name="x").sketch.bits == 128


@pytest.mark.parametrize("name", ["keywords", "improved"])
def test_one_text_uses_the_bundled_frequencies_and_says_so(name):
    recipe = load_recipe(name)
    result = fingerprint("渡轮的票价", recipe=name)
    assert result.recipe_id == recipe.for_single_texts().id != recipe.id


@pytest.mark.parametrize(
    ("recipe", "settings", "stage", "expected"),
    [
        ("keywords", ["weigh.top=5"], "weigh", {"top": 5}),
        ("keywords", ["weigh.top=none"], "weigh", {"top": None}),
        ("classic", ["weigh.scheme=once"], "weigh", {"scheme": "once"}),
        ("classic", ["weigh.drop_punctuation = true"], "weigh", {"drop_punctuation": True}),
        ("general", ["normalize.fold=[]"], "normalize", {"fold": ()}),
        ("news-words", ["segment.by=' '"], "segment", {"by": " "}),
        ("news-words", ["segment.by=1"], "segment", {"by": "1"}),
        ("bkdr", ["sketch.seed=131", "sketch.bits=8"], "sketch", {"seed": 131, "bits": 8}),
        # The share of equal bits stays, as with --bits.
        ("bkdr", ["sketch.bits=8"], "decide", {"max_distance": 3}),
        ("bkdr", ["sketch.bits=8", "decide.max_distance=2"], "decide", {"max_distance": 2}),
    ],
)
def test_set_changes_one_setting(recipe, settings, stage, expected):
    changed = getattr(choose_recipe(recipe, settings=settings), stage)
    assert {name: getattr(changed, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("weigh.tpo=5", "must be one of drop_punctuation, idf, lowercase_units, marker_match"),
        ("wiegh.top=5", "must be one of decide, description, name, normalize, segment, sketch"),
        ("weigh.top", "STAGE.SETTING=VALUE, such as weigh.top=5. Got 'weigh.top'"),
        ("name=x", "STAGE.SETTING=VALUE"),
        ("weigh.top=five", "a whole number from 1"),
        ("sketch.seed=0", "a whole number from 1"),
        ("sketch.seed=131", "left out: it is for the hash bkdr"),
        ("sketch.bits=65", "one of 32, 64, 128, 256"),
    ],
)
def test_wrong_setting_is_refused_with_the_known_ones(setting, reason):
    with pytest.raises(ParameterError, match=re.escape(reason)):
        choose_recipe("keywords", settings=[setting])


@pytest.mark.parametrize("seed", [31, 131, 1313])
def test_seed_of_bkdr(seed):
    recipe = load_recipe("bkdr").replace(sketch={"seed": seed})
    (feature,) = explain("渡轮/n", recipe=recipe).a.features
    assert feature.hash == (ord("渡") * seed + ord("轮")) % 2**32


def test_text_without_markup_keeps_all_else():
    text = "RT @joe: 第三章 Hello,  WORLD！ ① 1.20 http://t.cn/x #a"
    assert without_markup(f"<p>{text}</p>").strip("\n") == text
