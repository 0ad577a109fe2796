// The sibling of `prepared` (use-bench.ts) for what every test needs anew. Asserts nothing.

import { beforeEach } from "bun:test";

/** A value that is built before each test of the file or group that asks for it, in the order in which values are asked for. */
export function preparedEach<T extends object>(build: () => T | Promise<T>): T {
  const value = {} as T;
  beforeEach(async () => {
    Object.assign(value, await build());
  });
  return value;
}
