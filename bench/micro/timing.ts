// Times a function: as many calls as asked for, or as many as fit into a time, repeated; the best repetition counts, because
// everything that disturbs one makes it slower. It takes the CPU time of the process, its collector's threads included,
// because the clock also runs while other processes have the core.

/** A function to be timed, and what it needs around it. */
export interface Call {
  /** `nth` counts the calls of the process from 0. */
  call(nth: number): unknown;
  /** Before so many calls `between` runs. Its time does not count. */
  readonly chunk?: number;
  between?(): unknown;
}

export interface Timed {
  /** Nanoseconds of CPU time per call of the best repetition, and of the median one. */
  readonly bestNs: number;
  readonly medianNs: number;
  /** Calls of each repetition. */
  readonly calls: number;
}

export interface Repetitions {
  readonly repetitions: number;
  /** Calls of a repetition, and the time on the clock after which it ends earlier. */
  readonly callsMax: number;
  readonly msMax: number;
}

const CHUNK = 1_000;
/** Repetitions that are not counted, while functions are compiled. */
const WARM_UP = 1;

/** Runs the call in chunks and adds up their times. A call that returns a promise is awaited. */
export async function time(
  { call, between, chunk = CHUNK }: Call,
  { repetitions, callsMax, msMax }: Repetitions,
): Promise<Timed> {
  const perCallNs: number[] = [];
  let nth = 0;
  let fewest = Number.POSITIVE_INFINITY;
  for (let repetition = -WARM_UP; repetition < repetitions; repetition++) {
    let spentNs = 0;
    let calls = 0;
    const untilMs = performance.now() + msMax;
    while (calls < callsMax && performance.now() < untilMs) {
      await between?.();
      const startedNs = cpuNs();
      for (let i = 0; i < chunk; i++) {
        const result = call(nth++);
        if (result instanceof Promise) await result;
      }
      spentNs += cpuNs() - startedNs;
      calls += chunk;
    }
    if (repetition < 0) continue;
    perCallNs.push(spentNs / calls);
    fewest = Math.min(fewest, calls);
  }
  perCallNs.sort((a, b) => a - b);
  return { bestNs: perCallNs[0]!, medianNs: perCallNs[perCallNs.length >> 1]!, calls: fewest };
}

function cpuNs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1_000;
}
