"""Words that say nothing about what is asked: articles, pronouns, question words, and verbs of asking."""

from typing import Final


def word_set(*lines: str) -> frozenset[str]:
    """Return the words of some lines as a set, so that lists of words stay readable."""
    return frozenset(word for line in lines for word in line.split())


ENGLISH: Final = word_set(
    "a about after again all also am an and any anybody anyone anything are aren't as at be because been before",
    "being both but by can can't cannot could couldn't did didn't do does doesn't doing don't during each either",
    "else every for from further get gets got had has hasn't have haven't having he her here hers him his how",
    "how's however i i'd i'll i'm i've if in into is isn't it it's its itself just let's like may me might mine",
    "more most much must my myself neither no nor not now of off often on once only onto or other our ours out",
    "over own per quite rather really same shall she should shouldn't since so some somebody someone something",
    "still such than that that's the their theirs them themselves then there there's these they they're this",
    "those through thus to too under until up upon us very via was wasn't we we're were weren't what what's when",
    "where where's whether which while who who's whom whose why will with within without won't would wouldn't",
    "yes yet you you're your yours yourself",
)
"""English function words."""

GERMAN: Final = word_set(
    "ab aber alle allem allen aller alles als also am an andere anderen anderer anderes ans auch auf aus bei beim",
    "bin bis bist da dabei dadurch dafür dagegen daher damit danach dann daran darauf daraus darf darfst darin",
    "darum das dass daß davon dazu dein deine deinem deinen deiner dem den denen denn der deren des deshalb",
    "dessen dich die dies diese diesem diesen dieser dieses dir doch dort du durch dürfen ein eine einem einen",
    "einer eines einige er es etwa etwas euch euer eure für ganz gar gegen gibt gibt's habe haben habt hat hatte",
    "hatten hier hin ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins irgendwie ist ja jede jedem jeden",
    "jeder jedes jemand jetzt kann kannst kein keine keinem keinen keiner können könnte könnten machen macht man",
    "manche mein meine meinem meinen meiner mich mir mit muss muß musst müssen nach nein nicht nichts noch nun nur",
    "ob oder ohne schon sehr sein seine seinem seinen seiner seit sich sie sind so sobald sogar soll sollen sollte",
    "sondern sonst über um und uns unser unsere unserem unseren unserer unter viel vom von vor wann war waren warum",
    "was weil welche welchem welchen welcher welches wem wen wenn wer werde werden wessen weshalb wie wieder wieso",
    "wieviel will wir wird wirst wo wobei wodurch wofür woher wohin womit woran worauf woraus worin worüber wovon",
    "wozu wurde wurden würde würden zu zum zur zwar zwischen",
)
"""German function words."""

ASKING: Final = word_set(
    "answer ask describe detail details explain find found give happen happened happens know",
    "list look lookup mean means need please read say says search show summarise summarize summary tell thank thanks",
    "want wonder",
    "antworte beantworte beschreibe bitte danke erklär erkläre erläutere fasse finde frage kennst lies möchte nenne",
    "sag sage steht suche weiß weißt wissen zeig zeige zusammen zusammenfassung",
)
"""Verbs and nouns of the request itself, in both languages."""

BOTH_LANGUAGES: Final = word_set("also am an die hat in man so war was will")
"""Words that are function words in one language and may carry meaning, or be another's function word, in the other."""

SMALL_TALK: Final = word_set(
    "hello hi hey thanks thank bye goodbye morning evening afternoon good great ok okay cool nice day fine welcome",
    "hallo moin servus danke dankeschön tschüss guten gute morgen tag abend nacht grüß gott super prima schön gut",
)
"""Words of greeting and thanks: a message made of nothing else asks nothing."""
