"""Whatever happens to an index, in whatever order: it is as a small model says."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.index.consistency import check_consistent
from tests.index.written import NUMBERS, PEARS

from neardup import Index, InputError, compare, load_recipe
from neardup.index import Decision, Document, Match, NewDocument, RemovalFilter

#: The ways of searching: all keys, none, rare keys, bands, blocks.
RECIPES = {
    "shingle": load_recipe("shingle").replace(decide={"threshold": 0.3}),
    **{name: load_recipe(name) for name in ("characters", "general", "minhash", "classic")},
}
#: PostgreSQL takes the recipes that store different columns.
ON_SERVER = ("shingle", "characters", "general")
#: Rows of a transaction or a page: so few that six documents need several.
SIZES = {
    **{"ingest.transaction.BATCH": 3, "ingest.first_import._WRITTEN": 3},
    **{"retention._TOGETHER": 2, "retention._WITH_TEXTS": 2, "store.documents._TOGETHER": 2},
    **{"browsing._TOGETHER": 2, "store.browsing._TOGETHER": 2, "store.browsing._TEXTS": 2},
    **{"store.events._TOGETHER": 2, "export._TOGETHER": 2, "query._TEXTS": 2},
    **{"store.postings.MOST_RECENT": 60},
}
#: Texts and ever less similar ones, with ties and chains; equal ones when normalized; and texts
#: without features.
TEXTS = (
    *(NUMBERS, NUMBERS.upper(), NUMBERS + " and more", NUMBERS + " and fifteen"),
    *(NUMBERS.replace("vierzehn", end) for end in ("hunderte", "tausende")),
    NUMBERS.replace("sieben acht", "vierzig fuenfzig").replace("zwei", "sechzig"),
    *(PEARS, PEARS + " End.", "", "。。。", "。。"),
)
IDS = ("a", "b", "c/1", "雪", "e", "f")
NOON = datetime(2024, 6, 15, 12, tzinfo=UTC)
DAY = timedelta(days=1)
FIELDS = (
    {},
    {"title": "Zahlen 100%", "source": "wire", "extra": {"n": [1, None]}},
    {"title": "numbers"},
    {"source": "web"},
)
BY_HAND = ("kept", "confirmed", "undone")

texts, ids = st.sampled_from(TEXTS), st.sampled_from(IDS)
spans = st.sampled_from((None, DAY, 2 * DAY))
#: A window begins at one of them, or a moment later.
times = st.builds(
    lambda days, ticks: NOON + days * DAY + timedelta(microseconds=ticks),
    st.integers(0, 3),
    st.integers(0, 1),
)
documents = st.builds(
    lambda id, text, at, fields: NewDocument(id, text, at=at, **fields),
    ids,
    texts,
    times,
    st.sampled_from(FIELDS),
)
batches = st.lists(documents, max_size=6)


@cache
def match_of(recipe, text, other):
    """Return how a text repeats another one, without its id; None if it does not."""
    pair = compare(text, other, recipe=RECIPES[recipe])
    measure = compare(NUMBERS, PEARS, recipe=RECIPES[recipe]).measure
    # Different texts may have equal fingerprints.
    identical = pair.similarity == 1 == compare(text, other, recipe=RECIPES["shingle"]).similarity
    match = Match("", pair.similarity, measure, pair.distance, identical)
    return match if pair.duplicate else None


class Model:
    """The documents in the order of their decisions, and what happened to them later."""

    def __init__(self, recipe):
        self.recipe, self.documents, self.log = recipe, {}, []

    def matches(self, text, title=None, since=None):
        """Return what a text repeats, the most similar first; titles tell empty texts apart."""
        found = [
            replace(match, id=other.id)
            for other in self.documents.values()
            if other.state == "kept"
            and (since is None or other.at >= since)
            and (text or title == other.title)
            and (match := match_of(self.recipe, text, other.text))
        ]
        return sorted(found, key=lambda match: (not match.identical, -match.similarity))

    def put(self, document, within=None):
        since = within and document.at - within
        match = next(iter(self.matches(document.text, document.title, since)), None)
        state = "kept" if match is None else "dropped"
        self.documents[document.id] = replace(document, state=state, repeats=match)
        return match

    def add(self, new, within=None, *, replaces=False):
        """Return the decision; words of a problem stand for its sentence."""
        stored = self.documents.get(new.id)
        given = (new.text, new.title, new.source, new.extra or {})
        if stored is not None and not replaces:
            match = match_of(self.recipe, new.text, stored.text)
            if match and match.identical and (new.text or new.title == stored.title):
                return Decision(new.id, False, stored.repeats, None)
            return Decision(new.id, False, None, "already belongs to another text")
        if stored is not None:
            if given == (stored.text, stored.title, stored.source, stored.extra):
                return Decision(new.id, False, stored.repeats, None)
            self.take_out([new.id], "replaced")
        match = self.put(Document(new.id, *given[:3], new.at, given[3], "kept", None), within)
        return Decision(new.id, True, match, None, replaced=stored is not None)

    def dropped_for(self, ids):
        return [one.id for one in self.documents.values() if one.repeats and one.repeats.id in ids]

    def decide_again(self, ids, reasons=None):
        decided = [(id, self.put(self.documents.pop(id))) for id in ids]
        for id, match in decided:
            repeats = {} if match is None else {"repeats": match.id}
            self.log.append((id, "reconsidered", (reasons or {}).get(id, {}) | repeats))
        return decided

    def take_out(self, ids, action):
        again = [id for id in self.dropped_for(ids) if id not in ids]
        reasons = {id: {"repeated": self.documents[id].repeats.id, "which": action} for id in again}
        known = {id for id, *_ in self.log}
        self.log += [(id, action, {}) for id in ids if action != "expired" or id in known]
        for id in ids:
            del self.documents[id]
        return self.decide_again(again, reasons)

    def events(self, id):
        return [event[1:] for event in self.log if event[0] == id]

    def keep(self, id, by):
        document = self.documents[id]
        if document.state == "kept":
            raise InputError("is kept already")
        del self.documents[id]
        self.documents[id] = replace(document, state="kept", repeats=None)
        self.log.append((id, "kept", {"repeats": document.repeats.id, "by": by}))

    def confirm(self, id, by):
        if self.documents[id].state == "kept":
            raise InputError("is not dropped")
        self.log.append((id, "confirmed", {"by": by}))

    def undo(self, id, by):
        last, details = (self.events(id) or [("", {})])[-1]
        if last not in BY_HAND:
            raise InputError("no decision")
        if last == "undone":
            {"kept": self.keep, "confirmed": self.confirm}[details["what"]](id, by)
            return
        others = self.dropped_for([id])
        if last == "kept":
            self.put(self.documents.pop(id))
        self.log.append((id, "undone", {"what": last, "by": by}))
        if last == "kept":
            self.decide_again(others, {one: {"repeated": id, "which": "undone"} for one in others})

    def rename(self, old, new):
        if new in self.documents:
            raise InputError("already belongs to a document")

        def renamed(one):
            match = one.repeats
            match = replace(match, id=new) if match and match.id == old else match
            return replace(one, id=new if one.id == old else one.id, repeats=match)

        self.documents = {one.id: one for one in map(renamed, self.documents.values())}
        self.log = [(new if id == old else id, *event) for id, *event in self.log]
        self.log.append((old, "renamed", {"to": new}))


class Machine(RuleBasedStateMachine):
    """An index and its model, to which the same happens."""

    def __init__(self, place, recipe, folder):
        super().__init__()
        self.place, self.folder, self.model = place, folder, Model(recipe)
        self.open()

    def open(self):
        self.index = Index(self.place, recipe=RECIPES[self.model.recipe], workers=1)

    @rule(new=documents, within=spans, replaces=st.booleans())
    def add(self, new, within, replaces):
        expected = self.model.add(new, within, replaces=replaces)
        fields = {"title": new.title, "source": new.source, "extra": new.extra, "at": new.at}
        options = {"within": within, "replace": replaces, **fields}
        if expected.problem is None:
            assert self.index.add(new.id, new.text, **options) == expected.repeats
            return
        with pytest.raises(InputError, match=expected.problem):
            self.index.add(new.id, new.text, **options)

    @rule(batch=batches, replaces=st.booleans())
    def add_together(self, batch, replaces):
        expected = [self.model.add(new, replaces=replaces) for new in batch]
        batch = [replace(new, replace=replaces) for new in batch]
        for decision, wanted in zip(self.index.add_together(batch), expected, strict=True):
            assert (wanted.problem or "") in (decision.problem or "")
            assert replace(decision, problem=wanted.problem) == wanted

    @rule(batch=batches, within=spans, replaces=st.booleans(), as_file=st.booleans())
    def add_many(self, batch, within, replaces, as_file):
        if not self.model.documents:
            # A first import counts what it reads, also texts that it refuses for a taken id.
            batch = [*{new.id: new for new in batch}.values()]
        expected = [self.model.add(new, within, replaces=replaces) for new in batch]
        rows = [
            {"id": new.id, "text": new.text, "title": new.title, "from": new.source}
            | {"at": new.at.isoformat(), **(new.extra or {})}
            for new in batch
        ]
        rows.append({"id": "", "text": "no id", "title": None, "from": None, "at": None})
        options = {"at_field": "at", "source_field": "from", "extra_fields": ["n"]}
        options |= {"within": within, "replace": replaces}
        if as_file:
            path = self.folder / "rows.jsonl"
            path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
            added = self.index.add_files([path], **options)
        else:
            added = self.index.add_many(rows, **options)
        read = [one for one in expected if one.problem is None]
        keep = [one.problem is None and one.repeats is None for one in expected]
        assert added.keep.tolist() == [*keep, False]
        removed = [(row["id"], row["kept_id"]) for row in added.removed.to_pylist()]
        assert removed == [(one.id, one.repeats.id) for one in read if one.repeats]
        assert added.new == sum(one.new for one in read)
        assert added.already == len(read) - added.new
        assert added.replaced == sum(one.replaced for one in read)
        places = [number for number, one in enumerate(expected, 1) if one.problem]
        problems = sorted((problem.record, problem.field) for problem in added.problems)
        assert problems == [(number, "id") for number in (*places, len(rows))]
        assert added.problem_count == len(problems)

    @rule(text=texts, at=times, within=spans, k=st.integers(1, 5))
    def query(self, text, at, within, k):
        expected = self.model.matches(text, None, within and at - within)
        assert self.index.query(text, k, at=at, within=within) == expected[:k]

    @rule(id=ids)
    def remove(self, id):
        if id in self.model.documents:
            decided = tuple(self.model.take_out([id], "removed"))
            removed = self.index.remove(id)
            assert (removed.removed, removed.decided) == (1, decided)
            return
        for call in (self.index.remove, self.index.keep, self.index.confirm):
            with pytest.raises(InputError, match="there is no document"):
                call(id)

    @rule(before=times)
    def expire(self, before):
        gone = [one.id for one in self.model.documents.values() if one.at < before]
        decided = tuple(self.model.take_out(gone, "expired"))
        removed = self.index.expire(before=before)
        assert (removed.removed, removed.decided) == (len(gone), decided)
        assert removed.decided_count == len(decided)

    @precondition(lambda self: self.model.documents)
    @rule(
        data=st.data(),
        call=st.sampled_from(("keep", "keep", "confirm", "undo", "undo", "rename")),
        new=ids,
    )
    def change(self, data, call, new):
        id = data.draw(st.sampled_from([*self.model.documents]))
        arguments, options = ((id, new), {}) if call == "rename" else ((id,), {"by": "Li"})
        try:
            getattr(self.model, call)(*arguments, **options)
        except InputError as expected:
            with pytest.raises(InputError, match=str(expected)):
                getattr(self.index, call)(*arguments, **options)
        else:
            getattr(self.index, call)(*arguments, **options)

    @rule(wanted=st.none() | st.lists(ids, max_size=3))
    def reconsider(self, wanted):
        dropped = [one.id for one in self.model.documents.values() if one.repeats]
        again = [id for id in dropped if wanted is None or id in wanted]
        assert self.index.reconsider(wanted) == self.model.decide_again(again)

    @rule(compact=st.booleans())
    def reopen(self, compact):
        if compact:
            self.index.compact()
        self.index.close()
        self.open()

    def teardown(self):
        try:
            self.check_lists()
        finally:
            self.index.close()
        check_consistent(self.place)

    def check_lists(self):
        """Hold all lists, counts and files against the model."""
        index, model = self.index, self.model
        every = [*model.documents.values()]
        kept = [one for one in every if one.state == "kept"]
        dropped = [one for one in every if one.state == "dropped"]
        for state, listed in ((None, every), ("kept", kept), ("dropped", dropped)):
            assert list(index.documents(state)) == listed
        several = [id for id in IDS if id in model.documents]
        assert list(index.get_many([*IDS, *IDS, "nobody", ""]).items()) == [
            (id, model.documents[id]) for id in several
        ]
        assert [*index.get_many(several, texts=False).values()] == [
            replace(model.documents[id], text=None) for id in several
        ]
        assert [id for id in (*IDS, 7, None) if id in index] == several
        assert len(index) == len(every)
        stats, moments = index.stats(), [one.at for one in every]
        assert (stats.documents, stats.kept, stats.dropped) == (len(every), len(kept), len(dropped))
        assert (stats.first, stats.last) == (min(moments, default=None), max(moments, default=None))
        arrived = [sum(one.at >= NOON + DAY for one in some) for some in (every, dropped)]
        assert list(index.count_arrivals(NOON + DAY)) == arrived
        decided = [event for event in model.log if event[1] in BY_HAND]
        events = list(index.decisions())
        assert [(one.id, one.action, one.details) for one in events] == decided[::-1]
        for id in IDS:
            self.check_explained(id, events)
        clusters = [
            (one.id, [model.documents[id] for id in model.dropped_for([one.id])]) for one in kept
        ]
        for search in ("", "100%", "NUMB", "_", "%", "e"):
            found = list(index.clusters(search=search))
            assert [one.id for one in found] == [
                id
                for id, others in clusters
                if others
                and any(
                    search.lower() in f"{one.id}\n{one.title or ''}".lower()
                    for one in (model.documents[id], *others)
                )
            ]
            for number, cluster in enumerate(found, 1):
                assert list(index.clusters(search=search, after=cluster.number)) == found[number:]
        self.check_removals(dropped)
        path = self.folder / "out.jsonl"
        assert index.export(path, force=True) == len(kept)
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        names = ("id", "text", "title", "source")
        assert [[*map(row.get, (*names, "n"))] for row in rows] == [
            [*(getattr(one, name) for name in names), one.extra.get("n")] for one in kept
        ]

    def check_explained(self, id, decisions):
        document, events = self.model.documents.get(id), self.model.events(id)
        assert self.index.get(id) == document
        if document is None and not events:
            with pytest.raises(InputError, match="there is no document"):
                self.index.explain(id)
            return
        shown = self.index.explain(id)
        assert shown.document == document
        assert [(one.action, one.details) for one in shown.events] == events
        times = [one.at for one in shown.events]
        assert times == sorted(times)
        assert [one.is_last for one in shown.events][::-1] == [True, *[False] * len(events)][
            : len(events)
        ]
        assert all(one in shown.events for one in decisions if one.id == id)
        for_it = self.model.dropped_for([id])
        assert shown.dropped == tuple((one, self.model.documents[one].repeats) for one in for_it)

    def check_removals(self, dropped):
        stored = self.model.documents
        places = {id: number for number, id in enumerate(stored)}
        last = {one.id: [*self.model.events(one.id)[-1:]] for one in dropped}
        confirmed = {id for id, events in last.items() if events and events[0][0] == "confirmed"}
        orders = {
            "doubt": lambda one: one.repeats.similarity,
            "newest": lambda one: NOON - one.at,
            "cluster": lambda one: places[one.repeats.id],
        }
        for order, key in orders.items():
            wanted = RemovalFilter(order=order)
            removals = list(self.index.removals(wanted))
            assert [(one.document, one.kept, one.confirmed) for one in removals] == [
                (one, stored[one.repeats.id], one.id in confirmed)
                for one in sorted(dropped, key=key)
            ]
            for number, one in enumerate(removals, 1):
                assert list(self.index.removals(wanted, after=one.position)) == removals[number:]
        filters = {
            RemovalFilter(source="wire"): lambda one: one.source == "wire",
            RemovalFilter(since=NOON + DAY): lambda one: one.at >= NOON + DAY,
            RemovalFilter(until="2024-06-16T20:00:00+08:00"): lambda one: one.at < NOON + DAY,
            RemovalFilter(min_similarity=0.9): lambda one: one.repeats.similarity >= 0.9,
            RemovalFilter(max_similarity=0.9): lambda one: one.repeats.similarity <= 0.9,
            RemovalFilter(confirmed=True): lambda one: one.id in confirmed,
            RemovalFilter(confirmed=False): lambda one: one.id not in confirmed,
            RemovalFilter(search="EINS zahlen"): lambda one: (
                one.title == "Zahlen 100%" and "eins" in one.text.lower()
            ),
        }
        for wanted, holds in filters.items():
            expected = {one.id for one in dropped if holds(one)}
            assert {one.document.id for one in self.index.removals(wanted)} == expected
            if not wanted.search:
                assert self.index.count_removals(wanted) == len(expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recipe", "new_place"),
    [*((name, "sqlite") for name in RECIPES), *((name, "postgresql") for name in ON_SERVER)],
    indirect=["new_place"],
)
def test_index_equals_its_model(recipe, new_place, tmp_path, monkeypatch):
    for name, rows in SIZES.items():
        monkeypatch.setattr(f"neardup.index.{name}", rows)
    # A new schema of PostgreSQL takes a second.
    examples = 6 if "://" in new_place() else 16
    run_state_machine_as_test(
        lambda: Machine(new_place(), recipe, tmp_path),
        settings=settings(max_examples=examples, stateful_step_count=30),
    )
