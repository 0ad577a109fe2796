// The name of a node that was given none.

import { hostname } from "node:os";
import type { Random } from "../base/clock.ts";

/** A name that no other process has, on any machine, now or earlier. */
export function ownName(random: Random): string {
  const machine = hostname().replaceAll(/[^A-Za-z0-9._-]/g, "-");
  return `${machine.slice(0, 50)}-${random.id().slice(-6)}`;
}
