// A bound on how many of something run at once; the rest waits in order.

export type Permits = <T>(task: () => Promise<T>) => Promise<T>;

export function permits(most: number): Permits {
  let free = most;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => void waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next !== undefined) next();
      else free++;
    }
  };
}
