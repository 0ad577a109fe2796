// The commands of docs/runbook.md, run by a shell against a started service with a provider key and an account below it: each
// ends well and gets an answer that is no error.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { commands as cliCommands } from "../../src/cli/commands.ts";
import { MODEL, type Owner } from "../e2e/harness.ts";
import { processBench } from "../e2e/process.ts";
import { startProvider } from "../provider/provider.ts";
import { HOME } from "./build-image.ts";
import { named, parseDockerfile } from "./dockerfile.ts";
import { read, readYaml, type Yaml } from "./operator-files.ts";

const page = read("docs/runbook.md");
/** The blocks of commands, each with the heading that it stands below. */
const blocks = page
  .split(/^## /m)
  .flatMap((section) =>
    [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(
      (match) => [section.split("\n")[0]!, match[1]!] as const,
    ),
  );
const [[, variables], ...commands] = blocks as [(typeof blocks)[number], ...typeof blocks];

const provider = startProvider();
const bench = processBench();
let owner: Owner;
let key: number;

beforeAll(async () => {
  await bench.start();
  const factory = bench.accountFactory(provider.url);
  owner = await factory.owner();
  key = (await bench.call(owner.key, "GET", "/x-keys")).body.keys[0].ID;
  const user = await factory.subaccount(owner);
  await bench.chat(user.key, "[[output=2]]");
}, 90_000);
afterAll(async () => {
  await bench.close();
  provider.close();
});

async function run(
  script: string,
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const child = Bun.spawn(["sh", "-euc", script], {
    cwd: HOME,
    env: {
      ...{ PATH: process.env.PATH!, HOME: process.env.HOME ?? "/", LOG_LEVEL: "error" },
      ...{ URL: bench.url(), ROOT: bench.rootKey(), OWNER: owner.key, KEY: String(key), MODEL },
      STORE_URL: `sqlite:${bench.database}`,
    },
    ...{ stdout: "pipe", stderr: "pipe" },
  });
  const [code, out, err] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code, out, err };
}

test("there are commands, and they begin with the variables that they use", () => {
  expect(variables).toContain("export URL=");
  expect(commands.length).toBeGreaterThan(15);
});

test.each(commands)("%s: %s", async (_, script) => {
  const { code, out, err } = await run(`${variables}\n${script}`);
  expect([code, err.replaceAll(/^npm warn.*\n/gm, "")]).toEqual([0, ""]);
  expect(out).not.toBe("");
  expect(out).not.toContain('"error"');
});

test("without Root's key they say so", async () => {
  const { code, err } = await run(`unset ROOT\n${variables}`);
  expect(code).not.toBe(0);
  expect(err).toContain("the API key of Root");
});

describe("commands on a node", () => {
  const section = page.slice(page.indexOf("### Commands on a node"), page.indexOf("## ArborgateNodeDown"));
  const compose = readYaml("compose.yaml");
  const [, node] = Object.entries<Yaml>(compose.services).find(([name]) => name === "gateway-1")!;
  const pods = readYaml("deploy/kubernetes/nodes.yaml");
  const config = readYaml("deploy/kubernetes/config.yaml").data;
  const entrypoint = named(parseDockerfile(read("Dockerfile")).at(-1)!, "ENTRYPOINT")[0]!.args.join(" ");

  test("name commands that there are", () => {
    const written = [...section.matchAll(/`([a-z][a-z-]+)(?: --[a-z-]+)?`/g)].map(([, name]) => name!);
    expect(written).toContain("rotate-root");
    const known = new Set(cliCommands.map(({ name }) => name));
    expect(written.filter((name) => !known.has(name))).toEqual([]);
  });

  test("in Compose name a node's container, its network, its port, and the program of the image", () => {
    const [, network] = /\.Networks\.(\w+)\.IPAddress/.exec(section)!;
    expect(node.networks.map((name: string) => `${compose.name}_${name}`)).toContain(network!);
    expect(section).toContain(`docker compose ps -q gateway-1)):${node.environment.ADMIN_PORT}`);
    expect(section).toContain(`docker compose exec gateway-1 ${entrypoint} verify`);
  });

  test("in Kubernetes name a pod, its namespace and its port", () => {
    const { namespace } = readYaml("deploy/kubernetes/kustomization.yaml");
    const pod = `${pods.metadata.name}-0`;
    expect(section).toContain(`kubectl -n ${namespace} port-forward pod/${pod} ${config.ADMIN_PORT}`);
    expect(section).toContain(`http://127.0.0.1:${config.ADMIN_PORT}\` while`);
    expect(section).toContain(`kubectl -n ${namespace} exec ${pod} -- ${entrypoint} verify`);
  });
});
