// What each field of an account does, in a line. The names of fields are those of the API in every language.

import type { TextField } from "../api/account-fields.ts";
import { dictionary } from "./language.ts";

type Hints = Readonly<Record<TextField | "ModelLimits", string>>;

const EN: Hints = {
  CreditGranted: "US dollars, at least 2",
  Days: "how long the credit is valid, 180 without it",
  HardLimit: "US dollars a month (UTC); 0: no limit",
  SoftLimit: "US dollars a month after which a mail is sent; 0: none",
  DailyLimit: "US dollars a day (UTC); 0: no limit",
  AutoQuota: "US dollars that come from above when the balance is low; 0: off",
  UserLimit: "direct subaccounts at most; 0: none, empty: no limit",
  RPM: "requests a minute; 0: no limit",
  RPH: "requests an hour; 0: no limit",
  RPD: "requests a day; 0: no limit",
  TPM: "tokens a minute; 0: no limit",
  TPH: "tokens an hour; 0: no limit",
  TPD: "tokens a day; 0: no limit",
  Rates: "multiplies every price; at least that of the account above",
  Level: "the Level whose provider keys it uses, where no map says otherwise",
  Role: "a figure of the Owner's own",
  Gear: "a figure of the Owner's own, from 1",
  Tier: "a figure of the Owner's own",
  Factor: "multiplies every price besides Rates",
  Alias: "another name, shown beside the name",
  BillingEmail: "where mails about limits go",
  QRCode: "the https address of an image for payments",
  AllowIPs: "addresses and CIDR ranges that may call; empty: all",
  AllowLevels: "Levels that may answer; empty: all",
  Resources: "paths below /v1/ that may be called; empty: all",
  LevelMapper: "changes such as gpt-*=1, -old-*",
  CreditUsed: "US dollars, lifetime; writes a line of the ledger",
  ChargeAmount: "US dollars, lifetime; writes a line of the ledger",
  XCredit: "US dollars that it may owe; writes a line of the ledger",
  AllowModels: "models that may be called, * stands for any letters; empty: all",
  ModelLimits: "limits of single models; 0: no limit",
};

const ZH: Hints = {
  CreditGranted: "美元，至少 2",
  Days: "额度有效天数，不填为 180",
  HardLimit: "每月（UTC）美元；0 为不限",
  SoftLimit: "每月超过此美元数时发邮件；0 为不发",
  DailyLimit: "每天（UTC）美元；0 为不限",
  AutoQuota: "余额不足时从上级转入的美元；0 为关闭",
  UserLimit: "直接下级账户的最大数量；0 为不允许，空为不限",
  RPM: "每分钟请求数；0 为不限",
  RPH: "每小时请求数；0 为不限",
  RPD: "每天请求数；0 为不限",
  TPM: "每分钟 token 数；0 为不限",
  TPH: "每小时 token 数；0 为不限",
  TPD: "每天 token 数；0 为不限",
  Rates: "乘以所有价格；不得低于上级账户",
  Level: "没有映射规则时使用哪个 Level 的密钥",
  Role: "Owner 自定义的数字",
  Gear: "Owner 自定义的数字，从 1 开始",
  Tier: "Owner 自定义的数字",
  Factor: "在 Rates 之外再乘以所有价格",
  Alias: "另一个名称，显示在名称旁",
  BillingEmail: "限额邮件的收件地址",
  QRCode: "付款图片的 https 地址",
  AllowIPs: "允许访问的地址和 CIDR 段；空为全部",
  AllowLevels: "允许使用的 Level；空为全部",
  Resources: "允许调用的 /v1/ 路径；空为全部",
  LevelMapper: "修改，例如 gpt-*=1, -old-*",
  CreditUsed: "累计美元；会写入一条账目",
  ChargeAmount: "累计美元；会写入一条账目",
  XCredit: "允许透支的美元；会写入一条账目",
  AllowModels: "允许调用的模型，* 代表任意字符；空为全部",
  ModelLimits: "单个模型的限制；0 为不限",
};

/** The line below each field. */
export const FIELD_HINTS = dictionary({ en: EN, zh: ZH });

/** Words of forms about fields of accounts. */
export const FIELD_WORDS = dictionary({
  en: { usd: "an amount such as 12.50", number: "a number", unchanged: "Nothing has been changed yet." },
  zh: { usd: "请填写金额，例如 12.50", number: "请填写数字", unchanged: "还没有任何改动。" },
});
