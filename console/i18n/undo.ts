// Words of the notice after a change of the configuration.

import { dictionary } from "./language.ts";

/** Words of the offer to undo. */
export const UNDO = dictionary({
  en: {
    saved: (version: number) => `Saved as version ${version}. It applies to the next request.`,
    undo: "Undo",
    left: (seconds: number) => `${seconds} s`,
    undone: (version: number) => `Undone: everything is as it was in version ${version}.`,
    superseded: "Not undone: the configuration was changed again in the meantime.",
    history: "Open History",
  },
  zh: {
    saved: (version: number) => `已保存为版本 ${version}，下一个请求起生效。`,
    undo: "撤销",
    left: (seconds: number) => `${seconds} 秒`,
    undone: (version: number) => `已撤销：一切恢复到版本 ${version}。`,
    superseded: "未撤销：期间配置又被修改过。",
    history: "打开历史版本",
  },
});
