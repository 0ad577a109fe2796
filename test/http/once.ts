// Does a piece of work under an Idempotency-Key as the edge does a request: begins it, completes it, or abandons it.

import type { AdminIdempotency, CommandId, IdempotentCall } from "../../src/http/idempotency.ts";

export const withOnce = (idempotency: AdminIdempotency) => ({
  async once<T>(call: IdempotentCall, work: (command: CommandId) => Promise<T>) {
    const write = await idempotency.begin(call);
    if (write.kept !== null) {
      await write.abandon();
      return { value: write.kept.answer as T, repeated: true };
    }
    try {
      const value = await work(write.command);
      await write.complete(value);
      return { value, repeated: false };
    } catch (error) {
      await write.abandon();
      throw error;
    }
  },
});
