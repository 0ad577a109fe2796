// Frames that one turn of the event loop sends to the same receiver, joined to one message. Most of what a message
// costs is its own (its subject, its way through the server, waking the receiver), so a busy node sends few of
// them. A frame that does not fit into a message goes in pieces, each in a message of its own, in order. Nothing
// is kept longer than the turn.

import { FramePart, HEAD, joinParts, KIND, splitFrame } from "./frame-parts.ts";
import type { GrowingMessage, NatsLink } from "./nats-connection.ts";

/** A message that takes parts until the end of the turn. */
class OpenMessage implements GrowingMessage {
  private readonly parts: FramePart[] = [];
  private length = 0;

  /** `open` are the messages of all subjects that take parts, this one among them until it is closed. */
  constructor(
    private readonly open: Map<string, OpenMessage>,
    private readonly subject: string,
    readonly number: number,
  ) {}

  hasRoom(part: FramePart, lengthMax: number): boolean {
    return this.length + part.length <= lengthMax;
  }

  add(part: FramePart): void {
    this.parts.push(part);
    this.length += part.length;
  }

  /** Returns its text. It takes no more parts from now on. */
  close(): string {
    if (this.open.get(this.subject) === this) this.open.delete(this.subject);
    return joinParts(this.parts);
  }
}

/** The messages of this turn of the event loop, one for each subject as long as it has room. */
export class OutgoingMessages {
  private readonly open = new Map<string, OpenMessage>();
  private begun = 0;

  /** `lengthMax` is the length of a message, in characters; `replyOf` gives its reply subject from its number. */
  constructor(
    private readonly link: Pick<NatsLink, "send" | "countUnsent">,
    private readonly lengthMax: () => number,
    private readonly replyOf: (number: number) => string | undefined,
  ) {}

  /**
   * Sends a frame, in one part or in pieces. Returns the number of the message, which all pieces share and which
   * other frames may share.
   */
  sendFrame(subject: string, id: number, frame: string): number {
    const lengthMax = this.lengthMax();
    if (HEAD + frame.length <= lengthMax) return this.sendPart(subject, new FramePart(KIND.frame, id, frame));
    const number = ++this.begun;
    for (const piece of splitFrame(id, frame, lengthMax - HEAD)) this.add(this.begin(subject, number), piece);
    // No other frame may share the number of the pieces.
    this.open.delete(subject);
    return number;
  }

  /** Sends a part with others to the same subject. Returns the number of the message. */
  sendPart(subject: string, part: FramePart): number {
    let message = this.open.get(subject);
    if (message === undefined || !message.hasRoom(part, this.lengthMax())) {
      message = this.begin(subject, ++this.begun);
    }
    this.add(message, part);
    return message.number;
  }

  private add(message: OpenMessage, part: FramePart): void {
    message.add(part);
    this.link.countUnsent(part.length);
  }

  private begin(subject: string, number: number): OpenMessage {
    const message = new OpenMessage(this.open, subject, number);
    this.open.set(subject, message);
    this.link.send(subject, message, this.replyOf(number));
    return message;
  }
}
