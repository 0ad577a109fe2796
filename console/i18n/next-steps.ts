// Words of the next steps of an installation, on Home.

import { dictionary } from "./language.ts";

/** Words of the list of next steps. */
export const NEXT_STEPS = dictionary({
  en: {
    title: "Next steps",
    done: "done",
    open: "to do",
    owner: "Create an Owner",
    ownerWhy: "An Owner has provider keys, prices and accounts of its own. Root mints its credit.",
    key: "Add a provider key and test it",
    keyWhy: "Requests are sent to providers with it. Its test says at once whether it works.",
    account: "Create an account for a team",
    accountWhy: "It has a balance and limits of its own. Its API key is shown once, with code to copy.",
    signIn: "To add provider keys for an Owner, sign in with the key of that Owner.",
  },
  zh: {
    title: "接下来",
    done: "已完成",
    open: "待办",
    owner: "创建一个 Owner",
    ownerWhy: "Owner 有自己的提供商密钥、价格和账户，其余额由 Root 发放。",
    key: "添加提供商密钥并测试",
    keyWhy: "请求用它发送给提供商，测试会立即说明它能否使用。",
    account: "为团队创建账户",
    accountWhy: "它有自己的余额和限制。其 API 密钥只显示一次，并附可复制的代码。",
    signIn: "要为某个 Owner 添加提供商密钥，请用该 Owner 的密钥登录。",
  },
});
