// What would happen to a request, by the very functions that decide it: the route, the worst case, and the account's
// answer, with nothing taken and nothing sent. Quotes and explanations are written from it.

import type { Preview } from "../../actors/account/preview.ts";
import { to } from "../../actors/index.ts";
import { type AdmissionInput, type AdmissionParts, isStale, questionFor, staleOf } from "./admission.ts";
import type { Size, Worst } from "./hold.ts";
import type { Lineage } from "./replicas.ts";
import type { NoRoute, Route } from "./route.ts";

export interface Foreseen {
  readonly lineage: Lineage;
  /** null: the request itself was at fault. */
  readonly routed: Route | NoRoute | null;
  readonly worst: Worst | null;
  readonly size: Size | null;
  readonly preview: Preview;
}

const STALE_MOST = 5;

/** Throws Refused only when the account is not there. */
export async function foresee(parts: AdmissionParts, input: Omit<AdmissionInput, "id">): Promise<Foreseen> {
  const { account } = input.caller;
  for (let tries = 0; ; tries++) {
    const lineage = await parts.replicas.lineage(account);
    const { question, routed, worst, size } = await questionFor(parts, input, lineage);
    try {
      const preview = await parts.system.ask(to.account(account), "preview", question);
      return { lineage, routed, worst, size, preview };
    } catch (error) {
      if (!isStale(error) || tries === STALE_MOST) throw error;
      parts.replicas.renew(account, staleOf(error));
    }
  }
}

/** No request of any size: what every request must pass. */
export const SMALLEST: Size = { promptTokens: 1, maxOutput: 1, n: 1, serviceTier: null, never: [] };
