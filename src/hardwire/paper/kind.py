"""What the kinds of runs of this room have in common: one function speaks for them all in a report."""

from hardwire.study.kinds import Kind
from hardwire.study.reporting.content import Section
from hardwire.study.store import Store


class PaperKind(Kind):
    """Its runs are reported with the paper's beside them. rooms: parts of hardwire that decide the course of a run."""

    rooms: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(f"hardwire.{room}" for room in self.rooms)

    def sections(self, store: Store) -> list[Section]:
        from hardwire.paper.report import paper_sections

        return paper_sections(store)
