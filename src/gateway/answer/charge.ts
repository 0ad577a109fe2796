// What is recorded of an answer, whole or streamed: the input of its meter, the facts of its charge, and the
// ids of the objects that the provider stored with it. The facts are everything the ledger keeps, so that a
// charge can be recomputed and explained at any time. The ids are durable before the answer's last byte, but
// an answer whose ids cannot be stored is delivered all the same.

import type { AttemptRow, ChargeFacts } from "../../../actors/account/state.ts";
import { completionTokens, promptTokens, type Usage } from "../../../actors/pricing/usage.ts";
import type { Log } from "../../base/log.ts";
import type { NonTokenUsage } from "../../dialect/dialect.ts";
import type { Json } from "../../dialect/json.ts";
import { measuredOf } from "../../dialect/non-token-usage.ts";
import type { SuccessfulAttempt } from "../attempt/failover.ts";
import type { ProviderExchange } from "../codec/provider-codec.ts";
import type { RunningRequest } from "../context.ts";
import type { Metered, MeterInput } from "../metering/usage-meter.ts";
import type { StoredObjectIndex } from "../stored-objects/object-index.ts";

/** Logs that a provider answered with another model than the requested one. */
export function noteAnsweredModel(
  { log }: { readonly log: Log },
  { requestId, id }: Pick<RunningRequest, "requestId" | "id">,
  { attempted }: Pick<SuccessfulAttempt, "attempted">,
  { answeredModel }: Pick<Metered, "answeredModel">,
): void {
  if (answeredModel === null) return;
  const { key, model } = attempted;
  log("warn", "other_model_answered", { requestId, id, key: key.id, model, answeredModel });
}

/** Returns the facts of a charge for the ledger. `last` is the row of the attempt that answered. */
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
    keep: sent.admission.accountContext.config.config.userMinBalance,
    ...(idempotency === null ? {} : { idempotency }),
  };
}

/** What the answer itself says. */
interface Shown extends Pick<MeterInput, "usage" | "serviceTier" | "texts" | "chars" | "complete"> {
  readonly measured: NonTokenUsage;
  /** The model that the answer names; null or omitted when it names none. */
  readonly model?: string | null | undefined;
}

/** Returns the input of `meterUsage` for an answer. */
export const readingOf = (
  { endpoint, request }: Pick<RunningRequest, "endpoint" | "request">,
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
  prompt: () => endpoint.dialect.promptTexts(request),
  promptTokens: request.promptTokens ?? null,
});

interface Made {
  /** Stores the ids that are known at the beginning of a stream, in the background. */
  first(ids: Iterable<string> | undefined): void;
  /**
   * Stores all ids with the answer's token count. Resolves when they are durable or storing them has failed.
   */
  all(ids: Iterable<string> | undefined, usage: Usage): Promise<void>;
}

/**
 * Returns the recorder of the objects that an answer creates. It stores nothing unless the request asks the
 * provider to keep them.
 */
export function recordCreatedObjects(
  { storedObjects }: { readonly storedObjects: Pick<StoredObjectIndex, "keep"> },
  { endpoint, request }: Pick<RunningRequest, "endpoint" | "request">,
  { admission, attempted }: Pick<SuccessfulAttempt, "admission" | "attempted">,
): Made {
  const isKept = endpoint.dialect.objects?.isKept(request.payload.value as Json) === true;
  let keeping: Promise<void> = Promise.resolve();

  /** Writes run one after another, so that the last one about an id stays. */
  function keep(ids: Iterable<string> | undefined, tokens: number): Promise<void> {
    const made = isKept ? [...(ids ?? [])] : [];
    if (made.length === 0) return keeping;
    const { key, model } = attempted;
    keeping = keeping.then(() =>
      storedObjects.keep(admission.caller.account, { key: key.id, model, tokens }, made),
    );
    return keeping;
  }

  return {
    // The usage is not known yet, so the prompt tokens of the hold are recorded.
    first: (ids) => void keep(ids, admission.estimate.promptTokens),
    all: (ids, usage) => keep(ids, promptTokens(usage) + completionTokens(usage)),
  };
}
