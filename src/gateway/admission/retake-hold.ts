// Moves a running request to another candidate. Another model takes the hold again, at its own price and limits; the
// old hold stays until the account has granted the new one.

import { RefusedError } from "../../base/errors.ts";
import type { Admission, AdmittedContext } from "../context.ts";
import { candidateFor, type RouteCandidate } from "../routing/route.ts";
import type { HoldingParts } from "./admission.ts";
import { type AdmissionInput, buildRequestAt } from "./admission-request.ts";
import type { AdmitReply } from "./settlement.ts";

/** The part of a request's context that another candidate changes. */
export type MovableContext = AdmissionInput &
  Pick<AdmittedContext, "admission"> & { replaceAdmission(admission: Admission): void };

/**
 * Moves a request's route and hold to another candidate; the hold is taken again only for another model. Returns
 * false when the account refuses; nothing has changed then, and the old hold stays. Throws errors other than
 * refusals.
 */
export async function retakeHold(
  parts: HoldingParts,
  context: MovableContext,
  candidate: RouteCandidate,
): Promise<boolean> {
  const { admission } = context;
  const moved =
    candidate.model === admission.route.model
      ? { ...admission, route: { ...admission.route, ...candidate } }
      : await admissionAt(parts, context, admission, candidate);
  if (moved === null) return false;
  context.replaceAdmission(moved);
  return true;
}

/** Takes the hold for another model. Returns null when the account refuses. */
async function admissionAt(
  parts: HoldingParts,
  input: AdmissionInput,
  from: Admission,
  candidate: RouteCandidate,
): Promise<Admission | null> {
  const { id, caller, endpoint } = input;
  const { configs } = parts;
  const { question, route, estimate } = buildRequestAt(parts, input, from, candidate);
  let admitted: AdmitReply;
  try {
    const taken = { id: `${id}:${candidate.model}` };
    admitted = await parts.settlement.admit(caller.account, { id, ...question }, taken);
  } catch (error) {
    if (error instanceof RefusedError) return null;
    throw error;
  }
  if (!("stale" in admitted)) return { ...from, route, estimate, admitted };
  configs.acceptProfile(caller.account, admitted.stale);
  // The profile has changed while the request ran, so the new profile decides whether the candidate is
  // allowed.
  const accountContext = await configs.accountContext(caller.account);
  const level = (level: number) => configs.level(accountContext.account.owner, level);
  const { path, meter } = endpoint;
  const { model } = candidate;
  const allowed = candidateFor({ path, meter, model, accountContext, level }, model, []);
  if ("ok" in allowed || accountContext.account.version === from.accountContext.account.version) return null;
  const { modelLimits } = allowed;
  return admissionAt(parts, input, { ...from, accountContext }, { ...candidate, modelLimits });
}
