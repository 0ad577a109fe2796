// The facts of a charge: everything the ledger keeps, so that it can be recomputed and explained for ever.
//
// What is handed to the meter of an answer, whole or streamed: what it said and showed, beside what the request asked for.
//
// What one answer leaves at its provider, kept so that later requests find it: durable before the answer's last byte. It
// asks nobody, and an answer whose ids cannot be stored is given all the same.

import type { AttemptRow, ChargeFacts } from "../../../actors/account/state.ts";
import { completionTokens, promptTokens, type Usage } from "../../../actors/pricing/usage.ts";
import type { NonTokenUsage } from "../../dialect/dialect.ts";
import type { Json } from "../../dialect/json.ts";
import { measuredOf } from "../../dialect/non-token-usage.ts";
import type { SuccessfulAttempt } from "../attempt/failover.ts";
import type { ProviderExchange } from "../codec/provider-codec.ts";
import type { GatewayParts, RunningRequest } from "../context.ts";
import type { Metered, MeterInput } from "../metering/usage-meter.ts";

/** Says that a provider has answered with another model than the one that was asked of it. */
export function noteAnsweredModel(
  { log }: Pick<GatewayParts, "log">,
  { requestId, id }: Pick<RunningRequest, "requestId" | "id">,
  { attempted }: Pick<SuccessfulAttempt, "attempted">,
  { answeredModel }: Pick<Metered, "answeredModel">,
): void {
  if (answeredModel === null) return;
  const { key, model } = attempted;
  log("warn", "other_model_answered", { requestId, id, key: key.id, model, answeredModel });
}

/** `last`: the attempt that answered, behind those that failed. */
export function factsOf(
  running: RunningRequest,
  sent: SuccessfulAttempt,
  metered: Metered,
  last: AttemptRow,
): ChargeFacts {
  const { route, admitted } = sent.admission;
  const { idempotency } = running;
  return {
    id: running.id,
    request: running.requestId,
    path: running.call.path,
    asked: running.request.model,
    model: route.model,
    level: route.level,
    usage: metered.usage,
    prompt: promptTokens(metered.usage),
    completion: completionTokens(metered.usage),
    cost: metered.charge.amount,
    basis: metered.basis,
    price: metered.charge.numbers,
    ...(metered.charge.parts.length === 0 ? {} : { parts: metered.charge.parts }),
    ...(metered.answeredModel === null ? {} : { answeredModel: metered.answeredModel }),
    priceVersion: route.priceVersion,
    admittedAt: admitted.admittedAt,
    stream: running.request.stream,
    attempts: [...sent.rows, last],
    keep: sent.admission.lineage.config.config.userMinBalance,
    ...(idempotency === null ? {} : { idempotency }),
  };
}

/** As far as the answer itself says. */
interface Shown extends Pick<MeterInput, "usage" | "serviceTier" | "texts" | "chars" | "complete"> {
  readonly measured: NonTokenUsage;
  /** The model as it names it; left out or null: it names none. */
  readonly model?: string | null | undefined;
}

export const readingOf = (
  { surface, request }: Pick<RunningRequest, "surface" | "request">,
  { usage: dialect, sentModel }: Pick<ProviderExchange, "usage" | "sentModel">,
  { usage, serviceTier, texts, chars, complete, measured, model = null }: Shown,
): MeterInput => ({
  dialect,
  usage,
  serviceTier,
  texts,
  ...(chars === undefined ? {} : { chars }),
  complete,
  answeredModel: model === sentModel ? null : model,
  measured: measuredOf(request.measured, measured),
  prompt: () => surface.dialect.promptTexts(request),
  promptTokens: request.promptTokens ?? null,
});

interface Made {
  /** What is known at the beginning of a stream. Nobody waits for it. */
  first(ids: Iterable<string> | undefined): void;
  /** All of it, with what the answer used; resolves when it is kept. */
  all(ids: Iterable<string> | undefined, usage: Usage): Promise<void>;
}

export function recordCreatedObjects(
  { objects }: Pick<GatewayParts, "objects">,
  { surface, request }: Pick<RunningRequest, "surface" | "request">,
  { admission, attempted }: Pick<SuccessfulAttempt, "admission" | "attempted">,
): Made {
  const isKept = surface.dialect.objects?.isKept(request.payload.value as Json) === true;
  let keeping: Promise<void> = Promise.resolve();

  /** One after another: what is said last of an id is what stays. */
  function keep(ids: Iterable<string> | undefined, tokens: number): Promise<void> {
    const made = isKept ? [...(ids ?? [])] : [];
    if (made.length === 0) return keeping;
    const { key, model } = attempted;
    keeping = keeping.then(() =>
      objects.keep(admission.caller.account, { key: key.id, model, tokens }, made),
    );
    return keeping;
  }

  return {
    // What it will use is not known yet: as much as its prompt is held for.
    first: (ids) => void keep(ids, admission.worst.promptTokens),
    all: (ids, usage) => keep(ids, promptTokens(usage) + completionTokens(usage)),
  };
}
