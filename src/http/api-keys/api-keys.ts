// `/dashboard/keys`: the API keys of an account beside its main key. The endpoints are declared here; what they do is in
// key-changes.ts.

import { Elysia } from "elysia";
import type { ApiKeyId } from "../../../actors/ids.ts";
import { management } from "../management.ts";
import { operation } from "../operation.ts";
import {
  type ApiKeysParts,
  addKeyTo,
  changeKey,
  deleteKeyOf,
  listKeysOf,
  rotateKeyOf,
} from "./key-changes.ts";
import {
  ApiKeyChangeSchema,
  ApiKeyParams,
  ApiKeyRotationSchema,
  ApiKeysQuerySchema,
  ApiKeysSchema,
  ChangedApiKeySchema,
  IssuedApiKeySchema,
  KeyAccountQuerySchema,
  NewApiKeySchema,
} from "./schemas.ts";

/** API keys of an account and of its descendants. Source: contract section 8, "API keys of an account". */
export const apiKeys = (parts: ApiKeysParts) =>
  new Elysia({ normalize: false })
    .use(management(parts))
    .get("/dashboard/keys", ({ call, query }) => listKeysOf(parts, call, query), {
      access: { role: "any", scope: "manage", audit: null },
      query: ApiKeysQuerySchema,
      response: ApiKeysSchema,
      detail: LIST,
    })
    .post("/dashboard/keys", ({ call, query, body }) => addKeyTo(parts, call, query, body), {
      access: { role: "any", scope: "manage", audit: "add_api_key" },
      query: KeyAccountQuerySchema,
      body: NewApiKeySchema,
      response: IssuedApiKeySchema,
      detail: ADD,
    })
    .put(
      "/dashboard/keys/:id",
      ({ call, params, query, body }) => changeKey(parts, call, { id: idOf(params), query }, body),
      {
        access: { role: "any", scope: "manage", audit: "update_api_key" },
        params: ApiKeyParams,
        query: KeyAccountQuerySchema,
        body: ApiKeyChangeSchema,
        response: ChangedApiKeySchema,
        detail: UPDATE,
      },
    )
    .post(
      "/dashboard/keys/:id/rotate",
      ({ call, params, query, body }) => rotateKeyOf(parts, call, { id: idOf(params), query }, body),
      {
        access: { role: "any", scope: "manage", audit: "rotate_api_key" },
        params: ApiKeyParams,
        query: KeyAccountQuerySchema,
        body: ApiKeyRotationSchema,
        response: IssuedApiKeySchema,
        detail: ROTATE,
      },
    )
    .delete(
      "/dashboard/keys/:id",
      ({ call, params, query }) => deleteKeyOf(parts, call, { id: idOf(params), query }),
      {
        access: { role: "any", scope: "manage", audit: "delete_api_key" },
        params: ApiKeyParams,
        query: KeyAccountQuerySchema,
        response: ChangedApiKeySchema,
        detail: DELETE,
      },
    );

const idOf = ({ id }: { readonly id: string }): ApiKeyId => Number(id) as ApiKeyId;

const ROW = {
  id: 1,
  name: "ci-build",
  public_key: "pk-0123456789abcdef",
  scopes: ["invoke"],
  allow_models: ["gpt-4o-mini"],
  allow_ips: [],
  resources: [],
  hard_limit: 50,
  daily_limit: 5,
  rpm: 60,
  tpm: 0,
  tags: { team: "build" },
  expires_at: "2026-12-31T23:59:59.000Z",
  status: true,
  created_at: "2026-01-01T00:00:00.000Z",
  created_by: 3,
  overlap_until: null,
  last_used_at: null,
  cost_today: 0,
  cost_month: 0,
  cost_total: 0,
};

const SECRET = "sk-0123456789abcdefghijABCDEFGHIJ0123456789abcdefghij";

const REACH_ERRORS = ["ambiguous_identifier", "user_not_found", "not_manager", "not_ancestor"] as const;
const TOUCH_ERRORS = [...REACH_ERRORS, "key_not_found", "field_not_settable", "scope_missing"] as const;

const LIST = operation({
  operationId: "listApiKeys",
  tag: "Dashboard",
  summary: "List the API keys of an account, the main key first",
  description:
    "`user` names a descendant. Costs are those of requests; `hard_limit` and `daily_limit` count the fees of bills too. " +
    "Secrets are never shown again.",
  errors: REACH_ERRORS,
  answerExample: { keys: [ROW], total: 1, page: 1, size: 100, has_more: false },
});

const ADD = operation({
  operationId: "addApiKey",
  tag: "Dashboard",
  summary: "Make an API key with scopes, lists and caps of its own",
  description:
    "A key spends its account's money, obeys all of its limits, and can only narrow them. Scopes: `invoke` all of `/v1`, " +
    "`read` what the account may see, `manage` what it may change, keys included, `admin` an Owner's administration (only " +
    "beside `manage`). Nobody gives a scope that the calling key has not; a key with `manage` takes no caps; its `AllowIPs` " +
    "and `ExpiresAt` bound those of every key that it makes. At most 200 keys an account.",
  requestExample: {
    Name: "ci-build",
    Scopes: ["invoke"],
    AllowModels: "gpt-4o-mini",
    HardLimit: 50,
    DailyLimit: 5,
    RPM: 60,
    ExpiresAt: "2026-12-31T23:59:59Z",
    Tags: "team=build",
  },
  answerExample: { success: true, key: ROW, secret: SECRET },
  errors: [...REACH_ERRORS, "duplicate_name", "key_limit_reached", "scope_missing"],
});

const UPDATE = operation({
  operationId: "updateApiKey",
  tag: "Dashboard",
  summary: "Change an API key, all or nothing",
  description:
    "Requests that are running finish and are charged to their key; every later one is decided by what is set here. `Status` " +
    "false disables the key, and ends the overlap of a rotation. The main key and the calling key are never changed here.",
  requestExample: { DailyLimit: 2, Status: true },
  answerExample: { success: true, key: { ...ROW, daily_limit: 2 } },
  errors: [...TOUCH_ERRORS, "missing_parameter", "duplicate_name"],
});

const ROTATE = operation({
  operationId: "rotateNamedApiKey",
  tag: "Dashboard",
  summary: "Give an API key another secret",
  description:
    "The former secret stays valid for `OverlapSeconds` (0 where absent). At most two secrets are valid: a further rotation " +
    "ends the oldest at once.",
  requestExample: { OverlapSeconds: 3_600 },
  answerExample: {
    success: true,
    key: { ...ROW, overlap_until: "2026-01-01T01:00:00.000Z" },
    secret: SECRET,
  },
  errors: [...TOUCH_ERRORS, "key_limit_reached"],
});

const DELETE = operation({
  operationId: "deleteApiKey",
  tag: "Dashboard",
  summary: "Delete an API key at once",
  description: "Its ledger lines keep its id and name.",
  answerExample: { success: true, key: ROW },
  errors: TOUCH_ERRORS,
});
