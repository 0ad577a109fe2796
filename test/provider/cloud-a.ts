// The stand-in for cloud_a: a resource with one key and deployments, on dated paths and on v1, as strict as its provider.

import { type Cloud, type CloudCall, refusing, startCloud } from "./front.ts";

/** `deployments`: what each is called, and its model. */
export function startCloudA(options: {
  readonly key: string;
  readonly deployments: Readonly<Record<string, string>>;
}): Cloud {
  const { key, deployments } = options;

  return startCloud(
    (call) => {
      if (call.proof !== key) return refusing(401, DENIED);
      const deployment = deploymentIn(call);
      if (deployment === null)
        return refusing(404, { error: { code: "404", message: "Resource not found" } });
      const model = deployments[deployment];
      if (model === undefined)
        return refusing(404, { error: { code: "DeploymentNotFound", message: missing(deployment) } });
      return { path: "/v1/chat/completions", body: { ...call.body, model }, key };
    },
    // A key that comes as a bearer's is none.
    (headers) => (headers.has("authorization") ? "" : (headers.get("api-key") ?? "")),
  );
}

const DENIED = {
  statusCode: 401,
  message: "Access denied due to invalid subscription key or wrong API endpoint.",
};

const missing = (deployment: string): string =>
  `The API deployment '${deployment}' for this resource does not exist. If you created it within the last 5 minutes, please wait.`;

/** The address names it, or on v1 the body; null: there is no such path, or not in this version. */
function deploymentIn({ path, query, body }: CloudCall): string | null {
  const version = new URLSearchParams(query).get("api-version");
  if (path === "/openai/v1/chat/completions") {
    return version === null || version === "preview" ? String(body.model) : null;
  }
  const dated = /^\/openai\/deployments\/([^/]+)\/chat\/completions$/.exec(path)?.[1];
  if (dated === undefined || !/^\d{4}-\d{2}-\d{2}(-preview)?$/.test(version ?? "")) return null;
  return decodeURIComponent(dated);
}
