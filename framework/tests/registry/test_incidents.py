from lockgate.registry.contribution import Owner
from lockgate.registry.incidents import MAX_INCIDENTS, IncidentLog

ONE, OTHER = Owner("one"), Owner("other")


def test_the_same_incident_is_counted() -> None:
    """What fails at every listing fills no log; the last time and its traceback are kept, and it moves last."""
    log = IncidentLog()
    first = log.add(ONE, "it", "ValueError", "first")
    log.add(OTHER, "it", "ValueError")
    again = log.add(ONE, "it", "ValueError", "again")
    assert [(item.owner, item.times) for item in log.incidents] == [(OTHER, 1), (ONE, 2)]
    assert again.traceback == "again"
    assert again.when >= first.when
    assert again.when.tzinfo is not None


def test_incidents_are_found_by_owner_and_call() -> None:
    """One plugin's incidents can be asked for, all or of one call."""
    log = IncidentLog()
    log.add(ONE, "a", "x")
    log.add(ONE, "b", "x")
    log.add(OTHER, "a", "x")
    assert [item.what for item in log.of(ONE)] == ["a", "b"]
    assert [item.what for item in log.of(ONE, "b")] == ["b"]


def test_the_log_is_bounded() -> None:
    """The incident that was last seen longest ago goes first."""
    log = IncidentLog()
    for number in range(MAX_INCIDENTS):
        log.add(ONE, "it", str(number))
    log.add(ONE, "it", "0")
    log.add(ONE, "it", "new")
    kept = [item.error for item in log.incidents]
    assert len(kept) == MAX_INCIDENTS
    assert "1" not in kept
    assert kept[-2:] == ["0", "new"]


def test_a_call_is_out_from_leaving_to_its_end() -> None:
    """Several of one name are counted, and an end before the leaving leaves nothing out."""
    log = IncidentLog()
    first, second, third = (log.begin(ONE, "it") for _ in range(3))
    first.leave()
    second.leave()
    second.leave()
    first.end()
    assert log.is_left(ONE, "it")
    second.end()
    third.end()
    third.leave()
    assert not log.is_left(ONE, "it")
    assert not log.is_left(OTHER, "it")
