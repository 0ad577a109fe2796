// Time in the hands of a test: while it is held, no deadline of a second or more of this process comes due but by the test's
// will, so that no busy machine decides what a test sees. Shorter waits and business time go on.

const realNow = performance.now;
/** The clock never steps back: whatever was let go by stays gone by. */
let aheadMs = 0;

const running = (): number => realNow.call(performance) + aheadMs;

/** Deadlines of this process that are due within so much time come now. */
export function passTimers(ms: number): void {
  aheadMs += ms;
  performance.now = running;
}

/** Between two steps the deadlines of the process are looked at, which happens every 50 ms. */
const STEP_PAUSE_MS = 120;

export class HeldTime {
  private nowMs: number;

  constructor() {
    this.nowMs = performance.now();
    performance.now = () => this.nowMs;
  }

  pass(ms: number): void {
    this.nowMs += ms;
  }

  /**
   * What becomes of something that waits, and how much time it took on this clock: while it `stands` so, time goes by
   * step by step.
   */
  async passing<T>(
    asked: Promise<T>,
    stands: () => boolean,
    stepMs = 1_000,
  ): Promise<{ outcome: T; passedMs: number }> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    asked.then(over, over);
    let passedMs = 0;
    while (!isOver) {
      await Bun.sleep(STEP_PAUSE_MS);
      if (isOver || !stands()) continue;
      this.pass(stepMs);
      passedMs += stepMs;
    }
    return { outcome: await asked, passedMs };
  }

  /** Time runs again, from where it was held or from now. */
  release(): void {
    aheadMs = Math.max(aheadMs, this.nowMs - realNow.call(performance));
    performance.now = running;
  }
}
