"""Words that turn the meaning of a line where one stands in the place of the other."""

LINE, PLACE = 200, (6, 2)

# The words of each line are opposed to those after the bar.
PAIRS = """\
成功 | 失败
上涨 涨 | 下跌 跌
上升 升 | 下降 降
增加 增长 增 | 减少 下降 减
上调 | 下调
走高 走强 | 走低 走弱
高于 | 低于
买入 买 | 卖出 卖
流入 | 流出
盈利 | 亏损
利好 | 利空
同意 接受 批准 通过 | 拒绝 驳回 否决
支持 赞成 | 反对
允许 | 禁止
启动 启用 开始 恢复 | 停止 停用 结束 暂停 中断
打开 开启 开放 开通 | 关闭
上线 | 下线
登录 登入 | 退出 登出
连接 | 断开
正常 | 异常
阳性 | 阴性
有 | 无
胜 赢 | 负 输
started start starts starting running resumed | stopped stop stops stopping paused suspended
succeeded succeeds success successful successfully | failed fails failure
passed pass passes | failed fail fails
accepted accepts approved approves granted grants allowed allows \
    | rejected rejects denied denies refused refuses blocked
enabled enable | disabled disable
opened opens open | closed closes close
connected | disconnected
online up | offline down
added adds created creates | removed removes deleted deletes
active | inactive
valid | invalid
healthy | unhealthy
locked | unlocked
on | off
true yes | false no
rose rises rise gained gains gain climbed climbs \
    | fell falls fall dropped drops drop lost loses loss declined declines
increased increases increase raised raises | decreased decreases decrease cut cuts lowered lowers
higher above | lower below
profit | loss
bought buys buy | sold sells sell
won wins win supports supported | lost loses lose opposes opposed
""".splitlines()


def are_opposed(gaps, letters, units):
    """Tell whether one text has a word in a gap of which the other one has the opposite there."""
    longer = max(map(len, gaps))
    if letters >= LINE or not all(gaps) or longer > PLACE[0]:
        return False

    def has(gap, words):
        rows = [tuple(units(word)) for word in words.split() if len(word) > 1 or longer <= PLACE[1]]
        places = range(len(gap))
        return any(gap[at : at + len(row)] == row for row in rows for at in places)

    for pair in PAIRS:
        sides = [[has(gap, words) for words in pair.split("|")] for gap in gaps]
        if sorted(sides) == [[False, True], [True, False]]:
            return True
    return False
