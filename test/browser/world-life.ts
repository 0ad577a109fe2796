// Forty days in the life of the browser tests' world: requests of several models at several hours of each day, refused and
// failed ones, and what people do in between (recharges, prices, news, keys that fail). The same at every making: nothing
// is left to chance.

import { type Account, asking, type Bench, type Call } from "../e2e/harness.ts";
import type { Must } from "./world.ts";
import type { Tree } from "./world-tree.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Life {
  readonly bench: Bench;
  readonly call: Call;
  readonly must: Must;
  readonly tree: Tree;
  /** When it ends, wall ms. */
  readonly now: number;
}

/** A request to a model. `script` is the stand-in provider's script of its answer. */
interface Ask {
  readonly key: string;
  readonly model: string;
  readonly script: string;
  readonly tags?: string;
  readonly stream?: boolean;
}

/** Lives until `now`; returns how many requests were charged. */
export async function live(given: Life): Promise<number> {
  const { bench, now, tree } = given;
  let charged = 0;
  const call: Call = async (key, method, path, ...more) => {
    const answer = await given.call(key, method, path, ...more);
    if (path.startsWith("/v1/") && answer.status === 200) charged++;
    return answer;
  };
  const life: Life = { ...given, call };
  const acts = actsOf(life);
  for (const [step, at] of timesUntil(now).entries()) {
    bench.moveClock(at - bench.now());
    const day = Math.floor(now / DAY_MS) - Math.floor(at / DAY_MS);
    const act = acts[day];
    delete acts[day];
    await act?.();
    await askAll(life, asksOf(tree, step, new Date(at).getUTCDay() % 6 === 0));
  }
  await troubles(life);
  bench.moveClock(now - bench.now());
  await ending(life);
  return charged;
}

/** When requests are made: some weeks ago for the comparison with before, then twice a day, yesterday and today more often. */
function timesUntil(now: number): number[] {
  const midnight = Math.floor(now / DAY_MS) * DAY_MS;
  const at = (days: number, hour: number): number => midnight - days * DAY_MS + hour * HOUR_MS;
  const before = [at(38, 10), at(36, 15.2), at(33, 11.7), at(31, 9)];
  const days = [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2].flatMap((day) => [at(day, 9.3), at(day, 16.2)]);
  const yesterday = [8.1, 11.4, 14.2, 17.6, 20.9].map((hour) => at(1, hour));
  const today = [1.2, 7.7, 9.3, 10.6, 12.1, 13.3].map((hour) => at(0, hour));
  const lastHour = [52, 44, 37, 29, 21, 14].map((minutes) => now - minutes * 60_000);
  return [...before, ...days, ...yesterday, ...today, ...lastHour];
}

/** The requests of one step. Fewer are made at weekends. */
function asksOf(
  { leaf, design, reseller, teamMembers, owner, apiKeys, ...others }: Tree,
  step: number,
  quiet: boolean,
) {
  // Figures of a step that look like those of people, and are the same at every making.
  const some = (nth: number, most: number): number =>
    ((step * 7_919 + nth * 104_729) % most) + Math.ceil(most / 4);
  const script = (nth: number, prompt: number, more = "") =>
    `prompt=${some(nth, prompt)} output=${some(nth, 240)} ${more}`;
  const [indexing, ranking] = teamMembers as [Account, Account];
  const asks: Ask[] = [
    {
      key: leaf.key,
      model: "gpt-4o",
      script: script(1, 60_000, "cached=9000"),
      tags: "team=search,env=prod",
    },
    { key: leaf.key, model: "gpt-4o-mini", script: script(2, 90_000), stream: true },
    { key: apiKeys["ci-build"], model: "gpt-4o-mini", script: script(3, 90_000) },
    { key: indexing.key, model: "text-embedding-3-small", script: `prompt=${some(4, 6_000)}` },
    {
      key: ranking.key,
      model: "deepseek-chat",
      script: script(5, 80_000, "cached=15000"),
      tags: "team=ranking",
    },
    { key: reseller.key, model: "claude-sonnet-4-5", script: script(6, 30_000), tags: "env=prod" },
  ];
  const busy: Ask[] = [
    { key: apiKeys.notebook, model: "o4-mini", script: script(7, 40_000, "reasoning=50"), tags: "env=dev" },
    { key: apiKeys.设计稿件, model: "claude-haiku-4-5", script: script(8, 50_000), stream: true },
    { key: design.key, model: "house-model", script: script(9, 90_000) },
    { key: apiKeys["night-shift"], model: "fast", script: script(10, 90_000) },
    { key: owner.key, model: "gpt-4.1", script: script(11, 400_000), tags: "team=platform" },
    { key: others.nearLimit.key, model: "gpt-4o-mini", script: script(12, 80_000) },
    { key: others.low.key, model: "gpt-4o-mini", script: script(15, 9_000) },
    { key: others.emoji.key, model: "gpt-5-mini", script: script(13, 80_000, "utf8") },
    { key: others.otherOwner.key, model: "qwen-max", script: script(14, 20_000) },
  ];
  return quiet ? asks.slice(0, 3) : [...asks, ...busy.filter((_, nth) => (nth + step) % 3 !== 0)];
}

const bodyOf = ({ model, script, stream }: Ask): object => ({
  ...asking(`Summarise this please [[${script}]]`),
  ...{ model, max_tokens: 2_000 },
  ...(stream === true ? { stream: true } : {}),
});

async function askAll({ call }: Life, asks: readonly Ask[]): Promise<void> {
  const answers = await Promise.all(asks.map((ask) => send(call, ask)));
  for (const [nth, { status, text }] of answers.entries()) {
    if (status !== 200) throw new Error(`${JSON.stringify(asks[nth])}: ${status} ${text}`);
  }
}

/** Vectors have a path and an input of their own. */
const send = (call: Call, ask: Ask): ReturnType<Call> => {
  const headers = ask.tags === undefined ? {} : { "x-arbor-tags": ask.tags };
  return ask.model.startsWith("text-embedding")
    ? call(
        ask.key,
        "POST",
        "/v1/embeddings",
        { model: ask.model, input: `words [[${ask.script}]]` },
        { headers },
      )
    : call(ask.key, "POST", "/v1/chat/completions", bodyOf(ask), { headers });
};

type Acts = Record<number, (() => Promise<unknown>) | undefined>;

/** What people do, by how many days before the end. */
function actsOf({ bench, must, call, tree }: Life): Acts {
  const { owner, reseller, leaf, providerKeys, root } = tree;
  const configure = (fields: object) => must(owner.key, "PUT", "/x-config", fields);
  const user = (by: Account, of: Account, fields: object) => must(by.key, "PUT", `/x-users/${of.id}`, fields);
  return {
    38: () => configure({ MODEL_MAPPER: "fast=gpt-4o-mini,smart=claude-sonnet-4-5" }),
    36: () => must(owner.key, "POST", "/x-conf", { ModelMapper: "cheap=deepseek-chat" }),
    12: async () => {
      await configure({ MODEL_FAILOVER: "gpt-4o=gpt-4.1|gpt-4o-mini", SWITCH_OVER: "2=3" });
      await user(reseller, leaf, { CreditGranted: 40, Days: 30 });
    },
    10: () => call(leaf.key, "PUT", `/x-users/${leaf.id}`, { Rates: 1 }),
    // A bill over more than thirty days has a price; credit for three days expires; some is taken back.
    11: () => user(reseller, tree.design, { CreditGranted: 5, Days: 3 }),
    9: async () => {
      await must(leaf.key, "GET", "/dashboard/bill?days=40");
      await user(reseller, tree.emoji, { CreditGranted: -4 });
    },
    8: () =>
      configure({
        MODEL_LIMITS: { "gpt-4o": { rpm: 600 }, "claude-sonnet-4-5": { rpm: 120, tpm: 400_000 } },
      }),
    7: () => user(reseller, tree.suspended, { Suspended: true }),
    6: () => user(reseller, tree.disabled, { Status: false }),
    // A key that fails three times in a row sleeps, and answers again hours later.
    5: async () => {
      bench.provider.behave(providerKeys.open.secret, "fault=500", 3);
      const ask = { key: reseller.key, model: "deepseek-chat", script: "prompt=900 output=40" };
      for (let i = 0; i < 3; i++) await send(call, ask);
    },
    4: () =>
      must(owner.key, "POST", "/x-news", {
        title: "New models",
        content: "Qwen Max and GPT-5 mini are on Level 1.\nPrices are in the console.",
        days: 30,
      }),
    3: async () => {
      await configure({
        PRICING: {
          ChatPricing: {
            "gpt-4o": { OutputText: 11 },
            "house-model": { InputText: 0.5, OutputText: 1.5, CachedText: 0.1 },
          },
        },
      });
      await must(root.key, "POST", "/x-news", {
        title: "维护通知",
        content: "周日中午 12:00–13:00 (UTC) 系统维护。",
        days: 30,
      });
    },
    // Both keys of a Level fail three times in a row, so requests switch over to another Level until they wake.
    2: async () => {
      for (const { secret } of [providerKeys.sleepy, providerKeys.claude]) {
        bench.provider.behave(secret, "fault=529", 3);
      }
      for (let i = 0; i < 3; i++)
        await send(call, { key: reseller.key, model: "smart", script: "output=40" });
      await user(reseller, leaf, { CreditGranted: 120, Days: 180 });
    },
    1: async () => {
      await configure({ USER_API_BALANCE: 2 });
      await must(reseller.key, "POST", `/x-news/${leaf.id}`, {
        title: "Your limits were raised 🎉",
        content: "Ask if you need more.",
      });
      await must(owner.key, "POST", `/x-news/.1.${owner.id}.${reseller.id}.`, {
        title: "Invoices",
        content: "They are sent on the first of each month.",
      });
    },
  };
}

/** The last minutes: requests that are refused, fail or break off. */
async function troubles({ bench, call, tree, now }: Life): Promise<void> {
  const { leaf, low, apiKeys, providerKeys } = tree;
  bench.moveClock(now - 6 * 60_000 - bench.now());
  const ask = (key: string, model: string, script: string, more: object = {}): ReturnType<Call> =>
    call(key, "POST", "/v1/chat/completions", { ...bodyOf({ key, model, script }), ...more });
  // One of each: not on the leaf's list, without a price, wrong in itself, more than the balance, broken off, failed, not for
  // this key.
  await ask(leaf.key, "claude-opus-4-1", "output=10");
  await ask(leaf.key, "gpt-unheard-of", "output=10");
  await ask(leaf.key, "gpt-4o", "fault=400");
  await ask(low.key, "gpt-4o", "output=10", { max_tokens: 5_000_000 });
  await ask(leaf.key, "gpt-4o", "prompt=12000 output=60 fault=cut after=9", { stream: true });
  await ask(leaf.key, "o4-mini", "fault=503");
  await ask(apiKeys["ci-build"], "gpt-4o", "output=10");
  // Its provider says that the key is not valid, so it sleeps for half an hour; the other one answers. Of two requests at
  // the same time each key gets one.
  bench.provider.behave(providerKeys.sleepy.secret, "fault=401");
  const claude = () => ask(leaf.key, "claude-sonnet-4-5", "prompt=4000 output=80 head_ms=30");
  await Promise.all([claude(), claude()]);
}

/** What depends on what has been spent. */
async function ending({ must, tree }: Life): Promise<void> {
  const { reseller, nearLimit, owner, providerKeys } = tree;
  const { usage } = await must(reseller.key, "GET", `/x-info?user=${nearLimit.id}`);
  const HardLimit = Math.round(usage.month.cost / 0.0094) / 100;
  await must(reseller.key, "PUT", `/x-users/${nearLimit.id}`, { HardLimit });
  await must(owner.key, "PUT", `/x-keys/${providerKeys.spare.id}`, { Status: false });
}
