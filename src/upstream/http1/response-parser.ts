// Splits the bytes of a connection to a provider into responses, over interim ones. It knows nothing of sockets.

import { ProtocolError } from "../../http1/header-fields.ts";
import { MessageParser, type MessageSink } from "../../http1/message-parser.ts";
import { parseHead, type ResponseHead } from "./response-head.ts";

/** Interim responses before the final one. */
const INTERIM_MAX = 16;

/** The parser of one connection. `begin` prepares it for the response to a request that is about to be sent. */
export class ResponseParser extends MessageParser<ResponseHead> {
  #interim = 0;

  constructor(sink: MessageSink<ResponseHead>) {
    super(sink, true);
  }

  override begin(): void {
    super.begin();
    this.#interim = 0;
  }

  /** Takes bytes that arrived. Throws `ProtocolError`; the parser must not be used after that. */
  push(chunk: Buffer): void {
    if (this.take(chunk, 0) < chunk.length) {
      throw new ProtocolError("the provider sent bytes that belong to no request");
    }
  }

  protected override parseHead(text: string): ResponseHead {
    return parseHead(text);
  }

  protected override isInterim({ status }: ResponseHead): boolean {
    if (status >= 200) return false;
    // 101 would switch to a protocol that nobody asked for; all others announce that the answer is to come.
    if (status === 101 || ++this.#interim > INTERIM_MAX) {
      throw new ProtocolError(`the provider sent an unexpected response of status ${status}`);
    }
    return true;
  }
}
