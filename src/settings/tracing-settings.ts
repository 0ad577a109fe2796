// Reads how traces are exported from the standard variables of OpenTelemetry. It validates values and must not load
// an OpenTelemetry package, because traces are off unless a variable asks for them.

/** How traces are exported. */
export interface TracingSettings {
  /** URL to which spans are posted. */
  readonly url: string;
  /** Headers of each export, which may hold a secret: they are never shown. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** Further attributes of the resource. */
  readonly resource: Readonly<Record<string, string>>;
  /** The share of traces that are sampled, from 0 to 1. */
  readonly ratio: number;
  /** Whether a caller's decision goes before the share. */
  readonly isParentBased: boolean;
  /** The longest time that one export may take. */
  readonly timeoutMs: number;
  readonly isCompressed: boolean;
  /** How long ended spans wait for others before they are exported. */
  readonly batchDelayMs: number;
}

/** A variable whose value cannot be used. */
export class TracingFault extends Error {}

type Text = (name: string) => string | null;

const DEFAULT_BASE = "http://localhost:4318";
const TRACES_PATH = "v1/traces";
const EXPORT_TIMEOUT_MS = 10_000;
const BATCH_DELAY_MS = 5_000;
const WAIT_MS_MAX = 600_000;

/**
 * Returns how traces are exported; null unless an endpoint or the exporter `otlp` is named. `text` returns the value of
 * a variable, null where it is unset. Throws `TracingFault` with a message that names the variable.
 * Source: OpenTelemetry specification, "Environment Variable Specification" and "OTLP Exporter Configuration".
 */
export function readTracing(text: Text): TracingSettings | null {
  const own = text("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  const base = text("OTEL_EXPORTER_OTLP_ENDPOINT");
  const exporter = text("OTEL_TRACES_EXPORTER");
  if (exporter !== null && exporter !== "otlp" && exporter !== "none") {
    throw new TracingFault(`OTEL_TRACES_EXPORTER must be otlp or none, not "${exporter}"`);
  }
  const isOff = isDisabled(text) || exporter === "none";
  if (isOff || (own === null && base === null && exporter === null)) return null;
  for (const name of ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"]) {
    const protocol = text(name);
    if (protocol === null || protocol === "http/json") continue;
    throw new TracingFault(`${name} must be http/json, the one protocol that is exported, not "${protocol}"`);
  }
  const resource = pairsIn(text, "OTEL_RESOURCE_ATTRIBUTES");
  return {
    url: own === null ? below(base ?? DEFAULT_BASE) : checkedUrl("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", own),
    headers: {
      ...headersIn(text, "OTEL_EXPORTER_OTLP_HEADERS"),
      ...headersIn(text, "OTEL_EXPORTER_OTLP_TRACES_HEADERS"),
    },
    serviceName: text("OTEL_SERVICE_NAME") ?? resource["service.name"] ?? "arborgate",
    resource,
    ...samplerOf(text),
    timeoutMs: msOf(
      text,
      ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"],
      EXPORT_TIMEOUT_MS,
    ),
    batchDelayMs: msOf(text, ["OTEL_BSP_SCHEDULE_DELAY"], BATCH_DELAY_MS),
    isCompressed: compressionOf(text) === "gzip",
  };
}

/**
 * Whether OTEL_SDK_DISABLED is true, in any case of letters. The specification takes every other word for false and asks for
 * a warning; it is refused instead, as every value that may not mean what it says.
 */
function isDisabled(text: Text): boolean {
  const value = text("OTEL_SDK_DISABLED");
  const word = value?.toLowerCase() ?? "false";
  if (word !== "true" && word !== "false") {
    throw new TracingFault(`OTEL_SDK_DISABLED must be true or false, not "${value}"`);
  }
  return word === "true";
}

/** The endpoint of all signals is a base URL, below whose path each signal has its own; a query stays behind it. */
function below(base: string): string {
  const url = new URL(checkedUrl("OTEL_EXPORTER_OTLP_ENDPOINT", base));
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/${TRACES_PATH}`;
  return url.href;
}

function checkedUrl(name: string, value: string): string {
  const url = URL.parse(value);
  // The value is not shown, because it may hold a password.
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new TracingFault(`${name} must be a URL that begins with https:// or http://`);
  }
  return value;
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Reads pairs that are headers. What HTTP cannot carry would fail every export. */
function headersIn(text: Text, name: string): Record<string, string> {
  const pairs = pairsIn(text, name);
  for (const [header, value] of Object.entries(pairs)) {
    if (HEADER_NAME.test(header) && HEADER_VALUE.test(value)) continue;
    throw new TracingFault(`${name} has a name or a value that no HTTP header can have`);
  }
  return pairs;
}

/** Reads `name=value` pairs that are separated by commas and percent-encoded. */
function pairsIn(text: Text, name: string): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const pair of (text(name) ?? "").split(",")) {
    if (pair.trim() === "") continue;
    const at = pair.indexOf("=");
    const key = pair.slice(0, Math.max(0, at)).trim();
    const value = decoded(pair.slice(at + 1).trim());
    if (key === "" || value === null)
      throw new TracingFault(`${name} must be name=value pairs, separated by commas`);
    pairs[key] = value;
  }
  return pairs;
}

function decoded(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

/** The samplers of the specification: the share of new traces, null where the argument says it. */
const SAMPLERS: ReadonlyMap<string, { readonly ratio: number | null; readonly isParentBased: boolean }> =
  new Map([
    ["always_on", { ratio: 1, isParentBased: false }],
    ["always_off", { ratio: 0, isParentBased: false }],
    ["traceidratio", { ratio: null, isParentBased: false }],
    ["parentbased_always_on", { ratio: 1, isParentBased: true }],
    ["parentbased_always_off", { ratio: 0, isParentBased: true }],
    ["parentbased_traceidratio", { ratio: null, isParentBased: true }],
  ]);

function samplerOf(text: Text): Pick<TracingSettings, "ratio" | "isParentBased"> {
  const name = text("OTEL_TRACES_SAMPLER") ?? "parentbased_always_on";
  const sampler = SAMPLERS.get(name);
  if (sampler === undefined) {
    throw new TracingFault(
      `OTEL_TRACES_SAMPLER must be one of ${[...SAMPLERS.keys()].join(", ")}, not "${name}"`,
    );
  }
  const argument = text("OTEL_TRACES_SAMPLER_ARG") ?? "1";
  const share = Number(argument);
  if (sampler.ratio === null && !(share >= 0 && share <= 1)) {
    throw new TracingFault(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "${argument}"`);
  }
  return { ...sampler, ratio: sampler.ratio ?? share };
}

function msOf(text: Text, names: readonly string[], fallback: number): number {
  const [name, value] = firstOf(text, ...names);
  if (value === null) return fallback;
  const ms = Number(value);
  if (!/^\d{1,9}$/.test(value) || ms < 1 || ms > WAIT_MS_MAX) {
    throw new TracingFault(`${name} must be milliseconds from 1 to ${WAIT_MS_MAX}, not "${value}"`);
  }
  return ms;
}

function compressionOf(text: Text): "gzip" | "none" {
  const [name, value] = firstOf(
    text,
    "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION",
    "OTEL_EXPORTER_OTLP_COMPRESSION",
  );
  if (value === null || value === "none") return "none";
  if (value === "gzip") return "gzip";
  throw new TracingFault(`${name} must be gzip or none, not "${value}"`);
}

/** The name and value of the first variable that is set. */
function firstOf(text: Text, ...names: readonly string[]): readonly [name: string, value: string | null] {
  const name = names.find((one) => text(one) !== null) ?? names[0]!;
  return [name, text(name)];
}
