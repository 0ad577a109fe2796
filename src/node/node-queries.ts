// The queries that nodes ask each other about what is in the memory of one of them: by name, the part that
// answers. The actor system needs them before those parts exist, so each is registered later.

import { KEY_ACTIVITY, keyActivityAnswer } from "../admin/key-activity.ts";
import type { Clock } from "../base/clock.ts";
import type { NodeGateway } from "./create-gateway.ts";

/** The queries that this node answers. */
export interface NodeQueries {
  /** Registers what answers a query; it replaces an earlier one. The answer is plain data. */
  register(name: string, answer: (input: unknown) => unknown): void;
  /** Answers a query. Throws when no part has registered for it. */
  answer(name: string, input: unknown): unknown;
}

/** Creates the queries of a node, which answer nothing yet. */
export function createNodeQueries(): NodeQueries {
  const answers = new Map<string, (input: unknown) => unknown>();
  return {
    register: (name, answer) => void answers.set(name, answer),
    answer(name, input) {
      const found = answers.get(name);
      if (found === undefined) throw new Error(`no part of this node answers the query ${name}`);
      return found(input);
    },
  };
}

/** Registers what the gateway of a node answers. */
export function registerGatewayQueries(queries: NodeQueries, gateway: NodeGateway, clock: Clock): void {
  const { chooser } = gateway.parts;
  const read = keyActivityAnswer((keys) => gateway.keyActivity.read(keys, chooser, clock.wall()));
  queries.register(KEY_ACTIVITY, read);
}
