// POST /x-keys/{id}/test: does this key work? One real call through it, told to its Owner alone.

import type { KeyTest, KeyTested } from "../../admin/test-key.ts";
import { answer, endpoint } from "../endpoint.ts";
import type { ManagementParts } from "../management.ts";
import { keyIdOf } from "../provider-keys/key-view.ts";
import { TestedModel } from "../provider-keys/schemas.ts";

export interface KeyTestParts extends ManagementParts {
  readonly testKey: (test: KeyTest) => Promise<KeyTested>;
}

/** POST /x-keys/{id}/test. A key that does not work is an answer like any other. */
export const postKeyTest = (parts: KeyTestParts) =>
  endpoint(
    parts,
    { who: "owner", body: TestedModel, bodyMayLack: true },
    async ({ caller, body, params, requestId }) => {
      const owner = caller.profile.id;
      const { latencyMs, ...told } = await parts.testKey({
        ...{ owner, id: keyIdOf(params), model: body.model?.toWellFormed(), requestId },
      });
      return answer({ ...told, latency_ms: latencyMs });
    },
  );
