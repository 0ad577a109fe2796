// Words of explanations: where a request would go, and what stands against it.

import { dictionary } from "./language.ts";

/** Words of a route. */
export const ROUTE = dictionary({
  en: {
    admitted: "It would be admitted now",
    goesTo: (model: string, level: number | null) =>
      level === null ? `It would go to ${model}.` : `It would go to ${model} on Level ${level}.`,
    refused: (code: string) => `It would be refused now: ${code}`,
    steps: "Route",
    step: "Step",
    in: "From",
    out: "To",
    rule: "Rule",
    limits: "Limits",
    limit: "Limit",
    left: "Left",
    of: "Of",
    resets: "Free in",
    scopes: { account: "account", api_key: "API key", model: "model" },
    keys: "Provider keys",
    model: "Model",
    level: "Level",
    key: "Key",
    countOfKeys: (count: number) => (count === 1 ? "1 key" : `${count} keys`),
    state: "State",
    until: (at: string) => `until ${at} UTC`,
  },
  zh: {
    admitted: "现在会被接受",
    goesTo: (model: string, level: number | null) =>
      level === null ? `将发往 ${model}。` : `将发往 Level ${level} 的 ${model}。`,
    refused: (code: string) => `现在会被拒绝：${code}`,
    steps: "路由",
    step: "步骤",
    in: "输入",
    out: "输出",
    rule: "规则",
    limits: "限制",
    limit: "限制",
    left: "剩余",
    of: "总量",
    resets: "多久后恢复",
    scopes: { account: "账户", api_key: "API 密钥", model: "模型" },
    keys: "上游密钥",
    model: "模型",
    level: "Level",
    key: "密钥",
    countOfKeys: (count: number) => `${count} 个密钥`,
    state: "状态",
    until: (at: string) => `至 ${at} UTC`,
  },
});
