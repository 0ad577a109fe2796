// The access log of a node: lines of JSON on the standard output, behind a bounded buffer. One batch is written at a time,
// and what arrives meanwhile is collected for the next. When the reader is slow and the buffer full, further lines are dropped
// and counted, so that no request ever waits for it. Others may write to the same output (processes that share ports, and the
// log where both outputs are one), so a batch is written in pieces between which their lines may come, and not within one.

import { write } from "node:fs";
import { atMost, type Clock, sleep } from "../base/clock.ts";
import type { AccessLine, AccessLog } from "../gateway/traffic/access-line.ts";
import type { Settings } from "../settings/settings.ts";
import { piecesOf } from "./line-pieces.ts";
import { ACCESS_LOG_MS } from "./stop-times.ts";

/** Characters that may wait to be written. */
const WAITING_MAX = 4 * 1024 * 1024;
/** Milliseconds for which lines are collected before they are written. */
const COLLECT_MS = 20;

/** Writes a text. Resolves when all of it is written; rejects when nobody can read it any more. */
export type WriteText = (text: string) => Promise<void>;

/** The access log of a process. */
export class BufferedAccessLog implements AccessLog {
  private waiting: string[] = [];
  private size = 0;
  private droppedCount = 0;
  /** Resolves when what waits now is written; null while nothing does. */
  private writing: Promise<void> | null = null;
  /** What each line ends with. */
  private readonly end: string;

  /** `node`: the name that each line says, where several nodes write to one output; else null. */
  constructor(
    private readonly clock: Clock,
    private readonly writeText: WriteText,
    node: string | null = null,
    private readonly most = WAITING_MAX,
  ) {
    this.end = node === null ? "}" : `,"node":${JSON.stringify(node)}}`;
  }

  write(line: AccessLine): void {
    const text = JSON.stringify(line).slice(0, -1) + this.end;
    if (this.size + text.length >= this.most) {
      this.droppedCount++;
      return;
    }
    this.waiting.push(text);
    this.size += text.length + 1;
    this.writing ??= this.writeAll();
  }

  dropped(): number {
    return this.droppedCount;
  }

  /** Resolves when everything is written, or after a second. */
  async close(): Promise<void> {
    if (this.writing !== null) await atMost(this.clock, ACCESS_LOG_MS, this.writing);
  }

  private async writeAll(): Promise<void> {
    await sleep(this.clock, COLLECT_MS);
    while (this.waiting.length > 0) {
      const lines = this.waiting;
      const { size } = this;
      this.waiting = [];
      try {
        await this.writeText(`${lines.join("\n")}\n`);
      } catch {
        this.droppedCount += lines.length;
      }
      // What is being written counts as waiting until it is written.
      this.size -= size;
    }
    this.writing = null;
  }
}

/** Opens the access log on the standard output if ACCESS_LOG is set, and closes it with the process; else null. */
export function openAccessLog(
  { accessLog, nodeName, share }: Pick<Settings, "accessLog" | "nodeName" | "share">,
  clock: Clock,
  closing: AsyncDisposableStack,
): AccessLog | null {
  if (!accessLog) return null;
  const log = new BufferedAccessLog(clock, standardOutput(clock), share === null ? null : nodeName);
  closing.defer(() => log.close());
  return log;
}

const STDOUT = 1;
/** Milliseconds before another try when the reader takes nothing. */
const FULL_MS = 20;
/**
 * Pieces that are written at the same time. One after the other, a busy event loop would write one piece a turn, and drop lines.
 * Pieces may change places; each line has its time.
 */
const PIECES_AT_ONCE = 16;

/** Returns what writes lines to the standard output without holding up the event loop. */
function standardOutput(clock: Clock): WriteText {
  const some = (bytes: Uint8Array): Promise<number> =>
    new Promise((resolve, reject) =>
      write(STDOUT, bytes, (error, written) => {
        if (error === null) resolve(written);
        else if (error.code === "EAGAIN") resolve(0);
        else reject(error);
      }),
    );
  async function writePiece(piece: Uint8Array): Promise<void> {
    let rest = piece;
    while (rest.length > 0) {
      const written = await some(rest);
      if (written === 0) await sleep(clock, FULL_MS);
      rest = rest.subarray(written);
    }
  }
  return async (text) => {
    const pieces = piecesOf(Buffer.from(text));
    const writeInTurn = async () => {
      for (const piece of pieces) await writePiece(piece);
    };
    await Promise.all(Array.from({ length: PIECES_AT_ONCE }, writeInTurn));
  };
}
