// Requests as tests write them: a body, or its text, read in a dialect; and the test that each row of refusals is.

import { expect, test } from "bun:test";
import type { Dialect, ModelNaming, ModelRequest } from "../../src/dialect/dialect.ts";
import { jsonPayload } from "../../src/dialect/payload/payload-json.ts";

const payloadOf = (body: unknown) => jsonPayload(typeof body === "string" ? body : JSON.stringify(body));

export const parse = (dialect: Dialect, body: unknown) => dialect.parse(payloadOf(body));

/** The request; throws what it would be refused with. */
export function ask(dialect: Dialect, body: unknown): ModelRequest {
  const parsed = parse(dialect, body);
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  return parsed.request;
}

/** What goes to the provider. */
export function sent(dialect: Dialect, body: unknown, naming: ModelNaming): string {
  const given = dialect.upstreamBody(ask(dialect, body), naming);
  return typeof given === "string" ? given : Buffer.from(given).toString("utf8");
}

export const named = (model: string): ModelNaming => ({ model, add: {} });

/** A whole answer, read as that to the least request. */
export const read = (dialect: Dialect, least: unknown, answer: unknown) =>
  dialect.readAnswer(
    { text: typeof answer === "string" ? answer : JSON.stringify(answer), contentType: "application/json" },
    ask(dialect, least),
  );

/** Rules as tests list them: a body, the field that it breaks, and the code where it is not `invalid_parameter`. */
export type Refused = readonly (readonly [rule: string, body: unknown, field: string, code?: string])[];

/** One test for each rule: the body is refused for its field, which the message begins with. */
export const testRefusals = (dialect: Dialect, rows: Refused): void =>
  void test.each(rows)("%s", (_rule, body, field, code = "invalid_parameter") => {
    const parsed = parse(dialect, body);
    expect(parsed).toMatchObject({ ok: false, refusal: { field, code } });
    if (!parsed.ok) expect(parsed.refusal.message).toStartWith(field);
  });
