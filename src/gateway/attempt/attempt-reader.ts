// Reads the answer of one attempt until it is one: the whole body, or the first content of a stream. An answer that is none is
// classified. It sends nothing and reports nothing.

import type { Cancellation } from "../../base/cancellation.ts";
import type { Clock } from "../../base/clock.ts";
import { assert } from "../../base/errors.ts";
import type { ModelRequest } from "../../dialect/dialect.ts";
import { isSound } from "../../dialect/media/speech.ts";
import type { UpstreamHead } from "../../upstream/upstream.ts";
import { classify, cutBy, type UpstreamFailure } from "../../upstream/upstream-failure.ts";
import type { StreamPart } from "../call.ts";
import type { ProviderBody, StreamChunk, StreamEnd, StreamSource } from "../codec/provider-answer.ts";
import type { ProviderExchange } from "../codec/provider-codec.ts";
import type { Attempted } from "../context.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import type { AnswerFacts } from "../large-body/jobs.ts";
import { readLargeAnswer } from "../large-body/large-answer.ts";
import type { LargeBodies } from "../large-body/worker-pool.ts";
import { AudioSource } from "./audio-source.ts";
import { EventStreamSource } from "./stream-source.ts";
import { readBody, type WholeBodyRead } from "./whole-body.ts";

/** The services and the time limit (ms) of reading. */
export interface ReadingParts {
  readonly clock: Clock;
  readonly limits: { readonly upstreamIdleMs: number };
  /** Undefined for key tests, whose answers are a few words. */
  readonly largeBodies?: LargeBodies;
}

/** How an answer is read. */
export interface ReadingInput {
  readonly attempted: Attempted;
  readonly exchange: ProviderExchange;
  readonly answers: GatewayEndpoint["answers"];
  readonly request: Pick<ModelRequest, "stream" | "includeUsage">;
  /** The `system_fingerprint` to use when the provider sends none. */
  readonly fingerprint: string;
  /** Ends the attempt when it is aborted. */
  readonly abort: Cancellation;
}

/** Bytes that are buffered before the first content (role chunks, comments). Beyond this the response head is sent. */
const HEAD_BYTES_MAX = 256 * 1024;

/** What reading an answer led to. */
type Reading = ProviderBody | UpstreamFailure;

/** The part of an attempt that reads. */
export abstract class AttemptReader<Parts extends ReadingParts, Input extends ReadingInput> {
  constructor(
    protected readonly parts: Parts,
    protected readonly input: Input,
  ) {}

  /** Reads the provider's answer, whose form does not depend only on what was requested. */
  protected read(head: UpstreamHead): Reading | Promise<Reading> {
    const { answers, request } = this.input;
    const type = contentTypeOf(head);
    if (answers === "sound" && isSound(type)) return this.openSound(head);
    if (!request.stream) return this.readWhole(head);
    const isEvents = /^text\/event-stream\b/i.test(type);
    // Some models answer whole although a stream was requested.
    if (answers === "words") return isEvents ? this.openStream(head) : this.readWhole(head);
    return /^application\/json/i.test(type) ? this.readUnstreamed(head) : this.openStream(head);
  }

  private readWhole(head: UpstreamHead): Reading | Promise<Reading> {
    const { abort } = this.input;
    const { clock, limits, largeBodies } = this.parts;
    const blocksFrom = largeBodies?.bytesMin ?? Number.POSITIVE_INFINITY;
    let read: WholeBodyRead | Promise<WholeBodyRead>;
    try {
      read = readBody(head.body, { clock, idleMs: limits.upstreamIdleMs, abort, blocksFrom });
    } catch (error) {
      return cutBy(abort, error);
    }
    if (!(read instanceof Promise)) return this.wholeOf(head, read);
    return read.then(
      (later) => this.wholeOf(head, later),
      (error) => cutBy(abort, error),
    );
  }

  private wholeOf(head: UpstreamHead, read: WholeBodyRead): Reading | Promise<Reading> {
    if (typeof read !== "string") return this.readLarge(head, read);
    const contentType = contentTypeOf(head);
    const answer = this.input.exchange.readAnswer({ text: read, contentType });
    if (answer.ok) return { kind: "whole", text: read, contentType, answer, large: null };
    return this.misread(head.scrub(read), 200);
  }

  /** Reads an answer that would hold up the event loop. */
  private async readLarge(head: UpstreamHead, blocks: readonly Uint8Array<ArrayBuffer>[]): Promise<Reading> {
    const { abort, fingerprint } = this.input;
    const { largeBodies } = this.parts;
    const { origin } = this.input.exchange;
    const contentType = contentTypeOf(head);
    assert(largeBodies !== undefined, "an answer comes in blocks for those who read them");
    let read: AnswerFacts;
    try {
      read = await readLargeAnswer(largeBodies, { blocks, contentType, fingerprint, origin }, abort.signal);
    } catch (error) {
      if (abort.aborted) return cutBy(abort, error);
      throw error;
    }
    if (!read.ok) return this.misread(head.scrub(read.text), 200);
    const { answer, facts, client } = read;
    return {
      kind: "whole",
      text: "",
      contentType,
      answer: { ...answer, body: null },
      large: { ...facts, client },
    };
  }

  /** Reads JSON that was sent in place of a stream: an error with status 200, or the answer of a provider that does not stream. */
  private async readUnstreamed(head: UpstreamHead): Promise<UpstreamFailure> {
    const read = await this.readWhole(head);
    if (!("kind" in read)) return read;
    return { name: "not_streamed", status: head.status, note: "a whole answer in place of a stream" };
  }

  private openStream(head: UpstreamHead): Promise<Reading> {
    const { request, fingerprint } = this.input;
    const machine = this.input.exchange.stream({ includeUsage: request.includeUsage, fingerprint });
    return this.open(new EventStreamSource({ ...this.bodyParts(head), machine, head }), null);
  }

  private openSound(head: UpstreamHead): Promise<Reading> {
    const contentType = contentTypeOf(head);
    const read: ConstructorParameters<typeof AudioSource>[0]["read"] = (sound) =>
      this.input.exchange.readAnswer({ text: "", contentType, sound });
    return this.open(new AudioSource({ ...this.bodyParts(head), read }), contentType);
  }

  private bodyParts({ body }: UpstreamHead) {
    const { clock, limits } = this.parts;
    return { body, clock, idleMs: limits.upstreamIdleMs, abort: this.input.abort };
  }

  /** Reads until the first content. */
  private async open(source: StreamSource, contentType: string | null): Promise<Reading> {
    const parts: StreamPart[] = [];
    let size = 0;
    let chunk: StreamChunk;
    do {
      chunk = await source.next();
      for (const part of chunk.parts) {
        parts.push(part);
        size += part.length;
      }
    } while (!chunk.content && chunk.end === null && size <= HEAD_BYTES_MAX);
    const failure = chunk.end === null ? null : this.failureBefore(source, chunk.end);
    if (failure === null) return { kind: "stream", source, opening: { ...chunk, parts }, contentType };
    source.stop();
    return failure;
  }

  /** Returns the failure of a stream that ended without content, or null when the provider ended it normally. */
  private failureBefore({ machine }: StreamSource, end: StreamEnd): UpstreamFailure | null {
    if (machine.delivered) return null;
    if (end.kind === "cut") return end.signal;
    if (end.kind === "error") return this.misread(end.text, 200);
    if (machine.outcome(true) === "complete") return null;
    return { name: "empty_stream", status: 200, note: "the stream ended before it began" };
  }

  private misread(text: string, status: number): UpstreamFailure {
    return misread(text, status, this.input.attempted.model, this.parts.clock);
  }
}

const contentTypeOf = ({ headers }: UpstreamHead): string => headers.get("content-type") ?? "";

/** Classifies an answer with a success status that is not a valid answer, by its text. */
export const misread = (text: string, status: number, model: string, clock: Clock): UpstreamFailure =>
  classify({ status, bodyText: text.slice(0, 65_536), model, nowMs: clock.wall() });
