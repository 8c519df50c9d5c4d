"""Beginning a run: who is asked, what is offered, in which words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lockgate.app.assembly import Assembly
from lockgate.app.providers import Provider
from lockgate.calling.events import RequestPrepared
from lockgate.calling.executor import Executor, Surroundings
from lockgate.calling.job import Job
from lockgate.calling.limits import Limits
from lockgate.calling.run import Run
from lockgate.chat.addresses import keys_in
from lockgate.chat.prompt import compose
from lockgate.chat.store import ChatStore
from lockgate.chat.values import ChatThread, Message
from lockgate.errors import ProviderDenied
from lockgate.policy import ChatRequirements, ProviderStanding
from lockgate.providers.contract import ModelRequest
from lockgate.providers.transport import Transport
from lockgate.tools.definition import Components


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked for, beside the chat: the provider, the component, the selection (None: never chosen)."""

    provider: Provider
    component: Components
    selected: Sequence[str] | None


async def begin(
    run: Run, question: Question, assembly: Callable[[], Assembly], store: ChatStore, transport: Transport
) -> tuple[Job, Executor]:
    """Prepare a request, so that a loop can drive it.

    Raises:
        ProviderDenied: The chat holds what this provider may not have.
        StorageError: The chat cannot be stored.
    """
    now, provider = assembly(), question.provider
    chat = await _as_stored(run.chat, store)

    def standing() -> ProviderStanding:
        current = assembly()
        return current.directory.standing_now(provider, current.registry.rules)

    if (denial := chat.requirements.admits(standing())) is not None:
        raise ProviderDenied(denial.why)
    await store.save(chat)
    selected = question.selected
    if selected is None:
        selected = tuple(now.registry.default_selection(question.component))
    offer = await now.preparation.prepare(chat, standing(), question.component, selected)
    system = compose(chat.system_prompt, (offer.instructions,))
    chat = chat.with_prompt_addresses(keys_in(system))
    block = provider.adapter.tool_block(offer.functions, provider.profile)
    run.emit(
        RequestPrepared(tuple(tool.id for tool in offer.tools), tuple(sorted(offer.left_out)), block.fingerprint)
    )
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

    rules = now.registry.rules
    executor = Executor(
        chat,
        Surroundings(
            lambda: assembly().registry, offer, standing, question.component,
            lambda: assembly().services, now.services.guard,
            Limits(rules.max_tool_calls, rules.max_tool_result_characters), raised, run.emit,
        ),
    )
    return Job(exchange, executor, standing, run.emit), executor


async def _as_stored(chat: ChatThread, store: ChatStore) -> ChatThread:
    """Join what the stored chat demands: another process may have raised it."""
    return chat.require(await store.raise_requirements(chat.id, chat.requirements))


def _sent(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the turns as they are sent: the texts of user and model alone, empty answers left out."""
    kept = [message for message in messages if message.text.strip() or message.attachments]
    return tuple(replace(message, traces=(), sources=()) for message in kept)
