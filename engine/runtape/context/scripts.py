# ruff: noqa: RUF001, SIM905 - letters of other alphabets are the subject here, and word lists read best as words
"""Punctuation and abbreviations of the scripts that mark where a sentence ends."""

from __future__ import annotations

STOPS = ".!?…‽\u037e؟۔।॥։።།။。！？｡"
"""Full stops, question and exclamation marks."""

WIDE_STOPS = frozenset("。！？｡")
"""Those after which the next sentence starts at once, without a space."""

OPENERS = "\"'“‘«([{<>"
CLOSERS = "\"'”’»›)]}」』】》〉*_`"
"""What may stand between a full stop and the space behind it."""

BULLETS = "-*+•‣◦▪●○–—·"
APOSTROPHES = "'’"

WIDE = "\u2e80"
"""Scripts from this character on (CJK) put no spaces between words and write a word in one or two characters."""

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese and Khmer, as a range of a regular expression: a space stands between phrases, not words."""

MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u0900-\u0963\u0966-\u0dff\u0e00-\u109f\u1780-\u17ff\u200c\u200d"
)
"""Vowel signs and other marks inside words, as a range of a regular expression: `\\w` leaves them out."""

TITLES = frozenset(
    "mr mrs ms dr prof st sr sra jr hr fr mme mlle rev gen col capt lt sgt hon vs cf viz e.g i.e z.b d.h u.a bzw vgl "
    "им ул г-н г-жа т.е т.к π.χ".split()
)
"""Abbreviations that a name follows, so that they never end a sentence."""

COUNTED = frozenset(
    "no nos nr num núm pág p pp fig figs eq sec ch art vol tel ext est min max ca approx стр рис тел тыс".split()
)
"""Words that are abbreviations when a number follows."""

SHORT_FORMS = frozenset(
    "inc ltd co corp llc plc bros dept apt ave blvd etc al usw др пр г гг руб коп млн млрд κλπ".split()
)
"""Abbreviations that may end a sentence: the next word tells, by its capital."""

CALENDAR = frozenset(
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun".split()
)
"""Short forms only with a capital: `sat` and `sun` are words."""
