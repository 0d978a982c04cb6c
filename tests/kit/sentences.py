"""Texts of sentences that are drawn at random."""

import random


def cut(line, size=2):
    """Return the words of a line, all of one length."""
    return [line[index : index + size] for index in range(0, len(line), size)]


WHEN = cut("清晨傍晚周末雨后午夜开春入冬节前昨天上月每年当时不久去年前夜明日")
WHERE = cut("码头学校诊所车站集市邮局花园灯塔仓库茶馆山坡桥头书店庭院渡口果园")
WHO = cut("渔民校长医生站长木匠邮差园丁船长记者厨师裁缝会计画家牧民司机馆长")
#: Words with synonyms in the table of the benchmarks.
DOES = cut("检查管理调整完成讨论")
WHAT = cut("渔网课本药箱铁轨门窗信件树苗缆绳粮袋茶叶羊群石板账册旧书木船苹果")
HOW = cut("十分仔细略显匆忙一言不发按时收工反复核对引来围观令人意外分文不取", 4)


def written(seed, sentences=12):
    """Return a text; two seeds have no sentence in common but by chance."""
    pick = random.Random(seed).choice
    parts = [
        f"{pick(WHEN)}，{pick(WHERE)}的{pick(WHO)}{pick(DOES)}了"
        f"{pick(range(2, 99))}件{pick(WHAT)}，{pick(HOW)}。"
        for _ in range(sentences)
    ]
    return "".join(parts)
