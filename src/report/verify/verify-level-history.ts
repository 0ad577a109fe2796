// Compares the stored history of a Level with the rows that its events make: each stored row is one of them, and
// none is missing that the snapshot covers. It holds the newest rows, twice as many as a Level keeps.

import { LEVEL_ROWS_MAX, levelRowId } from "../../../actors/level/history.ts";
import { level } from "../../../actors/level/level.ts";
import type { Level } from "../../../actors/level/state.ts";
import type { AuditView } from "../../store/audit.ts";
import { asStored, differences, type Findings } from "./findings.ts";
import type { ActorAudit } from "./verification.ts";

type Body = Readonly<Record<string, unknown>>;

/** The comparison of one Level, whose events are replayed in order. */
export class LevelHistoryComparison {
  /** The rows of the ledger by number. */
  readonly #rows = new Map<number, Body>();
  /** How many rows the ledger has, and how many of them up to the snapshot. */
  #count = 0;
  #covered = 0;

  constructor(
    /** The Level's id, `<owner>.<level>`. */
    private readonly id: string,
    /** The seq of the snapshot; 0 when there is none. */
    private readonly snapshotSeq: number,
  ) {}

  /** Takes the rows of the commit that has just been replayed. */
  take({ state, seq }: Pick<ActorAudit, "state" | "seq">): void {
    if (state === null) return;
    const one = state as Level;
    for (const { body } of level.materialize(one)) this.#rows.set(Number(body.number), body);
    this.#count = one.fold.rows;
    if (seq <= this.snapshotSeq) this.#covered = this.#count;
    for (const oldest of this.#rows.keys()) {
      if (this.#rows.size <= 2 * LEVEL_ROWS_MAX) break;
      this.#rows.delete(oldest);
    }
  }

  /** Compares what is stored, at the end of a ledger whose last commit is `seq`. */
  async finish(seq: number, audit: AuditView, findings: Findings): Promise<void> {
    const stored = new Map((await audit.levelEvents(this.id)).map((one) => [one.id, one]));
    for (const { id, seq: writtenAt, body } of stored.values()) {
      // It may be newer than the ledger that was read.
      if (writtenAt > seq) continue;
      const row = this.#rows.get(Number(body.number));
      const found = row === undefined ? ["its row is not in the ledger"] : differences(body, asStored(row));
      for (const what of found) findings.add("level_history", `levelEvents ${id}`, what);
    }
    for (let n = Math.max(1, this.#covered - LEVEL_ROWS_MAX + 1); n <= this.#covered; n++) {
      const id = levelRowId(this.id, n);
      if (Number(stored.get(id)?.body.number ?? 0) < n) {
        findings.add("level_history", `levelEvents ${id}`, `row ${n} is missing, which the snapshot covers`);
      }
    }
  }
}
