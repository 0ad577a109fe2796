// `/x-config` and `/x-conf`: an Owner's configuration, its history, and what is done to its whole tree at once. The endpoints
// are declared here; what each does is in the files beside it.

import type { Static } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { rawAnswer } from "../json-stream.ts";
import { management } from "../management.ts";
import { operation, PAGE_HEADERS } from "../operation.ts";
import { NoQuerySchema } from "../schemas.ts";
import { applyBatch } from "./batch.ts";
import { routingOf } from "./conf.ts";
import {
  type ConfigurationParts,
  changeConfig,
  readConfig,
  resetConfig,
  testMail,
} from "./config-changes.ts";
import { historyOf, revertTo } from "./history.ts";
import { createPricePreviews } from "./price-preview.ts";
import { createPriceLists } from "./prices.ts";
import {
  AppliedConfSchema,
  BatchSchema,
  ConfigResetSchema,
  ConfigurationBodySchema,
  ConfigurationSchema,
  ConfSchema,
  HistoryQuerySchema,
  HistorySchema,
  NoBodySchema,
  PreviewBodySchema,
  PricePreviewSchema,
  PricesQuerySchema,
  PricesSchema,
  RevertSchema,
  TestMailSchema,
} from "./schemas.ts";

const READS = { role: "owner", scope: "admin", audit: null } as const;
const CHANGES = { role: "owner", scope: "admin", audit: "update_config" } as const;

/** Configuration of an Owner. Source: specification, "Configuration". */
export function configuration(parts: ConfigurationParts) {
  const previewPrices = createPricePreviews(parts);
  const listPrices = createPriceLists(parts);
  return new Elysia({ normalize: false })
    .use(management(parts))
    .get("/x-config", ({ call }) => readConfig(parts, call), {
      access: READS,
      query: NoQuerySchema,
      response: ConfigurationSchema,
      detail: READ,
    })
    .put("/x-config", ({ body, call }) => changeConfig(parts, call, body), configuring("updateConfiguration"))
    .post(
      "/x-config",
      ({ body, call }) => changeConfig(parts, call, body),
      configuring("changeConfiguration"),
    )
    .delete("/x-config", ({ body, call }) => resetConfig(parts, call, body.keys), {
      access: CHANGES,
      query: NoQuerySchema,
      body: ConfigResetSchema,
      response: ConfigurationSchema,
      detail: RESET,
    })
    .get(
      "/x-config/history",
      async ({ call, query, set }) => {
        const { text, headers } = await historyOf(parts, call, query);
        Object.assign(set.headers, headers);
        return rawAnswer<Static<typeof HistorySchema>>(text);
      },
      { access: READS, query: HistoryQuerySchema, response: HistorySchema, detail: HISTORY },
    )
    .post("/x-config/revert", ({ body, call }) => revertTo(parts, call, body.version), {
      access: CHANGES,
      query: NoQuerySchema,
      body: RevertSchema,
      response: ConfigurationSchema,
      detail: REVERT,
    })
    .post(
      "/x-config/preview",
      ({ body, call, request }) => previewPrices(call.caller.profile, body.PRICING, request.signal),
      {
        access: READS,
        query: NoQuerySchema,
        body: PreviewBodySchema,
        response: PricePreviewSchema,
        detail: PREVIEW,
      },
    )
    .post("/x-config/test-mail", ({ call }) => testMail(parts, call), {
      access: READS,
      query: NoQuerySchema,
      body: NoBodySchema,
      response: TestMailSchema,
      detail: TEST_MAIL,
    })
    .get("/x-prices", ({ call, query }) => listPrices(call, query), {
      access: { ...READS, hasEtag: true },
      query: PricesQuerySchema,
      response: PricesSchema,
      detail: PRICES,
    })
    .get("/x-conf", ({ call }) => routingOf(parts, call.caller.profile.id), {
      access: { ...READS, hasEtag: true },
      query: NoQuerySchema,
      response: ConfSchema,
      detail: ROUTING,
    })
    .post("/x-conf", ({ body, call }) => applyBatch(parts, call, body), {
      access: { role: "owner", scope: "admin", audit: "auto_config" },
      query: NoQuerySchema,
      body: BatchSchema,
      response: AppliedConfSchema,
      detail: BATCH,
    });
}

/** The declaration of both methods that change the configuration. */
const configuring = (operationId: string) =>
  ({
    access: CHANGES,
    query: NoQuerySchema,
    body: ConfigurationBodySchema,
    response: ConfigurationSchema,
    detail: operation({ ...CONFIGURE, operationId }),
  }) as const;

const CONFIGURE = {
  tag: "Administration",
  summary: "Change the Owner's configuration",
  description:
    "A map, written as text or as an object, replaces the former one; an object of MODEL_LIMITS merges, its text replaces. " +
    "PRICING is JSON or its text and names only what differs from the list prices. What is not named stays, an empty text " +
    "clears. All is checked before anything changes, and is one version. Nothing cascades to descendants.",
  requestExample: { LEVEL_MAPPER: "gpt-*=1,llama*=2" },
  answerExample: { success: true, oid: 2, configs: { LEVEL_MAPPER: { "gpt-*": 1, "llama*": 2 } } },
  errors: ["missing_parameter", "invalid_pricing"],
} as const;

const READ = operation({
  operationId: "getConfiguration",
  tag: "Administration",
  summary: "Get the Owner's configuration",
  description: "All keys; what was never set reads as its default. EMAIL_PASS is masked.",
  answerExample: {
    success: true,
    oid: 2,
    configs: { MODEL_MAPPER: {}, LEVEL_MAPPER: { "gpt-*": 1 }, PRICING: "" },
  },
});

const RESET = operation({
  operationId: "resetConfiguration",
  tag: "Administration",
  summary: "Reset keys of the Owner's configuration to their defaults",
  requestExample: { keys: ["PRICING", "MODEL_MAPPER"] },
  answerExample: { success: true, oid: 2, configs: { PRICING: "", MODEL_MAPPER: {} } },
  errors: ["missing_parameter"],
});

const HISTORY = operation({
  operationId: "listConfigurationHistory",
  tag: "Administration",
  summary: "List what each version of the Owner's configuration changed",
  description:
    "The newest first; the last 1000 are kept. `CASCADED_MODEL_MAPPER` and `CASCADED_MODEL_LIMITS` are what " +
    "POST /x-conf laid on the accounts below: `value` null is a deletion, `version` the one that laid it, `cleared` " +
    "the one that cleared all before it. Of EMAIL_PASS only its mask is kept.",
  answerHeaders: PAGE_HEADERS,
  answerExample: {
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
});

const REVERT = operation({
  operationId: "revertConfiguration",
  tag: "Administration",
  summary: "Go back to how everything was at a version",
  description:
    "Makes a new version and answers all keys that changed by it; cascades go back too. Version 0 is the defaults. " +
    "EMAIL_PASS stays as it is. To the newest version there is no way back: nothing changes, no version is made.",
  requestExample: { version: 3 },
  answerExample: { success: true, oid: 2, configs: { LEVEL_MAPPER: { "gpt-*": 1 } } },
  errors: ["missing_parameter", "not_found"],
});

const PREVIEW = operation({
  operationId: "previewPricing",
  tag: "Administration",
  summary: "Preview what other prices would have made of the last 30 days",
  description:
    "Every charge of the Owner's tree in the last 30 days (UTC, today included), computed anew from its recorded usage " +
    "under this PRICING; a text of no characters means the default prices. A service tier counts where it had a price " +
    "of its own at the time. `cost_preview` is null for a model that would have no price: its requests would be " +
    "refused, and the total of `cost_preview` is without them. Nothing changes. One preview at a time.",
  requestExample: { PRICING: { ChatPricing: { "gpt-4o": { InputText: 2, OutputText: 8 } } } },
  answerExample: {
    success: true,
    days: 30,
    models: [{ model: "gpt-4o", requests: 3, cost_now: 0.25, cost_preview: 0.2 }],
    total: { cost_now: 0.25, cost_preview: 0.2 },
  },
  errors: ["missing_parameter", "invalid_pricing"],
});

const TEST_MAIL = operation({
  operationId: "testMail",
  tag: "Administration",
  summary: "Send a test mail over the Owner's own mail server",
  description:
    "A fixed text goes to the address that the Owner's mail comes from: SERVICE_MAIL, else EMAIL_AUTH. 400 without an " +
    "EMAIL_SMTP of one's own, whatever Root has. `stage` is `accepted`, or the step at which it ended: `address` (forbidden or " +
    "unknown host), `connect`, `greeting`, `tls`, `login`, `sender`, `recipient`, `content`. The server's words are not " +
    "shown. One a minute and ten a day (UTC), tried ones included; it takes at most 20 s.",
  requestExample: {},
  answerExample: { success: false, stage: "login", code: 535, enhanced_status: "5.7.8" },
  errors: ["rpm_exceeded"],
});

const PRICES = operation({
  operationId: "listPrices",
  tag: "Administration",
  summary: "List the prices of models: by list, overridden, in effect",
  description:
    "Models that were used in the last 30 days without a price of their own come first, the most used first: `list` and " +
    "`priced_by` say what they are charged by instead, such as the model whose snapshot they are, or `*`. Then every entry " +
    "of the list prices and of PRICING by name; a model that several groups price has a row in each. `list` is the built-in " +
    "price, `override` the entry of PRICING, `effective` both together, before Rates and Factor of accounts; null: a " +
    "request would be refused. `requests_30d` counts the Owner's tree (Root: itself), today included, at most a minute " +
    "old and for the 5000 models used most; it stands in a model's first row.",
  answerExample: {
    prices: [
      {
        model: "gpt-4o",
        group: "ChatPricing",
        list: { InputText: 2.5, OutputText: 10, CachedText: 1.25 },
        override: { OutputText: 8 },
        effective: { InputText: 2.5, OutputText: 8, CachedText: 1.25 },
        priced_by: "gpt-4o",
        requests_30d: 4711,
      },
    ],
    total: 1,
    page: 1,
    size: 100,
    has_more: false,
  },
});

const ROUTING = operation({
  operationId: "getRouting",
  tag: "Administration",
  summary: "Get the routing as it stands, with sleeping and disabled keys",
  description:
    "`SleepingKeys` are those whose failures put them to sleep: for how long, until when and why. Keys that rest for " +
    "seconds are not among them. `PUT /x-keys/{key}` with `Sleep` false wakes one, `POST /x-conf` with `DelKeys` all.",
});

const BATCH = operation({
  operationId: "changeTree",
  tag: "Administration",
  summary: "Change routing for the whole tree, wake keys",
  description:
    "`pattern=target` adds or changes, `-pattern` deletes, commas between; ModelFailover is `primary=backup1|backup2`. " +
    "Resources replaces. ModelLimits is an object that merges, or a text: `*` clears all, `-model` deletes one. " +
    "ModelMapper and ModelLimits cascade to all descendants, Root's to every account: what is named here is set or " +
    "deleted for all of them at once, and what they have besides stays. All fields are checked before anything is " +
    "done. LogEnable is Root's alone. A false does nothing.",
  requestExample: { ModelMapper: "fast=gpt-4o-mini, -old", DelKeys: true },
  answerExample: { success: true, ModelMapper: { fast: "gpt-4o-mini" }, DelKeys: "true" },
  errors: ["missing_parameter", "not_root"],
});
