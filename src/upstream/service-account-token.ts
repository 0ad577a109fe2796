// Tokens of service accounts: a statement signed with the account's private key, exchanged for a token that is good for
// about an hour. One exchange at a time per account, shared by all who wait; renewed before it ends, so that nobody waits
// while the old one is good. Neither keys nor tokens are ever stored, logged or told.

import { importPKCS8, SignJWT } from "jose";
import type { Clock } from "../base/clock.ts";
import { readBounded } from "./bounded-body.ts";
import { type Connect, failed, targetOf, unlessAborted } from "./http-client.ts";
import { clean } from "./provider-error.ts";
import type { UpstreamFailureResult } from "./upstream.ts";
import { classify, cutBy, fromError, type UpstreamFailure } from "./upstream-failure.ts";

/** Who asks for a token. */
export interface ServiceAccount {
  readonly email: string;
  /** The private key: PKCS#8 in PEM, line breaks also written as `\n`. */
  readonly pem: string;
}

export interface Tokens {
  /** A good token: at once when one is at hand, else as soon as there is one, but no later than the signal says. */
  of(account: ServiceAccount, signal: AbortSignal): string | Promise<string | UpstreamFailureResult>;
  /** The token was refused: the next one who asks gets another. */
  drop(account: ServiceAccount, token: string): void;
}

export interface TokenParts {
  readonly connect: Connect;
  readonly clock: Clock;
  /** Where tokens are exchanged (CLOUD_B_TOKEN_URL). */
  readonly url: string;
}

/** Times are wall ms: a token ends at a moment, and a step of the clock costs at most one exchange. */
interface Token {
  readonly text: string;
  readonly renewAt: number;
  readonly endsAt: number;
}

interface Held {
  readonly name: string;
  token: Token | null;
  asking: Promise<string | UpstreamFailureResult> | null;
  /** Monotonic ms before which a renewal that failed is not tried again. */
  renewNotBefore: number;
}

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const STATEMENT_S = 3_600;
const RENEW_BEFORE_MS = 5 * 60_000;
const RENEW_AGAIN_MS = 10_000;
const LIFE_S_MAX = 86_400;
const EXCHANGE_MS = 30_000;
const HELD_MAX = 1_000;

export function createTokens({ connect, clock, url }: TokenParts): Tokens {
  const target = targetOf(new URL(url));
  /** By account and a fingerprint of its key: another key of the same account starts anew. */
  const held = new Map<string, Held>();

  function heldFor(account: ServiceAccount): Held {
    const name = nameOf(account);
    let found = held.get(name);
    if (found === undefined) {
      found = { name, token: null, asking: null, renewNotBefore: 0 };
      if (held.size >= HELD_MAX) held.delete(held.keys().next().value!);
      held.set(name, found);
    }
    return found;
  }

  function ask(mine: Held, account: ServiceAccount): Promise<string | UpstreamFailureResult> {
    const exchanged = exchange(account).catch(
      (error): UpstreamFailureResult => ({ ok: false, signal: fromError(error) }),
    );
    mine.asking = exchanged.then((answer) => {
      mine.asking = null;
      if ("text" in answer) {
        mine.token = answer;
        return answer.text;
      }
      mine.renewNotBefore = clock.mono() + RENEW_AGAIN_MS;
      // Who gets no token must not take the place of others'.
      if (mine.token === null && held.get(mine.name) === mine) held.delete(mine.name);
      return answer;
    });
    return mine.asking;
  }

  async function exchange(account: ServiceAccount): Promise<Token | UpstreamFailureResult> {
    const sentAt = clock.wall();
    const statement = await signed(account, url, Math.floor(sentAt / 1_000));
    if (statement === null) return failed("invalid_key", "private_key is no RSA key in PKCS#8 PEM");
    const limit = new AbortController();
    const cancel = clock.after(EXCHANGE_MS, () => limit.abort(new DOMException("no token", "TimeoutError")));
    try {
      const response = await connect(target, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ grant_type: GRANT, assertion: statement }).toString(),
        signal: limit.signal,
      });
      if ("signal" in response) return told(response.signal, response.signal.note);
      const text = (await readBounded(response, clock)).replaceAll(statement, "[removed]");
      if (response.ok)
        return tokenIn(text, sentAt) ?? told({ name: "server_error", status: 200 }, "no token");
      return refusal(response, text);
    } finally {
      cancel();
    }
  }

  /** The signal of a refused exchange. The client's request has not been sent: whatever is wrong is not its doing. */
  function refusal({ status, headers }: Response, bodyText: string): UpstreamFailureResult {
    const { pass: _, ...signal } = classify({ status, headers, bodyText, model: "", nowMs: clock.wall() });
    const name = OURS[signal.name] ?? signal.name;
    return told({ ...signal, name }, `status ${status} ${saidIn(bodyText)}`.trim());
  }

  return {
    of(account, signal) {
      const mine = heldFor(account);
      const now = clock.wall();
      if (mine.token !== null && now < mine.token.endsAt) {
        const due = now >= mine.token.renewAt && clock.mono() >= mine.renewNotBefore;
        if (due && mine.asking === null) void ask(mine, account);
        return mine.token.text;
      }
      return unlessAborted(mine.asking ?? ask(mine, account), signal).catch((error) => ({
        ok: false,
        signal: cutBy(signal, error),
      }));
    },
    drop(account, token) {
      const mine = heldFor(account);
      // Somebody may have dropped it already, and have another.
      if (mine.token?.text === token) mine.token = null;
    },
  };
}

/** What `classify` would hold against the client's request is the account's fault, or the address's. */
const OURS: Readonly<Partial<Record<UpstreamFailure["name"], UpstreamFailure["name"]>>> = {
  rejected: "invalid_key",
  conflict: "invalid_key",
  error_body: "invalid_key",
  model_unavailable: "unreachable",
};

const told = (signal: Omit<UpstreamFailure, "note">, note: string): UpstreamFailureResult => ({
  ok: false,
  signal: { ...signal, note: `token address: ${note}` },
});

const nameOf = ({ email, pem }: ServiceAccount): string =>
  `${email} ${new Bun.CryptoHasher("sha256").update(pem).digest("base64")}`;

/** The account's statement, good from now on; null when its key is none. */
async function signed(account: ServiceAccount, audience: string, nowS: number): Promise<string | null> {
  const key = await privateKeyOf(account.pem);
  if (key === null) return null;
  const claims = { iss: account.email, scope: SCOPE, aud: audience, iat: nowS, exp: nowS + STATEMENT_S };
  return new SignJWT(claims).setProtectedHeader({ alg: "RS256", typ: "JWT" }).sign(key);
}

/** A PEM as files of service accounts have it, which are JSON and often pasted as they are: with real line breaks. */
export const plainPem = (given: string): string => given.replaceAll("\\r", "").replaceAll("\\n", "\n").trim();

/** The key in a PEM, its line breaks also written as `\n`; null when there is none that could sign. */
export async function privateKeyOf(pem: string): Promise<CryptoKey | null> {
  try {
    const key = await importPKCS8(plainPem(pem), "RS256");
    const { modulusLength } = key.algorithm as RsaKeyAlgorithm;
    return modulusLength >= MODULUS_MIN ? key : null;
  } catch (error) {
    // Whatever it says quotes the key.
    if (error instanceof Error) return null;
    throw error;
  }
}

/** Bits below which nobody takes a signature. */
const MODULUS_MIN = 2_048;

function tokenIn(text: string, sentAt: number): Token | null {
  const { access_token: token, expires_in: lifeS } = fieldsIn(text);
  if (typeof token !== "string" || !/^[\x21-\x7e]{1,8192}$/.test(token)) return null;
  const given = typeof lifeS === "number" && lifeS > 0 ? Math.min(lifeS, LIFE_S_MAX) : STATEMENT_S;
  const lifeMs = given * 1_000;
  const endsAt = sentAt + lifeMs;
  return { text: token, endsAt, renewAt: endsAt - Math.min(RENEW_BEFORE_MS, lifeMs / 2) };
}

/** Why an exchange was refused, in the address's own words. */
function saidIn(text: string): string {
  const { error, error_description: why } = fieldsIn(text);
  return [error, why]
    .filter((said) => typeof said === "string")
    .map((said) => clean(said).slice(0, 200))
    .join(": ");
}

function fieldsIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const fields: unknown = JSON.parse(text);
    return typeof fields === "object" && fields !== null ? (fields as Record<string, unknown>) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
