"""Texts that break programs.

They are in a file of their own because the processes of `tests/faults` need no Hypothesis.
"""

#: One text for each kind of trouble.
TEXTS = {
    "empty": "",
    "one character": "雪",
    "one letter": "x",
    "only spaces": " \t\u3000\u00a0 ",
    "line ends": "one\r\ntwo\rthree\u2028four\u0085five",
    "nul": "before\x00after \x00\x00 the end",
    "controls": "bell\x07 escape\x1b[31mred\x1f unit\x1e record",
    "emoji": "好🙂👩\u200d👩\u200d👧 🇫🇷 1\ufe0f\u20e3 ok",
    "combining marks": "e\u0301\u0323 q\u0303\u0302 か\u3099 \u0301alone",
    "right to left": "שלום עולם \u202bمرحبا بالعالم\u202c 123",
    "compatibility": "\uf900\uf9dc 豈更車 ㍿ ㌔ ① ℃ ﬁ Å Ω",
    "half-width kana": "ﾊﾝｶｸ ｶﾅ ｶﾞｷﾞ ﾊﾟ",
    "full-width": "ＡＢＣ　１２３！（全角）",
    "zero width": "新\u200b闻\u200c网\u200d站\u2060报\ufeff道",
    "soft hyphen": "near\u00adly du\u00adplicate",
    "hangul": "한국어 \u1112\u1161\u11ab 글자 \u3164 \uffa0",
    "thai": "ภาษาไทยไม่มีช่องว่าง",
    "final sigma": "ΟΔΥΣΣΕΥΣ ΣΑΣ",
    "dotted i": "İstanbul IŞIK ǅungla ẞ",
    "beyond the first plane": "𠀀𠮷野家 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 \U000e0041 𐐀",
    "long diacritics": "a" + "\u0300\u0316" * 40 + "b",
    "private and noncharacters": "\ue000 \uf8ff \ufdd0 \uffff end",
    "no letters": "。，、！？…—— *** 🙂",
    "mixed lines": "第一行\n 第二行 line two\n\n第三行（完）",
    "markup": "<p>a &lt; b</p><script>x</script>",
    "number": "3.14159 1,000 ½ Ⅷ ٣",
}

#: Texts with numbers, and too long to be compared by their letters alone.
LONG_BASES = (
    "水文站通报，今晨8时闸口水位13.5米，比昨日上涨十三厘米。请沿岸单位检查泵房、涵洞和仓库，"
    "夜间安排3人值守。渡船停开，复航时间另行通知。",
    "水文站通报，今晨8时闸口水位11.2米，比昨日下降二十厘米。请沿岸单位检查泵房、涵洞和仓库，"
    "夜间安排2人值守。渡船照开，末班时间为夜里11点。",
    "The gauge at the lock read 7.30 metres at 6 in the morning, 12 centimetres less than the day "
    "before. Ferries will run every 20 minutes until the last bus has left.",
)
