"""Beginning a run: who is asked, what is offered, in which words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from lockgate.app.assembly import Assembly
from lockgate.app.providers import Provider
from lockgate.calling.events import PromptPrefixChanged, RequestPrepared
from lockgate.calling.executor import Executor, Surroundings
from lockgate.calling.job import Job
from lockgate.calling.limits import Limits
from lockgate.calling.run import Run
from lockgate.chat.addresses import keys_in, written_by_model
from lockgate.chat.prefix import prefix_changes, prompt_prefix
from lockgate.chat.prompt import compose, date_line
from lockgate.chat.store import ChatStore
from lockgate.chat.values import ChatThread, Message
from lockgate.errors import ProviderDenied
from lockgate.policy import ChatRequirements, Denial, ProviderStanding
from lockgate.providers.contract import ModelRequest, ToolBlock
from lockgate.providers.transport import Transport
from lockgate.registry.preparation import Offer
from lockgate.registry.selection import Selection
from lockgate.tools.definition import Components


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked for, beside the chat.

    Attributes:
        provider: Who is asked.
        component: Where the question comes from.
        select: Returns what is selected for a chat, by the rules of now.
    """

    provider: Provider
    component: Components
    select: Callable[[ChatThread], Selection]


async def begin(
    run: Run, question: Question, assembly: Callable[[], Assembly], store: ChatStore, transport: Transport
) -> tuple[Job, Executor]:
    """Prepare a request, so that a loop can drive it.

    Raises:
        ProviderDenied: The chat holds what this provider may not have.
        StorageError: The chat cannot be stored.
    """
    provider = question.provider
    chat = await _as_stored(run.chat, store)

    def standing() -> ProviderStanding:
        current = assembly()
        return current.directory.standing_now(provider, current.registry.rules)

    def admission(requirements: ChatRequirements) -> Denial | None:
        return assembly().registry.rules.admission(requirements, standing())

    if (denial := admission(chat.requirements)) is not None:
        raise ProviderDenied(denial.why)
    await store.save(chat)
    now = assembly()  # what is in force after the store was waited for
    offer = await now.preparation.prepare(chat, standing(), question.component, question.select(chat))
    block = provider.adapter.tool_block(offer.functions, provider.profile)
    system = system_prompt(chat, offer)
    chat = _with_prefix(chat, system, block, run).with_prompt_addresses(_prompt_addresses(chat, system, offer))
    run.emit(RequestPrepared(
        tuple(tool.id for tool in offer.tools), tuple(sorted(offer.left_out)),
        chat.prefix.fingerprint if chat.prefix else "",
    ))  # fmt: skip
    exchange = provider.adapter.open(
        ModelRequest(
            provider.model, system, _sent(chat.messages), block,
            {function.name: function for function in offer.functions}, provider.config.parameters,
            endpoint=provider.endpoint,
        ),
        provider.profile, transport,
    )

    async def raised(requirements: ChatRequirements) -> ChatRequirements:
        return await store.raise_requirements(chat.id, requirements)

    executor = Executor(
        chat,
        Surroundings(
            lambda: assembly().registry, offer, standing, admission, question.select, question.component,
            lambda: assembly().services, now.services.guard, lambda: Limits.of(assembly().registry.rules), raised,
            run.emit,
        ),
    )
    return Job(exchange, executor, admission, run.emit), executor


def system_prompt(chat: ChatThread, offer: Offer) -> str:
    """Return the system prompt of a request: the chat's own, the rules of its tools, and the day behind both."""
    day = date_line(today()) if chat.include_date else ""
    return compose(chat.system_prompt, (offer.instructions, day))


def today() -> date:
    """Return the day as the user's clock shows it."""
    return date.today()  # noqa: DTZ011 - the user's own day


def _with_prefix(chat: ChatThread, system: str, block: ToolBlock, run: Run) -> ChatThread:
    """Note how the request begins, and tell what moved in it since the last one of the chat."""
    prefix = prompt_prefix(system, block.encoded, block.items)
    if chat.prefix is not None and (changes := prefix_changes(chat.prefix, prefix)):
        run.emit(PromptPrefixChanged(changes))
    return replace(chat, prefix=prefix)


def _prompt_addresses(chat: ChatThread, system: str, offer: Offer) -> frozenset[str]:
    """Return the addresses that the system prompt gives: those of the chat's own prompt and of what tools registered.

    A tool that words its instructions anew may quote the chat. What the model wrote there itself is no gift.
    """
    own = keys_in("\n".join((chat.system_prompt, *(tool.registered.definition.instructions for tool in offer.tools))))
    more = keys_in(system) - own
    return own | (more - written_by_model(chat)) if more else own


async def _as_stored(chat: ChatThread, store: ChatStore) -> ChatThread:
    """Join what the stored chat demands: another process may have raised it."""
    return chat.require(await store.raise_requirements(chat.id, chat.requirements))


def _sent(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the turns as they are sent: the texts of user and model alone, empty answers left out."""
    kept = [message for message in messages if message.text.strip() or message.attachments]
    return tuple(replace(message, traces=(), sources=()) for message in kept)
