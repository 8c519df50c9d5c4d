"""The reader's own sentences, in English and German. Everything else in an answer is quoted."""

from dataclasses import dataclass
from typing import Final

from lockgate_offline.words import Language


@dataclass(frozen=True, slots=True)
class Phrases:
    """The sentences of one language; braces hold what is filled in.

    Attributes:
        searched: First line of an answer after a search.
        called: First line of an answer after another call.
        attached: First line where only what came with the message was read.
        nothing_called: First line where no tool was called.
        small_talk: To a greeting or thanks.
        no_tools: Nothing is offered.
        no_fit: Something is offered, and nothing fits.
        withheld: Tools are no longer offered in this round.
        connect: How to get a model.
        nothing_found: The tool brought nothing.
        nothing_to_quote: It brought text that holds no sentence.
        opening: No sentence shares a word with the question.
        weak: The sentences share few words with it.
        returned: A short result as it stands.
        failed: A call failed or was blocked.
        note: What a tool says of gaps.
        empty_failure: A failure without words.
        quote: A sentence between quotation marks.
    """

    searched: str
    called: str
    attached: str
    nothing_called: str
    small_talk: str
    no_tools: str
    no_fit: str
    withheld: str
    connect: str
    nothing_found: str
    nothing_to_quote: str
    opening: str
    weak: str
    returned: str
    failed: str
    note: str
    empty_failure: str
    quote: str


PHRASES: Final[dict[Language, Phrases]] = {
    "en": Phrases(
        searched="No language model wrote this: the offline reader picked {tools} by fixed rules, searched for "
        "{queries}, and quotes what fits best.",
        called="No language model wrote this: the offline reader picked {tools} by fixed rules and quotes what it "
        "brought.",
        attached="No language model wrote this: the offline reader picks tools by fixed rules, called none, and quotes "
        "from what came with your message.",
        nothing_called="No language model wrote this: the offline reader picks tools by fixed rules and quotes what "
        "they bring, and it called none.",
        small_talk="It cannot hold a conversation. Ask something that a tool or your documents can answer.",
        no_tools="No tool is offered in this chat. `lockgate tools list` shows the tools there are, and "
        "`lockgate tools explain TOOL` says why one is not offered.",
        no_fit="None of the tools offered fits the question by its rules ({tools}).",
        withheld="Tools were not available for this answer.",
        connect="For answers in whole thoughts, connect a language model: `lockgate providers add`, then `lockgate ask "
        "--provider NAME`.",
        nothing_found="{tool} found nothing for {queries}. Other words, as the documents use them, may help.",
        nothing_to_quote="What {tool} brought holds no sentence that can be quoted.",
        opening="No sentence shares a word with the question. What was found begins like this:",
        weak="These sentences share only few words with the question and may miss it.",
        returned="{tool} returned: {value}",
        failed="{tool} did not answer: {words}",
        note="{tool} notes: {words}",
        empty_failure="it gave no reason.",
        quote="“{text}”",
    ),
    "de": Phrases(
        searched="Das hat kein Sprachmodell geschrieben: Der Offline-Leser hat nach festen Regeln {tools} gewählt, "
        "nach {queries} gesucht und zitiert, was am besten passt.",
        called="Das hat kein Sprachmodell geschrieben: Der Offline-Leser hat nach festen Regeln {tools} gewählt und "
        "zitiert, was zurückkam.",
        attached="Das hat kein Sprachmodell geschrieben: Der Offline-Leser wählt Werkzeuge nach festen Regeln, hat "
        "keines aufgerufen und zitiert aus dem, was mit der Nachricht kam.",
        nothing_called="Das hat kein Sprachmodell geschrieben: Der Offline-Leser wählt Werkzeuge nach festen Regeln "
        "und zitiert, was sie bringen; aufgerufen hat er keines.",
        small_talk="Ein Gespräch kann er nicht führen. Frag etwas, das ein Werkzeug oder deine Dokumente beantworten.",
        no_tools="In diesem Chat wird kein Werkzeug angeboten. `lockgate tools list` zeigt, welche es gibt, und "
        "`lockgate tools explain WERKZEUG` sagt, warum eines nicht angeboten wird.",
        no_fit="Keines der angebotenen Werkzeuge passt nach seinen Regeln zur Frage ({tools}).",
        withheld="Für diese Antwort standen keine Werkzeuge zur Verfügung.",
        connect="Für Antworten in ganzen Gedanken ein Sprachmodell verbinden: `lockgate providers add`, dann `lockgate "
        "ask --provider NAME`.",
        nothing_found="{tool} hat zu {queries} nichts gefunden. Vielleicht helfen andere Wörter, so wie sie in den "
        "Dokumenten stehen.",
        nothing_to_quote="Was {tool} brachte, enthält keinen Satz, der sich zitieren lässt.",
        opening="Kein Satz hat ein Wort mit der Frage gemeinsam. Das Gefundene beginnt so:",
        weak="Diese Sätze haben nur wenige Wörter mit der Frage gemeinsam und gehen vielleicht an ihr vorbei.",
        returned="{tool} lieferte: {value}",
        failed="{tool} hat nicht geantwortet: {words}",
        note="{tool} merkt an: {words}",
        empty_failure="ohne Angabe von Gründen.",
        quote="„{text}“",
    ),
}
