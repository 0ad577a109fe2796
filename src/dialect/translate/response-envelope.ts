// Builds the response object around an answer's items: its head, how far it is, and the fields of the request that this
// style repeats. Nothing is stored, so `store` is false whatever the default is.

import type { Json } from "../json.ts";
import { statedFields } from "./repeated-fields.ts";
import type { AnswerContext } from "./translation.ts";

/** How far a response is. */
export interface ResponseState {
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  readonly output: readonly Json[];
  /** Null while it is not finished. */
  readonly usage: Json | null;
  readonly error?: Json;
  /** Why it is incomplete; null when it is not. */
  readonly incomplete?: string | null;
}

/** The response object of one answer. The repeated fields are written as JSON once. */
export class ResponseEnvelope {
  readonly #head: Json;
  readonly #repeated: Json;
  readonly #repeatedText: string;

  constructor({ id, now, model, repeatedFields }: AnswerContext) {
    this.#head = { id: `resp_${id}`, object: "response", created_at: Math.floor(now / 1000) };
    const own = { background: false, model, previous_response_id: null, store: false };
    this.#repeated = { ...own, ...statedFields(repeatedFields) };
    this.#repeatedText = JSON.stringify(this.#repeated).slice(1);
  }

  /** Returns the response as an object. */
  object(state: ResponseState): Json {
    return { ...this.#fields(state), ...this.#repeated };
  }

  /** Returns the same as JSON on one line. */
  text(state: ResponseState): string {
    return `${JSON.stringify(this.#fields(state)).slice(0, -1)},${this.#repeatedText}`;
  }

  #fields({ status, output, usage, error, incomplete = null }: ResponseState): Json {
    return {
      ...this.#head,
      // A translation has no clock; both times are that of the attempt.
      completed_at: status === "completed" ? this.#head.created_at : null,
      status,
      error: error ?? null,
      incomplete_details: incomplete === null ? null : { reason: incomplete },
      output,
      usage,
    };
  }
}
