// GET /v1/models: what this account can really call, in the shape of the SDK that asks.

import type { AccountId } from "../../../actors/ids.ts";
import { RefusedError } from "../../base/errors.ts";
import type { ConfigCache } from "../../gateway/account/config-cache.ts";
import {
  type CallableModel,
  type CallableParts,
  callableModel,
  callableModels,
} from "../../gateway/routing/callable-models.ts";
import { pathClosed } from "../../gateway/routing/route.ts";
import { answer, endpoint } from "../endpoint.ts";
import type { ManagementParts } from "../management.ts";

export interface ModelsParts extends ManagementParts, CallableParts {}

type Shape = "chat" | "messages";

/** Who sends `anthropic-version` reads the other shape. */
const shapeFor = (request: Request): Shape =>
  request.headers.has("anthropic-version") ? "messages" : "chat";

/** Paths of the gateway: a suspended account may not even ask. */
const GATEWAY = { who: "any", xApiKey: true, gateway: true } as const;

/** Resources hold here as on every other path of the gateway. */
async function mustBeOpen(replicas: ConfigCache, account: AccountId, path: string): Promise<void> {
  const closed = pathClosed(await replicas.lineage(account), path);
  if (closed !== null) throw new RefusedError(closed);
}

/** GET /v1/models. */
export const getModels = (parts: ModelsParts) =>
  endpoint(parts, GATEWAY, async ({ caller, request }) => {
    await mustBeOpen(parts.replicas, caller.profile.id, "/v1/models");
    const models = await callableModels(parts, caller.profile.id);
    const query = new URL(request.url).searchParams;
    return answer(LISTS[shapeFor(request)](models, query));
  });

/** GET /v1/models/{id}; an id may hold slashes. */
export const getModel = (parts: ModelsParts) =>
  endpoint(parts, GATEWAY, async ({ caller, request, params }) => {
    const id = decoded(params["*"] ?? "");
    await mustBeOpen(parts.replicas, caller.profile.id, `/v1/models/${id}`);
    const found = await known(parts, caller.profile.id, id);
    return answer(ENTRIES[shapeFor(request)](found));
  });

/** A part of the address that a star stands for comes as it was written. */
function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    throw new RefusedError({ code: "invalid_parameter", message: "The address is not well-formed." });
  }
}

async function known(parts: ModelsParts, account: AccountId, id: string): Promise<CallableModel> {
  const found = await callableModel(parts, account, id);
  if (found !== null) return found;
  const message = `The model ${id.slice(0, 256).toWellFormed()} cannot be called by this account. GET /v1/models lists those that can.`;
  throw new RefusedError({ code: "model_not_found", message });
}

/** The catalogue does not say when a model was made: a fixed date keeps answers alike. */
const CREATED_S = 1_700_000_000;

const ENTRIES: Readonly<Record<Shape, (model: CallableModel) => object>> = {
  chat: ({ id, entry }) => ({
    id,
    object: "model",
    created: CREATED_S,
    owned_by: entry?.provider ?? "arborgate",
  }),
  messages: ({ id, entry }) => ({
    type: "model",
    id,
    display_name: id,
    created_at: new Date(CREATED_S * 1_000).toISOString(),
    ...(entry === null || entry.context_window === 0 ? {} : { max_input_tokens: entry.context_window }),
    ...(entry === null || entry.max_output_tokens === 0 ? {} : { max_tokens: entry.max_output_tokens }),
  }),
};

const LISTS: Readonly<Record<Shape, (models: readonly CallableModel[], query: URLSearchParams) => object>> = {
  chat: (models) => ({ object: "list", data: models.map(ENTRIES.chat) }),
  messages(models, query) {
    const page = pageOf(models, query);
    return {
      data: page.models.map(ENTRIES.messages),
      has_more: page.more,
      first_id: page.models[0]?.id ?? null,
      last_id: page.models.at(-1)?.id ?? null,
    };
  },
};

/** `limit` 1 to 1000, default 20; `after_id` or `before_id`, a name that need not be in the list. */
function pageOf(models: readonly CallableModel[], query: URLSearchParams) {
  const given = query.get("limit") ?? "20";
  const limit = Number(given);
  if (!/^\d{1,4}$/.test(given) || limit < 1 || limit > 1_000) {
    throw new RefusedError({
      code: "invalid_parameter",
      message: '"limit" must be an integer from 1 to 1000.',
    });
  }
  const before = query.get("before_id");
  if (before !== null) {
    const earlier = models.filter((model) => model.id < before);
    return { models: earlier.slice(-limit), more: earlier.length > limit };
  }
  const after = query.get("after_id");
  const later = after === null ? models : models.filter((model) => model.id > after);
  return { models: later.slice(0, limit), more: later.length > limit };
}
