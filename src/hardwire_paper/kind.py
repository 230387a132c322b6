"""`PaperKind`: what both kinds of runs of this package share, a common report and the studies that come with them."""

from hardwire.study.kinds import Kind
from hardwire.study.reporting.content import Section
from hardwire.study.store import Store
from hardwire_paper import preset_text


class PaperKind(Kind):
    """Its runs are reported beside the paper's."""

    def preset_text(self, name: str) -> str:
        return preset_text(name)

    def sections(self, store: Store) -> list[Section]:
        from hardwire_paper.report import paper_sections

        return paper_sections(store)
