// Kept answers in memory. A Map keeps its rows in the order in which they were put in, which is the order they go in.
// Copies what it takes and gives, as the rest of the store in memory does.

import type { KeptAnswer, Store } from "../../../src/store/store.ts";

export function memoryAnswers(): Pick<Store, "keepAnswer" | "answer" | "dropAnswers"> {
  const answers = new Map<string, KeptAnswer>();
  return {
    async keepAnswer(answer, most) {
      answers.delete(answer.id);
      answers.set(answer.id, { ...answer });
      const { account, kind } = answer;
      const alike = [...answers.values()].filter((one) => one.account === account && one.kind === kind);
      for (const { id } of alike.slice(0, Math.max(0, alike.length - most))) answers.delete(id);
    },
    async answer(id, now) {
      const found = answers.get(id);
      return found !== undefined && found.until > now ? { ...found } : null;
    },
    async dropAnswers(until, limit) {
      const expired = [...answers.values()].filter((one) => one.until <= until);
      const dropped = expired.sort((a, b) => a.until - b.until).slice(0, limit);
      for (const { id } of dropped) answers.delete(id);
      return dropped.length;
    },
  };
}
