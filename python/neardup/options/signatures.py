"""Signatures, documentation and validation of functions that take a group of options."""

import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from neardup.base.validation import check_choice, check_flag
from neardup.options.options import Option

_Function = TypeVar("_Function", bound=Callable[..., Any])


#: Options by their former names.
_RENAMED = {
    "cover": ("min_share",),
    "common": ("max_documents",),
    "whole": ("include_removed",),
    "with": ("against",),
    "among": ("compare_papers",),
    "covers": ("title_pages",),
    "least": ("min_item_length", "min_unit_length", "min_passage_length"),
}
#: Names of options in other programs and in earlier versions, and the options here that do it.
_OTHER_NAMES = {
    "keep": ("priority", "keep"),
    "sort": ("priority",),
    "column": ("text_field",),
    "field": ("text_field", "id_field"),
    "key": ("id_field",),
    "similarity": ("threshold",),
    "jaccard_threshold": ("threshold",),
    "hamming_distance": ("max_distance",),
    "bit_diff": ("max_distance",),
    "num_perm": ("recipe",),
    "ngram": ("recipe",),
    "save_clusters": ("annotate",),
    "jobs": ("workers",),
    "n_jobs": ("workers",),
    "num_proc": ("workers",),
    "threads": ("workers",),
    "overwrite": ("force",),
    "duplicates": ("removed",),
    "reference": ("against", "library"),
    "html": ("review", "output"),
    **_RENAMED,
}


def suggestions(name: str, known: Collection[str]) -> list[str]:
    """Return the known options, or flags, that do what a name asks for that is not known.

    Examples
    --------
    >>> suggestions("text", ["text_field", "workers"]), suggestions("--num-proc", ["--workers"])
    (['text_field'], ['--workers'])
    """
    plain = {flag.strip("-").replace("-", "_"): flag for flag in known}
    asked = name.strip("-_").replace("-", "_")
    wanted = (*_OTHER_NAMES.get(asked, ()), f"{asked}_field")
    return [plain[option] for option in wanted if option in plain]


@cache
def options_of(parameters: Any) -> dict[str, tuple[Any, Option]]:
    """Return the type and the option of each parameter of a group.

    Examples
    --------
    >>> from neardup.options.shared_groups import MatchParameters
    >>> kind, option = options_of(MatchParameters)["threshold"]
    >>> kind, option.flags("threshold")
    (float | None, ['--threshold', '-t'])
    """
    return {name: option_of(hint) for name, hint in parameters.__annotations__.items()}


def option_of(hint: Any) -> tuple[Any, Option]:
    """Return the type and the option of an annotation, with what follows from the type."""
    kind, option = get_args(hint)
    if option.check is not None:
        return kind, option
    if kind is bool:
        return kind, replace(option, default=False, check=check_flag)
    if str not in leaves(kind) and (choices := literals(kind)):
        optional = NoneType in leaves(kind)
        return kind, replace(option, check=partial(_check_choice, choices, optional))
    return kind, option


def leaves(kind: Any) -> tuple[Any, ...]:
    """Return the types that a type allows."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def literals(kind: Any) -> tuple[str, ...]:
    """Return the values of the literal types in a type."""
    listed = [leaf for leaf in leaves(kind) if get_origin(leaf) is Literal]
    return tuple(value for leaf in listed for value in get_args(leaf))


def _check_choice(choices: tuple[str, ...], optional: bool, value: Any, name: str) -> Any:
    return None if value is None and optional else check_choice(value, name, choices)


def complete_options(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a call, completed with defaults and checked.

    Raises
    ------
    TypeError
        If the function does not take one of them.
    ParameterError
        If a value is out of bounds; names the option.
    """
    known = taken_options(function)
    for name in options:
        if name not in known:
            from difflib import get_close_matches

            names = inspect.signature(function).parameters
            near = suggestions(name, names)
            if not near and name in _RENAMED:
                hint = f" It is now {_RENAMED[name][0]!r}, an option of the command line."
            else:
                near = near or get_close_matches(name, names, 1)
                hint = f" Did you mean {', '.join(map(repr, near))}?" if near else ""
            reason = f"{function.__name__}() got an unexpected keyword argument {name!r}.{hint}"
            raise TypeError(reason)
    values = {
        name: option.checked(options.get(name, option.default), name)
        for name, (_, option) in known.items()
    }
    if {"max_text", "memory"} <= values.keys():
        # A text takes several times its size while it is sketched.
        values["max_text"] = min(values["max_text"], values["memory"] // 4)
    return values


@cache
def taken_options(function: Callable[..., Any]) -> dict[str, tuple[Any, Option]]:
    """Return the options that a function or class takes as ``**options: Unpack[...]``."""
    code = _code(function)
    unpacked = eval(code.__annotations__["options"], code.__globals__)
    return options_of(get_args(unpacked)[0])


def _code(function: Any) -> Any:
    """Return what has the signature: `__init__` of a class, though its docstring is its own."""
    return vars(function)["__init__"] if isinstance(function, type) else function


def takes_options(function: _Function) -> _Function:
    """Give a function or class the signature and the documentation of its options.

    The last parameter must be ``**options: Unpack[SomeParameters]``, and the docstring must
    have the line ``{options}`` among the parameters.
    """
    shown = _code(function)
    signature = inspect.signature(shown)
    *parameters, last = signature.parameters.values()
    options = taken_options(function)
    of_options = [
        inspect.Parameter(name, last.KEYWORD_ONLY, default=option.default, annotation=kind)
        for name, (kind, option) in options.items()
    ]
    shown.__signature__ = signature.replace(parameters=[*parameters, *of_options])
    if function.__doc__ is not None:  # None if Python runs without docstrings
        documented = "".join(_describe_option(name, *known) for name, known in options.items())
        function.__doc__ = re.sub(
            r"^( +)\{options\}\n",
            lambda match: textwrap.indent(documented, match[1]),
            function.__doc__,
            flags=re.MULTILINE,
        )
    return function


@cache
def _describe_option(name: str, kind: Any, option: Option) -> str:
    """Return the lines of an option for a docstring."""
    help = textwrap.fill(option.help, 84, initial_indent=" " * 4, subsequent_indent=" " * 4)
    return f"{name} : {_format_type(kind)}, default={option.default!r}\n{help}\n"


def _format_type(kind: Any) -> str:
    """Return a type as docstrings show it: ``str or None``, or the values of a literal type."""
    parts = get_args(kind)
    if get_origin(kind) is Literal:
        return f"{{{', '.join(map(repr, parts))}}}"
    if get_origin(kind) in (Union, UnionType):
        # Beside any str, single ones are for editors, which complete them.
        kinds = [part for part in parts if str not in parts or get_origin(part) is not Literal]
        return " or ".join(map(_format_type, kinds))
    # Only the name of a class, without its module.
    return re.sub(r"\b\w+\.", "", "None" if kind is NoneType else inspect.formatannotation(kind))
