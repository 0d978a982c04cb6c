"""Which options the functions of an index and their commands take."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import Annotated, TypedDict

from neardup.base.validation import check_fields, check_zone
from neardup.options import options as o
from neardup.options.shared_groups import InputParameters, OutputParameters, TextParameters
from neardup.recipe import AnyRecipe
from neardup.recipe.ignored import check_ignored


class IndexParameters(TypedDict, total=False):
    """Options of `Index`; None takes what an index that exists was made with."""

    recipe: Annotated[
        AnyRecipe | None,
        replace(
            o.RECIPE,
            help=f"{o.RECIPE.help} By default general for a new index. It cannot be changed later.",
            default=None,
        ),
    ]
    ignore: Annotated[
        Sequence[str] | None,
        replace(
            o.IGNORE,
            help=f"{o.IGNORE.help} It cannot be changed later.",
            default=None,
            check=o.or_none(check_ignored),
        ),
    ]
    measure: o.Measure
    threshold: o.Threshold
    max_distance: o.MaxDistance
    expected: Annotated[
        int | None,
        o.Option(
            "Expected number of documents, for a search by bands. By default 1,000,000.",
            o.MATCHING,
            check=o.or_none(o.whole(1, 2**32 - 1)),
        ),
    ]
    must_exist: Annotated[
        bool | None,
        o.Option(
            "True if the index must exist, False if it must not exist yet. By default it is "
            "created if it does not exist.",
            panel=None,
            check=o.check_true_false_none,
        ),
    ]
    workers: o.Workers


class QueryParameters(TypedDict, total=False):
    """Options of `Index.query`."""

    within: o.Within


class AddParameters(QueryParameters, total=False):
    """Options of `Index.add`."""

    at_zone: Annotated[
        str | tzinfo | None,
        o.Option(
            "Time zone of times without one, such as Asia/Shanghai. By default UTC.",
            o.INPUT,
            metavar="ZONE",
            check=check_zone,
        ),
    ]
    replace: Annotated[
        bool,
        o.Option(
            "Replace a stored document that has the id of a new one. Documents that were dropped "
            "for it are decided again. If text, title, source and further fields are the same, "
            "nothing changes.",
            o.OUTPUT,
        ),
    ]


class AddManyParameters(TextParameters, AddParameters, total=False):
    """Options of `Index.add_many`."""

    at_field: Annotated[
        str | None,
        o.field(
            "Field of the time of arrival: ISO 8601, or such as 2024-3-9 8:00:00. By default the "
            "current time.",
        ),
    ]
    source_field: Annotated[str | None, o.field("Field of the source of a document; it is stored.")]
    extra_fields: Annotated[
        Sequence[str],
        o.Option(
            "Names of further fields to store. In a command, repeat the option for each.",
            o.INPUT,
            flag="--extra-field",
            default=(),
            check=check_fields,
        ),
    ]
    progress: o.ProgressCallbacks


class AddFilesParameters(AddManyParameters, InputParameters, OutputParameters, total=False):
    """Options of `Index.add_files`."""


class ExportParameters(OutputParameters, total=False):
    """Options of `Index.export`."""

    include_removed: Annotated[
        bool,
        o.Option(
            "Write dropped documents too, so that `neardup index add` makes an equal index of the "
            "output.",
            o.OUTPUT,
        ),
    ]
