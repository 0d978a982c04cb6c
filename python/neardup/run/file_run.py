"""Runs over files: inputs, outputs that are written completely or not at all, and a work folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from neardup.base.locations import is_index
from neardup.base.messages import Message
from neardup.base.validation import check_path, paths_of
from neardup.exceptions import ParameterError
from neardup.readers import Sources, open_sources
from neardup.readers.sources import check_standard_input
from neardup.run.checkpoint import Work, states_of
from neardup.run.document_set import DocumentSet
from neardup.run.pipeline import Pipeline
from neardup.run.plan import Plan
from neardup.run.run_options import RunOptions
from neardup.run.sketch_file import SketchFiles, is_sketch_file
from neardup.run.summary import Summary, in_both, run_report
from neardup.writers import OutputSet
from neardup.writers.folder import list_files

if TYPE_CHECKING:
    from neardup.index.query import StoredTexts


class FileRun:
    """Context manager that opens a task's inputs and outputs, and closes them in order."""

    pipeline: Pipeline
    sources: Sources
    against: Sources | StoredTexts | SketchFiles | None
    outputs: OutputSet

    def __init__(
        self,
        task: str,
        options: RunOptions,
        inputs: Sequence[str | Path],
        against: Sequence[str | Path] | None = None,
        **outputs: Mapping[str, str | Path | None],
    ) -> None:
        self._task = task
        self._named = {name: path for named in outputs.values() for name, path in named.items()}
        for name, path in self._named.items():
            if path is not None or name == "output":
                check_path(path, name)
        self._options = options
        self._inputs = paths_of(inputs, "inputs")
        self._against = None if against is None else paths_of(against, "against")
        self._outputs = outputs
        self._stack = ExitStack()
        self._work: Work | None = None

    def __enter__(self) -> FileRun:
        with self._stack:
            self._open()
            # All is open: keep it open until __exit__.
            self._stack = self._stack.pop_all()
        return self

    def _open(self) -> None:
        options = self._options
        work = options.work
        replaceable: set[str] = set()

        def may_replace(path: str) -> bool:
            """Whether `force` is set, or a killed run of this kind wrote what is there."""
            place = os.path.realpath(path)
            files = [place]
            if os.path.isdir(place):
                files = [os.path.join(place, name) for name in list_files(place)]
            return options.force or replaceable.issuperset(files)

        texts = {**self._outputs.get("texts", {}), "report": options.report}
        outputs = self.outputs = OutputSet(
            self._read(),
            **(self._outputs | {"texts": texts}),
            force=may_replace,
            part_size=options.part_size if self._outputs.get("records") else None,
            folders=[work],
            # A later run replaces the temporary files of a killed one.
            token=None if work is None else os.path.realpath(work),
            progress=options.progress,
        )
        if work is not None:
            self._work = self._stack.enter_context(Work(Path(work), self._describe_run()))
            replaceable |= self._work.discard()
        self._stack.enter_context(outputs)
        if self._work is not None:
            self._work.start(outputs.parts())
            complete = self._work.complete
            outputs.on_complete = lambda: complete(outputs.parts())
        self.sources = open_sources(self._inputs, **options.reader)
        edits = options.annotate or options.cluster_size or options.copies
        outputs.take(self.sources, copies="output" if self._task == "dedup" else None, edits=edits)
        self.against = None if self._against is None else self._open_others(self._against)
        self.pipeline = Pipeline(options, self._work)
        if isinstance(self.against, Sources):
            for name in self.sources.shared_with(self.against):
                self.pipeline.progress.note(in_both(name))

    def _read(self) -> list[str | Path | None]:
        """Return all files that the run reads."""
        others = self._against or []
        files = [*self._inputs, *others, *self._options.recipe.files, self._options.restore]
        return [*files, *read_by_indexes(others)]

    def _open_others(self, others: list[str]) -> Sources | StoredTexts | SketchFiles:
        """Open the other collection: one index, files of sketches, or files of documents."""
        sketches = [path for path in others if is_sketch_file(path)]
        if sketches:
            documents = [path for path in others if path not in sketches]
            if documents:
                values = {"file": sketches[0], "other": documents[0]}
                message = Message(
                    "{parameter:named} must be files of sketches, or files of documents, not both "
                    "({file}, {other}). Make sketches of the documents: neardup sketch.",
                    parameter="against",
                    **values,
                )
                raise ParameterError(message)
            rule = self._options.rule
            files = SketchFiles(sketches)
            files.check(self._options.recipe, None if rule is None else rule.counted_shingle)
            return files

        indexes = [path for path in others if is_index(path)]
        if indexes and len(others) > 1:
            message = Message(
                "{parameter:named} must be one index, or files, but {index} is an index among "
                "others. Add the files to the index: neardup index add.",
                parameter="against",
                index=indexes[0],
            )
            raise ParameterError(message)
        if indexes:
            from neardup.index import Index

            index = self._stack.enter_context(Index(indexes[0], must_exist=True))
            return index._open_stored_texts()
        check_standard_input([*self._inputs, *others], "against")
        return open_sources(others, **self._options.reader_of_others)

    def report_sources(self) -> None:
        """Count and report problems and notes of both collections that are not of records."""
        sides = [side for side in (self.sources, self.against) if side is not None]
        self.pipeline.report_sources(*sides)

    def _describe_run(self) -> dict[str, Any]:
        """The settings and inputs that the stages in a work folder depend on."""
        format = self._options.format
        return {
            "task": self._task,
            **self._options.decisive(),
            "inputs": states_of(self._inputs, format),
            "against": None if self._against is None else _states(self._against, format),
        }

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._work is not None and error is None:
            # The folder is emptied after all outputs are complete.
            self._work.is_over = True
        self._stack.__exit__(kind, error, traceback)

    def report(self, summary: Summary, collected: DocumentSet, plan: Plan) -> None:
        """Write the report, if there is one, as the last step before the outputs appear."""
        self.pipeline.measure(summary)
        if "report" not in self.outputs.files:
            return
        options = self._options
        settings = {
            "inputs": self._inputs,
            "against": self._against,
            **self._named,
            **options.given,
        }
        text = run_report(
            summary,
            settings,
            recipe={"id": collected.recipe_id(), **asdict(options.recipe)},
            plan=asdict(plan),
            problems=[*self.pipeline.problems, *self.sources.problems],
            notes=[*self.sources.notes, *self.pipeline.notes],
        )
        self.outputs.files["report"].write(text)


def read_by_indexes(others: list[str]) -> list[str]:
    """Return the files that a look-up reads in the indexes among these paths."""
    files: list[str] = []
    for path in filter(is_index, others):
        from neardup.index import Index

        with Index(path, must_exist=True) as index:
            files += index._engine.files
    return files


def _states(others: list[str], format: str | None) -> list[Any]:
    """Return the states of the other collection; of an index, its counters."""
    states: list[Any] = []
    for path in others:
        if not is_index(path):
            states += states_of([path], format)
            continue
        from neardup.index import Index

        with Index(path, must_exist=True) as index:
            states.append((path, sorted(index._engine.read_counters().items())))
    return states
