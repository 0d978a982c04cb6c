/*! Words that turn the meaning of a line where one stands in the place of the other.

A line of a log, a notice or a headline is another event if it says *stopped* where the other one says
*started*. The list is short: each word is common in such lines, and hardly ever stands in the place of its
opposite by an edit.
*/

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::units::Units;
use crate::constants::OPPOSED;

/// Words of one meaning, and words of the opposite one. A single character counts only where hardly anything
/// else differs.
const PAIRS: [(&str, &str); 44] = [
    ("成功", "失败"),
    ("上涨 涨", "下跌 跌"),
    ("上升 升", "下降 降"),
    ("增加 增长 增", "减少 下降 减"),
    ("上调", "下调"),
    ("走高 走强", "走低 走弱"),
    ("高于", "低于"),
    ("买入 买", "卖出 卖"),
    ("流入", "流出"),
    ("盈利", "亏损"),
    ("利好", "利空"),
    ("同意 接受 批准 通过", "拒绝 驳回 否决"),
    ("支持 赞成", "反对"),
    ("允许", "禁止"),
    ("启动 启用 开始 恢复", "停止 停用 结束 暂停 中断"),
    ("打开 开启 开放 开通", "关闭"),
    ("上线", "下线"),
    ("登录 登入", "退出 登出"),
    ("连接", "断开"),
    ("正常", "异常"),
    ("阳性", "阴性"),
    ("有", "无"),
    ("胜 赢", "负 输"),
    (
        "started start starts starting running resumed",
        "stopped stop stops stopping paused suspended",
    ),
    (
        "succeeded succeeds success successful successfully",
        "failed fails failure",
    ),
    ("passed pass passes", "failed fail fails"),
    (
        "accepted accepts approved approves granted grants allowed allows",
        "rejected rejects denied denies refused refuses blocked",
    ),
    ("enabled enable", "disabled disable"),
    ("opened opens open", "closed closes close"),
    ("connected", "disconnected"),
    ("online up", "offline down"),
    (
        "added adds created creates",
        "removed removes deleted deletes",
    ),
    ("active", "inactive"),
    ("valid", "invalid"),
    ("healthy", "unhealthy"),
    ("locked", "unlocked"),
    ("on", "off"),
    ("true yes", "false no"),
    (
        "rose rises rise gained gains gain climbed climbs",
        "fell falls fall dropped drops drop lost loses loss declined declines",
    ),
    (
        "increased increases increase raised raises",
        "decreased decreases decrease cut cuts lowered lowers",
    ),
    ("higher above", "lower below"),
    ("profit", "loss"),
    ("bought buys buy", "sold sells sell"),
    (
        "won wins win supports supported",
        "lost loses lose opposes opposed",
    ),
];

/// A word: its units after the first, the number of its pair, and whether it is of the second side.
struct Word {
    rest: Box<[u64]>,
    is_character: bool,
    pair: usize,
    side: usize,
}

static WORDS: LazyLock<FxHashMap<u64, Vec<Word>>> = LazyLock::new(|| {
    let mut words: FxHashMap<u64, Vec<Word>> = FxHashMap::default();
    for (pair, (first, second)) in PAIRS.into_iter().enumerate() {
        for (side, listed) in [first, second].into_iter().enumerate() {
            for word in listed.split(' ') {
                let units = Units::of(word);
                if let Some((first, rest)) = units.as_slice().split_first() {
                    words.entry(*first).or_default().push(Word {
                        rest: rest.into(),
                        is_character: word.chars().nth(1).is_none(),
                        pair,
                        side,
                    });
                }
            }
        }
    }
    words
});

/// Whether a row of units and its replacement have words of opposite meaning.
pub(super) fn are_opposed(a: &[u64], b: &[u64]) -> bool {
    let longer = a.len().max(b.len());
    if a.is_empty() || b.is_empty() || longer > OPPOSED[0] {
        return false;
    }
    let [of_a, of_b] = [a, b].map(|units| words_of(units, longer > OPPOSED[1]));
    of_a.iter().any(|&(pair, side)| {
        let has = |words: &[(usize, usize)], side| words.contains(&(pair, side));
        has(&of_b, 1 - side) && !has(&of_b, side) && !has(&of_a, 1 - side)
    })
}

/// The words among units, by pair and side; in long places only those of several characters.
fn words_of(units: &[u64], is_long: bool) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (at, unit) in units.iter().enumerate() {
        for word in WORDS.get(unit).into_iter().flatten() {
            if units[at + 1..].starts_with(&word.rest) && !(is_long && word.is_character) {
                found.push((word.pair, word.side));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposites_by_example() {
        for (a, b, expected) in [
            ("started", "paused", true),
            ("成功", "失败", true),
            ("股价上涨", "股价下跌", true),
            ("涨", "跌", true),
            // One character is part of many words.
            ("有关的人", "无关的人", false),
            ("started", "running", false),
            ("上涨下跌", "下跌上涨", false),
            ("started", "", false),
            (
                "the pump was started by hand on day",
                "the pump was stopped by hand on day",
                false,
            ),
        ] {
            let [a, b] = [a, b].map(Units::of);
            let (a, b) = (a.as_slice(), b.as_slice());
            assert_eq!(are_opposed(a, b), expected);
            assert_eq!(are_opposed(b, a), expected);
        }
    }
}
