"""Which data sources a chat may search right now, and how they are described to the model."""

import logging
from collections.abc import Iterable, Iterator

from lockgate import (
    ChatRequirements,
    DataSourceSecurity,
    Instance,
    ProviderStanding,
    RequestContext,
    RetrievalMode,
)
from lockgate.retrieval import DataSource, last_page
from lockgate_semantic_search.sources import FAMILY

MAX_DESCRIPTION = 500
"""Characters of a data source's own description that the model gets."""

_log = logging.getLogger(__name__)

_INTRODUCTION = (
    "Searches the data sources given to this chat, such as folders of documents, and returns the passages that fit "
    "the query best, each with its origin. It searches by the words of the query."
)


def offered_sources(context: RequestContext) -> list[DataSource]:
    """Return the data sources of the chat that the provider may see, in the order of their IDs.

    None while the chat has data sources switched off, or searches them with every message.
    """
    return [source for source, _ in _of_the_chat(context) if may_see(context.standing, source)]


def why_none(context: RequestContext) -> str:
    """Say which data sources of the chat the provider may not see, and who demands what; empty without any."""
    standing, reasons = context.standing, []
    for source, instance in _of_the_chat(context):
        if may_see(standing, source):
            continue
        name = " ".join(source.name.split())
        if source.security is DataSourceSecurity.NOT_SPECIFIED:
            reasons.append(f"{name!r} does not say who may see it ({instance.set_by.phrase})")
        elif standing.confidence < source.confidence:
            reasons.append(f"{name!r} needs confidence {source.confidence.name} ({instance.set_by.phrase})")
        else:
            reasons.append(f"{name!r} is for self-hosted providers only ({instance.set_by.phrase})")
    if not reasons:
        return ""
    hosted = "self-hosted" if standing.self_hosted else "not self-hosted"
    return (
        f"The provider {standing.id!r} (confidence {standing.confidence.name}, {hosted}) may not see any data source "
        f"of this chat: {'; '.join(reasons)}."
    )


def _of_the_chat(context: RequestContext) -> Iterator[tuple[DataSource, Instance]]:
    """Yield the data sources that the chat has chosen and that can be searched, in the order of their IDs."""
    options = context.chat.data_sources
    if not options.enabled or options.retrieval_mode is not RetrievalMode.SEMANTIC_SEARCH:
        return
    for instance in sorted(context.services.instances(FAMILY), key=lambda item: item.id):
        if not options.automatic and instance.id not in options.selected:
            continue
        try:
            source = context.services.opened(instance)
        except Exception as error:  # noqa: BLE001 -- a plugin's code; one source must not cost the others
            _log.warning("The data source %r cannot be used: %s", instance.id, error)
            continue
        if isinstance(source, DataSource) and source.max_matches > 0:
            yield source, instance


def demands_of(source: DataSource) -> ChatRequirements:
    """Return what a data source demands of providers, without saying who set it."""
    return ChatRequirements(confidence=source.confidence, data_security=source.security)


def may_see(standing: ProviderStanding, source: DataSource) -> bool:
    """Tell whether a provider may see the content of a data source; one that says nothing of security admits none."""
    if source.security is DataSourceSecurity.NOT_SPECIFIED:
        return False
    return demands_of(source).admits(standing) is None


def describe(sources: Iterable[DataSource]) -> str:
    """Word the tool's description for these data sources. Never holds a path of the machine."""
    lines = [_INTRODUCTION, "", "The data sources of this chat:"]
    lines.extend(_line(source) for source in sources)
    return "\n".join(lines)


def _line(source: DataSource) -> str:
    description = " ".join(source.description.split())
    if len(description) > MAX_DESCRIPTION:
        description = f"{description[:MAX_DESCRIPTION]}..."
    facts = (
        f"- ID `{source.id}`: {' '.join(source.name.split())} ({source.kind_label or 'data source'}; "
        f"{source.max_matches} results per page, last page {last_page(source.max_matches)})"
    )
    return f"{facts}. {description}" if description else facts
