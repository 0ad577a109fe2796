// The configurations that are compared: how each is started and asked, and what it does for a request, so that a reader can tell
// whether a comparison is fair.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { freePort } from "../../test/store/tcp.ts";
import type { Target } from "../load.ts";
import { type Process, startProgram } from "../process.ts";
import type { Stage } from "../stage.ts";
import { findNginx, type Installed, installLiteLlm, installPortkey } from "./install.ts";

/** A configuration that runs. */
export interface Running {
  readonly process: Process;
  readonly target: Target;
}

export interface Peer {
  readonly name: string;
  /** One or two sentences for the page: its keys, limits, records and processes. */
  readonly does: string;
  install(): Promise<Installed>;
  /** `directory` is for its configuration and log. The processes of the stage run already. */
  start(stage: Stage, directory: string, command: readonly string[]): Promise<Running>;
}

const HOST = "127.0.0.1";
/** LiteLLM's only key, and what other peers pass on to the provider. */
const KEY = "sk-bench-peer-0123456789";
/** Nothing is to be installed for what this repository has. */
const onBun = (version: string) => async (): Promise<Installed> => ({
  ok: true,
  command: [],
  version: `${version}Bun ${Bun.version}`,
});

const RAW_BUN: Peer = {
  name: "raw Bun",
  does:
    "20 lines of `Bun.serve` and `fetch` that copy request and answer. No keys, no limits, no record. The ratios refer to it: " +
    "arborgate runs on the same runtime.",
  install: onBun(""),
  start: async (stage) => ({ process: stage.passThrough, target: stage.passThroughTarget }),
};

const NGINX: Peer = {
  name: "nginx",
  does:
    "`proxy_pass` with keep-alive connections to the provider, one worker, `proxy_buffering off`, no access log. No keys, no " +
    "limits, no record.",
  install: findNginx,
  async start(stage, directory, command) {
    const port = await freePort();
    const file = join(directory, "nginx.conf");
    writeFileSync(file, nginxConfiguration(directory, port, new URL(stage.upstream.url).host));
    return started(port, [...command, "-p", directory, "-c", file, "-e", join(directory, "nginx.log")], {
      directory,
      readyPath: "/ready",
    });
  },
};

const ARBORGATE: Peer = {
  name: "arborgate",
  does:
    "One process with the embedded store. Each request is checked against its API key, its account's balance and its limits, " +
    "and reserves its worst case; usage is read from the answer, and the charge is on the disk (SQLite, `synchronous=FULL`) " +
    "before the last byte of the answer leaves.",
  install: onBun(`${manifest.version} on `),
  start: async (stage) => ({ process: stage.service, target: stage.serviceFor(1) }),
};

const LITELLM: Peer = {
  name: "LiteLLM proxy",
  does:
    "One worker with one model in its configuration file, as it passes requests through without a database: it needs none for " +
    "that. It checks the one master key and computes the cost in memory. No keys of users, no budgets, no record.",
  install: installLiteLlm,
  async start(stage, directory, command) {
    const port = await freePort();
    const file = join(directory, "litellm.json");
    // JSON is YAML too.
    writeFileSync(file, JSON.stringify(liteLlmConfiguration(stage.upstream.url)));
    const flags = ["--config", file, "--host", HOST, "--port", String(port), "--num_workers", "1"];
    return started(port, [...command, ...flags], {
      directory,
      readyPath: "/health/liveliness",
      env: {
        LITELLM_LOCAL_MODEL_COST_MAP: "True",
        LITELLM_LOG: "ERROR",
        LITELLM_MODE: "PRODUCTION",
        LITELLM_TELEMETRY: "False",
      },
    });
  },
};

const PORTKEY: Peer = {
  name: "Portkey gateway",
  does:
    "`build/start-server.js --headless`; provider and address come with each request in headers. It passes the key on to the " +
    "provider. No keys of its own, no limits, no record. It is installed with `@hono/node-server` 1.13.7, since its streams fail " +
    "[with newer ones](https://github.com/Portkey-AI/gateway/issues/1389).",
  install: installPortkey,
  async start(stage, directory, command) {
    const port = await freePort();
    const running = await started(port, [...command, "--headless", `--port=${port}`], {
      directory,
      readyPath: "/",
      env: { NODE_ENV: "production", TRUSTED_CUSTOM_HOSTS: HOST },
    });
    const headers = {
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `${stage.upstream.url}/v1`,
    };
    return { ...running, target: { ...running.target, headers } };
  },
};

/** In the order of the page. Ratios refer to the first. */
export const PEERS: readonly Peer[] = [RAW_BUN, NGINX, ARBORGATE, PORTKEY, LITELLM];

async function started(
  port: number,
  command: readonly string[],
  options: {
    readonly directory: string;
    readonly readyPath: string;
    readonly env?: Readonly<Record<string, string>>;
  },
): Promise<Running> {
  const { directory, readyPath, env = {} } = options;
  const url = `http://${HOST}:${port}`;
  const process = await startProgram(command, {
    env,
    directory,
    logFile: join(directory, `${port}.log`),
    readyUrl: url + readyPath,
  });
  return { process, target: { url, keys: [KEY] } };
}

/** Connections are kept for as many requests as come: the load generator opens none anew. */
const nginxConfiguration = (directory: string, port: number, provider: string): string => `
daemon off;
worker_processes 1;
pid ${directory}/nginx.pid;
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_requests 1000000000;
${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((use) => `  ${use}_temp_path ${directory}/${use};`).join("\n")}
  upstream provider { server ${provider}; keepalive 128; keepalive_requests 1000000000; }
  server {
    listen ${HOST}:${port};
    location = /ready { return 204; }
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;

const liteLlmConfiguration = (providerUrl: string): object => ({
  model_list: [
    {
      model_name: "gpt-4o-mini",
      litellm_params: { model: "openai/gpt-4o-mini", api_base: `${providerUrl}/v1`, api_key: "sk-provider" },
    },
  ],
  general_settings: { master_key: KEY },
  litellm_settings: { telemetry: false },
});
