// The table of the gateway's paths: every path that takes a request to a model is a row, every row is served, and every row
// says how it is held and metered.

import { describe, expect, test } from "bun:test";
import { priceTable } from "../../actors/pricing/price-table.ts";
import { findEndpoint, GATEWAY_ENDPOINTS } from "../../src/gateway/endpoints.ts";
import { worstCase } from "../../src/gateway/metering/hold-estimate.ts";
import { METERS, unitOf } from "../../src/gateway/metering/meter-kinds.ts";
import { type AppParts, routesOf } from "../../src/http/app.ts";
import { form, json } from "../dialect/media/bodies.ts";
import { GOOD } from "../e2e/surfaces-bodies.ts";
import { sizeOf } from "./request-samples.ts";

const POSTED = routesOf({} as AppParts)
  .filter(({ method, path }) => method === "POST" && path.startsWith("/v1/"))
  .map(({ path }) => path);

/** What is asked below /v1 without a call to a provider. */
const NO_CALLS = ["/v1/quote"];

test("every POST below /v1 is a row, or makes no call", () => {
  const rows = GATEWAY_ENDPOINTS.map(({ path }) => path);
  expect(POSTED.filter((path) => !rows.includes(path))).toEqual(NO_CALLS);
});

test("every row is served, once", () => {
  expect(GATEWAY_ENDPOINTS.filter(({ path }) => POSTED.filter((one) => one === path).length !== 1)).toEqual(
    [],
  );
});

test("every row stands in the table of docs/paths.md", async () => {
  const table = await Bun.file(new URL("../../docs/paths.md", import.meta.url)).text();
  const documented = [...table.matchAll(/^\| (`\/v1\/[^|]+`) \|/gm)].flatMap(
    ([, cell]) => cell!.match(/[^`, ]+/g)!,
  );
  expect(documented.sort()).toEqual(GATEWAY_ENDPOINTS.map(({ path }) => path).sort());
});

test("a path that is in no row is refused by name", () => {
  expect(() => findEndpoint("/v1/files")).toThrow("path");
});

describe.each(GATEWAY_ENDPOINTS.map((endpoint) => [endpoint.path, endpoint] as const))(
  "%s",
  (_, endpoint) => {
    test("has a meter of the table", () => {
      expect(Object.values(METERS)).toContain(endpoint.meter as never);
      expect(endpoint.meter.groups.length).toBeGreaterThan(0);
    });

    test("holds more than nothing, in each group in which its models may be priced", () => {
      const prices = {
        ChatPricing: { InputText: 1, OutputText: 1 },
        ImgPricing: { Call: 1 },
        AudioPricing: { Input: 1 },
        RerankPricing: { Call: 1 },
        CallPricing: { Call: 1 },
      };
      const size = sizeOf({ measured: { calls: 1, chars: 1, seconds: 1 } });
      for (const group of endpoint.meter.groups) {
        const table = priceTable({ [group]: { mine: prices[group as keyof typeof prices] } });
        const priced = table.find("mine", endpoint.meter.groups)!;
        expect(priced.group).toBe(group);
        const candidate = { model: "mine", priced, pricedByTokens: null, prices: table };
        const { cost } = worstCase(endpoint.meter, candidate, size, { rates: 1, factor: 1 }, 4_096);
        expect(cost).toBeGreaterThan(0);
        expect(unitOf(endpoint.meter, priced, "mine")).toBeString();
      }
    });
  },
);

describe("what would change the price, or the answer's time, unseen", () => {
  const ASKED = { model: "m", max_tokens: 5, messages: [{ role: "user", content: "Hi" }] };
  const fieldsOf = async (path: string, more: Readonly<Record<string, unknown>>) => {
    const good = GOOD.find((one) => one.path === path)?.body("") ?? ASKED;
    if (!(good instanceof FormData)) return json({ ...good, ...more });
    const spelt = Object.entries(more).map(([name, value]) => [name, String(value)] as const);
    return form([...good.entries(), ...spelt] as [string, string | File][]);
  };
  const REFUSED = { speed: "fast", inference_geo: "us", background: true };
  /** Where the word means something else: what is behind a picture. */
  const isOther = (path: string, field: string) => path.startsWith("/v1/images/") && field === "background";
  const ROWS = GATEWAY_ENDPOINTS.flatMap(({ path }) =>
    Object.entries(REFUSED)
      .filter(([field]) => !isOther(path, field))
      .map(([field, value]) => [path, field, value] as const),
  );

  test.each(ROWS)("is refused at %s: %s %p", async (path, field, value) => {
    const { dialect } = findEndpoint(path);
    expect(dialect.parse(await fieldsOf(path, {})).ok).toBe(true);
    const parsed = dialect.parse(await fieldsOf(path, { [field]: value }));
    expect(parsed).toMatchObject({ ok: false, refusal: { code: "invalid_parameter", field } });
  });
});
