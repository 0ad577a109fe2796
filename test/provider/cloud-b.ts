// The stand-in for cloud_b: a project at a location, its token address, the chat style for most models and raw messages for
// Claude ones. It checks signatures, claims and tokens, and is as strict with bodies as its provider.

import { type CryptoKey, jwtVerify } from "jose";
import { type Cloud, type CloudCall, type Inside, refusing, startCloud } from "./front.ts";
import { bearerOf } from "./keys.ts";

export interface CloudBOptions {
  /** Service accounts by e-mail, with the public half of their keys. */
  readonly accounts: Readonly<Record<string, CryptoKey>>;
  readonly project: string;
  readonly location: string;
  /** Wall ms. */
  readonly now: () => number;
}

export interface CloudB extends Cloud {
  /** What Config.base_url is to be. */
  readonly base: string;
  readonly tokenUrl: string;
  /** Tokens given out, oldest first. */
  tokens(): readonly string[];
  /** Ends all tokens given out before their time. */
  revoke(): void;
  /** From now on exchanges are answered so; null: as they deserve. */
  answerTokens(answer: (() => Response) | null): void;
}

const LIFE_S = 3_599;
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const VERSION = "vertex-2023-10-16";
const BETAS = ["context-1m-2025-08-07", "interleaved-thinking-2025-05-14"];

export function startCloudB(options: CloudBOptions): CloudB {
  const { accounts, project, location, now } = options;
  const given: string[] = [];
  /** Good tokens: whose, and wall ms of their end. */
  const good = new Map<string, { readonly email: string; readonly endsAt: number }>();
  let instead: (() => Response) | null = null;

  async function exchange(request: Request): Promise<Response> {
    if (instead !== null) return instead();
    const form = new URLSearchParams(await request.text());
    if (form.get("grant_type") !== GRANT) return refusing(400, { error: "unsupported_grant_type" });
    const email = await signer(form.get("assertion") ?? "").catch((error: Error) => error);
    if (email instanceof Error) {
      return refusing(400, { error: "invalid_grant", error_description: `Invalid JWT: ${email.message}` });
    }
    const token = `ya29.${given.length + 1}-${email}`;
    given.push(token);
    good.set(token, { email, endsAt: now() + LIFE_S * 1_000 });
    return Response.json({ access_token: token, expires_in: LIFE_S, token_type: "Bearer" });
  }

  /** Who signed a statement that is good now; throws what is wrong with it. */
  async function signer(assertion: string): Promise<string> {
    const claims = JSON.parse(Buffer.from(assertion.split(".")[1] ?? "", "base64url").toString()) as {
      iss: string;
    };
    const key = accounts[claims.iss];
    if (key === undefined) throw new Error("account not found");
    const rules = { algorithms: ["RS256"], audience: `${cloud.url}/token`, currentDate: new Date(now()) };
    const { payload } = await jwtVerify(assertion, key, { ...rules, requiredClaims: ["iat", "exp"] });
    if (payload.scope !== SCOPE) throw new Error("no scope");
    if (payload.exp! - payload.iat! > 3_600) throw new Error("Token must be a short-lived token");
    return claims.iss;
  }

  function admit(call: CloudCall): Inside | Response {
    const bearer = good.get(call.proof);
    if (bearer === undefined || bearer.endsAt <= now()) {
      return google(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.");
    }
    const root = `/v1/projects/${project}/locations/${location}/`;
    const tail = call.path.startsWith(root) ? call.path.slice(root.length) : "";
    const key = bearer.email;
    if (tail === "endpoints/openapi/chat/completions") {
      return /^[\w-]+\/[\w.@-]+$/.test(String(call.body.model))
        ? { path: "/v1/chat/completions", body: call.body, key }
        : google(400, "INVALID_ARGUMENT", "The model must be named with its publisher.");
    }
    const raw = /^publishers\/anthropic\/models\/([\w.@-]+):(rawPredict|streamRawPredict)$/.exec(tail);
    if (raw === null) return google(404, "NOT_FOUND", `Publisher Model \`${tail}\` was not found.`);
    return rawPredict(call, raw[1]!, raw[2] === "streamRawPredict", key);
  }

  const cloud = startCloud(
    admit,
    (headers) => bearerOf(Object.fromEntries(headers)),
    (request) => (new URL(request.url).pathname === "/token" ? exchange(request) : null),
  );
  return {
    ...cloud,
    base: `${cloud.url}/v1/projects/${project}/locations/${location}`,
    tokenUrl: `${cloud.url}/token`,
    tokens: () => given,
    revoke: () => good.clear(),
    answerTokens(answer) {
      instead = answer;
    },
  };
}

function rawPredict(
  { body, headers }: CloudCall,
  named: string,
  stream: boolean,
  key: string,
): Inside | Response {
  const { anthropic_version: version, ...rest } = body;
  const betas = headers["anthropic-beta"]?.split(",") ?? [];
  const unknown = betas.filter((beta) => !BETAS.includes(beta));
  const counts = named === "count-tokens";
  const rules: readonly (readonly [broken: boolean, said: string])[] = [
    [version !== VERSION, "anthropic_version: Field required"],
    ["anthropic-version" in headers, "anthropic-version: Extra inputs are not permitted"],
    [counts !== "model" in body, counts ? "model: Field required" : "model: Extra inputs are not permitted"],
    [!counts && (body.stream === true) !== stream, "stream: does not go with this method"],
    [/-\d{8}$/.test(counts ? String(body.model) : named), "model: a snapshot stands behind an @"],
    [unknown.length > 0, `Unexpected value(s) \`${unknown}\` for the \`anthropic-beta\` header.`],
  ];
  const broken = rules.find(([is]) => is);
  if (broken !== undefined) {
    return refusing(400, { type: "error", error: { type: "invalid_request_error", message: broken[1] } });
  }
  return counts
    ? { path: "/v1/messages/count_tokens", body: rest, key }
    : { path: "/v1/messages", body: { ...rest, model: named }, key };
}

const google = (code: number, status: string, message: string): Response =>
  refusing(code, { error: { code, message, status } });
