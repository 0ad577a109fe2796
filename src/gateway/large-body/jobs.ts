// What the event loop and a worker thread send each other about a body that is too large for the event loop: the jobs by
// name, with what goes in and what comes back. Only what later steps need comes back, bounded in size, since what a
// message holds is copied on the event loop. Bytes are handed over, never copied. A body of medium size is read on the event
// loop to the same facts.

import type { Refusal } from "../../base/errors.ts";
import type { ModelRequest, RequestRefusal, WholeAnswer } from "../../dialect/dialect.ts";
import type { Json } from "../../dialect/json.ts";
import type { Form } from "../../dialect/payload/form-parts.ts";
import type { JsonFields } from "../../dialect/payload/json-fields.ts";
import type { BodyBytes } from "../../dialect/payload/patched-bytes.ts";
import type { Demands } from "../../dialect/request-demands.ts";
import type { LargeAnswerFacts } from "../codec/provider-answer.ts";
import type { EncodeInput, RequestOrigin, StoredResponseOrigin } from "../codec/provider-codec.ts";

/** A body with the path that it was sent to. */
export interface SentBody {
  readonly body: BodyBytes;
  readonly contentType: string;
  readonly path: string;
}

/** What is known of a request without its body. */
export type RequestFacts = Omit<ModelRequest, "payload">;

/** What is kept of a request that was read, beside the bytes of its body. */
export interface RequestOutline {
  readonly parsed:
    | { readonly ok: true; readonly request: RequestFacts }
    | { readonly ok: false; readonly refusal: RequestRefusal };
  /** The few fields of the value that are read again later. */
  readonly outline: Json;
  readonly demands: Demands;
  /** Where the body can be patched; null where its value is needed to encode it. */
  readonly editable: { readonly fields: JsonFields } | { readonly form: Form } | null;
  readonly contentType: string;
}

/** The same of a request that a worker has read. */
export interface ReadFacts extends RequestOutline {
  /** The hash of prefix and body; null when none was asked for. */
  readonly hash: string | null;
}

/** A request encoded for a provider, with the bytes of its changed tool names, and with what its answer repeats. */
export interface EncodedFacts {
  readonly bytes: Uint8Array;
  readonly toolNames: Uint8Array;
  readonly repeatedFields: Json;
}

/** What is left on the event loop of a whole answer. */
export type AnswerFacts =
  | {
      readonly ok: true;
      readonly answer: Omit<Extract<WholeAnswer, { ok: true }>, "body">;
      readonly facts: Omit<LargeAnswerFacts, "client">;
      readonly client: Uint8Array<ArrayBuffer>;
    }
  | {
      readonly ok: false;
      /** The beginning of its text. */
      readonly text: string;
    };

/** The jobs by name: what goes in, and what comes out beside the body's bytes. */
export interface Jobs {
  read: { input: SentBody & { readonly hashPrefix: string | null }; output: ReadFacts };
  encode: {
    input: SentBody & {
      readonly request: RequestFacts;
      /** The path and the host name of the provider. */
      readonly providerPath: string;
      readonly host: string;
      readonly input: EncodeInput;
    };
    output: EncodedFacts | { readonly refusal: Refusal };
  };
  count: { input: SentBody & { readonly request: RequestFacts }; output: number };
  answer: { input: LargeAnswer; output: AnswerFacts };
}

/** A whole answer of a provider as it arrived, and how it is read. */
export interface LargeAnswer {
  readonly pieces: readonly Uint8Array[];
  readonly contentType: string;
  readonly fingerprint: string;
  readonly origin: StoredResponseOrigin | PackedOrigin;
}

/** What the exchange of a request was opened with, as a message carries it. */
interface PackedOrigin extends Omit<RequestOrigin, "request" | "toolNames"> {
  readonly request: RequestFacts;
  readonly toolNames: Uint8Array;
}

/** The result of a job, and the body whose bytes go back. */
export interface JobResult<K extends keyof Jobs> {
  readonly output: Jobs[K]["output"];
  readonly body: BodyBytes | null;
}

/** No price list has a longer name (specification, "Limits"), so what is longer names nothing. */
const NAME_CHARS_MAX = 131_073;

/** Cuts off what a message does not carry of a text. */
export const cutText = (text: string, most = NAME_CHARS_MAX): string =>
  text.length > most ? text.slice(0, most) : text;
