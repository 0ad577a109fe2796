// /x-keys: adding, changing and deleting a provider key. Secrets go in and never come out, but for their masks.

import type { AddedKey, NewKey } from "../../admin/add-key.ts";
import type { KeyChanges } from "../../admin/change-key.ts";
import { RefusedError } from "../../base/errors.ts";
import { answer, endpoint } from "../endpoint.ts";
import type { ManagementParts } from "../management.ts";
import { keyIdOf, keyShape, telling, unseenSecrets } from "../provider-keys/key-view.ts";
import { KeyUpdate, NewProviderKey } from "../provider-keys/schemas.ts";
import { NoQuerySchema } from "../schemas.ts";

export interface KeysParts extends ManagementParts {
  readonly addKey: (key: NewKey) => Promise<AddedKey>;
  readonly changeKey: KeyChanges;
}

/** spec: POST /x-keys. */
export const postKeys = (parts: KeysParts) =>
  endpoint(
    parts,
    { who: "owner", body: NewProviderKey, action: "add_key" },
    async ({ caller, body, journal }) => {
      const { private_key: privateKey = null, ...config } = body.Config ?? {};
      const { key, levelMapper } = await parts.addKey({
        owner: caller.profile.id,
        name: (body.Name ?? "").toWellFormed(),
        level: body.Level,
        provider: body.Provider,
        secret: body.SecretKey,
        privateKey,
        status: body.Status ?? true,
        config,
      });
      journal.about({ type: "key", id: key.id });
      journal.changed(telling(key));
      return answer({ success: true, Action: "add", key: keyShape(key), LevelMapper: levelMapper });
    },
  );

/** spec: PUT /x-keys/{id} or POST /x-keys/{id}. */
export const putKey = (parts: KeysParts) =>
  endpoint(
    parts,
    { who: "owner", body: KeyUpdate, action: "update_key" },
    async ({ caller, body, params, journal }) => {
      const { Name, Level, Provider, SecretKey, Status, Sleep, Config } = body;
      if (Object.keys(body).length === 0) {
        const fields = Object.keys(KeyUpdate.properties).join(", ");
        throw new RefusedError({ code: "missing_parameter", message: `Give at least one of ${fields}.` });
      }
      const { private_key: privateKey, ...config } = Config ?? {};
      const name = Name?.toWellFormed();
      const settings = Config === undefined ? undefined : config;
      const change = given({ name, level: Level, provider: Provider, status: Status, config: settings });
      const id = keyIdOf(params);
      const owner = caller.profile.id;
      journal.about({ type: "key", id });
      const wake = Sleep === false;
      const { before, key } = await parts.changeKey.edit({
        ...{ owner, id, change, secret: SecretKey, privateKey, wake },
      });
      journal.changed(telling(key), telling(before));
      journal.changed({ ...unseenSecrets(before, key), ...(wake ? { Sleep } : {}) });
      return answer({ success: true, Action: "update", key: keyShape(key) });
    },
  );

/** spec: DELETE /x-keys/{id}. Answers the key as it was. */
export const deleteKey = (parts: KeysParts) =>
  endpoint(
    parts,
    { who: "owner", writes: true, query: NoQuerySchema, action: "delete_key" },
    async ({ caller, params, journal }) => {
      const id = keyIdOf(params);
      journal.about({ type: "key", id });
      const key = await parts.changeKey.remove(caller.profile.id, id);
      journal.changed(telling(key));
      return answer({ success: true, Action: "delete", key: keyShape(key) });
    },
  );

/** Without the fields that are undefined: those that were not sent. */
const given = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
