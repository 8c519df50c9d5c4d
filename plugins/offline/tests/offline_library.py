"""A shelf of short documents, a plain search over it, and questions with the sentence that answers each."""

import re
from dataclasses import dataclass
from typing import Final

from lockgate.retrieval import Passage, as_markdown
from lockgate.tools import to_compact_json
from lockgate_offline.words import stem

DOCUMENTS: Final[dict[str, str]] = {
    "workshop/opening-hours.md": """# Opening hours of the bicycle workshop

The workshop in the old fire station is run by volunteers. It is open on Tuesdays and Thursdays from 17:00 to 21:00.
On Saturdays the doors open at 10:00 and close at 14:00. During the school holidays the Tuesday evening is cancelled.
A list at the door shows who is on duty.
""",
    "workshop/tools.md": """# Borrowing tools

Members may take hand tools home. You can keep a borrowed tool for up to seven days.

To borrow one you need:

- a membership card with this year's stamp
- a deposit of 20 euros in cash
- the signature of the volunteer on duty

The welding equipment stays in the workshop, because the insurance does not cover it elsewhere. Broken tools
are put into
the red box. Nobody has to pay for ordinary wear.
""",
    "workshop/brakes.md": """# Disc brakes

Squealing is mostly caused by oil on the pads. Clean the rotor with isopropyl alcohol and a lint-free cloth.
Pads thinner than 1.5 mm must be replaced. Dr. Adeyemi's guide in the drawer has pictures of every step.

## Bleeding

Bleed the hydraulic line once a year. Use only the fluid that is printed on the lever: mineral oil destroys the seals of
a DOT system. Wear gloves and glasses.
""",
    "sailing/safety.md": """# Safety on board

Everyone wears a life jacket from the moment the boat leaves the pier. The skipper decides, e.g. about
reefing, and nobody
argues on the water. If a person falls overboard, shout, throw the ring and keep pointing at the person.
The flares are stored under the companionway steps and expire in May. Channel 16 is the distress frequency.
""",
    "sailing/fees.md": """# Fees of the sailing club

| Membership | Per year | Berth |
|---|---|---|
| Adult | 240 euros | 310 euros |
| Student | 90 euros | 155 euros |
| Family | 360 euros | 310 euros |

Fees are collected by direct debit in the first week of February. Those who leave have to cancel in writing three months
before the end of the year. Lost gate keys cost 35 euros.
""",
    "sailing/weather.txt": """Weather rules for the training fleet

No training takes place above 5 Beaufort. The trainer looks at the forecast of the harbour office at noon.
When thunder can be heard, all boats return at once. Fog below 500 m visibility closes the harbour entrance.
""",
    "bakery/sourdough.md": """# Sourdough

Feed the starter every twelve hours with equal parts of flour and water. Keep it at 26 degrees.
A starter that smells of acetone is hungry and not spoiled. Before a holiday, dry a thin layer of it on baking paper and
crumble it into a jar.

```
flour 500 g
water 350 g
salt 10 g
```

The dough rests for four hours and is folded every thirty minutes. Bake with steam for the first fifteen minutes.
""",
    "bakery/allergens.md": """# Allergens

All breads are made in a room where nuts are handled. The rye bread contains no wheat, but traces cannot be ruled out.
Oat biscuits are made with butter. The lemon cake is the only cake without eggs.
Please ask Mrs. Okafor about the recipe of the day.
""",
    "server/backups.md": """# Backups

The database is dumped every night at 02:30. Dumps are encrypted with age before they leave the machine.
Copies are kept for 35 days on the storage box in Helsinki. A restore is rehearsed on the first Monday of each quarter.

## Restoring

Stop the web service first. Then fetch the newest dump and run the restore script as the user `archive`.
A full restore takes about forty minutes.
""",
    "server/certificates.md": """# Certificates

TLS certificates are renewed automatically thirty days before they expire. The renewal job runs as a systemd timer.
If it fails, a message goes to the on-call channel. The private keys never leave the reverse proxy.
""",
    "server/incidents.md": """# What to do in an incident

1. Write the time into the incident log.
2. Tell the on-call engineer, currently Priya Raman.
3. Do not restart anything before the memory dump is saved.

An incident counts as severe when customers cannot log in. Severe incidents are reported to the regulator
within 72 hours.
After each one a review without blame is held.
""",
    "library/lending.md": """# Lending

Books may be renewed twice, unless somebody else has reserved them. The loan period is four weeks.
DVDs and games are lent for one week only. Overdue items cost 50 cents per day. Reading glasses are available
at the desk.
""",
    "garden/water.md": """# Water in the allotments

The main tap is turned off from November to March. Rain barrels must have a lid so that no child can fall in.
Watering with a hose is allowed before 9 in the morning and after 7 in the evening. Leaks are reported to the warden.
""",
    "garten/kompost.md": """# Kompost

Auf den Kompost gehören Laub, Rasenschnitt und rohe Küchenabfälle. Gekochte Speisen ziehen Ratten an und sind deshalb
verboten. Der Haufen wird alle sechs Wochen umgesetzt. Nach etwa neun Monaten ist die Erde reif.
Zitrusschalen verrotten z. B. nur sehr langsam.
""",
    "garten/pacht.md": """# Pachtvertrag

Der Pachtzins beträgt 0,28 Euro je Quadratmeter und Jahr. Er ist am 3. Januar fällig. Die Kündigungsfrist beträgt drei
Monate zum Ende des Gartenjahres. Die Laube darf höchstens 24 Quadratmeter groß sein. Übernachten ist nur an Wochenenden
gestattet.
""",
    "verein/satzung.md": """# Satzung des Chores

Der Verein heißt „Chor am Hafen“ und sitzt in Stralsund. Die Mitgliederversammlung findet einmal im Jahr
statt, und zwar im
März. Der Vorstand wird für zwei Jahre gewählt. Beschlüsse brauchen die einfache Mehrheit der Anwesenden.
Für eine Änderung der Satzung sind zwei Drittel der Stimmen nötig.
""",
    "verein/proben.md": """# Proben

Geprobt wird mittwochs um 19:30 Uhr in der Aula. Wer fehlt, meldet sich bei Frau Dr. Lindqvist ab. Noten
werden zu Beginn
des Halbjahres ausgegeben. Vor Konzerten gibt es eine zusätzliche Probe am Sonntag.
""",
    "verein/reisekosten.md": """# Reisekosten

Fahrten mit der Bahn werden in der 2. Klasse erstattet. Für das eigene Auto gibt es 30 Cent je Kilometer.
Anträge müssen innerhalb von vier Wochen mit allen Belegen eingehen. Die Kassenwartin überweist am Monatsende.
""",
    "haus/heizung.md": """# Heizung

Die Heizperiode beginnt am 1. Oktober und endet am 30. April. Tagsüber werden mindestens 20 Grad erreicht.
Gluckert ein Heizkörper, muss er entlüftet werden. Der Schlüssel dafür hängt im Keller neben dem Zähler.
Bei einem Ausfall hilft der Notdienst unter der Nummer am schwarzen Brett.
""",
    "haus/muell.md": """# Müll

Die blaue Tonne wird jeden zweiten Freitag geleert. Sperrmüll muss man eine Woche vorher anmelden. Batterien und Lampen
nimmt der Hausmeister an. Glas darf wegen des Lärms nur bis 20 Uhr eingeworfen werden.
""",
    "haus/waschkueche.md": """# Waschküche

Jede Wohnung hat einen festen Waschtag. Der Plan hängt an der Tür der Waschküche. Eine Wäsche kostet 1,50 Euro, der
Trockner 1 Euro. Das Flusensieb ist nach jedem Gang zu reinigen, weil sonst Brandgefahr besteht.
""",
    "labor/proben.md": """# Umgang mit Proben

Blutproben werden bei 4 Grad gelagert. Nach 48 Stunden sind sie zu vernichten. Jede Probe trägt einen Strichcode und
niemals einen Namen. Zugang zum Kühlraum haben nur unterwiesene Personen.
""",
    "labour/expenses.md": """# Expense claims

Receipts are photographed and sent with the claim. Claims above 500 dollars need the approval of the department head.
Meals are reimbursed up to 45 dollars a day. Alcohol is never reimbursed. Payment follows with the next salary.
""",
    "labour/leave.md": """# Leave

Employees have 28 days of paid leave. Up to five days can be carried over, but they lapse at the end of March.
Leave of more than two weeks is agreed with the team six weeks ahead. Illness during leave does not count as
leave when a
doctor confirms it.
""",
    "museum/loans.md": """# Loans to other museums

Paintings travel in climate crates only. The borrower pays for transport and insurance. A courier accompanies
every object
worth more than 100,000 pounds. Textiles may be shown for three months at most, since light fades them.
""",
    "museum/visits.md": """# Guided tours

Tours for schools are free of charge. Groups have at most 25 people. Photography without flash is welcome.
The café can be booked for groups. Guide dogs are admitted everywhere.
""",
}

QUESTIONS: Final[tuple[tuple[str, str], ...]] = (
    ("When is the bicycle workshop open on Saturdays?", "On Saturdays the doors open at 10:00"),
    ("How long can I keep a borrowed tool?", "keep a borrowed tool for up to seven days"),
    ("How much is the deposit for borrowing tools?", "a deposit of 20 euros in cash"),
    ("Why does the welding equipment have to stay in the workshop?", "because the insurance does not cover it"),
    ("Why do my disc brakes squeal?", "Squealing is mostly caused by oil on the pads."),
    ("When must brake pads be replaced?", "Pads thinner than 1.5 mm must be replaced."),
    ("What should we do if somebody falls overboard?", "shout, throw the ring and keep pointing"),
    ("Where are the flares stored?", "stored under the companionway steps"),
    ("What does a student membership of the sailing club cost per year?", "Student | 90 euros"),
    ("At what wind strength is there no sailing training?", "No training takes place above 5 Beaufort."),
    ("How often should I feed a sourdough starter?", "Feed the starter every twelve hours"),
    ("Which cake has no eggs?", "The lemon cake is the only cake without eggs."),
    ("How long are backups kept?", "Copies are kept for 35 days"),
    ("How long does restoring the database take?", "A full restore takes about forty minutes."),
    ("When are TLS certificates renewed?", "renewed automatically thirty days before they expire"),
    ("Who is the on-call engineer?", "currently Priya Raman"),
    ("How quickly must severe incidents be reported to the regulator?", "within 72 hours"),
    ("How many times can I renew a book?", "Books may be renewed twice"),
    ("What is the fine for overdue books?", "Overdue items cost 50 cents per day."),
    ("Can I use a garden hose in the afternoon?", "Watering with a hose is allowed before 9"),
    ("Warum dürfen gekochte Speisen nicht auf den Kompost?", "ziehen Ratten an und sind deshalb verboten."),
    ("Wann ist der Kompost fertig?", "Nach etwa neun Monaten ist die Erde reif."),
    ("Wie lang ist die Frist für die Kündigung des Pachtvertrags?", "Die Kündigungsfrist beträgt drei Monate"),
    ("Wie groß darf eine Laube sein?", "höchstens 24 Quadratmeter groß"),
    ("Wann ist der Pachtzins fällig?", "Er ist am 3. Januar fällig."),
    ("Welche Mehrheit braucht eine Satzungsänderung?", "zwei Drittel der Stimmen nötig"),
    ("Bei wem melde ich mich ab, wenn ich bei der Probe fehle?", "meldet sich bei Frau Dr. Lindqvist ab."),
    ("Welche Klasse wird bei Bahnfahrten erstattet?", "werden in der 2. Klasse erstattet."),
    ("Wie viel kostet eine Wäsche?", "Eine Wäsche kostet 1,50 Euro"),
    ("Wo ist der Schlüssel zum Entlüften der Heizkörper?", "Der Schlüssel dafür hängt im Keller"),
    ("Wie oft wird die blaue Tonne geleert?", "jeden zweiten Freitag geleert"),
    ("Bei welcher Temperatur lagern Blutproben?", "Blutproben werden bei 4 Grad gelagert."),
    ("Who has to approve claims over 500 dollars?", "need the approval of the department head"),
    ("How many days of leave can be carried over?", "Up to five days can be carried over"),
    ("Who pays the insurance when a painting is loaned?", "The borrower pays for transport and insurance."),
    ("Do school classes pay for tours?", "Tours for schools are free of charge."),
)
"""A question, and words of the sentence that answers it."""

_PASSAGES_A_PAGE: Final = 10


@dataclass(frozen=True, slots=True)
class Library:
    """The shelf as a tool sees it."""

    documents: dict[str, str]

    def search(self, query: str) -> list[Passage]:
        """Return whole documents that hold a word of the query or one that begins like it, most words first."""
        wanted = [stem(word) for word in re.findall(r"\w+", query)]
        found = []
        for order, (path, text) in enumerate(self.documents.items()):
            held = {stem(word) for word in re.findall(r"\w+", f"{path} {text}")}
            hits = sum(any(word.startswith(term) for word in held) for term in wanted)
            if hits:
                found.append((-hits, order, Passage("shelf", "Shelf", text, path)))
        return [passage for _, _, passage in sorted(found, key=lambda entry: entry[:2])[:_PASSAGES_A_PAGE]]

    def answer(self, query: str) -> str:
        """Return what a search of data sources brings, as JSON."""
        passages = self.search(query)
        return to_compact_json(
            {
                "query": query,
                "page": 1,
                "data_sources": [
                    {"id": "shelf", "name": "Shelf", "result_count": len(passages), "has_more": False}
                ],
                "text_content": "\n\n".join(as_markdown(item, number) for number, item in enumerate(passages, 1)),
            }
        )


LIBRARY: Final = Library(DOCUMENTS)
