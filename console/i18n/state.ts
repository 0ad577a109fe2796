// Words of what stands against an account now. `own`: to its holder; `above`: to an account above it.

import { type Nanos, usdText } from "../api/amount.ts";
import { dictionary } from "./language.ts";

/** Words of the state of an account. */
export const STATE = dictionary({
  en: {
    until: (at: string) => `Requests are refused until ${at}.`,
    open: "Requests are refused until somebody changes that.",
    models: "Limits of models are reached",
    model: (model: string, limit: string) => `${model}: ${limit} is used up.`,
    resets: (at: string) => `All of it is free again at ${at}.`,
    of: {
      disabled: {
        title: () => "The account is disabled",
        own: "Ask the account above to enable it.",
        above: "Enable it in Settings.",
      },
      suspended: {
        title: () => "The account is suspended",
        own: "You can still read. Ask the account above to end the suspension.",
        above: "End the suspension in Settings.",
      },
      balance: {
        title: (threshold: Nanos) =>
          `The balance does not suffice: requests need more than ${usdText(threshold)}`,
        own: "Ask the account above for credit.",
        above: "Give it credit, or set AutoQuota in Settings.",
      },
      month: {
        title: () => "HardLimit, the limit of the month, is reached",
        own: "Ask the account above to raise it.",
        above: "Raise HardLimit in Settings to let requests pass before.",
      },
      day: {
        title: () => "DailyLimit, the limit of the day, is reached",
        own: "Ask the account above to raise it.",
        above: "Raise DailyLimit in Settings to let requests pass before.",
      },
      rate: {
        title: () => "A limit of requests or tokens is reached",
        own: "Ask again later. Below, the bars show which limit it is.",
        above: "The bars show which limit it is; Settings can raise it.",
      },
    },
  },
  zh: {
    until: (at: string) => `在 ${at} 之前会拒绝请求。`,
    open: "在有人修改之前会拒绝请求。",
    models: "模型限制已用完",
    model: (model: string, limit: string) => `${model}：${limit} 已用完。`,
    resets: (at: string) => `${at} 全部恢复。`,
    of: {
      disabled: {
        title: () => "账户已停用",
        own: "请联系上级账户启用。",
        above: "可在“设置”中启用。",
      },
      suspended: {
        title: () => "账户已暂停",
        own: "仍可查看。请联系上级账户解除暂停。",
        above: "可在“设置”中解除暂停。",
      },
      balance: {
        title: (threshold: Nanos) => `余额不足：请求需要高于 ${usdText(threshold)} 的余额`,
        own: "请向上级账户申请额度。",
        above: "请增加额度，或在“设置”中设置 AutoQuota。",
      },
      month: {
        title: () => "已达到每月限额 HardLimit",
        own: "请联系上级账户提高限额。",
        above: "在“设置”中提高 HardLimit 即可提前恢复。",
      },
      day: {
        title: () => "已达到每日限额 DailyLimit",
        own: "请联系上级账户提高限额。",
        above: "在“设置”中提高 DailyLimit 即可提前恢复。",
      },
      rate: {
        title: () => "已达到请求数或 token 数限制",
        own: "请稍后再试。下方的进度条显示是哪项限制。",
        above: "进度条显示是哪项限制，可在“设置”中提高。",
      },
    },
  },
});
