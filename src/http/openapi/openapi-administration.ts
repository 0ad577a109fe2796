// Rows of an Owner's keys, configuration and news.

import {
  AddedKey,
  AddedNews,
  AppliedConf,
  ChangedKey,
  Conf,
  Configuration,
  DeletedNews,
  KeyOrKeys,
  Keys,
} from "./answers-administration.ts";
import { json, PAGED, type Row, type Rows } from "./openapi-row.ts";

const KEY = {
  ID: 1,
  Name: "",
  Level: 1,
  Provider: "https://api.openai.com/v1",
  SecretKey: "sk-****abcd",
  Status: true,
  Config: {},
  CreatedAt: "2026-01-01T00:00:00.000Z",
  UpdatedAt: "2026-01-01T00:00:00.000Z",
};

const PROVIDER = ["self_referencing_provider", "forbidden_provider_address"];

const UPDATE: Row = {
  tag: "Administration",
  summary: "Change a provider key",
  description:
    "`Config` is merged field by field. A `SecretKey` that equals its mask leaves the secret as it is.",
  params: { key: "The key's ID." },
  asked: { Status: false },
  answers: json(ChangedKey("update")),
  answered: { success: true, Action: "update", key: { ...KEY, Status: false } },
  refuses: [...PROVIDER, "missing_parameter", "key_not_found"],
};

const CONFIGURE: Row = {
  tag: "Administration",
  summary: "Change the Owner's configuration",
  description: "A text replaces a map; an object of MODEL_LIMITS merges. Nothing cascades to descendants.",
  asked: { LEVEL_MAPPER: "gpt-*=1,llama*=2" },
  answers: json(Configuration),
  answered: { success: true, oid: 2, configs: { LEVEL_MAPPER: { "gpt-*": 1, "llama*": 2 } } },
  refuses: ["missing_parameter", "invalid_pricing"],
};

const NEWS = { title: "Maintenance", content: "On Sunday at noon, for an hour." };
const ITEM = {
  id: 1,
  ...NEWS,
  created_at: "2026-01-01T00:00:00.000Z",
  expires_at: "2026-01-08T00:00:00.000Z",
};
const TARGET = "An account's id, name or e-mail address, or a DNA path such as `.1.2.`.";

export const ADMINISTRATION_ROWS: Rows = {
  "POST /x-keys": {
    tag: "Administration",
    summary: "Add a provider key",
    description: "Models of a provider that is known are mapped to the key's Level by themselves.",
    asked: { Level: 1, Provider: KEY.Provider, SecretKey: "sk-your-own-provider-key" },
    answers: json(AddedKey),
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
    headers: PAGED,
    answers: json(Keys),
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
    headers: PAGED,
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
  "GET /x-conf": {
    tag: "Administration",
    summary: "Get the routing as it stands, with sleeping and disabled keys",
    answers: json(Conf),
  },
  "POST /x-conf": {
    tag: "Administration",
    summary: "Change routing for the whole tree, wake keys",
    description:
      "`pattern=target` adds or changes, `-pattern` deletes, commas between. ModelMapper and ModelLimits cascade to all descendants.",
    asked: { DelKeys: true },
    answers: json(AppliedConf),
    answered: { success: true, DelKeys: "true" },
    refuses: ["missing_parameter", "not_root"],
  },
  "PUT /x-config": CONFIGURE,
  "POST /x-config": CONFIGURE,
  "POST /x-news": {
    tag: "Administration",
    summary: "Publish news to everybody: Root's to all accounts, an Owner's to its tree",
    asked: NEWS,
    answers: json(AddedNews),
    answered: { success: true, Action: "add", news: ITEM },
  },
  "POST /x-news/:target": {
    tag: "Administration",
    summary: "Publish news to one account, or to a branch of the tree",
    params: { target: TARGET },
    asked: { ...NEWS, days: 14 },
    answers: json(AddedNews),
    answered: { success: true, Action: "add", news: ITEM },
    refuses: ["user_not_found", "ambiguous_identifier", "not_ancestor"],
  },
  "DELETE /x-news": {
    tag: "Administration",
    summary: "Delete all news to everybody that are the caller's, or one item",
    description: 'The body `{"id"}` names the item; without a body all go.',
    asked: { id: 1 },
    answers: json(DeletedNews),
    answered: { success: true, Action: "delete", deleted: 1 },
    refuses: ["not_found"],
  },
  "DELETE /x-news/:target": {
    tag: "Administration",
    summary: "Delete all news for a target",
    params: { target: TARGET },
    answers: json(DeletedNews),
    answered: { success: true, Action: "delete", deleted: 1 },
    refuses: ["user_not_found", "ambiguous_identifier", "not_ancestor"],
  },
};
