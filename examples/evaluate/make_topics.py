"""Write the articles of ``topics/``: made-up news, put together from the words below.

Each article draws a few words of its subject and uses them again and again, as news does, so
that two articles on one subject share words and not sentences. Run it in this folder; it writes
the same bytes each time.
"""

import gzip
import json
import random
from pathlib import Path

#: Articles of a topic, of each other subject, and sentences of an article.
TOPIC, OTHER, SENTENCES = 80, 60, (18, 42)

#: By subject: institutions, things, what is done with them, and what people say about it.
TOPICS = {
    "education": (
        "实验小学 第三中学 职业学院 教育局 少年宫 师范大学",
        "课本 操场 食堂 实验室 校车 试卷 选修课 奖学金 晚自习 图书角 家长会 "
        "招生计划 宿舍 毕业典礼 黑板报 助学金 运动会",
        "改建 取消 增加 检查 公开 推迟 试用 评选 整理 延长 补办 更换",
        "孩子们终于有地方活动 家长不必再请假接送 老师备课的时间多了 成绩不是唯一的标准 "
        "新办法先试一个学期 住得远的学生最受益 名额比去年宽松 意见箱里的来信帮了忙",
    ),
    "finance": (
        "城市银行 证券公司 税务局 保险公司 财政局 信用社",
        "贷款 存单 利率 账户 债券 保费 发票 基金 汇率 股票 手续费 营业厅 年报 "
        "抵押物 担保金 预算 信用卡",
        "下调 核对 冻结 发行 偿还 审计 公布 减免 转让 登记 追缴 合并",
        "小商户的负担轻了一些 资金三天就能到账 风险要先讲清楚 排队的人少了一半 "
        "账目要经得起翻看 投资不能只看收益 这一季的数字好于预期 旧合同继续有效",
    ),
    "housing": (
        "住建局 物业公司 开发公司 居委会 房管所 中介门店",
        "楼盘 电梯 租金 公积金 外墙 车位 房产证 样板间 阳台 供暖管 定金 "
        "地下室 保障房 水表 屋顶 门禁 维修基金",
        "加装 验收 出租 翻修 抽签 退还 测量 降价 交付 过户 查封 登报",
        "漏水的问题拖了三年 住户自己选出了代表 价格比年初低了一截 合同里写得明明白白 "
        "老人上下楼方便多了 施工只在白天进行 空置的房子也要缴费 钥匙下周就能领到",
    ),
    "medical": (
        "人民医院 社区诊所 疾控中心 中医院 急救站 药材公司",
        "挂号费 疫苗 病房 处方 救护车 化验单 手术室 药价 门诊 体检 血库 "
        "病历 床位 耳温计 口腔科 康复科 药箱",
        "开放 接种 调配 复查 预约 消毒 捐献 减价 培训 转诊 追踪 登记",
        "病人不用来回奔波 夜里也有人值班 结果当天就能看到 医生劝大家不要惊慌 "
        "早发现就好治 药品的批号都能查 排班表贴在门口 费用由基金承担",
    ),
    "transport": (
        "铁路局 公交公司 交警支队 轮渡公司 机场集团 路桥公司",
        "站台 车票 隧道 红绿灯 航班 公路 渡船 桥墩 停车场 路灯 班次 货车 "
        "安检口 公交卡 护栏 时刻表 匝道 自行车道",
        "加开 封闭 抢修 拓宽 调整 恢复 停运 测试 重铺 限速 清障 通车",
        "早高峰能省下二十分钟 绕行的路牌已经挂好 司机要提前看公告 夜间施工不影响通行 "
        "老票仍然可以使用 雨季之前必须完工 乘客可以免费改签 事故比去年少了三成",
    ),
}
OTHERS = {
    "sport": (
        "体育馆 田径队 足球俱乐部 棋院 游泳中心",
        "联赛 决赛 球票 跑道 奖牌 主场 更衣室 训练营 转播权",
        "夺得 集训 更换 赢下 退出 报名 打破 观看 点评 安排",
        "最后一分钟才分出胜负 伤病没有影响士气 看台上坐满了人 年轻人该上场了 "
        "输赢都要握手 下一场更难打",
    ),
    "museum": (
        "省博物馆 美术馆 文物局 戏剧院 考古队",
        "铜器 展柜 壁画 门票 拓片 戏服 墓葬 讲解词 库房 油画 乐谱 竹简 展览 石碑",
        "展出 修复 出土 借展 拍摄 编号 排演 收购 鉴定 临摹",
        "看的人排到了街角 年代还要等检测 灯光特意调暗了 专家的看法不一 "
        "孩子进门免费 丢失的那一块没有找到",
    ),
    "weather": (
        "气象台 水文站 防汛办 林业站 地震台",
        "台风 水位 堤坝 雨量 预警 积雪 山火 雷暴 河道 沙尘 雷达 潮汐 冰面 气温",
        "监测 加固 预报 转移 疏通 解除 记录 巡查 扑灭 测定",
        "这样的年份不多见 值守的人一夜没睡 下游已经得到通知 数据每小时更新 "
        "早一天准备就少一分损失 天晴要等到周末",
    ),
    "farming": (
        "农业站 合作社 种子公司 畜牧站 粮库",
        "水稻 果园 大棚 奶牛 化肥 拖拉机 蜂箱 茶园 鱼塘 收购价 玉米 羊圈 灌渠 菜市",
        "播种 采摘 收购 喂养 嫁接 晾晒 检疫 运销 灌溉 试种",
        "今年的收成比去年好 价钱要看天气 年轻人也回来了 机器一天顶十个人 "
        "虫害来得比往年早 包装是自己设计的",
    ),
}
#: Words of all subjects.
PLACES = "晨江 北渡 海岬 云岭 石桥 柳湾 青屏 白沙 松原 南塘 东篱 鹿港 荷塘 铜山 长堤 鹤洲"
SURNAMES = "林周何沈白罗祝覃许苏程叶姜段孟陆"
NAMES = "一舟 禾青 远山 渡秋 小棠 树成 松年 有福 知微 望舒 守田 雨竹 建新 春来 立夏 怀瑾"
ROLES = "负责人 值班员 科长 记者 居民 经理 代表 主任 志愿者 技术员"
TIMES = "昨天上午 上周末 本月初 入秋以来 前天傍晚 去年年底 节后第一天 这个星期 今年夏天 近日"
UNITS = "处 批 项 份 套 组 件 轮"
#: The sentences of all subjects.
PATTERNS = (
    "{time}，{place}{office}{does}了{count}{unit}{thing}，涉及{place2}的{thing2}。",
    "{role}{name}说，{says}。",
    "{office}统计，{thing}比上一年{change}了{share}%，{thing2}则{change2}了{share2}%。",
    "为了{does}{thing}，{place}花了{years}天，前后换过{few}个办法。",
    "在{place2}，{thing}和{thing2}由{office}统一{does2}，{says}。",
    "{name}在{place}住了{years}年，记得最早的{thing}只有{few}{unit}。",
    "按照安排，{thing2}要在{month}月{day}日之前{does2}，逾期由{office}处理。",
    "也有人担心{thing}，{role}{name2}就提出，应当先{does}{thing2}再谈别的。",
    "{office}的公告写明：{thing}每{few}个月{does2}一次，费用{count}元。",
    "{time}的会上，{few}位{role}谈到{thing2}，多数人认为{says}。",
    "从{place}到{place2}，{thing}的做法并不一样，{office}正在{does}。",
    "记者看到，{thing}旁边贴着一张表，上面写着{count}{unit}{thing2}的去向。",
    "{name2}算了一笔账：{does}{few}{unit}{thing}，一年能省{count}元。",
    "至于{thing2}何时{does2}，{office}没有给出日子，只说{says}。",
)


def article(draw, subject):
    """Return the title and the text of an article."""
    offices, things, deeds, says = (words.split() for words in subject)
    things, deeds = draw.sample(things, 6), draw.sample(deeds, 4)
    offices, places = draw.sample(offices, 2), draw.sample(PLACES.split(), 3)
    people = [draw.choice(SURNAMES) + draw.choice(NAMES.split()) for _ in range(3)]
    says = draw.sample(says, len(says))

    def sentence():
        place, place2 = draw.sample(places, 2)
        thing, thing2 = draw.sample(things, 2)
        does, does2 = draw.sample(deeds, 2)
        change, change2 = draw.sample(("增加", "减少"), 2)
        name, name2 = draw.sample(people, 2)
        return draw.choice(PATTERNS).format(
            **{"place": place, "place2": place2, "thing": thing, "thing2": thing2},
            **{"does": does, "does2": does2, "change": change, "change2": change2},
            **{"name": name, "name2": name2, "office": draw.choice(offices)},
            **{
                "time": draw.choice(TIMES.split()),
                "role": draw.choice(ROLES.split()),
                "unit": draw.choice(UNITS.split()),
            },
            **{
                "count": draw.randrange(11, 990),
                "few": draw.randrange(2, 10),
                "years": draw.randrange(11, 60),
            },
            **{"share": draw.randrange(1, 60), "share2": draw.randrange(1, 60)},
            **{"month": draw.randrange(1, 13), "day": draw.randrange(1, 29)},
            says=draw.choice(says),
        )

    title = f"{places[0]}{deeds[0]}{things[0]}，{things[1]}{deeds[1]}"
    return title, "".join(sentence() for _ in range(draw.randint(*SENTENCES)))


def write(name, articles):
    """Write a file of articles, as pairs of title and text."""
    records = (
        {"id": f"{name}-{number}", "title": title, "text": text}
        for number, (title, text) in enumerate(articles, 1)
    )
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    folder = Path(__file__).with_name("topics")
    (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))


def main():
    """Write all files."""
    draw = random.Random(2020)
    for name, subject in TOPICS.items():
        write(name, [article(draw, subject) for _ in range(TOPIC)])
    write(
        "distractors", [article(draw, subject) for subject in OTHERS.values() for _ in range(OTHER)]
    )


if __name__ == "__main__":
    main()
