// Chance of one seed: the runtime's `Random`, and the draws of faults and workload. The same seed draws the same.
// Each consumer forks its own stream, so that one draw more in one of them does not shift all the others.

import { type Clock, type Random, ulidTime } from "../../src/base/clock.ts";

export interface SimRandom {
  /** A uniform integer in [0, n). */
  below(n: number): number;
  /** Uniform in [0, 1). */
  unit(): number;
  chance(probability: number): boolean;
  /** A uniform integer in [from, to]. */
  between(from: number, to: number): number;
  /** Between `from` and `to`, each order of magnitude as likely as the next. */
  spread(from: number, to: number): number;
  /** Exponential with this mean: the pause until something that happens every `mean`. */
  pause(mean: number): number;
  pick<T>(list: readonly T[]): T;
  fork(): SimRandom;
  /** The runtime's source of chance; its ids are ordered by the given clock. */
  forRuntime(clock: Clock): Random;
}

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

export function simRandom(seed: number): SimRandom {
  const draw = sfc32(seed);
  const unit = () => draw() / 2 ** 32;
  const random: SimRandom = {
    below: (n) => Math.floor(unit() * n),
    unit,
    chance: (probability) => unit() < probability,
    between: (from, to) => from + Math.floor(unit() * (to - from + 1)),
    spread: (from, to) => Math.exp(Math.log(from) + unit() * (Math.log(to) - Math.log(from))),
    pause: (mean) => -Math.log(1 - unit()) * mean,
    pick: (list) => list[Math.floor(unit() * list.length)]!,
    fork: () => simRandom(draw()),
    forRuntime: (clock) => ({
      below: random.below,
      id() {
        let text = ulidTime(clock.wall());
        for (let word = 0; word < 4; word++) {
          let bits = draw();
          for (let i = 0; i < 4; i++, bits >>>= 5) text += ALPHABET[bits & 31];
        }
        return text;
      },
    }),
  };
  return random;
}

/** Small fast counter: 128 bits of state, a counter in it, so no seed falls into a short cycle. */
function sfc32(seed: number): () => number {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = seed | 0;
  let counter = 1;
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return sum >>> 0;
  };
  for (let i = 0; i < 12; i++) next();
  return next;
}
