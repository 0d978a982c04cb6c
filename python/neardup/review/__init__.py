"""What a run of `dedup` removed, to look at: the doubtful removals first, and the largest groups.

==============  ===========================================================
``evidence``    which removals and groups are shown, and their texts
``page``        the review as one self-contained HTML page
==============  ===========================================================
"""

from neardup.review.evidence import Evidence, Group, Removal, Shown
from neardup.review.page import Review

__all__ = ["Evidence", "Group", "Removal", "Review", "Shown"]
