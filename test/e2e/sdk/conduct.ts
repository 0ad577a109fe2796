// Scenarios that the makers' SDKs go through alike, whatever style they speak: leaving, broken streams, troubles, what they
// ask again by themselves, and the list of models. An SDK says only how it does each of these.

import { type Run, type Script, thrownBy, watched } from "./script.ts";

/** The options of an SDK: those that the makers' clients share. */
export interface Options {
  readonly timeout?: number;
  readonly maxRetries?: number;
  readonly fetch?: typeof fetch;
  readonly signal?: AbortSignal;
  readonly headers?: Record<string, string>;
  readonly maxTokens?: number;
  readonly stream?: boolean;
}

/** An error as a client of the SDK reads it. */
export interface Shown {
  readonly class: string;
  readonly status: number | undefined;
  readonly type: string | null | undefined;
  readonly code: string | null | undefined;
  readonly request_id: string | null | undefined;
}

export interface Sdk<Failure extends Error> {
  readonly apiError: abstract new (...given: never[]) => Failure;
  readonly abortError: abstract new (...given: never[]) => Error;
  /** The text of a whole answer. */
  ask(run: Run, options?: Options): Promise<unknown>;
  /** One item for each word of a stream. */
  words(run: Run): AsyncIterable<unknown>;
  shown(error: Failure): Shown;
  models(run: Run): {
    list(): AsyncIterable<{ readonly id: string }>;
    retrieve(id: string): PromiseLike<{ readonly id: string }>;
  };
}

/** Window and output limit of a model, which the SDKs of either style pass on under the names of their styles. */
const limitsOf = (model: object): readonly unknown[] => {
  const one = model as Readonly<Record<string, unknown>>;
  return [one.context_window ?? one.max_input_tokens, one.max_output_tokens ?? one.max_tokens];
};

const ORDER = { "Idempotency-Key": "order-1" };

export function conductOf<Failure extends Error>(sdk: Sdk<Failure>): Script {
  const failing = async (run: Run, options: Options) => sdk.shown(await thrownBy(sdk.ask(run, options)));
  async function asked(run: Run, lost: number, maxRetries: number, headers: Record<string, string> = {}) {
    const { fetch, statuses } = watched(lost);
    return { text: await sdk.ask(run, { fetch, maxRetries, headers }), statuses };
  }
  return {
    trouble: (run) => failing(run, { maxTokens: 5 }),
    trouble_streamed: (run) => failing(run, { maxTokens: 5, stream: true }),
    timed_out: (run) => failing(run, { timeout: 2_000 }),
    retried: (run) => asked(run, 0, 1),
    answer_lost: (run) => asked(run, 1, 1, ORDER),
    answer_lost_without_key: (run) => asked(run, 1, 1),

    async cancelled(run) {
      const error = await thrownBy(sdk.ask(run, { signal: AbortSignal.timeout(2_000) }));
      return { cancelled: error instanceof sdk.abortError };
    },

    async left_amid_stream(run) {
      let words = 0;
      for await (const _ of sdk.words(run)) if (++words === 5) break;
      return { words };
    },

    async broken_stream(run) {
      let words = 0;
      const reading = (async () => {
        for await (const _ of sdk.words(run)) words++;
      })();
      const error = await thrownBy(reading);
      return { words, is_api_error: error instanceof sdk.apiError, error_type: sdk.shown(error).type };
    },

    async not_retried(run) {
      const { fetch, statuses } = watched();
      const error = await thrownBy(sdk.ask(run, { fetch, maxRetries: 2 }));
      return { code: sdk.shown(error).code, should_retry: error.headers.get("x-should-retry"), statuses };
    },

    async models(run) {
      const models = sdk.models(run);
      const ids = (await Array.fromAsync(models.list())).map(({ id }) => id);
      const missing = sdk.shown(await thrownBy(models.retrieve("unpriced-model")));
      return {
        listed: ids.includes(run.model) && ids.length === new Set(ids).size,
        found: (await models.retrieve(run.model)).id,
        limits: limitsOf(await models.retrieve("gpt-4o")),
        class: missing.class,
        missing: missing.code,
      };
    },
  };
}
