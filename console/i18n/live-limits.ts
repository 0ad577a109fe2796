// Words of limits, wherever a page shows how far one is used.

import { dictionary } from "./language.ts";

/** What limits are called, and how their use is said. */
export const LIVE_LIMITS = dictionary({
  en: {
    names: {
      rpm: "RPM, requests a minute",
      rph: "RPH, requests an hour",
      rpd: "RPD, requests a day",
      tpm: "TPM, tokens a minute",
      tph: "TPH, tokens an hour",
      tpd: "TPD, tokens a day",
      hard_limit: "HardLimit, USD a month",
      soft_limit: "SoftLimit, USD a month",
      daily_limit: "DailyLimit, USD a day",
      auto_quota: "AutoQuota, USD",
    },
    ofKey: "this API key",
    of: (used: string, limit: string) => `${used} of ${limit}`,
    resets: (at: string) => `all of it is free again at ${at}`,
  },
  zh: {
    names: {
      rpm: "RPM（每分钟请求数）",
      rph: "RPH（每小时请求数）",
      rpd: "RPD（每天请求数）",
      tpm: "TPM（每分钟 token）",
      tph: "TPH（每小时 token）",
      tpd: "TPD（每天 token）",
      hard_limit: "HardLimit（每月 USD）",
      soft_limit: "SoftLimit（每月 USD）",
      daily_limit: "DailyLimit（每天 USD）",
      auto_quota: "AutoQuota（USD）",
    },
    ofKey: "此 API 密钥",
    of: (used: string, limit: string) => `${used} / ${limit}`,
    resets: (at: string) => `${at} 全部恢复`,
  },
});
