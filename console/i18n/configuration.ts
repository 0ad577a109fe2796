// Words of an Owner's configuration as a whole: its history, and versions that somebody else saved meanwhile.

import { dictionary } from "./language.ts";

/** Words of the versions of a configuration. */
export const CONFIGURATION = dictionary({
  en: {
    moreChanges: (count: number) => `and ${count} more`,
    newer: {
      title: (version: number) => `Version ${version} was saved meanwhile, not by this form`,
      advice:
        "Nothing of yours was sent. Look at what it changed, then go on with it: what you typed stays and is put on top.",
      take: (version: number) => `Go on with version ${version}`,
      history: "Open History",
    },
    history: {
      about: "Every change is a version. Going back makes a new version and loses none.",
      empty: "Nothing was changed yet: all settings have their defaults.",
      version: "Version",
      at: "At",
      by: "By account",
      changes: "Changes",
      revert: "Go back to it",
      revertColumn: "Way back",
      revertToDefaults: "Go back to the defaults",
      confirm: (version: number) => `Go back to version ${version}?`,
      confirmDefaults: "Go back to the defaults?",
      confirmAbout:
        "All settings but the mail password become what they were then. It is in force with the next request. This changes:",
      newer: (version: number) => `Version ${version} was saved meanwhile`,
      newerAdvice:
        "Nothing was changed by this dialog. The list below is new: look at it, then decide again.",
      noChanges: "Nothing: that version had the settings of today.",
      present: "in force",
    },
  },
  zh: {
    moreChanges: (count: number) => `另有 ${count} 项`,
    newer: {
      title: (version: number) => `期间有人保存了版本 ${version}，不是来自此表单`,
      advice: "您的修改没有发送。请查看它改了什么，再在其基础上继续：您输入的内容会保留并叠加。",
      take: (version: number) => `在版本 ${version} 上继续`,
      history: "打开历史版本",
    },
    history: {
      about: "每次修改都是一个版本。恢复旧版本会产生新版本，不会丢失任何版本。",
      empty: "还没有修改过：所有设置都是默认值。",
      version: "版本",
      at: "时间",
      by: "账户",
      changes: "修改内容",
      revert: "恢复到此版本",
      revertColumn: "恢复",
      revertToDefaults: "恢复默认设置",
      confirm: (version: number) => `恢复到版本 ${version}？`,
      confirmDefaults: "恢复默认设置？",
      confirmAbout: "除邮件密码外，所有设置将恢复到当时的值，从下一个请求起生效。将有以下变化：",
      newer: (version: number) => `期间有人保存了版本 ${version}`,
      newerAdvice: "此对话框没有修改任何内容。下面的列表已更新，请查看后再决定。",
      noChanges: "没有变化：该版本与当前设置相同。",
      present: "当前生效",
    },
  },
});
