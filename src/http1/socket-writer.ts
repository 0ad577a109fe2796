// What a connection has still to send: it writes as fast as the peer takes it, in order, and keeps the rest. What
// writes more asks how much that is, and waits until it is sent.

import type { Socket } from "bun";

/** A longer text is encoded first, so that what the socket does not take of it is not encoded twice. */
const TEXT_BYTES_MAX = 64 * 1024;

/** The outgoing side of one socket. */
export class SocketWriter {
  readonly #socket: Pick<Socket, "write">;
  #unsent: Uint8Array[] = [];
  #unsentBytes = 0;
  /** Resolves when all is sent or dropped; null while nobody waits. */
  #drained: PromiseWithResolvers<void> | null = null;
  #isDropped = false;
  readonly #onHeldUp: (() => void) | undefined;

  /** `onHeldUp` is called when the peer does not take all that is written, and again when it has taken a part of that. */
  constructor(socket: Pick<Socket, "write">, onHeldUp?: () => void) {
    this.#socket = socket;
    this.#onHeldUp = onHeldUp;
  }

  /** Bytes that the peer has not taken yet. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  /** Writes a text that has this many bytes. */
  writeText(text: string, bytes: number): void {
    if (this.#unsentBytes > 0 || bytes > TEXT_BYTES_MAX) {
      this.writeBytes(Buffer.from(text));
      return;
    }
    if (this.#isDropped) return;
    // A negative count means that the connection has ended, which `close` or `error` reports.
    const written = Math.max(0, this.#socket.write(text));
    if (written < bytes) this.#keep(Buffer.from(text).subarray(written));
  }

  /** Writes bytes, which must not change afterwards. */
  writeBytes(bytes: Uint8Array): void {
    if (this.#isDropped) return;
    if (this.#unsentBytes > 0) {
      this.#keep(bytes);
      return;
    }
    const written = Math.max(0, this.#socket.write(bytes));
    if (written < bytes.length) this.#keep(bytes.subarray(written));
  }

  /** Resolves when all is sent, or dropped. */
  drained(): Promise<void> {
    this.#drained ??= Promise.withResolvers<void>();
    return this.#drained.promise;
  }

  /** The socket takes bytes again. Returns whether all is sent. */
  onDrain(): boolean {
    const unsent = this.#unsent;
    this.#unsent = [];
    this.#unsentBytes = 0;
    for (const bytes of unsent) this.writeBytes(bytes);
    if (this.#unsentBytes > 0) return false;
    this.#settle();
    return true;
  }

  /** Nothing more can be sent. */
  drop(): void {
    this.#isDropped = true;
    this.#unsent = [];
    this.#unsentBytes = 0;
    this.#settle();
  }

  #keep(bytes: Uint8Array): void {
    this.#unsent.push(bytes);
    this.#unsentBytes += bytes.length;
    if (this.#unsentBytes === bytes.length) this.#onHeldUp?.();
  }

  #settle(): void {
    this.#drained?.resolve();
    this.#drained = null;
  }
}
