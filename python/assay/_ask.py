"""Maps a call of a function of this module to a call of the program."""

from __future__ import annotations

import functools

from ._program import AssayError, Inputs, flags, run_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])


def checked(name: str, known: Sequence[str], given: Mapping[str, Any]) -> None:
    """Raises TypeError for an unknown keyword and suggests the nearest one."""
    for keyword in given:
        if keyword in known:
            continue
        if keyword in ("format", "output"):
            raise TypeError(f"{keyword} is what this module asks of the program: read the answer, or use save()")
        import difflib

        near = difflib.get_close_matches(keyword, known, 1, 0.5)
        listed = f"did you mean {near[0]!r}?" if near else "there are " + ", ".join(known)
        raise TypeError(f"{name}() has no option {keyword!r}; {listed}")


def question(
    verb: str,
    answer: type[Any],
    fixed: Mapping[str, Any] | None = None,
    renamed: Mapping[str, str] | None = None,
) -> Callable[[F], F]:
    """Makes the function that runs this verb of the program. Every call has the options `fixed`. `renamed` maps
    keywords to options with another name. An option is passed only if its value is not the default."""

    def decorate(function: F) -> F:
        defaults = function.__kwdefaults__ or {}
        code = function.__code__
        places = code.co_varnames[: code.co_argcount]
        known = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        takes_edits = bool(code.co_flags & 0x04)

        @functools.wraps(function)
        def asked(*args: Any, **given: Any) -> Any:
            options = dict(zip(places, args))
            rest = args[len(places) :]
            if rest and not takes_edits:
                raise TypeError(f"{function.__name__}() takes {' and '.join(places)}, and {len(args)} inputs are given")
            for place in places:
                if place in given:
                    options[place] = given.pop(place)
            missing = [p for p in places[: len(places) - len(function.__defaults__ or ())] if p not in options]
            missing += [keyword for keyword in known if keyword not in defaults and keyword not in given]
            checked(function.__name__, known, given)
            if missing:
                raise TypeError(f"{function.__name__}() needs {' and '.join(missing)}")
            words: dict[str, Any] = {name.lstrip("-"): value for name, value in (fixed or {}).items()}
            if takes_edits:
                words["edit"] = list(rest)
            for keyword, value in given.items():
                if keyword not in defaults or value != defaults[keyword]:
                    words[(renamed or {}).get(keyword, keyword).lstrip("-")] = value
            sources = [options.pop(place) for place in ("source", "a", "b") if place in options]
            words.update(options)
            return answered(verb, answer, sources, words)

        return asked  # type: ignore[return-value]

    return decorate


def answered(verb: str, answer: type[Any], sources: list[Any], options: Mapping[str, Any]) -> Any:
    """Runs the verb over the inputs. The answer keeps the command, to repeat it in another format."""
    given: list[Any] = []
    progress = None
    keep: list[Inputs] = []  # keeps their temporary files alive
    for source in sources:
        progress = progress or getattr(source, "progress", None)
        held = getattr(source, "inputs", None)
        if len(sources) == 1 and isinstance(held, Inputs):
            given += held.paths
            keep.append(held)
        else:
            given += source if isinstance(source, (list, tuple)) else [source]
    inputs = Inputs(given) if given else None
    if inputs is not None:
        inputs.kept = keep
    paths = inputs.paths if inputs else []
    if not paths and not options:
        raise AssayError(f"{verb}: no input is given")
    words = [*verb.split(), *flags(options), "--", *paths]
    document, code = run_json(words, fine=(0, 1) if verb == "diff" else (0,), depth=len(verb.split()), progress=progress)
    return answer._made(document, words, inputs, options, code)
