// GET /v1/models: the models that the caller can call now, in the shape of the SDK that sends the request.

import type { Static } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { keyListRefusal } from "../../../actors/account/authenticate.ts";
import type { CallingKey } from "../../../actors/api-key/api-key.ts";
import { RefusedError } from "../../base/errors.ts";
import type { ConfigCache } from "../../gateway/account/config-cache.ts";
import {
  type CallableModel,
  type CallableParts,
  callableModel,
  callableModels,
} from "../../gateway/routing/callable-models.ts";
import { pathClosed } from "../../gateway/routing/route.ts";
import { type ManagementParts, management } from "../management.ts";
import { operation } from "../operation.ts";
import { ModelListSchema, ModelParams, ModelSchema, ModelsQuerySchema } from "./schemas.ts";

/** What the lists of models need. */
export interface ModelsParts extends ManagementParts, CallableParts {}

/** What both endpoints declare. Resources hold here as at every other path of the gateway. */
const LISTED = {
  tag: "Gateway",
  requestHeaders: { "anthropic-version": "With it the answer has the shape of the messages style." },
} as const;

const ACCESS = { role: "any", scope: "invoke", audit: null } as const;

const EXAMPLE = {
  id: "gpt-4o-mini",
  object: "model",
  created: 1_700_000_000,
  owned_by: "openai",
  context_window: 128_000,
  context_length: 128_000,
  max_model_len: 128_000,
  max_output_tokens: 16_384,
  max_completion_tokens: 16_384,
};

/** `/v1/models`. Source: contract section 2. */
export const models = (parts: ModelsParts) =>
  new Elysia({ normalize: false })
    .use(management(parts))
    .get(
      "/v1/models",
      async ({ call: { caller, request }, query }) => {
        await assertPathOpen(parts.configs, caller.key, "/v1/models");
        const callable = await callableModels(parts, caller.profile.id, caller.key);
        return isMessagesStyle(request) ? messagesList(callable, query) : chatList(callable);
      },
      {
        access: ACCESS,
        query: ModelsQuerySchema,
        response: ModelListSchema,
        detail: operation({
          ...LISTED,
          operationId: "listModels",
          summary: "List models",
          description:
            "Those that this account can call now, with their limits in tokens where they are known.",
          errors: ["path_not_allowed"],
          answerExample: { object: "list", data: [EXAMPLE] },
        }),
      },
    )
    .get(
      "/v1/models/*",
      async ({ call: { caller, request }, params }) => {
        const name = decoded(params["*"]);
        await assertPathOpen(parts.configs, caller.key, `/v1/models/${name}`);
        const model = await modelNamed(parts, caller.key, name);
        return isMessagesStyle(request) ? messagesEntry(model) : chatEntry(model);
      },
      {
        access: ACCESS,
        params: ModelParams,
        response: ModelSchema,
        detail: operation({
          ...LISTED,
          operationId: "getModel",
          summary: "Get a model",
          wildcard: "model",
          errors: ["path_not_allowed", "model_not_found"],
          answerExample: EXAMPLE,
        }),
      },
    );

/** Whether the client is an SDK of the messages style. */
const isMessagesStyle = (request: Request): boolean => request.headers.has("anthropic-version");

async function assertPathOpen(configs: ConfigCache, key: CallingKey, path: string): Promise<void> {
  const closed =
    pathClosed(await configs.accountContext(key.account), path) ??
    keyListRefusal(key, { path, model: "", routing: null });
  if (closed !== null) throw new RefusedError(closed);
}

/** Decodes the part of the address that the star stands for, which Elysia leaves as it was written. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw new RefusedError({ code: "invalid_parameter", message: "The address is not well-formed." });
  }
}

async function modelNamed(parts: ModelsParts, key: CallingKey, name: string): Promise<CallableModel> {
  const found = await callableModel(parts, key.account, name, key);
  if (found !== null) return found;
  const message = `The model ${name.slice(0, 256).toWellFormed()} cannot be called with this key. GET /v1/models lists those that can.`;
  throw new RefusedError({ code: "model_not_found", message });
}

/** The catalog has no dates of models. A fixed date keeps answers alike. */
const CREATED_S = 1_700_000_000;

/** The limits of a model in tokens; null where the catalog states none. */
const limitsOf = (entry: CallableModel["entry"]) => ({
  contextWindow: entry?.context_window || null,
  outputMax: entry?.max_output_tokens || null,
});

/**
 * The maker's own list has no limits, so hosts of this style name them differently, and agents read the names of the hosts
 * that they know. Each figure stands under all of them.
 */
function chatEntry({ id, entry }: CallableModel) {
  const { contextWindow, outputMax } = limitsOf(entry);
  return {
    id,
    object: "model" as const,
    created: CREATED_S,
    owned_by: entry?.provider ?? "arborgate",
    ...(contextWindow === null
      ? {}
      : { context_window: contextWindow, context_length: contextWindow, max_model_len: contextWindow }),
    ...(outputMax === null ? {} : { max_output_tokens: outputMax, max_completion_tokens: outputMax }),
  };
}

/** What nothing here knows is null, as the SDK's type allows: no abilities are claimed, and none denied. */
function messagesEntry({ id, entry }: CallableModel) {
  const { contextWindow, outputMax } = limitsOf(entry);
  return {
    type: "model" as const,
    id,
    display_name: id,
    created_at: new Date(CREATED_S * 1_000).toISOString(),
    max_input_tokens: contextWindow,
    max_tokens: outputMax,
    capabilities: null,
    line: null,
    lifecycle: "active" as const,
    deprecated_at: null,
    retires_at: null,
  };
}

const chatList = (callable: readonly CallableModel[]) => ({
  object: "list" as const,
  data: callable.map(chatEntry),
});

function messagesList(callable: readonly CallableModel[], query: Static<typeof ModelsQuerySchema>) {
  const page = pageOf(callable, query);
  return {
    data: page.models.map(messagesEntry),
    has_more: page.hasMore,
    first_id: page.models[0]?.id ?? null,
    last_id: page.models.at(-1)?.id ?? null,
  };
}

/** Returns a page of at most `limit` models, 20 by default. `after_id` and `before_id` need not be in the list. */
function pageOf(
  callable: readonly CallableModel[],
  { limit: limitText = "20", before_id: before, after_id: after }: Static<typeof ModelsQuerySchema>,
) {
  const limit = Number(limitText);
  if (!/^\d{1,4}$/.test(limitText) || limit < 1 || limit > 1_000) {
    throw new RefusedError({
      code: "invalid_parameter",
      message: '"limit" must be an integer from 1 to 1000.',
    });
  }
  if (before !== undefined) {
    const earlier = callable.filter((model) => model.id < before);
    return { models: earlier.slice(-limit), hasMore: earlier.length > limit };
  }
  const later = after === undefined ? callable : callable.filter((model) => model.id > after);
  return { models: later.slice(0, limit), hasMore: later.length > limit };
}
