// `/x-keys` and `/x-events`: an Owner's provider keys, and what happened to them. The endpoints are declared here; what they
// do is in key-changes.ts, key-lists.ts and events.ts.

import { Elysia } from "elysia";
import { management } from "../management.ts";
import { operation, PAGE_HEADERS } from "../operation.ts";
import { NoQuerySchema } from "../schemas.ts";
import { listEvents } from "./events.ts";
import { addKey, deleteKey, type KeysParts, testKey, updateKey } from "./key-changes.ts";
import { findKeys, listKeys } from "./key-lists.ts";
import {
  AddedKeySchema,
  changedKeySchema,
  KeyEventsQuerySchema,
  KeyEventsSchema,
  KeyFilterParams,
  KeyListSchema,
  KeyOrKeysSchema,
  KeyParams,
  KeyQuerySchema,
  KeysQuerySchema,
  KeyUpdateSchema,
  NewProviderKeySchema,
  TestedKeySchema,
  TestedModelSchema,
} from "./schemas.ts";

const READS = { role: "owner", scope: "admin", audit: null } as const;
const TAGGED = { ...READS, hasEtag: true } as const;

/** Provider keys of an Owner. Source: specification, "Provider keys". */
export const providerKeys = (parts: KeysParts) =>
  new Elysia({ normalize: false })
    .use(management(parts))
    .post("/x-keys", ({ body, call }) => addKey(parts, call, body), {
      access: { role: "owner", scope: "admin", audit: "add_key" },
      query: NoQuerySchema,
      body: NewProviderKeySchema,
      response: AddedKeySchema,
      detail: ADD,
    })
    .get("/x-keys", ({ call, query, set }) => listKeys(parts, call, query, set), {
      access: TAGGED,
      query: KeysQuerySchema,
      response: KeyListSchema,
      detail: LIST,
    })
    .get("/x-keys/:key", ({ call, params, query, set }) => findKeys(parts, call, params.key, query, set), {
      access: TAGGED,
      params: KeyFilterParams,
      query: KeyQuerySchema,
      response: KeyOrKeysSchema,
      detail: GET,
    })
    .put(
      "/x-keys/:key",
      ({ body, call, params }) => updateKey(parts, call, params.key, body),
      updating("updateKey"),
    )
    .post(
      "/x-keys/:key",
      ({ body, call, params }) => updateKey(parts, call, params.key, body),
      updating("changeKey"),
    )
    .delete("/x-keys/:key", ({ call, params }) => deleteKey(parts, call, params.key), {
      access: { role: "owner", scope: "admin", audit: "delete_key" },
      params: KeyParams,
      query: NoQuerySchema,
      response: changedKeySchema("delete"),
      detail: DELETE,
    })
    .post("/x-keys/:key/test", ({ body, call, params }) => testKey(parts, call, params.key, body.model), {
      access: READS,
      params: KeyParams,
      query: NoQuerySchema,
      body: TestedModelSchema,
      response: TestedKeySchema,
      detail: TEST,
    })
    .get("/x-events", ({ call, query }) => listEvents(parts, call, query), {
      access: TAGGED,
      query: KeyEventsQuerySchema,
      response: KeyEventsSchema,
      detail: EVENTS,
    });

/** The declaration of both methods that change a key. */
const updating = (operationId: string) =>
  ({
    access: { role: "owner", scope: "admin", audit: "update_key" },
    params: KeyParams,
    query: NoQuerySchema,
    body: KeyUpdateSchema,
    response: changedKeySchema("update"),
    detail: operation({ ...UPDATE, operationId }),
  }) as const;

const KEY = {
  ID: 1,
  Name: "",
  Level: 1,
  Provider: "https://api.openai.com/v1",
  SecretKey: "sk-…abcd",
  Status: true,
  Config: {},
  CreatedAt: "2026-01-01T00:00:00.000Z",
  UpdatedAt: "2026-01-01T00:00:00.000Z",
};

/** A key as lists show it; of its sixty minutes only the last ones had attempts. */
const KEY_ROW = {
  ...KEY,
  State: "sleeping",
  Until: "2026-01-01T00:05:00.000Z",
  Reason: "server_error",
  InFlight: 0,
  LastHour: {
    attempts: 14,
    failures: 3,
    per_minute: [...new Array<number>(57).fill(0), 4, 7, 3],
    p50_ms: 832,
    p95_ms: 2_304,
  },
  CostToday: 0.0129,
};

const STATES =
  "`State`: `resting` and `sleeping` keys are unused until `Until`, for the `Reason` that is given; a `waking` key gets one " +
  "request as a probe; `disabled` is Status false. `InFlight` and `LastHour` are added up over the nodes of a cluster that " +
  "answer within a second, from their memory: they begin anew with a node's start. They count attempts of requests to models, " +
  "also those that failed over, and no key tests.";

const PROVIDER_ERRORS = ["self_referencing_provider", "forbidden_provider_address"] as const;

const UPDATE = {
  tag: "Administration",
  summary: "Change a provider key",
  description:
    "`Config` is merged field by field, null takes a field away, `model_mapping` and `api_versions` are replaced as a " +
    "whole. A `SecretKey` or `private_key` that equals its mask leaves the secret as it is. `Sleep` false wakes the key.",
  requestExample: { Status: false },
  answerExample: { success: true, Action: "update", key: { ...KEY, Status: false } },
  errors: [...PROVIDER_ERRORS, "missing_parameter", "key_not_found"],
} as const;

const ADD = operation({
  operationId: "addKey",
  tag: "Administration",
  summary: "Add a provider key",
  description:
    "Models of a provider that is known are mapped to the key's Level by themselves; `LevelMapper` says which. `Config`: " +
    "`api_style` belongs to `provider_type` standard, `model_mapping` and `api_versions` to cloud_a; cloud_b needs a " +
    "project and a location in `base_url` or Provider, `client_email` and `private_key`. `allow_provider_objects` lets requests name containers, files, vector stores and MCP " +
    "servers of the provider's account, which every account that reaches the key then shares. `responses` states whether the " +
    "provider has /v1/responses itself, where its host is not known; without it the provider's answer tells. Where it has none, " +
    "requests are translated.",
  requestExample: { Level: 1, Provider: KEY.Provider, SecretKey: "sk-your-own-provider-key" },
  answerExample: { success: true, Action: "add", key: KEY, LevelMapper: { "gpt-*": 1 } },
  errors: PROVIDER_ERRORS,
});

const LIST = operation({
  operationId: "listKeys",
  tag: "Administration",
  summary: "List provider keys",
  description: STATES,
  answerHeaders: PAGE_HEADERS,
  answerExample: { success: true, keys: [KEY_ROW] },
});

const GET = operation({
  operationId: "getKey",
  tag: "Administration",
  summary: "Get a provider key, or those of a Level or a provider",
  description: STATES,
  answerHeaders: PAGE_HEADERS,
  answerExample: { success: true, key: KEY_ROW },
  errors: ["key_not_found"],
});

const DELETE = operation({
  operationId: "deleteKey",
  tag: "Administration",
  summary: "Delete a provider key",
  answerExample: { success: true, Action: "delete", key: KEY },
  errors: ["key_not_found"],
});

const TEST = operation({
  operationId: "testKey",
  tag: "Administration",
  summary: "Test a provider key with one tiny real call",
  description:
    "Whatever comes of it counts neither for nor against the key, also when it sleeps or is disabled, and is not charged " +
    "here. Without `model` the cheapest is taken that is known to lead to this key; a name goes to the provider as it " +
    "is given. One test of a key at a time, eight in all, each of at most 30 seconds.",
  requestExample: { model: "gpt-4o-mini" },
  answerExample: {
    success: false,
    status: 401,
    signal: "invalid_key",
    latency_ms: 212,
    url: "https://api.openai.com/v1/chat/completions",
    model: "gpt-4o-mini",
    message: "The provider does not take the key: check SecretKey. (status 401 invalid_api_key)",
  },
  errors: ["missing_parameter", "key_not_found"],
});

const EVENTS = operation({
  operationId: "listEvents",
  tag: "Administration",
  summary: "List sleeps, wakes and switch-overs of provider keys",
  description:
    "The last 1,000 over all Levels, newest first. They survive restarts, and trail by two seconds. A key whose sleep is " +
    "over wakes when its first request is answered. A switch-over uses the backup Level until `until`; without `to_level`, " +
    "SWITCH_OVER named none.",
  answerExample: {
    events: [
      {
        at: "2026-01-01T00:05:02.000Z",
        type: "wake",
        level: 1,
        key_id: 1,
        reason: "answered",
      },
      {
        at: "2026-01-01T00:00:00.000Z",
        type: "sleep",
        level: 1,
        key_id: 1,
        reason: "server_error",
        until: "2026-01-01T00:05:00.000Z",
      },
    ],
    total: 2,
    page: 1,
    size: 100,
    has_more: false,
  },
});
