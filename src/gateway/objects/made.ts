// What one answer leaves at its provider, kept so that later requests find it: durable before the answer's last byte. It
// asks nobody, and an answer whose ids cannot be stored is given all the same.

import { completionTokens, promptTokens, type Usage } from "../../../actors/pricing/usage.ts";
import type { Json } from "../../dialect/dialect.ts";
import type { Sent } from "../attempt/failover.ts";
import type { GatewayParts, Running } from "../context.ts";

interface Made {
  /** What is known at the beginning of a stream. Nobody waits for it. */
  first(ids: Iterable<string> | undefined): void;
  /** All of it, with what the answer used; resolves when it is kept. */
  all(ids: Iterable<string> | undefined, usage: Usage): Promise<void>;
}

export function madeIn(
  { objects }: Pick<GatewayParts, "objects">,
  { surface, request }: Pick<Running, "surface" | "request">,
  { admission, attempted }: Pick<Sent, "admission" | "attempted">,
): Made {
  const isKept = surface.dialect.objects?.isKept(request.payload.value as Json) === true;
  let keeping: Promise<void> = Promise.resolve();

  /** One after another: what is said last of an id is what stays. */
  function keep(ids: Iterable<string> | undefined, tokens: number): Promise<void> {
    const made = isKept ? [...(ids ?? [])] : [];
    if (made.length === 0) return keeping;
    const { key, model } = attempted;
    keeping = keeping.then(() =>
      objects.keep(admission.caller.account, { key: key.id, model, tokens }, made),
    );
    return keeping;
  }

  return {
    // What it will use is not known yet: as much as its prompt is held for.
    first: (ids) => void keep(ids, admission.worst.promptTokens),
    all: (ids, usage) => keep(ids, promptTokens(usage) + completionTokens(usage)),
  };
}
