// The job that reads a provider's large whole answer: its bytes for the client, and what its charge needs.

import { isUtf8 } from "node:buffer";
import type { WholeAnswer } from "../../dialect/dialect.ts";
import { jsonPayload } from "../../dialect/payload/payload-json.ts";
import { reopened } from "../codec/native-codec.ts";
import type { ProviderExchange } from "../codec/provider-codec.ts";
import { StoredResponseExchange } from "../codec/stored-response-codec.ts";
import { findEndpoint } from "../endpoints.ts";
import { type AnswerFacts, cutText, type JobResult, type LargeAnswer } from "./jobs.ts";
import { PackedNames } from "./packed-names.ts";

/** Characters of an answer's text by which its failure is classified, and some more for what is redacted. */
const FAULT_CHARS_MAX = 131_072;

const encoder = new TextEncoder();

/** Reads an answer; `ok` of its output is false where it cannot be read. */
export function readAnswer({ pieces, contentType, fingerprint, origin }: LargeAnswer): JobResult<"answer"> {
  const bytes = Buffer.concat(pieces);
  const text = bytes.toString("utf8");
  const exchange = exchangeOf(origin);
  const answer = exchange.readAnswer({ text, contentType });
  if (!answer.ok) return { body: null, output: { ok: false, text: text.slice(0, FAULT_CHARS_MAX) } };
  const client = exchange.clientText(text, answer.body, fingerprint);
  // An answer that passes unchanged is sent as it came.
  const isSame = client === text && isUtf8(bytes);
  return {
    body: null,
    output: { ...answerFacts(origin, answer), client: isSame ? bytes : encoder.encode(client) },
  };
}

function exchangeOf(origin: LargeAnswer["origin"]): ProviderExchange {
  if (origin.kind === "stored") {
    const unsent = { method: "GET", body: null, headers: {} } as const;
    return new StoredResponseExchange("", unsent, origin.model, origin.naming);
  }
  return reopened(findEndpoint(origin.path), {
    ...origin,
    request: { ...origin.request, payload: jsonPayload("{}") },
    toolNames: new PackedNames(origin.toolNames),
  });
}

/** Ids of stored objects in one answer that are recorded. */
const MADE_MAX = 10_000;

function answerFacts(
  origin: LargeAnswer["origin"],
  { body, usage, serviceTier, texts, measured }: Extract<WholeAnswer, { ok: true }>,
): Omit<Extract<AnswerFacts, { ok: true }>, "client"> {
  const objects = origin.kind === "stored" ? undefined : findEndpoint(origin.path).dialect.objects;
  return {
    ok: true,
    answer: {
      ok: true,
      usage: isSmall(usage) ? usage : null,
      serviceTier: serviceTier === null ? null : cutText(serviceTier),
      texts: sampleOf(texts),
      measured: isSmall(measured) ? measured : {},
    },
    facts: {
      isJson: body !== null,
      model: typeof body?.model === "string" ? cutText(body.model) : null,
      made: body === null ? [] : (objects?.madeBy(body) ?? []).slice(0, MADE_MAX),
      chars: texts.reduce((sum, text) => sum + text.length, 0),
    },
  };
}

/** No provider's usage is as long. One that is counts as missing. */
const USAGE_CHARS_MAX = 100_000;

const isSmall = (value: unknown): boolean => (JSON.stringify(value) ?? "").length <= USAGE_CHARS_MAX;

/** Texts and characters that are kept for counting; beyond, they are a sample, as those of a long stream are. */
const TEXTS_MAX = 1_000;
const TEXTS_CHARS_MAX = 2_000_000;

function sampleOf(texts: readonly string[]): string[] {
  const every = Math.ceil(texts.length / TEXTS_MAX);
  const some = texts.filter((_, i) => i % every === 0);
  const share = Math.floor(TEXTS_CHARS_MAX / Math.max(1, some.length));
  const chars = some.reduce((sum, text) => sum + text.length, 0);
  return chars <= TEXTS_CHARS_MAX ? some : some.map((text) => text.slice(0, Math.max(1, share)));
}
