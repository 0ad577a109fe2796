// Words of Attention: which accounts need somebody, and what to do for each.

import type { Answers } from "../api/answers.ts";
import { dictionary } from "./language.ts";

type Reasons = Readonly<Record<Answers["/x-attention"]["accounts"][number]["reason"], string>>;

const EN: Reasons = {
  suspended: "suspended",
  disabled: "disabled",
  low_balance: "low balance",
  near_limit: "close to a limit",
  expiring: "credit expires",
  idle: "idle",
};
const ZH: Reasons = {
  suspended: "已暂停",
  disabled: "已停用",
  low_balance: "余额低",
  near_limit: "接近限制",
  expiring: "额度将过期",
  idle: "长期未使用",
};

const STEPS_EN: Reasons = {
  suspended: "Lift the suspension, or delete it",
  disabled: "Enable it, or delete it",
  low_balance: "Give credit, or set AutoQuota",
  near_limit: "Raise HardLimit or DailyLimit",
  expiring: "See when each credit expires",
  idle: "Ask whether it is needed, or take its credit back",
};
const STEPS_ZH: Reasons = {
  suspended: "解除暂停，或删除账户",
  disabled: "重新启用，或删除账户",
  low_balance: "转入额度，或设置 AutoQuota",
  near_limit: "提高 HardLimit 或 DailyLimit",
  expiring: "查看各笔额度的过期时间",
  idle: "确认是否仍需要，或收回额度",
};

/** Words of the page Attention. */
export const ATTENTION = dictionary({
  en: {
    about: "Accounts below you that need somebody: one line for each account and reason.",
    account: "Account",
    reason: "Why",
    step: "Next step",
    write: "Write to it",
    reasons: EN,
    steps: STEPS_EN,
    balance: (amount: string) => `balance ${amount} USD`,
    percent: (figure: string) => `${figure} % used`,
    expires: (amount: string) => `${amount} USD within 7 days`,
    days: (count: string) => `${count} days without a charge`,
    none: "Nobody needs anything: no account below you is low, close to a limit, suspended, disabled or idle.",
    noAccounts: "There are no accounts below you yet.",
    add: "New account",
    count: (count: string) => `${count} in all`,
  },
  zh: {
    about: "您之下需要处理的账户：每个账户的每个原因一行。",
    account: "账户",
    reason: "原因",
    step: "下一步",
    write: "发消息",
    reasons: ZH,
    steps: STEPS_ZH,
    balance: (amount: string) => `余额 ${amount} 美元`,
    percent: (figure: string) => `已用 ${figure} %`,
    expires: (amount: string) => `7 天内 ${amount} 美元`,
    days: (count: string) => `${count} 天没有费用`,
    none: "没有需要处理的账户：余额不低，未接近限制，没有暂停、停用或长期未使用。",
    noAccounts: "您之下还没有账户。",
    add: "新建账户",
    count: (count: string) => `共 ${count} 项`,
  },
});
