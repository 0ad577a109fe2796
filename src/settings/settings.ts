// Reads every setting of the process from the environment once, and validates them as a whole. No other file
// may read process.env. An invalid value is one clear line that names it; main.ts prints it and exits with 2.

import { parseAddresses } from "../../actors/ip-allow-list.ts";
import { CLOCK_OFFSET_MS_MAX } from "../base/clock.ts";
import { API_KINDS, API_VERSION, type ApiKind, DEFAULT_API_VERSIONS } from "../upstream/cloud-a.ts";
import { faultOfNatsUrl, faultOfOrigin, faultOfStoreUrl, isMongodb } from "./connection-url.ts";
import { readTracing, TracingFault, type TracingSettings } from "./tracing-settings.ts";

/**
 * Thrown for a setting, or an environment, with which the process cannot start. The message is for the
 * operator.
 */
export class BadSetting extends Error {}

/** The validated settings; docs/settings.md describes each. */
export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number | null;
  /** Where browsers find the administration; null where it is at the same address as everything else. */
  readonly adminUrl: string | null;
  readonly storeUrl: string;
  /** URL of NATS, the bus between nodes; null for a single process. */
  readonly natsUrl: string | null;
  /** How many processes of this machine, each a node, share its ports. */
  readonly processes: number;
  /** Which of them this is; null for a process alone, and for their parent. */
  readonly share: Share | null;
  readonly nodeName: string | null;
  readonly rootKey: string | null;
  readonly secretsKey: string | null;
  readonly secretsKeyOld: string | null;
  readonly trustProxy: readonly string[];
  readonly providerAllowCidrs: readonly string[];
  readonly publicUrls: readonly string[];
  /** Web origins whose pages may read answers, `*` for all; empty means none. */
  readonly corsOrigins: readonly string[];
  /** The api-versions for cloud_a keys whose Config names none. */
  readonly cloudAApiVersions: Readonly<Record<ApiKind, string>>;
  /** URL at which cloud_b keys exchange signed assertions for access tokens. */
  readonly cloudBTokenUrl: string;
  readonly spoolDir: string;
  readonly clockOffsetMs: number;
  readonly allowClockOffset: boolean;
  readonly logLevel: "debug" | "info" | "warn" | "error";
  readonly logFormat: "pretty" | "json";
  /** Whether every request is a line on the standard output. */
  readonly accessLog: boolean;
  /** What sends requests to providers: our own HTTP/1.1 connections, or the runtime's fetch. */
  readonly upstreamClient: "sockets" | "fetch";
  readonly upstreamTimeoutMs: number;
  readonly upstreamFirstMs: number;
  readonly upstreamIdleMs: number;
  /** Silence of a stream, ms, after which an SSE comment is sent; 0 means never. */
  readonly sseKeepaliveMs: number;
  readonly maxBodyBytes: number;
  readonly holdOutputTokens: number;
  readonly chargeWaitMs: number;
  readonly apiRpm: number;
  /** Consecutive failures after which a provider key sleeps. */
  readonly keyFailures: number;
  readonly drainMs: number;
  readonly lbWaitMs: number;
  /** Whether answers name the node that serves the account, for a load balancer. */
  readonly lbNodeHeader: boolean;
  readonly metricsToken: string | null;
  /** How traces of requests are exported; null where they are not. */
  readonly tracing: TracingSettings | null;
  /** Days that lines of the operation log are kept. */
  readonly logDays: number;
}

/** What sets one of several processes on the same ports apart. */
export interface Share {
  /** Its number, from 1. */
  readonly process: number;
  /** Where administration answers for this process alone; 0 chooses a free port, null: nowhere. */
  readonly ownPort: number | null;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads and validates the environment. `terminal` chooses readable log lines by default. Throws BadSetting.
 */
export function readSettings(env: Env, terminal: boolean): Settings {
  const text = (name: string): string | null => {
    const value = env[name]?.trim();
    return value === undefined || value === "" ? null : value;
  };
  const integer = (name: string, fallback: number, least: number, most: number): number => {
    const value = text(name);
    if (value === null) return fallback;
    if (!/^\d{1,15}$/.test(value) || Number(value) < least || Number(value) > most) {
      throw new BadSetting(`${name} must be an integer from ${least} to ${most}, not "${value}"`);
    }
    return Number(value);
  };
  const oneOf = <T extends string>(name: string, fallback: T, values: readonly T[]): T => {
    const value = text(name);
    if (value === null) return fallback;
    const found = values.find((one) => one === value);
    if (found === undefined)
      throw new BadSetting(`${name} must be one of ${values.join(", ")}, not "${value}"`);
    return found;
  };
  const cidrs = (name: string): string[] => {
    const parsed = parseAddresses(text(name) ?? "");
    if (parsed.ok) return parsed.value;
    throw new BadSetting(`${name}: "${parsed.item}" is neither an address nor a CIDR range`);
  };

  const storeUrl = text("STORE_URL") ?? "sqlite:data/arborgate.db";
  const natsUrl = text("NATS_URL");
  const fault = faultOfStoreUrl(storeUrl) ?? (natsUrl === null ? null : faultOfNatsUrl(natsUrl));
  if (fault !== null) throw new BadSetting(fault);
  if (natsUrl !== null && !isMongodb(storeUrl)) {
    throw new BadSetting("NATS_URL makes this a node of a cluster, which needs a STORE_URL of mongodb://");
  }
  const processes = integer("PROCESSES", 1, 1, PROCESSES_MAX);
  if (processes > 1 && natsUrl === null) {
    throw new BadSetting(
      "PROCESSES over 1 makes a cluster of this machine, which needs NATS_URL and a STORE_URL of mongodb://; one process alone serves an embedded store",
    );
  }
  const allowClockOffset = oneOf("ALLOW_CLOCK_OFFSET", "0", ["0", "1"]) === "1";
  const clockOffsetMs = integer("CLOCK_OFFSET_MS", 0, 0, CLOCK_OFFSET_MS_MAX);
  if (clockOffsetMs > 0 && !allowClockOffset) {
    throw new BadSetting("CLOCK_OFFSET_MS is for tests: it needs ALLOW_CLOCK_OFFSET=1");
  }
  const adminPort = text("ADMIN_PORT") === null ? null : integer("ADMIN_PORT", 0, 0, 65_535);

  const host = text("HOST") ?? "127.0.0.1";
  const port = integer("PORT", 8080, 0, 65_535);
  const adminHost = text("ADMIN_HOST") ?? host;
  if (adminHost === host) assertApart(port, adminPort);
  const adminUrl = text("ADMIN_URL") ?? urlAt(adminHost, adminPort);

  return {
    host,
    port,
    adminHost,
    adminPort,
    adminUrl: adminPort === null ? null : checkedWebUrl("ADMIN_URL", adminUrl),
    storeUrl,
    natsUrl,
    processes,
    share: null,
    nodeName: checkedNodeName(text("NODE_NAME")),
    rootKey: checkedRootKey(text("ROOT_KEY")),
    secretsKey: checkedSecretsKey("SECRETS_KEY", text("SECRETS_KEY")),
    secretsKeyOld: checkedSecretsKey("SECRETS_KEY_OLD", text("SECRETS_KEY_OLD")),
    trustProxy: cidrs("TRUST_PROXY"),
    providerAllowCidrs: cidrs("PROVIDER_ALLOW_CIDRS"),
    publicUrls: (text("PUBLIC_URL") ?? "")
      .split(/[\s,]+/)
      .filter((item) => item !== "")
      .map((item) => checkedWebUrl("PUBLIC_URL", item)),
    corsOrigins: checkedOrigins((text("CORS_ORIGINS") ?? "").split(/[\s,]+/).filter((item) => item !== "")),
    cloudAApiVersions: checkedVersions(text("CLOUD_A_API_VERSIONS") ?? "{}"),
    cloudBTokenUrl: checkedWebUrl("CLOUD_B_TOKEN_URL", text("CLOUD_B_TOKEN_URL") ?? TOKEN_URL),
    spoolDir: text("SPOOL_DIR") ?? "data/spool",
    clockOffsetMs,
    allowClockOffset,
    logLevel: oneOf("LOG_LEVEL", "info", ["debug", "info", "warn", "error"]),
    logFormat: oneOf("LOG_FORMAT", terminal ? "pretty" : "json", ["pretty", "json"]),
    accessLog: oneOf("ACCESS_LOG", "0", ["0", "1"]) === "1",
    upstreamClient: oneOf("UPSTREAM_CLIENT", "sockets", ["sockets", "fetch"]),
    upstreamTimeoutMs: integer("UPSTREAM_TIMEOUT_MS", 600_000, 1, 86_400_000),
    upstreamFirstMs: integer("UPSTREAM_FIRST_MS", 60_000, 1, 86_400_000),
    upstreamIdleMs: integer("UPSTREAM_IDLE_MS", 120_000, 1, 86_400_000),
    sseKeepaliveMs: text("SSE_KEEPALIVE_MS") === "0" ? 0 : integer("SSE_KEEPALIVE_MS", 0, 1_000, 60_000),
    maxBodyBytes: integer("MAX_BODY_MB", 64, 1, 1_024) * 1024 * 1024,
    holdOutputTokens: integer("HOLD_OUTPUT_TOKENS", 4_096, 0, 10_000_000),
    chargeWaitMs: integer("CHARGE_WAIT_MS", 5_000, 1, 600_000),
    apiRpm: integer("API_RPM", 3_000, 1, 1_000_000),
    keyFailures: integer("KEY_FAILURES", 3, 1, 1_000_000),
    drainMs: integer("DRAIN_MS", 30_000, 0, 3_600_000),
    lbWaitMs: integer("LB_WAIT_MS", natsUrl === null ? 0 : 5_000, 0, 600_000),
    lbNodeHeader: oneOf("LB_NODE_HEADER", "0", ["0", "1"]) === "1",
    metricsToken: text("METRICS_TOKEN"),
    tracing: checkedTracing(text),
    logDays: integer("LOG_DAYS", 365, 1, 36_500),
  };
}

/** No machine has more cores that this would help. */
const PROCESSES_MAX = 256;

const urlAt = (host: string, port: number | null): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Throws BadSetting when both listeners would have one port. */
function assertApart(port: number, adminPort: number | null): void {
  if (port === 0 || adminPort !== port) return;
  throw new BadSetting(`PORT and ADMIN_PORT must differ, or ADMIN_HOST from HOST: both ports are ${port}`);
}

function checkedTracing(text: (name: string) => string | null): TracingSettings | null {
  try {
    return readTracing(text);
  } catch (error) {
    if (error instanceof TracingFault) throw new BadSetting(error.message);
    throw error;
  }
}

function checkedRootKey(value: string | null): string | null {
  if (value !== null && !/^[\x21-\x7e]{32,128}$/.test(value)) {
    throw new BadSetting("ROOT_KEY must be 32 to 128 visible ASCII characters");
  }
  return value;
}

/**
 * Returns the name of a node unless it is a bad one: it becomes part of NATS subjects and registry keys, and must be easy to
 * recognize in logs. Throws BadSetting.
 */
export function checkedNodeName(value: string | null): string | null {
  if (value !== null && !/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(value)) {
    throw new BadSetting(
      "NODE_NAME must be 1 to 63 letters, digits, dots, hyphens and underscores, and begin with a letter or digit",
    );
  }
  return value;
}

function checkedSecretsKey(name: string, value: string | null): string | null {
  if (value !== null && Buffer.from(value, "base64").length !== 32) {
    throw new BadSetting(`${name} must be 32 bytes in base64`);
  }
  return value;
}

function checkedOrigins(origins: readonly string[]): readonly string[] {
  for (const origin of origins) {
    const fault = faultOfOrigin(origin);
    if (fault !== null) throw new BadSetting(`CORS_ORIGINS: ${fault}`);
  }
  return origins;
}

function checkedWebUrl(name: string, value: string): string {
  if (!/^https?:\/\//.test(value)) throw new BadSetting(`${name} must begin with https:// or http://`);
  if (!URL.canParse(value)) throw new BadSetting(`${name}: "${value}" is not a URL`);
  return value;
}

const TOKEN_URL = "https://oauth2.googleapis.com/token";

/** The default versions, overridden by those of the setting. */
function checkedVersions(value: string): Settings["cloudAApiVersions"] {
  const given = jsonOf(value);
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new BadSetting(`CLOUD_A_API_VERSIONS must be a JSON object such as {"chat":"2024-10-21"}`);
  }
  for (const [kind, version] of Object.entries(given)) {
    if (!API_KINDS.some((one) => one === kind)) {
      throw new BadSetting(`CLOUD_A_API_VERSIONS: "${kind}" is none of ${API_KINDS.join(", ")}`);
    }
    if (typeof version !== "string" || !API_VERSION.test(version)) {
      throw new BadSetting(
        `CLOUD_A_API_VERSIONS: "${kind}" must be YYYY-MM-DD, YYYY-MM-DD-preview, v1, latest or preview`,
      );
    }
  }
  return { ...DEFAULT_API_VERSIONS, ...given };
}

function jsonOf(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
