// Words of Limits and access.

import { dictionary } from "./language.ts";

/** Words of the page Limits and access. */
export const LIMITS = dictionary({
  en: {
    limits: "Limits now",
    ofKey: "This API key",
    unset: (names: string) => `Without a limit: ${names}.`,
    balanceLimits: "The balance always limits.",
    others: {
      soft_limit: "A mail is sent when a month costs more. No request is refused.",
      auto_quota: "Comes from the account above when the balance is too low for a request.",
    },
    lists: "Access",
    open: {
      AllowIPs: "every address",
      AllowModels: "every model",
      AllowLevels: "every Level",
      Resources: "every path below /v1/",
    },
    above:
      "Models, Levels and paths must also be allowed by every account above. Test below what comes of it.",
    tester: "Would this be allowed?",
    testerAbout: "It is decided as for a real request, but nothing is sent and nothing is charged.",
    model: "Model",
    path: "Path",
    address: "Caller's address",
    anyAddress: "not judged",
    test: "Test",
    modelLimits: "Limits of models",
    modelLimitsAbout: "What is used now, of the limit that holds. A dash: no limit.",
    used: (used: string, limit: string) => `${used} / ${limit}`,
  },
  zh: {
    limits: "当前限制",
    ofKey: "此 API 密钥",
    unset: (names: string) => `未设限：${names}。`,
    balanceLimits: "余额始终有效。",
    others: {
      soft_limit: "当月费用超过时发送邮件，不会拒绝请求。",
      auto_quota: "余额不足以支付请求时从上级账户转入。",
    },
    lists: "访问",
    open: {
      AllowIPs: "所有地址",
      AllowModels: "所有模型",
      AllowLevels: "所有 Level",
      Resources: "/v1/ 下的所有路径",
    },
    above: "模型、Level 和路径还须被每个上级账户允许。可在下方测试结果。",
    tester: "这样会被允许吗？",
    testerAbout: "判断方式与真实请求相同，但不会发送请求，也不会扣费。",
    model: "模型",
    path: "路径",
    address: "调用方地址",
    anyAddress: "不判断",
    test: "测试",
    modelLimits: "模型限制",
    modelLimitsAbout: "已使用的数量 / 有效的限制。短横表示无限制。",
    used: (used: string, limit: string) => `${used} / ${limit}`,
  },
});
