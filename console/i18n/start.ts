// Words of the page Start.

import { dictionary } from "./language.ts";

/** Words of the page Start. */
export const START = dictionary({
  en: {
    about: "Set the address and the key in what you use already; both SDKs work as they are.",
    address: "Address",
    openAi: "For the OpenAI SDK",
    anthropic: "For the Anthropic SDK",
    key: "Key",
    keyIs: "You are signed in with the key",
    scopes: (scopes: string) => `whose scopes are: ${scopes}.`,
    ownKeys: "Give each app a key of its own, with the scopes and caps that it needs:",
    makeKey: "make a key",
    request: "First request",
    further: "Further",
    playground: "Try a model here, with its quote before and its charge after",
    prices: "What each model costs this account",
    requests: "See the requests arrive, and why one was refused",
    document: "Every endpoint, field and error: the OpenAPI document",
  },
  zh: {
    about: "在您现有的程序中设置地址和密钥即可，两种 SDK 都无需修改。",
    address: "地址",
    openAi: "OpenAI SDK",
    anthropic: "Anthropic SDK",
    key: "密钥",
    keyIs: "当前登录的密钥：",
    scopes: (scopes: string) => `权限：${scopes}。`,
    ownKeys: "请为每个应用创建单独的密钥，并设置所需的权限和上限：",
    makeKey: "创建密钥",
    request: "第一个请求",
    further: "更多",
    playground: "在这里试用模型，发送前有报价，之后有实际费用",
    prices: "每个模型对此账户的价格",
    requests: "查看收到的请求，以及被拒绝的原因",
    document: "所有接口、字段和错误：OpenAPI 文档",
  },
});
