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
import { tagsOfCharge } from "../account/request-tags.ts";
import type { AnsweredContext } from "../context.ts";
import { promptOf } from "../large-body/outlined-payload.ts";
import { estimateTokens } from "../metering/token-counter.ts";
import type { Metered, MeterInput } from "../metering/usage-meter.ts";
import type { StoredObjectIndex } from "../stored-objects/object-index.ts";

/** Logs that a provider answered with another model than the requested one. */
export function noteAnsweredModel(
  { log }: { readonly log: Log },
  { requestId, id, answer }: Pick<AnsweredContext, "requestId" | "id" | "answer">,
  { answeredModel }: Pick<Metered, "answeredModel">,
): void {
  if (answeredModel === null) return;
  const { key, model } = answer.attempted;
  log("warn", "other_model_answered", { requestId, id, key: key.id, model, answeredModel });
}

/** Returns the facts of a charge for the ledger. `last` is the row of the attempt that answered. */
export function factsOf(context: AnsweredContext, metered: Metered, last: AttemptRow): ChargeFacts {
  const { admission, idempotency, request } = context;
  const { route, admitted, accountContext } = admission;
  const { attempts } = context;
  const { parts } = metered.charge;
  const facts: ChargeFacts = {
    id: context.id,
    request: context.requestId,
    path: context.call.path,
    asked: request.model,
    model: route.model,
    level: route.level,
    usage: metered.usage,
    prompt: promptTokens(metered.usage),
    completion: completionTokens(metered.usage),
    cost: metered.charge.amount,
    basis: metered.basis,
    price: metered.charge.numbers,
    priceVersion: route.priceVersion,
    admittedAt: admitted.admittedAt,
    stream: request.stream,
    attempts: attempts.length === 0 ? [last] : [...attempts, last],
    keep: accountContext.config.config.userMinBalance,
  };
  const { apiKey } = admitted;
  const tags = tagsOfCharge(admitted, context.requestedTags);
  const isPlain = parts.length === 0 && metered.answeredModel === null && idempotency === null;
  if (isPlain && apiKey === null && tags === null) return facts;
  return {
    ...facts,
    ...(apiKey === null ? {} : { apiKey: apiKey.id, apiKeyName: apiKey.name }),
    ...(parts.length === 0 ? {} : { parts }),
    ...(metered.answeredModel === null ? {} : { answeredModel: metered.answeredModel }),
    ...(idempotency === null ? {} : { idempotency }),
    ...(tags === null ? {} : { tags }),
  };
}

/** What the answer itself says. */
interface Shown extends Pick<MeterInput, "usage" | "serviceTier" | "texts" | "complete"> {
  readonly chars?: number | undefined;
  readonly measured: NonTokenUsage;
  /** The model that the answer names; null or omitted when it names none. */
  readonly model?: string | null | undefined;
}

/** Returns the input of `meterUsage` for an answer. */
export const readingOf = (
  {
    endpoint,
    request,
    answer,
    pinnedKey,
  }: Pick<AnsweredContext, "endpoint" | "request" | "answer" | "pinnedKey">,
  { usage, serviceTier, texts, chars, complete, measured, model = null }: Shown,
): MeterInput => ({
  dialect: answer.exchange.usage,
  usage,
  serviceTier,
  texts,
  chars,
  complete,
  answeredModel: model === answer.exchange.sentModel ? null : model,
  measured: measuredOf(request.measured, measured),
  prompt: () => promptOf(endpoint, request),
  promptTokens: request.promptTokens ?? null,
  promptBeside:
    estimateTokens({ bytes: 0, images: request.images, files: request.files }) + (pinnedKey?.tokens ?? 0),
});

/**
 * Records the objects that an answer creates. It stores nothing unless the request asks the provider to keep
 * them.
 */
export class CreatedObjects {
  /** Whether the request asks the provider to keep what it makes. A translated answer is never kept. */
  readonly isKept: boolean;
  /** Writes run one after another, so that the last one about an id stays. */
  private keeping: Promise<void> = Promise.resolve();

  constructor(
    private readonly storedObjects: Pick<StoredObjectIndex, "keep">,
    private readonly context: AnsweredContext,
  ) {
    const { endpoint, request, answer } = context;
    const isTranslated = answer.exchange.path !== endpoint.path;
    const { objects } = endpoint.dialect;
    this.isKept = !isTranslated && objects?.isKept(request.payload.value as Json) === true;
  }

  /** Stores the ids that are known at the beginning of a stream, in the background. */
  first(ids: Iterable<string> | undefined): void {
    // The usage is not known yet, so the prompt tokens of the hold are recorded.
    void this.keep(ids, this.context.admission.estimate.promptTokens);
  }

  /** Stores all ids with the answer's token count. Resolves when they are durable or storing them has failed. */
  all(ids: Iterable<string> | undefined, usage: Usage): Promise<void> {
    return this.keep(ids, promptTokens(usage) + completionTokens(usage));
  }

  private keep(ids: Iterable<string> | undefined, tokens: number): Promise<void> {
    const made = this.isKept ? [...(ids ?? [])] : [];
    if (made.length === 0) return this.keeping;
    const { key, model } = this.context.answer.attempted;
    const { account } = this.context.caller;
    this.keeping = this.keeping.then(() =>
      this.storedObjects.keep(account, { key: key.id, model, tokens }, made),
    );
    return this.keeping;
  }
}
