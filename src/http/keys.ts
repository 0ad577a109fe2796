// /x-keys: an Owner's upstream keys. Secrets go in and never come out, but for their mask.

import { type Static, Type } from "@sinclair/typebox";
import type { KeyId } from "../../actors/ids.ts";
import { to } from "../../actors/index.ts";
import type { ProviderKey } from "../../actors/key-pool/key-pool.ts";
import type { AddedKey, NewKey } from "../admin/add-key.ts";
import { type KeyChanges, SECRET_LEAST } from "../admin/change-key.ts";
import { Refused } from "../runtime/system.ts";
import { type Answer, answer, type Edge, endpoint } from "./endpoint.ts";
import { digits, NoQuery, pageOf, text } from "./shapes.ts";

export interface KeysParts extends Edge {
  readonly addKey: (key: NewKey) => Promise<AddedKey>;
  readonly changeKey: KeyChanges;
}

const SECRET_MOST = 4_096;

const Level = Type.Integer({ minimum: -1_000_000, maximum: 1_000_000, description: "must be an integer" });
const Status = Type.Boolean({ description: "must be true or false" });
const ProviderType = Type.Literal("standard", { description: 'must be "standard"' });
const ApiStyle = Type.Union([Type.Literal("chat"), Type.Literal("messages")], {
  description: 'must be "chat" or "messages"',
});

const Config = Type.Object(
  { provider_type: Type.Optional(ProviderType), api_style: Type.Optional(ApiStyle) },
  { additionalProperties: false, description: "must be an object" },
);

const NewProviderKey = Type.Object(
  {
    Name: Type.Optional(text(255)),
    Level,
    Provider: text(2_048, 1),
    SecretKey: text(SECRET_MOST, SECRET_LEAST),
    Status: Type.Optional(Status),
    Config: Type.Optional(Config),
  },
  { additionalProperties: false },
);

/** spec: POST /x-keys. */
export const postKeys = (parts: KeysParts) =>
  endpoint(
    parts,
    { who: "owner", body: NewProviderKey, action: "add_key" },
    async ({ caller, body, journal }) => {
      const { key, levelMapper } = await parts.addKey({
        owner: caller.profile.id,
        name: (body.Name ?? "").toWellFormed(),
        level: body.Level,
        provider: body.Provider,
        secret: body.SecretKey,
        status: body.Status ?? true,
        config: body.Config ?? {},
      });
      journal.about({ type: "key", id: key.id });
      journal.changed(telling(key));
      return answer({ success: true, Action: "add", key: keyShape(key), LevelMapper: levelMapper });
    },
  );

/** A field of Config in an update: null takes it away. */
const orNone = <S extends typeof ProviderType | typeof ApiStyle>(schema: S) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description: `${schema.description}, or null` }));

const KeyUpdate = Type.Object(
  {
    Name: Type.Optional(text(255)),
    Level: Type.Optional(Level),
    Provider: Type.Optional(text(2_048, 1)),
    // Its mask is shorter than any secret, and leaves it as it is.
    SecretKey: Type.Optional(text(SECRET_MOST, 1)),
    Status: Type.Optional(Status),
    Config: Type.Optional(
      Type.Object(
        { provider_type: orNone(ProviderType), api_style: orNone(ApiStyle) },
        { additionalProperties: false, description: "must be an object" },
      ),
    ),
  },
  { additionalProperties: false },
);

/** spec: PUT /x-keys/{id} or POST /x-keys/{id}. */
export const putKey = (parts: KeysParts) =>
  endpoint(
    parts,
    { who: "owner", body: KeyUpdate, action: "update_key" },
    async ({ caller, body, params, journal }) => {
      const { Name, Level, Provider, SecretKey, Status, Config } = body;
      if (Object.keys(body).length === 0) {
        const fields = Object.keys(KeyUpdate.properties).join(", ");
        throw new Refused({ code: "missing_parameter", message: `Give at least one of ${fields}.` });
      }
      const name = Name?.toWellFormed();
      const change = given({ name, level: Level, provider: Provider, status: Status, config: Config });
      const id = keyIdOf(params);
      journal.about({ type: "key", id });
      const before = await parts.system.ask(to.keyPool(caller.profile.id), "read", { id });
      const edit = { owner: caller.profile.id, id, change, secret: SecretKey };
      const key = await parts.changeKey.edit(edit);
      journal.changed(telling(key), telling(before));
      return answer({ success: true, Action: "update", key: keyShape(key) });
    },
  );

/** spec: DELETE /x-keys/{id}. Answers the key as it was. */
export const deleteKey = (parts: KeysParts) =>
  endpoint(
    parts,
    { who: "owner", writes: true, query: NoQuery, action: "delete_key" },
    async ({ caller, params, journal }) => {
      const id = keyIdOf(params);
      journal.about({ type: "key", id });
      const key = await parts.changeKey.remove(caller.profile.id, id);
      journal.changed(telling(key));
      return answer({ success: true, Action: "delete", key: keyShape(key) });
    },
  );

const level = Type.String({ pattern: "^L?-?[0-9]{1,7}$", description: "must be a Level such as 2 or L2" });
const paging = { page: Type.Optional(digits), size: Type.Optional(digits) };

const ListQuery = Type.Object(
  {
    id: Type.Optional(digits),
    level: Type.Optional(level),
    provider: Type.Optional(text(2_048)),
    ...paging,
  },
  { additionalProperties: false },
);

const Paging = Type.Object(paging, { additionalProperties: false });

/** spec: GET /x-keys. */
export const getKeys = (parts: KeysParts) =>
  endpoint(parts, { who: "owner", query: ListQuery }, async ({ caller, query }) =>
    listed(await parts.system.ask(to.keyPool(caller.profile.id), "list", {}), query),
  );

/** spec: GET /x-keys/{id}, GET /x-keys/L{n}, GET /x-keys/{provider}: one key, or those of a Level or a provider. */
export const getKey = (parts: KeysParts) =>
  endpoint(parts, { who: "owner", query: Paging }, async ({ caller, query, params }) => {
    const pool = to.keyPool(caller.profile.id);
    const which = params.key ?? "";
    if (/^[0-9]+$/.test(which)) {
      const key = await parts.system.ask(pool, "read", { id: keyIdOf(params) });
      return answer({ success: true, key: keyShape(key) });
    }
    const asked = /^L-?[0-9]{1,7}$/.test(which) ? { level: which } : { provider: which };
    return listed(await parts.system.ask(pool, "list", {}), { ...query, ...asked });
  });

/** Those of the keys that a query asks for, by pages; page or size 0: all at once. */
function listed(keys: readonly ProviderKey[], query: Static<typeof ListQuery>): Answer {
  const level = query.level === undefined ? null : Number(query.level.replace("L", ""));
  const found = keys.filter(
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
}

/** Without the fields that are undefined: those that were not sent. */
const given = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

/** The number in the path. What no key can be called is a key that is not there. */
function keyIdOf(params: Readonly<Record<string, string>>): KeyId {
  const text = params.key ?? "";
  if (/^[0-9]{1,15}$/.test(text)) return Number(text) as KeyId;
  throw new Refused({
    code: "key_not_found",
    message: "There is no such key: a key is called by its number, which GET /x-keys shows as ID.",
  });
}

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

/** What the operation log says of a key: all that a caller may set, the secret as its mask. */
const telling = (key: ProviderKey) => {
  const { Name, Level, Provider, SecretKey, Status, Config } = keyShape(key);
  return { Name, Level, Provider, SecretKey, Status, Config };
};
