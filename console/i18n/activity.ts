// Words of Activity: the operation log.

import type { LogLine } from "../api/log-details.ts";
import { dictionary } from "./language.ts";

/** A text for every action that the log has. */
type Actions = Readonly<Record<LogLine["action"], string>>;
type Targets = Readonly<Record<LogLine["target_type"], string>>;

const ACTIONS_EN: Actions = {
  add_user: "account created",
  update_user: "account changed",
  delete_user: "account deleted",
  add_key: "provider key added",
  update_key: "provider key changed",
  delete_key: "provider key deleted",
  add_api_key: "API key created",
  update_api_key: "API key changed",
  rotate_api_key: "API key rotated",
  delete_api_key: "API key deleted",
  rotate_self: "main key rotated",
  rotate_root: "main key given by Root",
  move_clock: "clock moved",
  auto_config: "maps and limits cascaded",
  update_config: "configuration changed",
  add_news: "news published",
  delete_news: "news withdrawn",
  auto_quota: "credit by AutoQuota",
  soft_limit_mail: "mail about SoftLimit",
};

const ACTIONS_ZH: Actions = {
  add_user: "创建账户",
  update_user: "修改账户",
  delete_user: "删除账户",
  add_key: "添加上游密钥",
  update_key: "修改上游密钥",
  delete_key: "删除上游密钥",
  add_api_key: "创建 API 密钥",
  update_api_key: "修改 API 密钥",
  rotate_api_key: "轮换 API 密钥",
  delete_api_key: "删除 API 密钥",
  rotate_self: "轮换主密钥",
  rotate_root: "Root 更换主密钥",
  move_clock: "调整时钟",
  auto_config: "下发映射与限制",
  update_config: "修改配置",
  add_news: "发布消息",
  delete_news: "撤回消息",
  auto_quota: "AutoQuota 转入额度",
  soft_limit_mail: "SoftLimit 邮件",
};

const TARGETS_EN: Targets = {
  user: "account",
  key: "provider key",
  api_key: "API key",
  config: "configuration",
  news: "news",
};

const TARGETS_ZH: Targets = {
  user: "账户",
  key: "上游密钥",
  api_key: "API 密钥",
  config: "配置",
  news: "消息",
};

/** Words of the page Activity. */
export const ACTIVITY = dictionary({
  en: {
    about: "Who changed what, for this account and those below it, refused attempts too.",
    aboutOne: "What was done to this account, refused attempts too.",
    actions: ACTIONS_EN,
    targets: TARGETS_EN,
    at: "At",
    action: "Action",
    by: "By",
    target: "Target",
    targetId: "Target id",
    status: "Status",
    statuses: { success: "done", failed: "refused" },
    what: "What changed",
    address: "Address",
    noAddress: "the service itself",
    none: "Nothing is logged yet. Changes of accounts, keys and settings appear here.",
    noneFound: "No line matches. Clear the filters, or choose other days.",
    line: "Line of the operation log",
    field: "Field",
    before: "Before",
    after: "After",
    noChanges: "It changed no field.",
    more: (count: number) => `and ${count} more`,
    refused: (code: string) => `Refused: ${code}`,
    onlyThis: "All about this target",
  },
  zh: {
    about: "谁修改了什么，包括此账户及其下级，也包括被拒绝的操作。",
    aboutOne: "对此账户的操作，也包括被拒绝的操作。",
    actions: ACTIONS_ZH,
    targets: TARGETS_ZH,
    at: "时间",
    action: "操作",
    by: "操作者",
    target: "对象",
    targetId: "对象 ID",
    status: "状态",
    statuses: { success: "已完成", failed: "被拒绝" },
    what: "修改内容",
    address: "来源地址",
    noAddress: "服务自身",
    none: "还没有记录。账户、密钥和设置的修改会显示在这里。",
    noneFound: "没有符合的记录。请清除筛选或选择其他日期。",
    line: "操作日志记录",
    field: "字段",
    before: "之前",
    after: "之后",
    noChanges: "没有修改任何字段。",
    more: (count: number) => `另有 ${count} 项`,
    refused: (code: string) => `被拒绝：${code}`,
    onlyThis: "此对象的全部记录",
  },
});
