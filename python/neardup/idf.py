"""Document frequencies of a collection: stages normalize to weigh."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup._engine.messages import Message
from neardup._engine.validation import check_field
from neardup.exceptions import ParameterError
from neardup.recipe import CORPUS, Recipe, load_recipe
from neardup.recipe.assets import units_name
from neardup.recipe.frequencies import DocumentFrequencies

if TYPE_CHECKING:
    from neardup._engine.summary import Progress


def count_idf(
    data: Any,
    *,
    text: str | None = None,
    recipe: str | Path | Recipe = "improved",
    workers: int = 0,
    progress: Progress | None = None,
) -> DocumentFrequencies:
    """Count the documents that contain each word.

    Parameters
    ----------
    data : Table, DataFrame, list of str or dict, or Sources
        The documents, as for :func:`neardup.dedup`.
    text : str or None, default=None
        Field of the text.
    recipe : str, Path or Recipe, default="improved"
        Its normalization, segmenter and stop words define the words.
    workers : int, default=0
        Threads; 0 means one for each processor. Changes no result.
    progress : Progress or None, default=None
        Receives the progress of the run.

    Returns
    -------
    DocumentFrequencies

    Raises
    ------
    ParameterError
        If the recipe or a parameter is out of bounds.

    Examples
    --------
    >>> from neardup import count_idf
    >>> table = count_idf(["stone bridge", "stone harbour"])
    >>> table.documents, dict(table.counts)
    (2, {'bridge': 1, 'harbour': 1, 'stone': 2})
    """
    from neardup._engine.ingest import collect
    from neardup.readers import Sources, open_table

    chosen = load_recipe(recipe)
    if chosen.weigh.scheme not in ("tf-idf", "improved"):
        raise ParameterError(
            Message(
                "recipes.must_weigh_by_document_frequency",
                parameter="recipe",
                value=repr(chosen.name),
            )
        )
    chosen = chosen.replace(weigh={"idf": CORPUS})
    field = check_field(text, "text")
    source = data if isinstance(data, Sources) else open_table(data, text_field=field)
    collected = collect(source.batches(), chosen, workers=workers, sketch=False, progress=progress)
    counted = collected.corpus.frequencies()
    assert counted is not None, "the recipe counts its corpus"
    documents, words = counted
    return DocumentFrequencies(documents, dict(words), units_name(chosen))
