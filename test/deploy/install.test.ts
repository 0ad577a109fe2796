// docs/install.md as its reader follows it: the commands run here in their order, with folders of the test's own in the place of the
// machine's and the unit's command in the place of systemd. Commands of programs that are not here (Docker, kubectl) are compared
// with the files that they name; a command that no rule knows is a failure.

import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import packageJson from "../../package.json";
import { type Child, startChild } from "../children.ts";
import { DECLARED_SETTINGS, environmentFile } from "../declared-settings.ts";
import { until } from "../e2e/harness.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../mail/certificate.ts";
import { freePort } from "../store/tcp.ts";
import { HOME } from "./build-image.ts";
import { named, parseDockerfile } from "./dockerfile.ts";
import { programOf, read, readYaml, readYamls, run } from "./operator-files.ts";

const PAGE = read("docs/install.md");
const fences = (language: string): string[] =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map((match) => match[1]!);
const COMMANDS = fences("sh")
  .join("")
  .replaceAll("\\\n", " ")
  .split("\n")
  .map((line) => line.replace(/\s+#.*$/, "").trim())
  .filter((line) => line !== "");

const home = mkdtempSync(join(tmpdir(), "arborgate-install-"));
const DATA = join(home, "data");
const SETTINGS = join(home, "etc");
const SCRIPTS: Readonly<Record<string, string>> = packageJson.scripts;
let port = 0;
let service: Child | null = null;
/** What the service has said, as the journal has it. */
let journal = "";

/** A command with the test's folders in the place of the machine's. */
const moved = (command: string): string =>
  command
    .replaceAll("/var/lib/arborgate", DATA)
    .replaceAll("/etc/arborgate", SETTINGS)
    .replaceAll("/opt/arborgate", HOME)
    .replaceAll("deploy/secrets", join(home, "secrets"));

async function stop(): Promise<void> {
  service?.signal("SIGTERM");
  expect(await service?.exited).toBe(0);
  service = null;
}

/** The variables of the file that the unit reads, which is root's alone. */
function settingsFile(): Record<string, string> {
  const unit = read("deploy/systemd/arborgate.service");
  const path = moved(/^EnvironmentFile=-(.*)$/m.exec(unit)![1]!);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  return environmentFile(readFileSync(path, "utf8"));
}

/** Starts what the unit starts, with its environment. */
async function start(): Promise<void> {
  const unit = read("deploy/systemd/arborgate.service");
  const environment = [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [
    name!,
    moved(value!),
  ]);
  const command = moved(/^ExecStart=(.*)$/m.exec(unit)![1]!).split(" ");
  port = await freePort();
  mkdirSync(DATA, { recursive: true });
  const child = startChild(command, {
    cwd: HOME,
    env: { ...Object.fromEntries(environment), ...settingsFile(), PORT: String(port), LOG_LEVEL: "warn" },
    onLine: (line) => {
      journal += `${line}\n`;
    },
  });
  service = child;
  await until("the unit serves", async () => {
    if (child.exitCode() !== null) throw new Error(`it ended:\n${child.tail()}`);
    return fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
}

/** What npm would run, without the second that npm takes. */
const withoutNpm = (command: string): string =>
  command.replace(/^npm run (\S+)(?: --)?/, (_, name: string) => SCRIPTS[name]!);

/** Runs it here; it has to succeed. */
function runHere(command: string): void {
  const [, settings, rest] = /^(?:sudo )?(?:-u arborgate )?((?:[A-Z_]+=\S+ )*)(.*)$/.exec(moved(command))!;
  const env = Object.fromEntries(
    settings!
      .split(" ")
      .filter(Boolean)
      .map((pair) => pair.split(/=(.*)/s).slice(0, 2)),
  );
  expect(Object.keys(env).filter((name) => !DECLARED_SETTINGS.has(name))).toEqual([]);
  expect([command, run(["sh", "-c", withoutNpm(rest!)], env)]).toEqual([
    command,
    { code: 0, text: expect.any(String) },
  ]);
}

const compose = readYaml("compose.yaml");
const isThere = (path: string): void => expect([path, existsSync(join(HOME, path))]).toEqual([path, true]);

/** What is done with a command here; the first that matches. */
const RULES: readonly (readonly [pattern: RegExp, act: (match: RegExpExecArray) => unknown])[] = [
  [/^sudo systemctl (?:enable --now|start) arborgate$/, start],
  [/^sudo systemctl stop arborgate$/, stop],
  [/^sudo systemctl restart arborgate$/, () => stop().then(start)],
  [
    /^curl -s(?: --retry 10 --retry-connrefused)? http:\/\/127\.0\.0\.1:8080(\/\S+)$/,
    async ([, path]) => expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(200),
  ],
  // The machine of the test keeps its users, folders and files.
  [/^sudo (?:useradd|mv -T|rm -rf|systemctl daemon-reload)\b/, () => {}],
  [/^(?:cd|sudo cp -r --preserve=mode,timestamps,links \.) \/opt\/arborgate(?:-new)?$/, () => {}],
  [/^sudo (?:install -d|sh -c) /, ({ input }) => runHere(input)],
  [
    /^sudo cat \/etc\/arborgate\/arborgate\.env$/,
    async () => {
      const { ROOT_KEY } = settingsFile();
      const headers = { authorization: `Bearer ${ROOT_KEY}` };
      const answer = await fetch(`http://127.0.0.1:${port}/dashboard/status`, { headers });
      expect(answer.status).toBe(200);
      await until("the start is logged", () => journal.includes("Root's API key is ROOT_KEY."));
      expect(journal).not.toContain(ROOT_KEY!);
    },
  ],
  [/^sudo cp (deploy\/\S+) \/etc\//, ([, path]) => isThere(path!)],
  [/^sh deploy\/new-secrets\.sh$/, ([command]) => runHere(`${command} ${join(home, "secrets")}`)],
  // It asks a registry: pin.test.ts has one of its own.
  [/^sh (deploy\/pin\.sh)$/, ([, path]) => isThere(path!)],
  [
    /^haproxy -c -f (\S+)$/,
    ([command]) => (programOf("haproxy", "a command of docs/install.md") === null ? null : runHere(command!)),
  ],
  // Each asks a registry or writes here: sbom.test.ts has both.
  [
    /^npm run (audit|sbom)\b/,
    ([, name]) => expect(SCRIPTS[name!]).toBe(`sh scripts/bun.sh scripts/${name}.ts`),
  ],
  [/^(?:sudo )?(?:-u arborgate (?:[A-Z_]+=\S+ )+)?npm run /, ({ input }) => runHere(input)],
  [
    /^docker compose (?:ps|build|up|exec|stop|start)\b(?: -\S+)*((?: [a-z]+-\d)*)/,
    ([, names]) =>
      expect(names!.split(" ").filter((name) => name !== "" && !(name in compose.services))).toEqual([]),
  ],
  [
    /^docker (?:build -t|push) (\S+)/,
    ([, image]) => {
      const [{ newName, newTag }] = readYaml("deploy/kubernetes/kustomization.yaml").images;
      expect(image).toBe(`${newName}:${newTag}`);
    },
  ],
  [/^kubectl apply -k (\S+)$/, ([, path]) => isThere(`${path}/kustomization.yaml`)],
  [
    /^kubectl -n arborgate rollout (?:status|undo) (statefulset)\/(arborgate)$/,
    ([, kind, name]) => {
      const { kind: Kind, metadata } = readYaml("deploy/kubernetes/nodes.yaml");
      expect([kind, name]).toEqual([Kind.toLowerCase(), metadata.name]);
    },
  ],
  [
    /^kubectl -n arborgate exec (arborgate)-\d -- (.*) health --ready$/,
    ([, name, command]) => {
      const entrypoint = named(parseDockerfile(read("Dockerfile")).at(-1)!, "ENTRYPOINT")[0]!.args;
      expect([name, command]).toEqual([
        readYaml("deploy/kubernetes/nodes.yaml").metadata.name,
        entrypoint.join(" "),
      ]);
    },
  ],
  [
    /^kubectl -n arborgate scale statefulset\/(arborgate) --replicas=(\d)$/,
    ([, name, replicas]) => {
      const { scaleTargetRef, minReplicas } = readYaml("deploy/kubernetes/autoscaler.yaml").spec;
      expect(name).toBe(scaleTargetRef.name);
      expect(Number(replicas)).toBeGreaterThanOrEqual(minReplicas);
    },
  ],
  [
    /^kubectl -n arborgate port-forward service\/(\S+) (\d+)$/,
    ([, name, number]) => {
      const services = readYamls("deploy/kubernetes/services.yaml");
      const { spec } = services.find(({ metadata }) => metadata.name === name);
      expect(spec.ports.map(({ port }: { port: number }) => String(port))).toEqual([number!]);
      expect(readYaml("deploy/kubernetes/config.yaml").data.ADMIN_URL).toBe(`http://127.0.0.1:${number}`);
    },
  ],
  [
    /^kubectl -n arborgate create rolebinding \S+ --clusterrole=view --serviceaccount=([a-z]+):\S+$/,
    ([, namespace]) => {
      const [, monitoring] = readYaml("deploy/kubernetes/network-policy.yaml").spec.ingress;
      const { matchLabels } = monitoring.from[0].namespaceSelector;
      expect(matchLabels["kubernetes.io/metadata.name"]).toBe(namespace!);
    },
  ],
  [
    /^kubectl create namespace arborgate$|^kubectl -n arborgate create secret generic arborgate --from-env-file=(\S+)$/,
    ([, path]) => {
      const { metadata, stringData } = readYaml("deploy/kubernetes/secret.example.yaml");
      expect([metadata.name, metadata.namespace]).toEqual(["arborgate", "arborgate"]);
      if (path === undefined) return;
      const made = environmentFile(readFileSync(moved(path), "utf8"));
      expect(Object.keys(made).sort()).toEqual(Object.keys(stringData).sort());
    },
  ],
];

describe("the commands of the page", () => {
  afterAll(async () => {
    if (service !== null) await stop();
    rmSync(home, { recursive: true });
  });

  test("are many", () => expect(COMMANDS.length).toBeGreaterThan(30));

  // Some change what later ones find, as on the machine of a reader.
  test.each(COMMANDS.map((command, i) => [i + 1, command] as const))("%i: %s", async (_, command) => {
    for (const [pattern, act] of RULES) {
      const match = pattern.exec(command);
      if (match !== null) return await act(match);
    }
    throw new Error(`no rule knows this command: ${command}`);
  });
});

describe("what else the page says", () => {
  const program = programOf("haproxy", "the frontend with TLS of docs/install.md");

  test.skipIf(program === null)("HAProxy takes its frontend with TLS", () => {
    const folder = mkdtempSync(join(tmpdir(), "arborgate-tls-"));
    const pem = join(folder, "arborgate.pem");
    writeFileSync(pem, `${CERTIFICATE}\n${CERTIFICATE_KEY}\n`);
    const [frontend] = fences("haproxy");
    const plain = read("deploy/haproxy.cfg").replace(/^frontend clients\n(?: .*\n)*/m, frontend!);
    writeFileSync(join(folder, "haproxy.cfg"), plain.replace("/etc/haproxy/arborgate.pem", pem));
    expect(run([program!, "-c", "-q", "-f", join(folder, "haproxy.cfg")])).toMatchObject({ code: 0 });
    rmSync(folder, { recursive: true });
  });

  test("every figure of its capacity stands where it was measured", () => {
    const measured = ["bench/README.md", "README.md", "docs/speed.md"].map(read).join("\n");
    const section = PAGE.slice(PAGE.indexOf("## Capacity"));
    const rows = [...section.matchAll(/^\| (?!What|---)[^|]+ \| ([^|]+) \|/gm)].map(([, cell]) => cell!);
    expect(rows.length).toBeGreaterThan(5);
    const figures = rows.flatMap((cell) => cell.match(/[\d,]+/g) ?? []);
    expect(figures.filter((figure) => !new RegExp(`(?<![\\d,.])${figure}(?![\\d.])`).test(measured))).toEqual(
      [],
    );
  });
});
