"""The JSON schema of a Python function's arguments, and conversion of a call's JSON to them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

from agent.library.base.annotations import origin_of, without_extras
from agent.library.base.docstring_fields import DocstringFields, DocstringStyle, read_docstring
from agent.library.base.raw_items import RawItem
from agent.library.base.run_exceptions import ModelBehaviorError, UserError
from agent.library.base.strict_schema import ensure_strict_json_schema
from agent.library.context.call_context import CallContext
from agent.library.context.run_context import RunContextWrapper

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass
class FuncSchema:
    """A function's description for a model."""

    name: str
    description: str | None
    params_pydantic_model: type[BaseModel]
    params_json_schema: dict[str, RawItem]
    signature: inspect.Signature
    takes_context: bool = False
    strict_json_schema: bool = True

    def to_call_args(self, data: BaseModel) -> tuple[list[RawItem], dict[str, RawItem]]:
        """Return validated arguments as positional and keyword arguments.

        Raises:
            ModelBehaviorError: an extra keyword argument has the name of a parameter.
        """
        positional: list[RawItem] = []
        keywords: dict[str, RawItem] = {}
        is_behind_variadic = False
        for index, (name, parameter) in enumerate(self.signature.parameters.items()):
            if self.takes_context and index == 0:
                continue
            value = vars(data).get(name)
            match parameter.kind:
                case inspect.Parameter.VAR_POSITIONAL:
                    positional.extend(value or [])
                    is_behind_variadic = True
                case inspect.Parameter.VAR_KEYWORD:
                    self._check_keywords(value or {})
                    keywords.update(value or {})
                case inspect.Parameter.KEYWORD_ONLY:
                    keywords[name] = value
                case _ if is_behind_variadic:
                    keywords[name] = value
                case _:
                    positional.append(value)
        return positional, keywords

    def _check_keywords(self, keywords: dict[str, RawItem]) -> None:
        names = {n for n, each in self.signature.parameters.items() if each.kind in _BY_NAME}
        clashes = sorted(names & set(keywords))
        if clashes:
            raise ModelBehaviorError(
                f"Invalid arguments for tool {self.name}: {', '.join(map(repr, clashes))} given "
                "both as a named parameter and as an extra keyword."
            )


def function_schema(
    func: Callable[..., RawItem],
    docstring_style: DocstringStyle | None = None,
    name_override: str | None = None,
    description_override: str | None = None,
    use_docstring_info: bool = True,
    strict_json_schema: bool = True,
) -> FuncSchema:
    """Return a function's description for a model, from its signature and docstring.

    Raises:
        UserError: the signature cannot be expressed as such a schema.
    """
    text = inspect.getdoc(func) if use_docstring_info else None
    docstring = read_docstring(text, docstring_style)
    hints = get_type_hints(func, include_extras=True)
    signature = inspect.signature(func)
    parameters = list(signature.parameters.values())
    takes_context = bool(parameters) and _is_context(hints.get(parameters[0].name))
    model_parameters = parameters[1:] if takes_context else parameters
    for parameter in parameters[1:]:
        if _is_context(hints.get(parameter.name)):
            raise UserError(
                "RunContextWrapper/ToolContext param found at non-first position in function "
                f"{func.__name__}"
            )
    config = ConfigDict()
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in model_parameters):
        if strict_json_schema:
            raise UserError(
                f"Variadic keyword parameters of {func.__name__} cannot use a strict schema. "
                "Set strict_mode=False on the function tool, or use explicit parameters."
            )
        config["extra"] = "forbid"
    fields: dict[str, RawItem] = {
        each.name: _field(func.__name__, each, hints.get(each.name, RawItem), docstring)
        for each in model_parameters
    }
    name = name_override or func.__name__
    model = create_model(f"{name}_args", __config__=config, **fields)
    schema = model.model_json_schema()
    return FuncSchema(
        name=name,
        description=description_override or docstring.description,
        params_pydantic_model=model,
        params_json_schema=ensure_strict_json_schema(schema) if strict_json_schema else schema,
        signature=signature,
        takes_context=takes_context,
        strict_json_schema=strict_json_schema,
    )


def _is_context(annotation: RawItem) -> bool:
    plain, _ = without_extras(annotation)
    return (origin_of(plain) or plain) in (RunContextWrapper, CallContext)


def _field(
    function: str, parameter: inspect.Parameter, annotation: RawItem, docstring: DocstringFields
) -> tuple[RawItem, RawItem]:
    plain, extras = without_extras(annotation)
    description = docstring.arguments.get(parameter.name) or next(
        (each for each in extras if isinstance(each, str)), None
    )
    if parameter.kind in _VARIADIC:
        return _variadic(function, parameter, plain, extras, description)
    default = parameter.default
    info = FieldInfo.from_annotation(annotation) if extras else None
    if info is not None:
        info = FieldInfo.merge_field_infos(info, description=description or info.description)
        if isinstance(default, FieldInfo):
            info = FieldInfo.merge_field_infos(
                info, default, description=description or default.description
            )
        elif default is not inspect.Parameter.empty:
            info = FieldInfo.merge_field_infos(info, default=default)
        return plain, info
    if isinstance(default, FieldInfo):
        return plain, FieldInfo.merge_field_infos(
            default, description=description or default.description
        )
    if default is inspect.Parameter.empty:
        return plain, Field(description=description)
    return plain, Field(default=default, description=description)


def _variadic(
    function: str,
    parameter: inspect.Parameter,
    plain: RawItem,
    extras: tuple[RawItem, ...],
    description: str | None,
) -> tuple[RawItem, RawItem]:
    real = tuple(each for each in extras if not isinstance(each, str))
    value = Annotated[(plain, *real)] if real else plain
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return dict[str, value], Field(default_factory=dict, description=description)  # type: ignore[valid-type]  # built from a signature
    if origin_of(plain) is tuple:
        inner = get_args(plain)
        if len(inner) != 2 or inner[1] is not Ellipsis:
            raise UserError(
                f"Variadic parameter `*{parameter.name}` in function {function} is annotated with "
                f"the fixed-length tuple `{plain}`; use tuple[T, ...] or list[T] instead."
            )
    return list[value], Field(default_factory=list, description=description)  # type: ignore[valid-type]  # built from a signature
