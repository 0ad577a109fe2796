// Every endpoint there is, once: how to call it well, which fields it takes and of which kind. The hostile tests multiply
// this table; a route without a row fails them.

import { type AppParts, routesOf } from "../../src/http/app.ts";
import { asking, type Bench, fresh, MODEL, type Owner } from "../e2e/harness.ts";
import { SAMPLE_MANIFEST } from "./console/sample-console.ts";

/** What a field takes. Anything of another kind must be refused. */
export type Kind =
  | "text"
  | "number"
  | "integer"
  | "boolean"
  | "object"
  | "objects"
  | "names"
  | "text or object"
  | "text or integer"
  | "text or boolean";

export interface Endpoint {
  readonly path: string;
  /** Whose key calls it well; null: no key is asked for. */
  readonly as: "root" | "owner" | "user" | null;
  /** A body that works; absent: the endpoint reads none. */
  readonly body?: () => Record<string, unknown>;
  /** A form that works, where the endpoint takes no JSON. */
  readonly form?: () => FormData;
  readonly fields?: Readonly<Record<string, Kind>>;
  /** A query that it cannot do without. */
  readonly good?: string;
  /** Query parameters that it knows. */
  readonly query?: readonly string[];
  /** Unknown fields pass through instead of being refused. */
  readonly open?: true;
}

/** The fields of a body, by what they take. */
const fieldsOf = (named: Partial<Record<Kind, string>>): Readonly<Record<string, Kind>> =>
  Object.fromEntries(
    Object.entries(named).flatMap(([kind, names]) => names.split(" ").map((name) => [name, kind as Kind])),
  );

/** Key 1 is the first key of the first Owner: in these tests there is always one. */
const KEY_UPDATE: Endpoint = {
  path: "/x-keys/1",
  as: "owner",
  body: () => ({ Name: "renamed" }),
  fields: fieldsOf({
    text: "Name Provider SecretKey",
    integer: "Level",
    boolean: "Status Sleep",
    object: "Config",
  }),
};

const CONFIGURATION: Endpoint = {
  path: "/x-config",
  as: "owner",
  body: () => ({ LEVEL_MAPPER: "*=1" }),
  fields: fieldsOf({
    "text or object": "MODEL_MAPPER LEVEL_MAPPER SWITCH_OVER MODEL_FAILOVER MODEL_LIMITS PRICING RESOURCES",
    number: "USER_MIN_BALANCE USER_API_BALANCE",
    text: "SERVICE_MAIL EMAIL_SMTP EMAIL_AUTH EMAIL_PASS LEVEL_AFFINITY",
    "text or integer": "EMAIL_PORT",
    "text or boolean": "EMAIL_TLS",
  }),
};

const API_KEY = fieldsOf({
  text: "Name AllowModels AllowIPs Resources ExpiresAt Tags",
  names: "Scopes",
  number: "HardLimit DailyLimit",
  integer: "RPM TPM",
});

const NEWS = {
  as: "owner",
  body: () => ({ title: "a title", content: "and what it is about" }),
  fields: fieldsOf({ text: "title content", integer: "days" }),
} as const;

const LOG_QUERY = ["page", "size", "from", "to", "action", "operator_id", "target_id", "status"];

const LEDGER_QUERY = [
  ...["page", "size", "from", "to", "type", "model", "api_key", "tag", "request", "format", "totals"],
];

/** What confirms a rotation today. */
export const confirming = (deed: "SELF" | "ROOT", at = Date.now()): string =>
  `${new Date(at).toISOString().slice(0, 10)}-ROTATE-${deed}`;

const LISTED = ["id", "name", "email", "level", "dna", "page", "size"];
const CHILDREN = [...LISTED, "parent", "sort", "order", "with"];

const USER_CHANGE = fieldsOf({
  number:
    "CreditGranted Rates HardLimit SoftLimit AutoQuota DailyLimit Factor CreditUsed ChargeAmount XCredit",
  integer: "Days UserLimit RPM RPH RPD TPM TPH TPD Level Role Gear Tier ParentID",
  boolean: "Status Suspended",
  text: "AllowIPs AllowModels AllowLevels Resources ModelMapper QRCode Alias BillingEmail LevelMapper DNA",
  "text or object": "ModelLimits",
});

function pictureForm(): FormData {
  const form = new FormData();
  form.set("model", MODEL);
  form.set("prompt", "add a boat");
  form.set("image", new File([new Uint8Array(64)], "picture.png", { type: "image/png" }));
  return form;
}

function soundForm(): FormData {
  const form = new FormData();
  form.set("model", MODEL);
  form.set("file", new File([new Uint8Array(64)], "sound.mp3", { type: "audio/mpeg" }));
  return form;
}

/**
 * An Owner for whom every row works: keys of both styles, the first of them key 1 of a fresh service, and account 3, which
 * is there to be changed.
 */
export async function hostOf(bench: Bench, given: Parameters<Bench["owner"]>[0] = {}): Promise<Owner> {
  const owner = await bench.owner(given);
  await bench.subaccount(owner);
  await bench.level(owner, 1, 1, { Config: { api_style: "messages" } });
  await bench.call(owner.key, "POST", "/dashboard/keys", { Name: `spare-${fresh()}` });
  return owner;
}

export const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  "POST /v1/chat/completions": {
    path: "/v1/chat/completions",
    as: "user",
    body: () => ({ ...asking("[[output=1]]"), max_tokens: 1 }),
    fields: fieldsOf({
      ...{ text: "model service_tier", objects: "messages", boolean: "stream", object: "stream_options" },
      ...{ integer: "n max_tokens max_completion_tokens" },
    }),
    open: true,
  },
  "POST /v1/messages": {
    path: "/v1/messages",
    as: "user",
    body: () => ({ ...asking("[[output=1]]"), max_tokens: 1 }),
    fields: fieldsOf({
      text: "model service_tier",
      objects: "messages",
      integer: "max_tokens",
      boolean: "stream",
    }),
    open: true,
  },
  "POST /v1/messages/count_tokens": {
    path: "/v1/messages/count_tokens",
    as: "user",
    body: () => asking("how many words"),
    fields: fieldsOf({ text: "model service_tier", objects: "messages" }),
    open: true,
  },
  "POST /v1/responses": {
    path: "/v1/responses",
    as: "user",
    body: () => ({ model: MODEL, input: "[[output=1]]", max_output_tokens: 1 }),
    fields: fieldsOf({
      text: "model service_tier",
      boolean: "stream",
      object: "stream_options",
      integer: "max_output_tokens max_tool_calls",
    }),
    open: true,
  },
  // Made anew for each call: see well-called.ts.
  "GET /v1/responses/:id": { path: "/v1/responses/resp_nobody", as: "user" },
  "DELETE /v1/responses/:id": { path: "/v1/responses/resp_nobody", as: "user" },
  "GET /v1/responses/:id/input_items": { path: "/v1/responses/resp_nobody/input_items", as: "user" },
  "POST /v1/completions": {
    path: "/v1/completions",
    as: "user",
    body: () => ({ model: MODEL, prompt: "[[output=1]]", max_tokens: 1 }),
    fields: fieldsOf({
      text: "model service_tier",
      boolean: "stream",
      object: "stream_options",
      integer: "n best_of max_tokens",
    }),
    open: true,
  },
  "POST /v1/embeddings": {
    path: "/v1/embeddings",
    as: "user",
    body: () => ({ model: MODEL, input: "a few words" }),
    fields: fieldsOf({ text: "model" }),
    open: true,
  },
  "POST /v1/images/generations": {
    path: "/v1/images/generations",
    as: "user",
    body: () => ({ model: MODEL, prompt: "a lighthouse", n: 1 }),
    fields: fieldsOf({ text: "model prompt size quality", integer: "n", boolean: "stream" }),
    open: true,
  },
  "POST /v1/images/edits": { path: "/v1/images/edits", as: "user", form: pictureForm },
  "POST /v1/images/variations": { path: "/v1/images/variations", as: "user", form: pictureForm },
  "POST /v1/audio/speech": {
    path: "/v1/audio/speech",
    as: "user",
    body: () => ({ model: MODEL, input: "Hello there.", voice: "alloy" }),
    fields: fieldsOf({ text: "model input response_format stream_format", number: "speed" }),
    open: true,
  },
  "POST /v1/audio/transcriptions": { path: "/v1/audio/transcriptions", as: "user", form: soundForm },
  "POST /v1/audio/translations": { path: "/v1/audio/translations", as: "user", form: soundForm },
  "POST /v1/rerank": {
    path: "/v1/rerank",
    as: "user",
    body: () => ({ model: MODEL, query: "a lighthouse", documents: ["a tower", "a boat"] }),
    fields: fieldsOf({ text: "model query" }),
    open: true,
  },
  "POST /v1/moderations": {
    path: "/v1/moderations",
    as: "user",
    body: () => ({ model: "omni-moderation-latest", input: "a few words" }),
    fields: fieldsOf({ text: "model" }),
    open: true,
  },
  "GET /v1/models": { path: "/v1/models", as: "user" },
  "GET /v1/models/*": { path: `/v1/models/${MODEL}`, as: "user" },
  "POST /v1/quote": {
    path: "/v1/quote",
    as: "user",
    body: () => ({ path: "/v1/chat/completions", body: { ...asking("hi"), max_tokens: 1 } }),
    fields: fieldsOf({ text: "path", object: "body" }),
    open: true,
  },
  "POST /x-users": {
    path: "/x-users",
    as: "owner",
    body: () => ({ Name: `good-${fresh()}`, Email: "a@b.example", CreditGranted: 2 }),
    fields: fieldsOf({
      ...{ text: "Name Email Alias BillingEmail AllowIPs AllowModels Resources" },
      ...{ number: "CreditGranted Rates HardLimit SoftLimit AutoQuota" },
      ...{ integer: "Days RPM RPH RPD TPM TPH TPD", object: "ModelLimits", boolean: "isOwner" },
    }),
  },
  "GET /x-users": { path: "/x-users", as: "owner", query: CHILDREN },
  // Account 3 is there for that: see hostOf.
  "GET /x-users/:identifier": { path: "/x-users/3", as: "owner", query: CHILDREN },
  "PUT /x-users/:identifier": {
    path: "/x-users/3",
    as: "owner",
    body: () => ({ Alias: "renamed" }),
    fields: USER_CHANGE,
  },
  "DELETE /x-users/:identifier": { path: "/x-users/3", as: "owner", query: ["recursive"] },
  "GET /x-dna": { path: "/x-dna", as: "owner", query: LISTED },
  "GET /x-dna/:identifier": { path: "/x-dna/3", as: "owner", query: LISTED },
  "GET /dashboard/status": { path: "/dashboard/status", as: "user", query: [] },
  "GET /dashboard/x-user-status": { path: "/dashboard/x-user-status", as: "user", query: [] },
  "GET /dashboard/info": { path: "/dashboard/info", as: "user", query: [] },
  "GET /dashboard/x-user-info": { path: "/dashboard/x-user-info", as: "user", query: [] },
  "GET /dashboard/live": { path: "/dashboard/live", as: "user", query: [] },
  // Account 2 is the first Owner.
  "GET /x-info": { path: "/x-info", as: "root", good: "?user=2", query: ["user"] },
  "GET /dashboard/requests": { path: "/dashboard/requests", as: "user", query: ["page", "size"] },
  "GET /x-requests": { path: "/x-requests", as: "root", good: "?user=2", query: ["user", "page", "size"] },
  "GET /dashboard/models": { path: "/dashboard/models", as: "user", query: [] },
  "GET /x-ledger": { path: "/x-ledger", as: "root", good: "?user=2", query: ["user", ...LEDGER_QUERY] },
  "GET /dashboard/bill": {
    path: "/dashboard/bill",
    as: "user",
    query: ["date", "d", "start", "s", "end", "e", "days", "object", "format", "group", "hours"],
  },
  "GET /x-bill": {
    path: "/x-bill",
    as: "owner",
    query: ["date", "d", "start", "s", "end", "e", "days", "object", "format", "user", "u", "group", "hours"],
  },
  "GET /dashboard/ledger": { path: "/dashboard/ledger", as: "user", query: LEDGER_QUERY },
  "GET /dashboard/explain": {
    path: "/dashboard/explain",
    as: "user",
    good: `?model=${MODEL}`,
    query: ["model", "request", "path", "api_key", "ip"],
  },
  "GET /x-explain": {
    path: "/x-explain",
    as: "root",
    // Account 2 is the first Owner.
    good: `?user=2&model=${MODEL}`,
    query: ["user", "model", "request", "path", "api_key", "ip"],
  },
  "POST /x-keys": {
    path: "/x-keys",
    as: "owner",
    body: () => ({
      Level: 7,
      Provider: "http://127.0.0.1:9",
      SecretKey: `sk-secret-of-${fresh()}-long-enough`,
    }),
    fields: fieldsOf({
      text: "Name Provider SecretKey",
      integer: "Level",
      boolean: "Status",
      object: "Config",
    }),
  },
  "GET /x-keys": { path: "/x-keys", as: "owner", query: ["id", "level", "provider", "page", "size"] },
  "GET /x-keys/:key": { path: "/x-keys/1", as: "owner", query: ["page", "size"] },
  "PUT /x-keys/:key": KEY_UPDATE,
  "POST /x-keys/:key": KEY_UPDATE,
  "DELETE /x-keys/:key": { path: "/x-keys/1", as: "owner", query: [] },
  "POST /x-keys/:key/test": { path: "/x-keys/1/test", as: "owner", query: [] },
  "GET /x-events": { path: "/x-events", as: "owner", query: ["from", "to", "page", "size"] },
  "GET /x-config": { path: "/x-config", as: "owner", query: [] },
  "PUT /x-config": CONFIGURATION,
  "POST /x-config": CONFIGURATION,
  "DELETE /x-config": {
    path: "/x-config",
    as: "owner",
    body: () => ({ keys: ["EMAIL_SMTP"] }),
    fields: fieldsOf({ names: "keys" }),
  },
  "GET /x-config/history": { path: "/x-config/history", as: "owner", query: ["page", "size"] },
  // Version 1 is what an Owner was made with: prices, and Levels for every model.
  "POST /x-config/revert": {
    path: "/x-config/revert",
    as: "owner",
    body: () => ({ version: 1 }),
    fields: fieldsOf({ integer: "version" }),
  },
  "POST /x-config/preview": {
    path: "/x-config/preview",
    as: "owner",
    body: () => ({ PRICING: { ChatPricing: { [MODEL]: { InputText: 2, OutputText: 4 } } } }),
    fields: fieldsOf({ "text or object": "PRICING" }),
  },
  // Made by an Owner with a mail server: see well-called.ts.
  "POST /x-config/test-mail": { path: "/x-config/test-mail", as: "owner", query: [] },
  "GET /x-prices": { path: "/x-prices", as: "owner", query: ["page", "size", "q"] },
  "GET /x-conf": { path: "/x-conf", as: "owner", query: [] },
  "POST /x-conf": {
    path: "/x-conf",
    as: "owner",
    body: () => ({ DelKeys: false }),
    fields: fieldsOf({
      boolean: "LoadKeys LogEnable SaveCache DelKeys",
      text: "Resources ModelMapper LevelMapper ModelFailover SwitchOver",
      "text or object": "ModelLimits",
    }),
  },
  "POST /x-news": { path: "/x-news", ...NEWS },
  "DELETE /x-news": { path: "/x-news", as: "owner", query: [] },
  // The place of account 2, the first Owner.
  "POST /x-news/:target": { path: "/x-news/.1.2.", ...NEWS },
  "DELETE /x-news/:target": { path: "/x-news/.1.2.", as: "owner", query: [] },
  "GET /dashboard/news": { path: "/dashboard/news", as: "user", query: [] },
  "GET /dashboard/x-user-news": { path: "/dashboard/x-user-news", as: "user", query: [] },
  "GET /dashboard/logs": { path: "/dashboard/logs", as: "user", query: LOG_QUERY },
  "GET /dashboard/x-user-logs": { path: "/dashboard/x-user-logs", as: "user", query: LOG_QUERY },
  "GET /dashboard/keys": { path: "/dashboard/keys", as: "owner", query: ["user", "page", "size"] },
  "POST /dashboard/keys": {
    path: "/dashboard/keys",
    as: "owner",
    query: ["user"],
    body: () => ({ Name: `good-${fresh()}` }),
    fields: API_KEY,
  },
  // Named key 1 of the Owner: see hostOf.
  "PUT /dashboard/keys/:id": {
    path: "/dashboard/keys/1",
    as: "owner",
    query: ["user"],
    body: () => ({ RPM: 5 }),
    fields: { ...API_KEY, Status: "boolean" },
  },
  "POST /dashboard/keys/:id/rotate": {
    path: "/dashboard/keys/1/rotate",
    as: "owner",
    query: ["user"],
  },
  "DELETE /dashboard/keys/:id": { path: "/dashboard/keys/1", as: "owner", query: ["user"] },
  "GET /x-gkey": { path: "/x-gkey", as: "user", query: [] },
  "POST /x-self": {
    path: "/x-self",
    as: "user",
    body: () => ({ confirm: confirming("SELF") }),
    fields: fieldsOf({ text: "confirm" }),
  },
  "POST /x-root": {
    path: "/x-root",
    as: "root",
    body: () => ({ confirm: confirming("ROOT"), name: "nobody of that name" }),
    fields: fieldsOf({ text: "confirm name key" }),
  },
  "GET /x-cluster": { path: "/x-cluster", as: "root" },
  "GET /x-money": { path: "/x-money", as: "owner", query: [] },
  "GET /x-attention": { path: "/x-attention", as: "owner", query: ["page", "size"] },
  // The last that writes: what comes after it may find another day.
  "PUT /x-clock": {
    path: "/x-clock",
    as: "root",
    body: () => ({ offset_ms: 0 }),
    fields: fieldsOf({ integer: "offset_ms" }),
  },
  "GET /healthz": { path: "/healthz", as: null },
  "GET /readyz": { path: "/readyz", as: null },
  "GET /metrics": { path: "/metrics", as: "root" },
  "GET /openapi.json": { path: "/openapi.json", as: null },
  "GET /": { path: "/", as: null },
  "GET /console": { path: "/console", as: null },
  "GET /console/*": { path: "/console/usage", as: null },
  "GET /console/files/:file": { path: `/console/files/${SAMPLE_MANIFEST.script}`, as: null },
  "GET /swagger": { path: "/swagger", as: null },
  "GET /swagger/:file": { path: "/swagger/start.js", as: null },
};

/** All routes of the application, as `METHOD /path`. */
export const routeNames = (): string[] =>
  routesOf({} as AppParts).map(({ method, path }) => `${method} ${path}`);

export const WRITING = Object.entries(ENDPOINTS)
  .filter(([, endpoint]) => endpoint.body !== undefined)
  .map(([name, endpoint]) => ({ name, ...endpoint, body: endpoint.body!, fields: endpoint.fields! }));

export const methodOf = (name: string): string => name.split(" ")[0]!;

/** Values of every other kind. */
export const WRONG: Readonly<Record<Kind, readonly unknown[]>> = {
  text: [0, 1, -1.5, true, false, [], ["text"], {}, { toString: "x" }],
  number: ["1", "", "NaN", true, [], [1], {}, "1e3", "0x10"],
  integer: ["1", "", true, [], [1], {}, 1.5, -0.5, 1e300, -1e300],
  boolean: ["true", "", 0, 1, [], {}, "false"],
  object: [0, true, "text", [], [{}], "{}"],
  objects: [0, true, "text", {}, { length: 1, 0: { role: "user" } }, [1], [null], [[]], ["x"]],
  names: [0, true, "text", {}, [], [1], [null], [[]], ["x"]],
  "text or object": [0, true, [], [{}], 1.5],
  "text or integer": [true, [], [1], {}, 1.5, -1, 1e300],
  "text or boolean": [0, 1, [], {}, "yes"],
};
