"""Results that were published elsewhere, or that a hand can compute."""

import itertools
import json
import random
import re
import subprocess
import sys
from decimal import Decimal

import pytest
import zstandard
from tests.papers.test_rates import check_consistent
from tests.reference import sketch
from tests.weights import weights_of

from neardup import _core, check, compare, fingerprint, load_recipe
from neardup.readers.file_text import FileText
from neardup.recipe.assets import compiled

TOKENS = "tests.golden.segmenters:tokens"


@pytest.mark.shared
def test_news(shared):
    """The published bits and distance, given the published tokens."""
    golden = json.loads((shared / "golden" / "news" / "vectors.json").read_text("utf-8"))
    recipe = load_recipe("news").replace(segment={"units": TOKENS})
    found = [fingerprint("\x1d".join(d["tokens"]), recipe=recipe) for d in golden["documents"]]
    for one, document in zip(found, golden["documents"], strict=True):
        assert f"{one.value:064b}"[::-1] == document["bits_lsb_first"]
    assert found[0].distance(found[1]) == golden["distance"] == 2
    assert any(a == b for a, b in zip(found[0].blocks(3), found[1].blocks(3), strict=True))


@pytest.fixture
def tagged(shared):
    folder = shared / "golden" / "bkdr"
    golden = json.loads((folder / "expected.json").read_text("utf-8"))
    return [(folder / a, folder / b, value) for a, b, value in golden["similarity"]]


@pytest.mark.shared
def test_bkdr(tagged):
    for a, b, expected in tagged:
        found = compare(a.read_text("gbk"), b.read_text("gbk"), recipe="bkdr")
        assert (found.similarity, found.measure, found.bits) == (expected, "equal_bits", 32)
        assert found.distance == 32 * (1 - expected)


@pytest.mark.slow
@pytest.mark.shared
def test_bkdr_from_the_command_line(tagged, tmp_path):
    for a, b, expected in tagged:
        out = tmp_path / f"{a.name}.out"
        options = ["--encoding", "gbk", "--recipe", "bkdr", "--json"]
        command = [sys.executable, "-m", "neardup", "compare", str(a), str(b), str(out), *options]
        run = subprocess.run(command, capture_output=True, check=True)
        assert json.loads(run.stdout)["similarity"] == expected
        rounded = Decimal(out.read_text("ascii").strip())
        assert abs(rounded - Decimal(str(expected))) <= Decimal("0.005")


@pytest.mark.shared
@pytest.mark.parametrize(("name", "count"), [("java_vectors", 40), ("java_vectors_long", 33)])
def test_bkdr_vectors_of_the_original(shared, name, count):
    """Fingerprints of 8 to 64 bits from the compiled program, highest bit first."""
    lines = (shared / "golden" / "bkdr" / f"{name}.tsv").read_text("utf-8").splitlines()[1:]
    for line in lines:
        bits, expected, text = line.split("\t")
        recipe = load_recipe("bkdr").replace(
            sketch={"bits": int(bits)}, decide={"max_distance": int(bits) // 2}
        )
        assert fingerprint(text, recipe=recipe).written("bits") == expected, line
    assert len(lines) == count


@pytest.mark.shared
def test_news_fingerprints_and_block_keys_of_the_original(shared):
    """Widths of 24 to 128 bits and distances of 2 to 5, from the compiled program."""
    cases = json.loads((shared / "golden" / "news" / "blocks.json").read_text("utf-8"))
    for case in cases:
        recipe = load_recipe("news").replace(
            segment={"units": TOKENS},
            # The program lower-cases before the step that these cases begin with.
            weigh={"lowercase_units": False},
            sketch={"bits": case["bits"]},
            decide={"max_distance": case["max_distance"]},
        )
        found = fingerprint("\x1d".join(case["tokens"]), recipe=recipe)
        # The program writes no digit above the highest one that is set.
        digits = found.written("bits")[::-1]
        assert digits.startswith(case["bits_lowest_first"])
        assert found.value == int(case["fingerprint"])
        blocks = found.source_blocks(case["max_distance"])
        assert list(map(str, blocks)) == case["blocks"]
    assert len(cases) == 38


@pytest.mark.shared
def test_page_of_differences_has_figures_of_altered_papers(shared, root):
    folder = shared / "golden" / "paper_check"
    page = (root / "docs" / "differences.md").read_text("utf-8")
    published = json.loads((folder / "published.json").read_text("utf-8"))["similarity"]
    original = (folder / "orig.txt").read_text("utf-8")
    for name in ("add", "del", "dis_1", "dis_10", "dis_15"):
        path = folder / f"orig_0.8_{name}.txt"
        row = re.search(rf"^\| `{name}`.*$", page, re.MULTILINE)[0].split("|")
        copy = path.read_text("utf-8")
        edits = compare(original, copy).edit_similarity
        bits = compare(original, copy, recipe="keywords").similarity
        expected = [f"{published[path.name]:.2f}", f"{edits:.3f}", f"{bits:.3f}"]
        assert [cell.strip() for cell in row[2:5]] == expected


def test_worked_example_of_the_method():
    """Weights 1 to 5 and written hashes of 5 bits give 00111.

    The hashes of the example are no function's, so the sums are taken with
    the program's weights: each word occurs as often as its weight says. The
    program itself gives 00111 for five letters that have these hashes.
    """
    recipe = load_recipe("classic").replace(
        segment={"units": "tests.golden.segmenters:weighted"}, weigh={"stop_words": "none"}
    )
    text = "人工智能*1 大数据*2 科技*3 互联网*4 机器学习*5"
    core = compiled(recipe)
    units = "\x1e".join(
        f"{w}\x1fn" for w, n in (item.split("*") for item in text.split()) for _ in range(int(n))
    )
    weights = weights_of(core, units, None)
    assert weights == {"人工智能": 1, "大数据": 2, "科技": 3, "互联网": 4, "机器学习": 5}
    hashes = {
        "人工智能": 0b00101,
        "大数据": 0b11001,
        "科技": 0b00110,
        "互联网": 0b10101,
        "机器学习": 0b01011,
    }
    assert sketch.sums(weights, 5, lambda f, _: hashes[f])[::-1] == [-3, -1, 1, 1, 9]
    assert sketch.simhash(weights, 5, lambda f, _: hashes[f], tie=0) == 0b00111
    expected = sketch.simhash(weights, 64, sketch.xxh3, tie=0)
    assert fingerprint(text, recipe=recipe).value == expected
    letters = dict(zip("EYFUK", hashes, strict=True))
    assert [ord(letter) % 32 for letter in letters] == list(hashes.values())
    five_bits = recipe.replace(
        normalize={"lowercase": False},
        weigh={"drop_punctuation": False},
        sketch={"bits": 5, "hash": "bkdr"},
    )
    counted = " ".join(f"{letter}*{weights[word]}" for letter, word in letters.items())
    assert f"{fingerprint(counted, recipe=five_bits).value:05b}" == "00111"


def test_golden_values_of_the_methods_page():
    bkdr64 = load_recipe("bkdr").replace(sketch={"bits": 64})
    assert fingerprint("ab/n", recipe=bkdr64).value == 3105
    assert fingerprint("\U00020000/n", recipe=bkdr64).value == 1772480
    assert str(fingerprint("灯塔", recipe="classic")) == "3051c97d53b77c3f"
    news = load_recipe("news").replace(segment={"units": TOKENS})
    assert str(fingerprint("a", recipe=news)) == "00000002e40db1e0"
    found = compare("近似文本检测引擎", "近似文本检测引擎新")
    assert (found.resemblance, found.containment_a, found.containment_b) == (0.8, 1.0, 0.8)
    texts = "7月3日，气温13度", "7月9日，气温15度"
    side_by_side = _core.content(*texts, shingle=5, counted=[], entries=1)["aligned"]
    assert (side_by_side["agree"], side_by_side["replaced"]) == (1, 2)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_bundled_frequencies_equal_jieba():
    """The table of the Python jieba; a word it lacks has its median."""
    from jieba.analyse.tfidf import TFIDF

    table = TFIDF()
    recipe = load_recipe("keywords").replace(weigh={"idf": "bundled", "top": None})
    core = compiled(recipe)
    words = ["渡轮", "书店", "霜冻", "票价", "船长", "图书馆", "不在词典里的长词"]
    units = "\x1e".join(f"{word}\x1fn" for word in words)
    external = compiled(recipe.replace(segment={"units": TOKENS}))
    weights = weights_of(external, units, None)
    for word in words:
        idf = table.idf_freq.get(word, table.median_idf)
        assert weights[word] == round(idf * 65536)
    assert weights_of(core, "渡轮渡轮") == {"渡轮": 2 * weights["渡轮"]}


#: Texts of everyday kinds; what the two implementations of jieba make of them.
SENTENCES = (
    "渡口的新渡轮下周一试航，票价两元，末班船推迟到夜里十一点。",
    "北山镇的旧粮站改成了一家书店，开张那天来了三百多人。",
    "图书馆延长开放时间，馆员轮流值班，读者都说方便。",
    "今年的春茶减产三成，茶农说霜冻来得太晚，明年要早做准备。",
    "气象台预计周末有雨，请市民出门带伞，低洼地段注意积水。",
    "小学的合唱队在市里得了第二名，校长请队员们吃了一顿饺子。",
    "修桥的工人从河里捞起一块石碑，上面刻着三百年前的水位。",
    "医院新装了一台设备，检查只要十分钟，费用由医保承担。",
    "菜市场搬到了新楼里，摊主担心老顾客找不到地方。",
    "这条铁路通车以后，从县城到省城只要四十分钟。",
    "博物馆征集老照片，每张都要写明时间、地点和人物。",
    "他把旧自行车修好，送给了邻居家刚上初中的孩子。",
)


def test_words_agree_with_the_python_jieba():
    """Same dictionary, two programs. All 184 words agreed when this was written.

    Words are compared by where they begin and end.
    """
    import jieba

    jieba.setLogLevel(60)
    core = compiled(load_recipe("news"))
    same = total = 0
    for text in SENTENCES:
        ours, theirs = [0], [0]
        for word, _ in core.units(text):
            ours.append(ours[-1] + len(word))
        for word in jieba.cut(text, HMM=True):
            theirs.append(theirs[-1] + len(word))
        spans = [set(itertools.pairwise(marks)) for marks in (ours, theirs)]
        same += len(spans[0] & spans[1])
        total += len(spans[0] | spans[1])
    assert same / total >= 0.95, f"{same} of {total}"


#: Altered copies, with their edit similarities to the original.
ALTERED = {"add": 0.844, "del": 0.818, "dis_1": 0.947, "dis_10": 0.832, "dis_15": 0.666}


@pytest.fixture(scope="module")
def papers(shared):
    return shared / "golden" / "paper_check"


@pytest.mark.shared
@pytest.mark.parametrize("name", ALTERED)
def test_altered_copies(papers, name):
    report = check(papers / f"orig_0.8_{name}.txt", papers / "orig.txt")
    check_consistent(report)
    assert report.similarity == pytest.approx(ALTERED[name], abs=6e-4)
    one, other = (
        (papers / path).read_text("utf-8") for path in ("orig.txt", f"orig_0.8_{name}.txt")
    )
    found = compare(one, other).edit_similarity
    assert found == compare(other, one).edit_similarity == report.similarity


@pytest.mark.shared
def test_the_original_against_itself(papers, tmp_path):
    copy = tmp_path / "copy.txt"
    copy.write_bytes((papers / "orig.txt").read_bytes())
    report = check(papers / "orig.txt", copy)
    assert report.similarity == 1.0
    assert (report.rates.total, report.rates.largest_source) == (1.0, 1.0)
    assert report.copied == report.characters > 8_000


@pytest.mark.shared
def test_the_original_is_the_first_source_of_an_altered_copy(papers):
    """All in one folder: the paper's own file is left out, and all others are sources."""
    report = check(papers / "orig_0.8_dis_1.txt", papers)
    check_consistent(report)
    assert report.sources[0].id == "orig.txt"
    assert {one.id for one in report.sources} == {
        "orig.txt",
        *(f"orig_0.8_{name}.txt" for name in ALTERED if name != "dis_1"),
    }
    assert report.rates.total > 0.9


def news(shared):
    path = shared / "corpora" / "chinanews.jsonl.zst"
    with zstandard.open(path, "rt", encoding="utf-8") as lines:
        for line, _ in zip(lines, range(4000), strict=False):
            text = json.loads(line)["text"]
            if len(text) >= 500:
                yield text


@pytest.mark.shared
def test_unrelated_articles(shared, tmp_path):
    """Of two articles taken by chance next to nothing is copied."""
    chosen = random.Random(20).sample(list(news(shared)), 40)
    path = tmp_path / "source.txt"
    for paper, source in zip(chosen[::2], chosen[1::2], strict=True):
        path.write_text(source, "utf-8")
        report = check(FileText(paper, "text"), path)
        check_consistent(report)
        assert report.rates.total < 0.02
