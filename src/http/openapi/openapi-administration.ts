// Rows of an Owner's keys, configuration and news.

import {
  AddedKeySchema,
  AppliedConf,
  ChangedKey,
  Conf,
  ConfigurationHistory,
  ConfigurationSchema,
  KeyOrKeys,
  KeysSchema,
  PricePreviewSchema,
  TestedKey,
} from "../configuration/schemas.ts";
import { PAGE_HEADERS } from "../operation.ts";
import { type EndpointDoc, json, type Rows } from "./openapi-row.ts";

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

const PROVIDER = ["self_referencing_provider", "forbidden_provider_address"];

const UPDATE: EndpointDoc = {
  tag: "Administration",
  summary: "Change a provider key",
  description:
    "`Config` is merged field by field, null takes a field away, `model_mapping` and `api_versions` are replaced as a " +
    "whole. A `SecretKey` or `private_key` that equals its mask leaves the secret as it is. `Sleep` false wakes the key.",
  params: { key: "The key's ID." },
  asked: { Status: false },
  answers: json(ChangedKey("update")),
  answered: { success: true, Action: "update", key: { ...KEY, Status: false } },
  refuses: [...PROVIDER, "missing_parameter", "key_not_found"],
};

const CONFIGURE: EndpointDoc = {
  tag: "Administration",
  summary: "Change the Owner's configuration",
  description:
    "A map, written as text or as an object, replaces the former one; an object of MODEL_LIMITS merges, its text replaces. " +
    "PRICING is JSON or its text and names only what differs from the list prices. What is not named stays, an empty text " +
    "clears. All is checked before anything changes, and is one version. Nothing cascades to descendants.",
  asked: { LEVEL_MAPPER: "gpt-*=1,llama*=2" },
  answers: json(ConfigurationSchema),
  answered: { success: true, oid: 2, configs: { LEVEL_MAPPER: { "gpt-*": 1, "llama*": 2 } } },
  refuses: ["missing_parameter", "invalid_pricing"],
};

export const ADMINISTRATION_ROWS: Rows = {
  "POST /x-keys": {
    tag: "Administration",
    summary: "Add a provider key",
    description:
      "Models of a provider that is known are mapped to the key's Level by themselves; `LevelMapper` says which. `Config`: " +
      "`api_style` belongs to `provider_type` standard, `model_mapping` and `api_versions` to cloud_a; cloud_b needs a " +
      "project and a location in `base_url` or Provider, `client_email` and `private_key`. `allow_provider_objects` lets requests name containers, files, vector stores and MCP " +
      "servers of the provider's account, which every account that reaches the key then shares.",
    asked: { Level: 1, Provider: KEY.Provider, SecretKey: "sk-your-own-provider-key" },
    answers: json(AddedKeySchema),
    answered: { success: true, Action: "add", key: KEY, LevelMapper: { "gpt-*": 1 } },
    refuses: PROVIDER,
  },
  "GET /x-keys": {
    tag: "Administration",
    summary: "List provider keys",
    params: {
      id: "By ID.",
      level: "By Level, `2` or `L2`.",
      provider: "By base URL or host.",
      page: "From 1; 0: all at once.",
      size: "100 where absent, at most 1000; 0: all at once.",
    },
    headers: PAGE_HEADERS,
    answers: json(KeysSchema),
    answered: { success: true, keys: [KEY] },
  },
  "GET /x-keys/:key": {
    tag: "Administration",
    summary: "Get a provider key, or those of a Level or a provider",
    params: {
      key: "An ID, a Level as `L<n>`, or a provider's host.",
      page: "From 1; 0: all at once.",
      size: "100 where absent, at most 1000; 0: all at once.",
    },
    headers: PAGE_HEADERS,
    answers: json(KeyOrKeys),
    answered: { success: true, key: KEY },
    refuses: ["key_not_found"],
  },
  "PUT /x-keys/:key": UPDATE,
  "POST /x-keys/:key": UPDATE,
  "DELETE /x-keys/:key": {
    tag: "Administration",
    summary: "Delete a provider key",
    params: { key: "The key's ID." },
    answers: json(ChangedKey("delete")),
    answered: { success: true, Action: "delete", key: KEY },
    refuses: ["key_not_found"],
  },
  "POST /x-keys/:key/test": {
    tag: "Administration",
    summary: "Test a provider key with one tiny real call",
    description:
      "Whatever comes of it counts neither for nor against the key, also when it sleeps or is disabled, and is not charged " +
      "here. Without `model` the cheapest is taken that is known to lead to this key; a name goes to the provider as it " +
      "is given. One test of a key at a time, eight in all, each of at most 30 seconds.",
    params: { key: "The key's ID." },
    asked: { model: "gpt-4o-mini" },
    answers: json(TestedKey),
    answered: {
      success: false,
      status: 401,
      signal: "invalid_key",
      latency_ms: 212,
      url: "https://api.openai.com/v1/chat/completions",
      model: "gpt-4o-mini",
      message: "The provider does not take the key: check SecretKey. (status 401 invalid_api_key)",
    },
    refuses: ["missing_parameter", "key_not_found"],
  },
  "GET /x-config": {
    tag: "Administration",
    summary: "Get the Owner's configuration",
    description: "All keys; what was never set reads as its default. EMAIL_PASS is masked.",
    answers: json(ConfigurationSchema),
    answered: {
      success: true,
      oid: 2,
      configs: { MODEL_MAPPER: {}, LEVEL_MAPPER: { "gpt-*": 1 }, PRICING: "" },
    },
  },
  "GET /x-conf": {
    tag: "Administration",
    summary: "Get the routing as it stands, with sleeping and disabled keys",
    description:
      "`SleepingKeys` are those whose failures put them to sleep: for how long, until when and why. Keys that rest for " +
      "seconds are not among them. `PUT /x-keys/{key}` with `Sleep` false wakes one, `POST /x-conf` with `DelKeys` all.",
    answers: json(Conf),
  },
  "POST /x-conf": {
    tag: "Administration",
    summary: "Change routing for the whole tree, wake keys",
    description:
      "`pattern=target` adds or changes, `-pattern` deletes, commas between; ModelFailover is `primary=backup1|backup2`. " +
      "Resources replaces. ModelLimits is an object that merges, or a text: `*` clears all, `-model` deletes one. " +
      "ModelMapper and ModelLimits cascade to all descendants, Root's to every account: what is named here is set or " +
      "deleted for all of them at once, and what they have besides stays. All fields are checked before anything is " +
      "done. LogEnable is Root's alone. A false does nothing.",
    asked: { ModelMapper: "fast=gpt-4o-mini, -old", DelKeys: true },
    answers: json(AppliedConf),
    answered: { success: true, ModelMapper: { fast: "gpt-4o-mini" }, DelKeys: "true" },
    refuses: ["missing_parameter", "not_root"],
  },
  "PUT /x-config": CONFIGURE,
  "POST /x-config": CONFIGURE,
  "DELETE /x-config": {
    tag: "Administration",
    summary: "Reset keys of the Owner's configuration to their defaults",
    asked: { keys: ["PRICING", "MODEL_MAPPER"] },
    answers: json(ConfigurationSchema),
    answered: { success: true, oid: 2, configs: { PRICING: "", MODEL_MAPPER: {} } },
    refuses: ["missing_parameter"],
  },
  "GET /x-config/history": {
    tag: "Administration",
    summary: "List what each version of the Owner's configuration changed",
    description:
      "The newest first; the last 1000 are kept. `CASCADED_MODEL_MAPPER` and `CASCADED_MODEL_LIMITS` are what " +
      "POST /x-conf laid on the accounts below: `value` null is a deletion, `version` the one that laid it, `cleared` " +
      "the one that cleared all before it. Of EMAIL_PASS only its mask is kept.",
    params: {
      page: "From 1; 0: all at once.",
      size: "100 where absent, at most 1000; 0: all at once.",
    },
    headers: PAGE_HEADERS,
    answers: json(ConfigurationHistory),
    answered: {
      success: true,
      versions: [
        {
          version: 1,
          at: "2026-01-01T00:00:00.000Z",
          by: 2,
          changes: { LEVEL_MAPPER: { before: {}, after: { "gpt-*": 1 } } },
        },
      ],
    },
  },
  "POST /x-config/revert": {
    tag: "Administration",
    summary: "Go back to how everything was at a version",
    description:
      "Makes a new version and answers all keys that changed by it; cascades go back too. Version 0 is the defaults. " +
      "EMAIL_PASS stays as it is. To the newest version there is no way back: nothing changes, no version is made.",
    asked: { version: 3 },
    answers: json(ConfigurationSchema),
    answered: { success: true, oid: 2, configs: { LEVEL_MAPPER: { "gpt-*": 1 } } },
    refuses: ["missing_parameter", "not_found"],
  },
  "POST /x-config/preview": {
    tag: "Administration",
    summary: "Preview what other prices would have made of the last 30 days",
    description:
      "Every charge of the Owner's tree in the last 30 days (UTC, today included), computed anew from its recorded usage " +
      "under this PRICING; a text of no characters means the default prices. A service tier counts where it had a price " +
      "of its own at the time. `cost_preview` is null for a model that would have no price: its requests would be " +
      "refused, and the total of `cost_preview` is without them. Nothing changes. One preview at a time.",
    asked: { PRICING: { ChatPricing: { "gpt-4o": { InputText: 2, OutputText: 8 } } } },
    answers: json(PricePreviewSchema),
    answered: {
      success: true,
      days: 30,
      models: [{ model: "gpt-4o", requests: 3, cost_now: 0.25, cost_preview: 0.2 }],
      total: { cost_now: 0.25, cost_preview: 0.2 },
    },
    refuses: ["missing_parameter", "invalid_pricing"],
  },
};
