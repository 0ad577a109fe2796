// The `system_fingerprint` of answers whose provider sends none. It changes with model, provider and
// configuration.

import type { LevelKey } from "../../../actors/level/view.ts";
import type { Admission } from "../context.ts";

const known = new Map<string, string>();
const KNOWN_MAX = 10_000;

/** Returns the fingerprint of a route and key. The results are cached. */
export function fingerprintOf({ route }: Admission, key: LevelKey): string {
  const source = `${route.model}\n${key.provider}\n${route.priceVersion}`;
  const before = known.get(source);
  if (before !== undefined) return before;
  const print = `fp_${new Bun.CryptoHasher("sha256").update(source).digest("hex").slice(0, 10)}`;
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(source, print);
  return print;
}
