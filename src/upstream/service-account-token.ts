// Obtains access tokens of service accounts: it signs a JWT with the account's private key and exchanges it
// for a token that is valid for about an hour (RFC 7523). There is one exchange at a time per account, shared
// by all callers. A token is renewed before it expires, so that no caller waits while it is valid. Keys and
// tokens are never stored or logged.

import { Cancellation, type CancelSignal, unlessAborted } from "../base/cancellation.ts";
import type { Clock } from "../base/clock.ts";
import { readBounded } from "./bounded-body.ts";
import { type Connect, failed, targetOf } from "./http-client.ts";
import { clean } from "./provider-error.ts";
import type { UpstreamFailureResult } from "./upstream.ts";
import { classify, cutBy, fromError, type UpstreamFailure } from "./upstream-failure.ts";
import type { UpstreamResponse } from "./upstream-response.ts";

/** The service account that a token is for. */
export interface ServiceAccount {
  readonly email: string;
  /** The private key: PKCS#8 in PEM, where a line break may be written as `\n`. */
  readonly pem: string;
}

/** A cache of access tokens. */
export interface Tokens {
  /**
   * Returns a valid token, synchronously if one is cached. A promise ends when `signal` aborts; it never
   * rejects.
   */
  of(account: ServiceAccount, signal: CancelSignal): string | Promise<string | UpstreamFailureResult>;
  /** Removes a token that the provider refused, so that the next call of `of` obtains a new one. */
  drop(account: ServiceAccount, token: string): void;
}

/** What `createTokens` needs. */
export interface TokenParts {
  readonly connect: Connect;
  readonly clock: Clock;
  /** The address of the token exchange (CLOUD_B_TOKEN_URL). */
  readonly url: string;
}

/**
 * Times are wall-clock milliseconds, because tokens expire by wall time; a clock step costs at most one
 * exchange.
 */
interface Token {
  readonly text: string;
  readonly renewAt: number;
  readonly endsAt: number;
}

interface Held {
  readonly name: string;
  token: Token | null;
  asking: Promise<string | UpstreamFailureResult> | null;
  /** Monotonic milliseconds before which a failed renewal is not retried. */
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

/** Creates an empty token cache for at most `HELD_MAX` accounts. */
export function createTokens({ connect, clock, url }: TokenParts): Tokens {
  const target = targetOf(new URL(url));
  /** Keyed by account and key fingerprint, so that a new key of an account needs a new token. */
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
      // An account that gets no token must not evict the tokens of others.
      if (mine.token === null && held.get(mine.name) === mine) held.delete(mine.name);
      return answer;
    });
    return mine.asking;
  }

  async function exchange(account: ServiceAccount): Promise<Token | UpstreamFailureResult> {
    const sentAt = clock.wall();
    const statement = await signed(account, url, Math.floor(sentAt / 1_000));
    if (statement === null) return failed("invalid_key", "private_key is no RSA key in PKCS#8 PEM");
    const limit = new Cancellation();
    const cancel = clock.after(EXCHANGE_MS, () => limit.abort(new DOMException("no token", "TimeoutError")));
    try {
      const response = await connect(target, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ grant_type: GRANT, assertion: statement }).toString(),
        signal: limit.signal,
      }).catch((error): UpstreamFailureResult => ({ ok: false, signal: cutBy(limit.signal, error) }));
      if ("signal" in response) return failureOf(response.signal, response.signal.note);
      const text = (await readBounded(response.body, clock)).replaceAll(statement, "[removed]");
      if (response.status >= 200 && response.status < 300)
        return tokenIn(text, sentAt) ?? failureOf({ name: "server_error", status: 200 }, "no token");
      return refusal(response, text);
    } finally {
      cancel();
    }
  }

  /**
   * Classifies a refused exchange. The client's request was not sent, so the failure is never the client's
   * fault.
   */
  function refusal({ status, headers }: UpstreamResponse, bodyText: string): UpstreamFailureResult {
    const { pass: _, ...signal } = classify({ status, headers, bodyText, model: "", nowMs: clock.wall() });
    const name = OURS[signal.name] ?? signal.name;
    return failureOf({ ...signal, name }, `status ${status} ${errorTextIn(bodyText)}`.trim());
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
      // Another request may already have replaced the token.
      if (mine.token?.text === token) mine.token = null;
    },
  };
}

/**
 * Failures that `classify` blames on the request; here they are the fault of the account or the token
 * address.
 */
const OURS: Readonly<Partial<Record<UpstreamFailure["name"], UpstreamFailure["name"]>>> = {
  rejected: "invalid_key",
  conflict: "invalid_key",
  error_body: "invalid_key",
  model_unavailable: "unreachable",
};

const failureOf = (signal: Omit<UpstreamFailure, "note">, note: string): UpstreamFailureResult => ({
  ok: false,
  signal: { ...signal, note: `token address: ${note}` },
});

const nameOf = ({ email, pem }: ServiceAccount): string =>
  `${email} ${new Bun.CryptoHasher("sha256").update(pem).digest("base64")}`;

/**
 * Returns the signed JWT of an account, valid from `nowS` (Unix seconds). Returns null when its key is
 * invalid.
 */
async function signed(account: ServiceAccount, audience: string, nowS: number): Promise<string | null> {
  const key = await privateKeyOf(account.pem);
  if (key === null) return null;
  const { SignJWT } = await import("jose");
  const claims = { iss: account.email, scope: SCOPE, aud: audience, iat: nowS, exp: nowS + STATEMENT_S };
  return new SignJWT(claims).setProtectedHeader({ alg: "RS256", typ: "JWT" }).sign(key);
}

/**
 * Returns a PEM with real line breaks. In a service account's JSON file, from which it is copied, they are
 * escaped.
 */
export const plainPem = (given: string): string => given.replaceAll("\\r", "").replaceAll("\\n", "\n").trim();

/** Imports the RSA key of a PEM. Returns null when it holds no key of at least `MODULUS_MIN` bits. */
export async function privateKeyOf(pem: string): Promise<CryptoKey | null> {
  // Loaded with the first key of a service account: many services have none. A failure of that is no fault of the key.
  const { importPKCS8 } = await import("jose");
  try {
    const key = await importPKCS8(plainPem(pem), "RS256");
    const { modulusLength } = key.algorithm as RsaKeyAlgorithm;
    return modulusLength >= MODULUS_MIN ? key : null;
  } catch (error) {
    // The error is dropped, because its message may quote the key.
    if (error instanceof Error) return null;
    throw error;
  }
}

/** Smallest RSA modulus in bits whose signatures are accepted. */
const MODULUS_MIN = 2_048;

function tokenIn(text: string, sentAt: number): Token | null {
  const { access_token: token, expires_in: lifeS } = fieldsIn(text);
  if (typeof token !== "string" || !/^[\x21-\x7e]{1,8192}$/.test(token)) return null;
  const given = typeof lifeS === "number" && lifeS > 0 ? Math.min(lifeS, LIFE_S_MAX) : STATEMENT_S;
  const lifeMs = given * 1_000;
  const endsAt = sentAt + lifeMs;
  return { text: token, endsAt, renewAt: endsAt - Math.min(RENEW_BEFORE_MS, lifeMs / 2) };
}

/** Returns the cleaned reason that the token address gives for a refusal. */
function errorTextIn(text: string): string {
  const { error, error_description: why } = fieldsIn(text);
  return [error, why]
    .filter((text) => typeof text === "string")
    .map((text) => clean(text).slice(0, 200))
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
