// Queries from node to node for parts outside the runtime, which keep something in memory beside the actors of a node: by
// name, what answers them. No actor is loaded, no turn is taken and nothing is stored. A query is sent once: its sender
// decides whether to repeat it.

import { type Clock, inTime } from "../../base/clock.ts";
import { UnavailableError } from "../../base/errors.ts";
import { type ActorRef, actorName } from "../actor.ts";
import type { Placement } from "../placement/placement.ts";
import { displayName } from "../placement/shard-table.ts";
import { shardOf } from "../shards.ts";
import type { NodeProtocol } from "./node-protocol.ts";

/** Answers the queries of one name with plain data, now or later. What it throws reaches the sender as a failure. */
export type AnswerQuery = (input: unknown) => unknown;

/** A query: its name, and plain data. */
export interface NodeQuery {
  readonly name: string;
  readonly input: unknown;
}

/** What one node answers to a query; null when it failed or did not answer in time. */
export interface NodeAnswer {
  readonly node: string;
  readonly answer: unknown;
}

/** The queries between nodes; each method is documented at `ActorSystem`. */
export class NodeQueries {
  private readonly answers = new Map<string, AnswerQuery>();

  constructor(
    private readonly clock: Clock,
    private readonly placement: Pick<Placement, "ownerOf" | "node" | "others">,
    private readonly protocol: () => Pick<NodeProtocol, "call">,
  ) {}

  serve(name: string, answer: AnswerQuery): void {
    this.answers.set(name, answer);
  }

  /** Answers a query on this node. Rejects for a name that no part has registered. */
  async answer({ name, input }: NodeQuery): Promise<unknown> {
    const answer = this.answers.get(name);
    if (answer === undefined) throw new Error(`nothing on this node answers ${name.slice(0, 64)}`);
    return answer(input);
  }

  otherOwnerOf(actor: ActorRef): string | null {
    const node = this.ownerOf(actor);
    return node === this.placement.node() ? null : node;
  }

  ownerNameOf(actor: ActorRef): string | null {
    const node = this.ownerOf(actor);
    return node === null ? null : displayName(node);
  }

  send(node: string, query: NodeQuery, ms: number): Promise<unknown> {
    return this.protocol().call(node, "query", query, ms);
  }

  async queryNodes(query: NodeQuery, ms: number): Promise<readonly NodeAnswer[]> {
    const own = { node: this.placement.node(), answering: this.answer(query) };
    const others = this.placement.others().map((node) => ({ node, answering: this.send(node, query, ms) }));
    return Promise.all(
      [own, ...others].map(async ({ node, answering }) => {
        const answer = await inTime(this.clock, ms, answering).catch(() => null);
        return { node, answer: answer ?? null };
      }),
    );
  }

  async queryOwner(actor: ActorRef, query: NodeQuery, ms: number): Promise<unknown> {
    const other = this.otherOwnerOf(actor);
    if (other === null) return this.answer(query);
    const answer = await inTime(this.clock, ms, this.send(other, query, ms)).catch(() => null);
    if (answer === null) throw new UnavailableError(actorName(actor), "no_answer");
    return answer;
  }

  /** Returns the node id of the owner of an actor; null when none is known. */
  private ownerOf(actor: ActorRef): string | null {
    return this.placement.ownerOf(shardOf(actorName(actor)))?.node ?? null;
  }
}
