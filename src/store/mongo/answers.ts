// Kept answers: the only write that a single server may acknowledge. A crash may lose the newest of them, and
// readers see whatever that server has.

import type { KeptAnswer, Store } from "../store.ts";
import { parseKeptAnswer, StoredRow } from "../stored-rows.ts";
import type { Keyed, MongoConnection } from "./connection.ts";
import { isDuplicate, UnsettledError } from "./errors.ts";

interface AnswerDocument extends Keyed, Omit<KeptAnswer, "id"> {
  /**
   * Increases with each answer, so that the order of keeping is known. Wall-clock microseconds, each used
   * once per node.
   */
  readonly kept: number;
}

/** Answers removed by one call. There are more above the bound only after the bound was lowered. */
const DROP_MAX = 1_000;

/** Reads and writes of kept answers. */
export function mongoAnswers({
  clock,
  loose,
  read,
  write,
}: MongoConnection): Pick<Store, "keepAnswer" | "answer" | "dropAnswers"> {
  const answers = loose<AnswerDocument>("answers");
  let kept = 0;

  /** Returns wall-clock microseconds, each value once. */
  const nextKept = () => {
    kept = Math.max(kept + 1, Math.floor(clock.wall() * 1_000));
    return kept;
  };

  async function put({ id, ...answer }: KeptAnswer): Promise<void> {
    try {
      await answers.replaceOne({ _id: id }, { ...answer, kept: nextKept() }, { upsert: true });
    } catch (error) {
      throw isDuplicate(error) ? new UnsettledError("the answer was kept twice at once") : error;
    }
  }

  return {
    async keepAnswer(answer, most) {
      await write(() => put(answer));
      const { account, kind } = answer;
      const surplus = await read(() =>
        answers
          .find({ account, kind })
          .sort({ kept: -1 })
          .skip(most)
          .limit(DROP_MAX)
          .project({ kept: 1 })
          .map((one) => new StoredRow("answers", one))
          .toArray(),
      );
      const [newest] = surplus;
      if (newest === undefined) return;
      const ids = surplus.map((row) => row.key());
      const filter = { _id: { $in: ids }, kept: { $lte: newest.number("kept") } };
      await write(() => answers.deleteMany(filter));
    },
    async answer(id, now) {
      const found = await read(() => answers.findOne({ _id: id, until: { $gt: now } }));
      return found === null ? null : parseKeptAnswer(found);
    },
    async dropAnswers(until, limit) {
      if (limit <= 0) return 0;
      const expired = await read(() =>
        answers
          .find({ until: { $lte: until } })
          .sort({ until: 1 })
          .limit(limit)
          .project({ _id: 1 })
          .map((one) => new StoredRow("answers", one).key())
          .toArray(),
      );
      const filter = { _id: { $in: expired }, until: { $lte: until } };
      const { deletedCount } = await write(() => answers.deleteMany(filter));
      return deletedCount;
    },
  };
}
