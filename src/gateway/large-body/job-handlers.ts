// The jobs that a worker thread does with a large body, by name; this file encodes a request for a provider and counts
// its prompt. The work is that of the dialects and codecs, so a large body means what a small one means. It keeps
// nothing between jobs.

import { isForm } from "../../dialect/payload/form-parts.ts";
import { jsonPayload } from "../../dialect/payload/payload-json.ts";
import { codecAt } from "../codec/native-codec.ts";
import { findEndpoint } from "../endpoints.ts";
import { parseJsonBody } from "../json-body.ts";
import type { TokenCounter } from "../metering/token-counter.ts";
import { readAnswer } from "./answer-job.ts";
import type { JobResult, Jobs, SentBody } from "./jobs.ts";
import { packedNames } from "./packed-names.ts";
import { type OpenedBody, openBody, readRequest } from "./read-job.ts";

/** What does each job. It throws `RefusedError` for a body that cannot be read. */
export const JOB_HANDLERS: {
  readonly [K in keyof Jobs]: (
    input: Jobs[K]["input"],
    counter: TokenCounter,
  ) => JobResult<K> | Promise<JobResult<K>>;
} = { read: readRequest, encode: encodeRequest, count: countPrompt, answer: readAnswer };

const encoder = new TextEncoder();

function encodeRequest(job: Jobs["encode"]["input"]): JobResult<"encode"> {
  const { request, providerPath, host, input, ...given } = job;
  const codec = codecAt(findEndpoint(given.path), providerPath, host);
  if (codec === null) throw new Error("a key was chosen that does not serve the path");
  const { body, payload } = completePayload(given);
  const encoded = codec.encode({ ...request, payload }, input);
  if ("refusal" in encoded) return { body, output: encoded };
  const { body: sent, toolNames, repeatedFields } = encoded;
  const bytes = typeof sent === "string" ? encoder.encode(sent) : sent.slice();
  return { body, output: { bytes, toolNames: packedNames(toolNames), repeatedFields } };
}

/** Returns the payload with all strings complete, since any of them may be sent on. It leaves the bytes as they are. */
function completePayload({ body, contentType }: SentBody): Pick<OpenedBody, "body" | "payload"> {
  if (isForm(contentType)) throw new Error("a form is patched, not encoded");
  const text = Buffer.from(body.buffer.buffer, body.buffer.byteOffset + body.from, body.to - body.from);
  return { body, payload: jsonPayload(text.toString("utf8"), parseJsonBody) };
}

async function countPrompt(
  { request, ...given }: Jobs["count"]["input"],
  counter: TokenCounter,
): Promise<JobResult<"count">> {
  const { payload, body } = openBody(given);
  const texts = findEndpoint(given.path).dialect.promptTexts({ ...request, payload });
  return { body, output: await counter.count(texts) };
}
