// Request bodies: bounded reading, and what an error states about a value that does not fit its
// schema: field and rule, never the value.

import { type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import type { ErrorCode } from "../base/error-codes.ts";
import { RefusedError } from "../base/errors.ts";
import { type BodyRequest, chunksOf, statedLength } from "../gateway/body.ts";

const refuse = (code: ErrorCode, message: string): never => {
  throw new RefusedError({ code, message });
};

/** Reads the whole body as text, decompressed. Refuses a body of more than `most` bytes without holding it. */
export async function readText(request: BodyRequest, most: number): Promise<string> {
  if (statedLength(request, most) !== null) return request.text();
  const chunks: Uint8Array[] = [];
  for await (const chunk of chunksOf(request, most)) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * Bytes of the body of a management call or a quote, which is read on the event loop: more than all maps of a configuration
 * take when each of their characters is an escape.
 */
export const MANAGEMENT_BODY_BYTES_MAX = 4 * 1024 * 1024;
/** Returns code and message for the first thing wrong with a value. They hold the field and its rule, no value. */
export function ruleOf(error: ValueError | undefined, what: string): [code: ErrorCode, message: string] {
  if (error === undefined) return ["invalid_parameter", `Something in ${what} is not as it must be.`];
  const field = error.path.slice(1).replaceAll("/", ".").slice(0, 200);
  if (error.type === ValueErrorType.ObjectAdditionalProperties) {
    const known = Object.keys(error.schema.properties ?? {}).join(", ");
    const hint = known === "" ? "" : ` Known there: ${known}.`;
    return ["unknown_field", `This endpoint does not know the field "${field}".${hint}`];
  }
  if (error.type === ValueErrorType.ObjectRequiredProperty) {
    return ["missing_parameter", `The field "${field}" is missing in ${what}.`];
  }
  const rule =
    typeof error.schema.description === "string" ? error.schema.description : error.message.toLowerCase();
  const whole = `${what.replace("the", "The")} must be an object.`;
  return ["invalid_parameter", field === "" ? whole : `"${field}": ${rule}.`];
}

/** Refuses a query that has a name twice. */
export function refuseRepeatedNames(url: string): void {
  const from = url.indexOf("?");
  if (from === -1) return;
  const names = [...new URLSearchParams(url.slice(from)).keys()];
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  if (repeated === undefined) return;
  refuse(
    "invalid_parameter",
    `"${repeated.slice(0, 200)}" stands in the query more than once. Give it once.`,
  );
}
