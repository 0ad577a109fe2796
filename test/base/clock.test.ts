// The machine's clock: what its timers do at their edges.

import { expect, test } from "bun:test";
import { realClock } from "../../src/base/clock.ts";

test("a time that has passed is not waited for, and the runtime warns of nothing", async () => {
  const warnings: string[] = [];
  const note = ({ message }: Error): void => void warnings.push(message);
  process.on("warning", note);
  try {
    const clock = realClock();
    await new Promise<void>((resolve) => void clock.after(-27.5, resolve));
    // A warning is an event of a later turn.
    await new Promise<void>((resolve) => void clock.endOfTurn(resolve));
    expect(warnings).toEqual([]);
  } finally {
    process.off("warning", note);
  }
});
