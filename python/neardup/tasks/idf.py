"""Document frequencies of a collection: stages normalize to weigh."""

from __future__ import annotations

from typing import Any, Unpack

from neardup.base.messages import Message
from neardup.base.progress import share_of
from neardup.exceptions import ParameterError
from neardup.options.groups import IdfParameters
from neardup.options.signatures import complete_options, takes_options
from neardup.recipe import CORPUS
from neardup.recipe.assets import units_name
from neardup.recipe.frequencies import DocumentFrequencies
from neardup.recipe.rule import chosen_recipe
from neardup.run.document_set import DocumentSet
from neardup.run.pipeline import Pipeline
from neardup.run.run_options import RunOptions


@takes_options
def count_idf(data: Any, **options: Unpack[IdfParameters]) -> DocumentFrequencies:
    """Count the documents that contain each word.

    Parameters
    ----------
    data : Table, DataFrame, list of str or dict, or Sources
        The documents, as for :func:`neardup.dedup`.
    {options}

    Returns
    -------
    DocumentFrequencies

    Raises
    ------
    ParameterError
        If the recipe or a parameter is out of bounds.

    Notes
    -----
    The recipe's normalization, segmenter and stop words define the words.

    Examples
    --------
    >>> from neardup import count_idf
    >>> table = count_idf(["stone bridge", "stone harbour"])
    >>> table.documents, dict(table.counts)
    (2, {'bridge': 1, 'harbour': 1, 'stone': 2})
    """
    from neardup.readers import Sources, open_table

    values = complete_options(count_idf, options)
    chosen = chosen_recipe(values)
    if chosen.weigh.scheme not in ("tf-idf", "improved"):
        raise ParameterError(
            Message(
                "{parameter:named} must be a recipe that weighs by document "
                "frequency, such as keywords and improved. Got {value} instead.",
                parameter="recipe",
                value=repr(chosen.name),
            )
        )
    chosen = chosen.replace(weigh={"idf": CORPUS})
    run_options = RunOptions({**values, "recipe": chosen}, compares=False)
    source = data if isinstance(data, Sources) else open_table(data, **run_options.reader)
    pipeline = Pipeline(run_options)
    collected = DocumentSet(chosen, pipeline.corpus(chosen))
    pipeline.progress.stage("read and sketch", None, share_of(source))
    for _ in pipeline.push(source.batches(), collected):
        pass
    counted = collected.corpus.frequencies()
    assert counted is not None, "the recipe counts its corpus"
    documents, words = counted
    return DocumentFrequencies(documents, dict(words), units_name(chosen))
