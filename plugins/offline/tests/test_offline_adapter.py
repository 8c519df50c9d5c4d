"""The adapter: rounds, calls, pieces, and what it encodes."""

import json

import pytest
from offline_library import LIBRARY
from offline_runs import (
    EMPTY_BLOCK,
    INTEGER,
    READ_WEB_PAGE,
    SEMANTIC_SEARCH,
    STRING,
    ask,
    failing,
    function,
    run_reader,
)

from lockgate.chat import Attachment, Message, Role
from lockgate.providers import CallResult, ModelRequest, RequestedCall, StopReason
from lockgate_offline.adapter import READER_PROFILE, ReaderAdapter, ReaderExchange

QUESTION = "How long are backups kept?"


def search(call: RequestedCall) -> str:
    """Answer a search from the library."""
    return LIBRARY.answer(json.loads(call.arguments)["query"])


def exchange_for(question: str) -> ReaderExchange:
    """An exchange that is offered a search."""
    request = ModelRequest(
        "reader-1", "", [Message(Role.USER, question)], EMPTY_BLOCK, {"semantic_search": SEMANTIC_SEARCH}
    )
    return ReaderAdapter().open(request, READER_PROFILE)


async def test_a_question_is_searched_and_answered_with_quotations() -> None:
    """The reader searches with the question's key words and quotes the sentence with its document and number."""
    run = await run_reader(QUESTION, [SEMANTIC_SEARCH], search)
    assert [(call.name, json.loads(call.arguments)) for call in run.calls] == [
        ("semantic_search", {"query": "backups kept"})
    ]
    assert "server/backups.md:\n" in run.text
    assert "“Copies are kept for 35 days on the storage box in Helsinki.” [1]" in run.text


async def test_the_first_line_says_who_wrote_it() -> None:
    """The first line says that no language model wrote the answer, which tool was picked and what was searched."""
    run = await run_reader(QUESTION, [SEMANTIC_SEARCH], search)
    first = run.text.splitlines()[0]
    assert "No language model wrote this" in first
    assert "picked `semantic_search` by fixed rules" in first
    assert "“backups kept”" in first
    assert "quotes" in first


async def test_a_german_question_is_answered_in_german() -> None:
    """The reader's own sentences are in the language of the question."""
    run = await run_reader("Wie oft wird die blaue Tonne geleert?", [SEMANTIC_SEARCH], search)
    assert run.text.startswith("Das hat kein Sprachmodell geschrieben")
    assert "„Die blaue Tonne wird jeden zweiten Freitag geleert.“ [1]" in run.text


async def test_the_same_question_gets_the_same_answer() -> None:
    """Two runs give the same calls, the same pieces and the same text."""
    first = await run_reader(QUESTION, [SEMANTIC_SEARCH], search)
    second = await run_reader(QUESTION, [SEMANTIC_SEARCH], search)
    assert (first.calls, first.pieces, first.text) == (second.calls, second.pieces, second.text)


async def test_text_comes_in_pieces_that_make_up_the_answer() -> None:
    """The answer is streamed word by word, and the pieces joined are the text of the round."""
    run = await run_reader(QUESTION, [SEMANTIC_SEARCH], search)
    assert len(run.pieces) > 20
    assert "".join(run.pieces) == run.text
    assert all(len(piece.split()) == 1 for piece in run.pieces)


async def test_a_search_without_hits_is_tried_once_more_with_fewer_words() -> None:
    """An empty search is followed by one broader one, and then by an answer that says so."""
    run = await run_reader("Where do the purple elephants hibernate in wintertime?", [SEMANTIC_SEARCH], search)
    assert [json.loads(call.arguments)["query"] for call in run.calls] == [
        "purple elephants hibernate wintertime",
        "elephant hibernat wintertim",
    ]
    assert len({call.id for call in run.calls}) == 2
    assert "`semantic_search` found nothing for “purple elephants hibernate wintertime”" in run.text


async def test_a_broader_search_that_finds_something_is_quoted() -> None:
    """What the second search brings is the answer."""
    results = iter(['{"result_count":0,"results":[]}', LIBRARY.answer("backup")])
    run = await run_reader("Which backups exist?", [SEMANTIC_SEARCH], lambda _call: next(results))
    assert len(run.calls) == 2
    assert "server/backups.md:" in run.text


async def test_a_failed_call_is_reported_in_its_words_and_not_repeated() -> None:
    """The words of a failure or block stand in the answer, control characters removed."""
    run = await run_reader(QUESTION, [SEMANTIC_SEARCH], failing("The folder\x1b[31m is gone."))
    assert len(run.calls) == 1
    assert "`semantic_search` did not answer: The folder is gone." in run.text


async def test_tools_withheld_from_the_start_are_not_called() -> None:
    """In a final round the reader calls nothing and says that tools were not available."""
    run = await run_reader(QUESTION, [SEMANTIC_SEARCH], search, final_at=1)
    assert run.calls == []
    assert "Tools were not available for this answer." in run.text


async def test_the_final_round_uses_what_there_is() -> None:
    """When tools are withheld after an empty search, the reader answers instead of searching again."""
    run = await run_reader("Where do elephants sleep?", [SEMANTIC_SEARCH], search, final_at=2)
    assert len(run.calls) == 1
    assert "found nothing" in run.text


@pytest.mark.parametrize("greeting", ["Hello!", "thanks", "Guten Morgen", "Danke schön", "   "])
def test_small_talk_calls_nothing_and_points_to_a_model(greeting: str) -> None:
    """A greeting is no question: no call, and the way to a real model."""
    run = ask(greeting, SEMANTIC_SEARCH)
    assert run.calls == []
    assert "`lockgate providers add`" in run.text


def test_nothing_offered_is_said_plainly() -> None:
    """Why that is it cannot know, so it advises no option that was perhaps given, and names the command that knows."""
    for question in (QUESTION, "Wie lange werden Sicherungen aufbewahrt?"):
        run = ask(question)
        assert "No tool is offered in this chat." in run.text or "wird kein Werkzeug angeboten" in run.text
        assert "`lockgate tools explain " in run.text
        assert "--docs" not in run.text
        assert "--tool" not in run.text


def test_no_fitting_tool_is_said_with_the_names() -> None:
    """Where nothing fits, the answer names what was offered."""
    run = ask(QUESTION, function("set_alarm", "Sets an alarm.", hour=INTEGER))
    assert run.calls == []
    assert "None of the tools offered fits the question by its rules (`set_alarm`)." in run.text


async def test_attached_documents_are_quoted_without_a_number() -> None:
    """An attachment of the message is read like a result; it is no numbered source."""
    attachment = Attachment("lease.md", "The rent is due on the fifth day of each month. Pets are welcome.")
    run = await run_reader("When is the rent due?", attachments=[attachment])
    assert "lease.md:\n- “The rent is due on the fifth day of each month.”" in run.text
    assert "[1]" not in run.text


async def test_passages_in_the_system_prompt_are_quoted() -> None:
    """Passages that were retrieved before the message are read from the system prompt."""
    text = json.loads(LIBRARY.answer("backups kept"))["text_content"]
    run = await run_reader(QUESTION, system=f"You are helpful.\n\n{text}")
    assert "“Copies are kept for 35 days on the storage box in Helsinki.” [1]" in run.text


async def test_results_have_to_match_the_calls() -> None:
    """More or fewer results than calls are a mistake of the caller, as is a round without results."""
    exchange = exchange_for(QUESTION)
    outcome = await exchange.round(lambda _piece: None)
    assert outcome.stop is StopReason.TOOL_CALLS
    with pytest.raises(ValueError, match="1 calls, and 2 results"):
        exchange.answer([CallResult("a", ""), CallResult("b", "")])
    with pytest.raises(RuntimeError, match="no results yet"):
        await exchange.round(lambda _piece: None)


async def test_results_are_taken_by_position() -> None:
    """A result belongs to the call at its place, whatever ID it carries."""
    exchange = exchange_for(QUESTION)
    await exchange.round(lambda _piece: None)
    exchange.answer([CallResult("something else", LIBRARY.answer("backups kept"))])
    outcome = await exchange.round(lambda _piece: None)
    assert "server/backups.md" in outcome.text
    assert outcome.usage is None


def test_the_tool_block_is_pure_and_empty_without_tools() -> None:
    """Equal functions give equal bytes; no functions give none; nothing is strict."""
    adapter = ReaderAdapter()
    functions = [SEMANTIC_SEARCH, READ_WEB_PAGE, function("größe", "Maß", text=STRING)]
    block = adapter.tool_block(functions, READER_PROFILE)
    assert block == adapter.tool_block(list(functions), READER_PROFILE)
    assert [entry["name"] for entry in json.loads(block.encoded)] == ["semantic_search", "read_web_page", "größe"]
    assert block.strict == frozenset()
    assert adapter.tool_block([], READER_PROFILE).encoded == b""


def test_the_plugin_contributes_the_adapter_and_its_profile() -> None:
    """The hooks bring the adapter `offline` and the profile that uses it, without key and address."""
    from lockgate_offline import plugin

    (adapter,) = plugin.lockgate_provider_adapters()
    (profile,) = plugin.lockgate_provider_profiles()
    assert profile.adapter == adapter.id == "offline"
    assert (profile.id, profile.title, profile.provider_type) == ("offline", "Offline reader", "SELF_HOSTED")
    assert (profile.authentication, profile.api_key_variable, profile.base_url) == ("none", "", "")
    assert profile.default_model == "reader-1"
