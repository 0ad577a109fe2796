// A route is kept with the scope of the context that it was made from, and used while its Level has the same view.

import { describe, expect, test } from "bun:test";
import type { LevelView } from "../../../actors/level/view.ts";
import type { AccountContext } from "../../../src/gateway/account/account-context.ts";
import type { ConfigCache } from "../../../src/gateway/account/config-cache.ts";
import { findEndpoint } from "../../../src/gateway/endpoints.ts";
import { routeOf } from "../../../src/gateway/routing/resolve-route.ts";
import type { Route } from "../../../src/gateway/routing/route.ts";
import { accountContextOf } from "../account-context-samples.ts";
import { viewOf } from "../level-samples.ts";

const CHAT = findEndpoint("/v1/chat/completions");
const PRICE = { InputText: 1, OutputText: 1 };
const VIEW = viewOf(0, [1]);

const routed = (
  context: AccountContext,
  {
    view = VIEW,
    model = "m",
    endpoint = CHAT,
  }: { view?: LevelView; model?: string; endpoint?: typeof CHAT } = {},
): Route => {
  const configs: Pick<ConfigCache, "level"> = { level: () => view };
  const found = routeOf(configs as ConfigCache, context, endpoint, model);
  if (found instanceof Promise || !found.ok) throw new Error("there is a route, at once");
  return found;
};

const sampleContext = (): AccountContext =>
  accountContextOf({
    chain: [{}, { id: 1_000 }] as never,
    config: { pricing: { ChatPricing: { "*": PRICE } } },
  });

describe("a route", () => {
  test("is found again for the same scope, and made anew for another", () => {
    const context = sampleContext();
    const first = routed(context);
    expect(routed(context)).toBe(first);
    expect(routed({ ...context })).toBe(first);
    const second = routed({ ...context, scope: { ...context.scope } });
    expect(second).not.toBe(first);
    expect(second.model).toBe(first.model);
    expect(routed(context)).toBe(first);
  });

  test("has the newest view of its Level", () => {
    const context = sampleContext();
    routed(context);
    const view = viewOf(0, [1, 2]);
    expect(routed(context, { view }).view).toBe(view);
  });

  test("is another for another model and another path, and none is kept for a very long name", () => {
    const context = sampleContext();
    const first = routed(context);
    expect(routed(context, { model: "n" }).model).toBe("n");
    expect(routed(context, { endpoint: findEndpoint("/v1/completions") })).not.toBe(first);
    expect(routed(context)).toBe(first);
    const model = "n".repeat(300);
    expect(routed(context, { model })).not.toBe(routed(context, { model }));
  });

  test("is not kept beyond a number of models and of scopes", () => {
    const context = sampleContext();
    const first = routed(context);
    for (let i = 0; i < 20; i++) routed(context, { model: `m${i}` });
    expect(routed(context)).not.toBe(first);
    const again = routed(context);
    for (let i = 0; i < 1_000; i++) routed(sampleContext());
    expect(routed(context)).not.toBe(again);
  });
});
