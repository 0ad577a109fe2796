// /x-keys: an Owner's upstream keys. Secrets go in and never come out, but for their mask.

import { Type } from "@sinclair/typebox";
import { to } from "../../actors/index.ts";
import type { ProviderKey } from "../../actors/key-pool/key-pool.ts";
import type { AddedKey, NewKey } from "../admin/add-key.ts";
import { answer, type Edge, endpoint } from "./endpoint.ts";
import { digits, pageOf, text } from "./shapes.ts";

export interface KeysParts extends Edge {
  readonly addKey: (key: NewKey) => Promise<AddedKey>;
}

const Config = Type.Object(
  {
    provider_type: Type.Optional(Type.Literal("standard", { description: 'must be "standard"' })),
    api_style: Type.Optional(Type.Literal("chat", { description: 'must be "chat"' })),
  },
  { additionalProperties: false, description: "must be an object" },
);

const NewProviderKey = Type.Object(
  {
    Name: Type.Optional(text(255)),
    Level: Type.Integer({ minimum: -1_000_000, maximum: 1_000_000, description: "must be an integer" }),
    Provider: text(2_048, 1),
    SecretKey: text(4_096, 20),
    Status: Type.Optional(Type.Boolean({ description: "must be true or false" })),
    Config: Type.Optional(Config),
  },
  { additionalProperties: false },
);

/** spec: POST /x-keys. */
export const postKeys = (parts: KeysParts) =>
  endpoint(parts, { who: "owner", body: NewProviderKey }, async ({ caller, body }) => {
    const { key, levelMapper } = await parts.addKey({
      owner: caller.profile.id,
      name: body.Name ?? "",
      level: body.Level,
      provider: body.Provider,
      secret: body.SecretKey,
      status: body.Status ?? true,
      config: body.Config ?? {},
    });
    return answer({ success: true, Action: "add", key: keyShape(key), LevelMapper: levelMapper });
  });

const ListQuery = Type.Object(
  {
    id: Type.Optional(digits),
    level: Type.Optional(
      Type.String({ pattern: "^L?-?[0-9]{1,7}$", description: "must be a Level such as 2 or L2" }),
    ),
    provider: Type.Optional(text(2_048)),
    page: Type.Optional(digits),
    size: Type.Optional(digits),
  },
  { additionalProperties: false },
);

/** spec: GET /x-keys. */
export const getKeys = (parts: KeysParts) =>
  endpoint(parts, { who: "owner", query: ListQuery }, async ({ caller, query }) => {
    const all = await parts.system.ask(to.keyPool(caller.profile.id), "list", {});
    const level = query.level === undefined ? null : Number(query.level.replace("L", ""));
    const found = all.filter(
      (key) =>
        (query.id === undefined || key.id === Number(query.id)) &&
        (level === null || key.level === level) &&
        (query.provider === undefined || sameProvider(key.provider, query.provider)),
    );
    const { page, size } = pageOf(query, { size: 100, most: 1_000 });
    if (page === 0 || size === 0) {
      return answer({ success: true, keys: found.map(keyShape) }, { "X-Total-Count": String(found.length) });
    }
    return answer(
      { success: true, keys: found.slice((page - 1) * size, page * size).map(keyShape) },
      {
        "X-Total-Count": String(found.length),
        "X-Page": String(page),
        "X-Per-Page": String(size),
        "X-Total-Pages": String(Math.ceil(found.length / size)),
      },
    );
  });

const sameProvider = (provider: string, asked: string): boolean =>
  provider === asked || new URL(provider).host === asked || new URL(provider).hostname === asked;

const keyShape = (key: ProviderKey) => ({
  ID: key.id,
  Name: key.name,
  Level: key.level,
  Provider: key.provider,
  SecretKey: key.mask,
  Status: key.status,
  Config: key.config,
  CreatedAt: new Date(key.createdAt).toISOString(),
  UpdatedAt: new Date(key.updatedAt).toISOString(),
});
