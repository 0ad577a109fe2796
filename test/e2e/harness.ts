// The bench of the end-to-end tests: the whole service in this process with a stand-in provider, a store in a temporary
// directory and ports of the system's choice; and the few calls every test needs. Nothing here asserts.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log, LogLevel } from "../../src/base/log.ts";
import type { ConsoleSource } from "../../src/node/console-files.ts";
import { type Service, startService } from "../../src/node/service.ts";
import { readSettings, type Settings } from "../../src/settings/settings.ts";
import { sampleConsole } from "../http/console/sample-console.ts";
import { type Provider, type ProviderOptions, startProvider } from "../provider/provider.ts";
import { record } from "./recorded.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read answers as a stranger's script would
export type Json = any;

/** The model of most tests, priced apart from any list: 1 USD a million in, 2 out, so a token costs 1000 or 2000 nano. */
export const MODEL = "bench-model";
export const PRICING = { ChatPricing: { [MODEL]: { InputText: 1, OutputText: 2, CachedText: 0.5 } } };

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined when the text is not JSON. */
  readonly body: Json;
  readonly text: string;
}

export interface LogLine {
  readonly level: LogLevel;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Account {
  readonly id: number;
  readonly key: string;
  readonly name: string;
}

/** A provider key at the stand-in. */
export interface UpstreamKey {
  readonly id: number;
  readonly secret: string;
}

export interface Owner extends Account {
  /** The keys of Level 1 that it was made with: of equal ones the first is tried first. */
  readonly keys: readonly UpstreamKey[];
  /** Their secrets. */
  readonly secrets: readonly string[];
}

export interface Bench {
  readonly service: Service;
  readonly url: string;
  readonly rootKey: string;
  readonly provider: Provider;
  readonly directory: string;
  readonly log: LogLine[];
  call(key: string | null, method: string, path: string, body?: unknown, more?: Sending): Promise<Answer>;
  chat(key: string, said: string, more?: object, sending?: Sending): Promise<Answer>;
  /**
   * An Owner with keys of Level 1 at the stand-in, every model on that Level, and MODEL priced; `config`: what else. Of equal
   * keys the first is tried first, since conversations choose none unless `config` says so.
   */
  owner(given?: {
    credit?: number;
    keys?: number;
    pricing?: object;
    style?: "chat" | "messages";
    config?: object;
  }): Promise<Owner>;
  /** Adds keys at the stand-in to a Level of the Owner's. */
  level(owner: Account, level: number, keys: number, more?: object): Promise<UpstreamKey[]>;
  subaccount(parent: Account, given?: Record<string, unknown>): Promise<Account>;
  /** All lines of an account, oldest first. */
  ledger(key: string): Promise<Json[]>;
  balance(key: string): Promise<number>;
  /**
   * Is nothing held on the account? A request that may cost more than the whole balance is admitted only when no other
   * hold is open (contract section 4), so its admission is the proof. It costs a token or two.
   */
  nothingHeld(key: string): Promise<boolean>;
  /** Shifts business time: windows, expiry and days see it at once, timers do not. */
  moveClock(ms: number): void;
  /** Business time, wall ms. */
  now(): number;
  close(): Promise<void>;
}

export interface Sending {
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

export interface BenchOptions {
  readonly settings?: Record<string, string>;
  readonly provider?: ProviderOptions;
  /** Business time at the start, wall ms; the machine's time without it. It may be earlier, too. */
  readonly startAt?: number;
  /** What is served as the console; a sample of a few bytes, unless a browser is to open it. */
  readonly console?: ConsoleSource;
}

let made = 0;
/** A number that no other account, key or request of this process has. */
export const fresh = (): string => `${(++made).toString(36)}x${process.pid.toString(36)}`;

export async function startBench(options: BenchOptions = {}): Promise<Bench> {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-bench-"));
  const log: LogLine[] = [];
  const settings: { -readonly [K in keyof Settings]: Settings[K] } = readSettings(
    {
      PORT: "0",
      STORE_URL: `sqlite:${join(directory, "bench.db")}`,
      SPOOL_DIR: join(directory, "spool"),
      PROVIDER_ALLOW_CIDRS: "127.0.0.0/8",
      DRAIN_MS: "2000",
      API_RPM: "1000000",
      // Tests move business time.
      ALLOW_CLOCK_OFFSET: "1",
      // Any suite, and the fault bench, can be run over either client.
      UPSTREAM_CLIENT: process.env.UPSTREAM_CLIENT ?? "sockets",
      ...options.settings,
    },
    false,
  );
  if (options.startAt !== undefined) settings.clockOffsetMs = options.startAt - Date.now();
  const provider = startProvider(options.provider);
  const note: Log = (level, event, fields = {}) => {
    log.push({ level, event, fields });
  };
  const consoleSource = options.console ?? sampleConsole(join(directory, "console"));
  const service = await startService(settings, note, undefined, consoleSource);
  const calls = callsTo(() => service.url);
  const rootKey = service.rootKey!;
  return {
    ...calls,
    ...accountFactory(calls.call, rootKey, provider.url),
    service,
    url: service.url,
    rootKey,
    provider,
    directory,
    log,
    moveClock(ms) {
      settings.clockOffsetMs += ms;
    },
    now: () => Date.now() + settings.clockOffsetMs,
    async close() {
      await service.stop();
      provider.close();
      rmSync(directory, { recursive: true });
    },
  };
}

export type Call = Bench["call"];

/**
 * Speaking to a service at an address that may change (a restart takes another port). `seen` hears of every answer: by
 * default it is kept for the comparison with the document, which what stands before the service is no part of.
 */
export function callsTo(
  url: () => string,
  seen: typeof record = record,
): Pick<Bench, "call" | "chat" | "ledger" | "balance" | "nothingHeld"> {
  const call: Call = async (key, method, path, body, more = {}) => {
    const response = await fetch(url() + path, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        // A form names its own boundary.
        ...(body === undefined || body instanceof FormData ? {} : { "content-type": "application/json" }),
        ...more.headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" || body instanceof FormData ? body : JSON.stringify(body) }),
      ...(more.signal === undefined ? {} : { signal: more.signal }),
    });
    const text = await response.text();
    seen(method, path, { status: response.status, headers: response.headers, text });
    return { status: response.status, headers: response.headers, body: jsonOf(text), text };
  };
  const chat: Bench["chat"] = (key, said, more = {}, sending) =>
    call(key, "POST", "/v1/chat/completions", { ...asking(said), ...more }, sending);
  return {
    call,
    chat,
    nothingHeld: async (key) =>
      (await chat(key, "[[output=1]]", { max_tokens: 1_000_000_000 })).status === 200,
    async ledger(key) {
      const lines: Json[] = [];
      for (let page = 1; ; page++) {
        const answer = await call(key, "GET", `/dashboard/ledger?page=${page}&size=1000`);
        if (answer.status !== 200) throw new Error(`ledger: ${answer.status} ${answer.text}`);
        lines.push(...answer.body.lines);
        if (!answer.body.has_more) return lines.reverse();
      }
    },
    balance: async (key) => (await call(key, "GET", "/dashboard/status")).body.balance,
  };
}

export const asking = (said: string) => ({ model: MODEL, messages: [{ role: "user", content: said }] });

/** Returns the calls that create Owners, keys and accounts by the API of a service, with the key of Root. */
export function accountFactory(
  call: Call,
  rootKey: string,
  providerUrl: string,
): Pick<Bench, "owner" | "level" | "subaccount"> {
  const must = async (key: string, method: string, path: string, body: object): Promise<Json> => {
    const answer = await call(key, method, path, body);
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const add = async (key: string, given: Record<string, unknown>): Promise<Account> => {
    const name = `user-${fresh()}`;
    const body = { Name: name, Email: `${name}@bench.example`, CreditGranted: 10, ...given };
    const { User } = await must(key, "POST", "/x-users", body);
    return { id: User.ID, key: User.SecretKey, name: User.Updates.Name };
  };
  const level: Bench["level"] = async (owner, level, keys, more = {}) => {
    const added: UpstreamKey[] = [];
    for (let i = 0; i < keys; i++) {
      // The stand-in remembers a key by its last four characters.
      const secret = `sk-upstream-of-${fresh()}-${1_000 + (made % 9_000)}`;
      const given = { Level: level, Provider: providerUrl, SecretKey: secret, ...more };
      const { key } = await must(owner.key, "POST", "/x-keys", given);
      added.push({ id: key.ID, secret });
    }
    return added;
  };
  return {
    async owner({ credit = 1_000, keys = 1, pricing = PRICING, style = "chat", config = {} } = {}) {
      const owner = await add(rootKey, { CreditGranted: credit });
      const added = await level(owner, 1, keys, { Config: { api_style: style } });
      const settings = { LEVEL_MAPPER: "*=1", LEVEL_AFFINITY: "off", PRICING: pricing };
      await must(owner.key, "PUT", "/x-config", { ...settings, ...config });
      return { ...owner, keys: added, secrets: added.map(({ secret }) => secret) };
    },
    level,
    subaccount: (parent, given = {}) => add(parent.key, given),
  };
}

export function jsonOf(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A bound of waiting, not a judgement: on a machine with much else to do everything takes its time. */
const PATIENCE_MS = 20_000;

/**
 * Waits until a condition holds, looking again and again; fails with what it waited for. A look that throws counts as not
 * yet, because a service that is busy may refuse what is looked at; the last error is the cause of the failure.
 */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  mostMs = PATIENCE_MS,
): Promise<void> {
  const end = Date.now() + mostMs;
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    let cause: unknown;
    try {
      if (await holds()) return;
    } catch (error) {
      cause = error;
    }
    if (Date.now() > end) throw new Error(`not within ${mostMs} ms: ${what}`, { cause });
    await Bun.sleep(pauseMs);
  }
}

/** Dollars as whole nano-dollars: sums of them are exact. */
export const nano = (usd: number | string): number => Math.round(Number(usd) * 1e9);

export const charges = (lines: Json[]): Json[] => lines.filter((line) => line.type === "charge");

/** What the charges of a ledger sum up to, in nano-dollars. */
export const charged = (lines: Json[]): number =>
  charges(lines).reduce((sum, line) => sum - nano(line.amount), 0);
