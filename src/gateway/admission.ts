// From a parsed request to a hold: route it, estimate its worst case, ask the account. A route made from an old
// profile is refused by the account and made again with the fresh one it sends along.

import { type Admitted, STALE } from "../../actors/account/admit.ts";
import { type Protocol, to } from "../../actors/index.ts";
import { ZERO } from "../../actors/money.ts";
import type { Refusal } from "../runtime/actor.ts";
import { type ActorSystem, Refused } from "../runtime/system.ts";
import { type Size, type Worst, worstCase } from "./hold.ts";
import type { Caller } from "./identify.ts";
import type { Lineage, Replicas } from "./replicas.ts";
import { type NoRoute, type Route, route } from "./route.ts";

/** What was asked; or what is wrong with the asking, which key, flags and IP still go before. */
export type Asked = { readonly model: string; readonly size: Size } | { readonly refusal: Refusal };

export interface Admission {
  readonly caller: Caller;
  readonly lineage: Lineage;
  readonly route: Route;
  readonly worst: Worst;
  readonly admitted: Admitted;
  readonly size: Size;
}

export interface AdmissionParts {
  readonly system: ActorSystem<Protocol>;
  readonly replicas: Replicas;
  readonly limits: { readonly holdOutputTokens: number };
}

const STALE_MOST = 5;

/** Throws Refused. */
export async function admission(
  parts: AdmissionParts,
  input: {
    readonly id: string;
    readonly path: string;
    readonly caller: Caller;
    readonly ip: () => string;
    readonly asked: Asked;
  },
): Promise<Admission> {
  const { system, replicas } = parts;
  const { id, caller, asked } = input;
  for (let tries = 0; ; tries++) {
    const lineage = await replicas.lineage(caller.account);
    const routed = "refusal" in asked ? null : await routeOf(replicas, lineage, input.path, asked.model);
    const found = routed?.ok === true ? routed : null;
    const size = "refusal" in asked ? null : asked.size;
    const worst =
      found === null || size === null
        ? null
        : worstCase(found.priced, found.model, size, found.multipliers, parts.limits.holdOutputTokens);
    try {
      const admitted = await system.ask(
        to.account(caller.account),
        "admit",
        {
          id,
          keyHash: caller.keyHash,
          // The address costs a system call, and only a white list asks for it.
          ip: lineage.account.profile.allowIps.length === 0 ? "" : input.ip(),
          version: lineage.account.version,
          routing: "refusal" in asked ? asked.refusal : refusalOf(routed),
          model: found?.model ?? "",
          promptTokens: worst?.promptTokens ?? 0,
          outputTokens: worst?.outputTokens ?? 0,
          cost: worst?.cost ?? ZERO,
          promptCost: worst?.promptCost ?? ZERO,
          modelLimits: found?.modelLimits ?? null,
          threshold: lineage.config.config.userApiBalance,
        },
        { id },
      );
      if (found === null || size === null || worst === null) throw new Error("admitted without a route");
      return { caller, lineage, route: found, worst, admitted, size };
    } catch (error) {
      if (!(error instanceof Refused) || error.refusal.code !== STALE || tries === STALE_MOST) throw error;
      replicas.renew(caller.account, error.refusal.details as Parameters<Replicas["renew"]>[1]);
    }
  }
}

async function routeOf(
  replicas: Replicas,
  lineage: Lineage,
  path: string,
  model: string,
): Promise<Route | NoRoute> {
  for (;;) {
    const found = route({ path, model, lineage, level: (level) => replicas.level(lineage.owner, level) });
    if (found.ok !== "needs_level") return found;
    await replicas.loadLevel(lineage.owner, found.level);
  }
}

const refusalOf = (routed: Route | NoRoute | null): Refusal | null =>
  routed === null || routed.ok ? null : routed.refusal;
