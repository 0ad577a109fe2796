// What the provider keeps for its keys: responses, their items, conversations. To any other key they are not there.
// Bounded: the youngest ten thousand.

import type { Reference } from "./dialect.ts";
import { invalidUrl, notFound, type Refusal } from "./refusal.ts";

export interface Shelf {
  keep(secret: string, things: Readonly<Record<string, object>>): void;
  /** The refusal of the first reference to something that this key does not have; null when it has all. */
  missing(secret: string, references: readonly Reference[]): Refusal | null;
  /** The answer to a GET or DELETE of something kept, or its refusal. */
  recall(secret: string, method: string, path: string): object | Refusal;
  clear(): void;
}

const KEPT_MAX = 10_000;

/** A path of something kept, by the start of its id. */
const PATH =
  /\/(?:responses\/(resp_[^/]*(?:\/input_items)?)|conversations\/(conv_[^/]*)|(?:responses|conversations)\/([^/]*))$/;

export function shelf(): Shelf {
  const kept = new Map<string, { readonly secret: string; readonly thing: object }>();
  const has = (secret: string, id: string) => kept.get(id)?.secret === secret;
  return {
    keep(secret, things) {
      for (const [id, thing] of Object.entries(things)) kept.set(id, { secret, thing });
      for (const id of kept.keys()) {
        if (kept.size <= KEPT_MAX) break;
        kept.delete(id);
      }
    },
    missing: (secret, references) => references.find(({ id }) => !has(secret, id))?.missing ?? null,
    recall(secret, method, path) {
      const [, response, conversation, other = ""] = PATH.exec(path) ?? [];
      const id = response ?? conversation ?? other;
      if (other !== "" || !has(secret, id)) return notFound(`${kindOf(path)} with id '${id}' not found.`);
      if (method === "GET") return kept.get(id)!.thing;
      if (method !== "DELETE") return invalidUrl(method, path);
      kept.delete(id);
      kept.delete(inputsOf(id));
      return { id, object: response === undefined ? "conversation.deleted" : "response", deleted: true };
    },
    clear: () => kept.clear(),
  };
}

/** Whether a path is of one thing of the shelf. */
export const isOfKept = (path: string): boolean => PATH.test(path);

/** Under which a response's own questions are kept. */
export const inputsOf = (id: string): string => `${id}/input_items`;

const kindOf = (path: string): string => (path.includes("/responses/") ? "Response" : "Conversation");

export const isRefusal = (answer: object): answer is Refusal => "chat" in answer && "messages" in answer;
