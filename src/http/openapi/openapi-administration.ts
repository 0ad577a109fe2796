// Rows of an Owner's keys, configuration and news.

import {
  AppliedConf,
  Conf,
  ConfigurationHistory,
  ConfigurationSchema,
  PricePreviewSchema,
} from "../configuration/schemas.ts";
import { PAGE_HEADERS } from "../operation.ts";
import { type EndpointDoc, json, type Rows } from "./openapi-row.ts";

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
