// compose.yaml and what it mounts, without an engine: names, ports, secrets and limits agree with each other and with the
// settings, and HAProxy, NATS and the shell read their files themselves.

import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json";
import { readSettings, type Settings } from "../../src/settings/settings.ts";
import { DECLARED_SETTINGS } from "../declared-settings.ts";
import { HOME } from "./build-image.ts";
import { named, parseDockerfile } from "./dockerfile.ts";
import {
  EXACT_IMAGE,
  endMs,
  newSecrets,
  programOf,
  read,
  readYaml,
  run,
  type Yaml,
} from "./operator-files.ts";

const COMPOSE = readYaml("compose.yaml");
const SERVICES: [name: string, service: Yaml][] = Object.entries(COMPOSE.services);
const NODES = SERVICES.filter(([, { image }]) => image.startsWith("arborgate:"));
const SECRETS = newSecrets();
afterAll(() => SECRETS.remove());

const settingsOf = (service: Yaml): Settings =>
  readSettings({ HOST: "0.0.0.0", ...service.environment, ...SECRETS.env }, false);
const volumesOf = (service: Yaml): string[][] => (service.volumes ?? []).map((one: string) => one.split(":"));
const secondsOf = (text: string): number => Number(/^(\d+)s$/.exec(text)![1]);

describe("every service", () => {
  test.each(SERVICES)("%s has an image of one version", (_, { image }) => {
    expect(image).toMatch(EXACT_IMAGE);
  });

  test.each(SERVICES)(
    "%s is caged: nothing but its volumes can be written, no privilege, bounded",
    (_, service) => {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
      });
      const { cpus, memory, pids } = service.deploy.resources.limits;
      expect([Number(cpus) > 0, /^\d+[MG]$/.test(memory), pids > 0]).toEqual([true, true, true]);
      expect(service.tmpfs.every((one: string) => /^\/tmp:size=\d+m$/.test(one))).toBe(true);
      expect(service.restart).toMatch(/^(unless-stopped|on-failure)$/);
    },
  );

  test.each(SERVICES.filter(([name]) => name !== "mongo-init"))(
    "%s says whether it is well",
    (_, service) => {
      expect(service.healthcheck.test[0]).toBe("CMD");
    },
  );

  test.each(SERVICES)("%s waits for services that are there and say so", (_, service) => {
    for (const [name, { condition }] of Object.entries<Yaml>(service.depends_on ?? {})) {
      const ends = COMPOSE.services[name].restart === "on-failure";
      // The load balancer asks the nodes itself, and serves by those that are ready.
      const isAsked = NODES.some(([node]) => node === name);
      const started = isAsked ? "service_started" : "service_healthy";
      expect(condition).toBe(ends ? "service_completed_successfully" : started);
    }
  });

  test.each(SERVICES)("%s is published to this machine alone", (_, { ports = [] }) => {
    expect(ports.filter((one: string) => !/^127\.0\.0\.1:\d+:\d+$/.test(one))).toEqual([]);
  });

  test.each(SERVICES)(
    "%s mounts files that are there, and volumes and networks that are declared",
    (_, service) => {
      const mounts = volumesOf(service);
      const [files, names] = [
        mounts.filter(([from]) => from!.startsWith("./")),
        mounts.filter(([from]) => !from!.startsWith("./")),
      ];
      expect(files.filter(([from, , mode]) => !existsSync(join(HOME, from!)) || mode !== "ro")).toEqual([]);
      expect(names.filter(([from]) => !(from! in COMPOSE.volumes))).toEqual([]);
      expect((service.networks ?? []).filter((one: string) => !(one in COMPOSE.networks))).toEqual([]);
    },
  );

  test("has volumes of its own, and every declared one is used once", () => {
    const used = SERVICES.flatMap(([, service]) => volumesOf(service).map(([from]) => from!)).filter(
      (from) => !from.startsWith("./"),
    );
    expect(used.sort()).toEqual(Object.keys(COMPOSE.volumes).sort());
  });
});

describe("secrets", () => {
  test("come from files alone: no value of a password, token or key is in the file", () => {
    const values = SERVICES.flatMap(([, { environment = {} }]) => Object.entries<string>(environment));
    const secret = values.filter(([name]) => /PASSWORD|TOKEN|SECRET|KEY/.test(name));
    expect(secret).toEqual([["GF_SECURITY_ADMIN_PASSWORD__FILE", "/run/secrets/grafana-password"]]);
    expect(read("compose.yaml")).not.toMatch(/:\/\/[^/\s]*@|\$\{/);
  });

  test("are the files that deploy/new-secrets.sh makes, and all of them are used", () => {
    const wanted = [
      ...SERVICES.flatMap(([, { env_file }]) => env_file ?? []),
      ...Object.values<Yaml>(COMPOSE.secrets).map(({ file }) => file),
    ];
    const made = readdirSync(SECRETS.directory).map((name) => `deploy/secrets/${name}`);
    expect([...new Set(wanted)].sort()).toEqual(made.sort());
    const mounted = SERVICES.flatMap(([, { secrets = [] }]) => secrets);
    expect([...new Set(mounted)].sort()).toEqual(Object.keys(COMPOSE.secrets).sort());
  });

  test("lie in a folder of their owner's, are another's each time, and are never overwritten", () => {
    expect(statSync(SECRETS.directory).mode & 0o777).toBe(0o700);
    const other = newSecrets();
    other.remove();
    expect(Object.keys(SECRETS.env).filter((name) => SECRETS.env[name] === other.env[name])).toEqual([]);
    const { code, text } = run(["sh", "deploy/new-secrets.sh", SECRETS.directory]);
    expect([code, text]).toEqual([1, expect.stringContaining("nothing was changed")]);
    expect(read(".gitignore").split("\n")).toContain("deploy/secrets/");
  });
});

describe("the nodes", () => {
  test("are of one image, which is built once", () => {
    expect(SERVICES.filter(([, { build }]) => build !== undefined).map(([name]) => name)).toEqual([
      NODES[0]![0],
    ]);
  });

  test.each(NODES)(
    "%s is well when it is ready, by a command of the image and of the service",
    (_, service) => {
      const { test: command, start_period, start_interval } = service.healthcheck;
      const image = parseDockerfile(read("Dockerfile")).at(-1)!;
      const entrypoint = named(image, "ENTRYPOINT")[0]!.args;
      expect(command).toEqual(["CMD", ...entrypoint, "health", "--ready"]);
      // What it waits for before it is ready is no failure: a minute each for the database, the bus and its place.
      expect(secondsOf(start_period)).toBeGreaterThanOrEqual(3 * 60);
      expect(secondsOf(start_interval)).toBeLessThan(secondsOf(start_period));
      // The load balancer is well when a node is, and starts when the nodes do.
      expect(COMPOSE.services.haproxy.healthcheck.start_period).toBe(start_period);
      // A start again does not help a node that waits, so the image asks for less.
      expect(named(image, "HEALTHCHECK")[0]!.args).toEqual([...entrypoint, "health"]);
    },
  );

  test("are three, with the version of package.json, under the names that HAProxy knows", () => {
    expect(NODES.map(([, { image }]) => image)).toEqual(Array(3).fill(`arborgate:${packageJson.version}`));
    const servers = [...read("deploy/haproxy.cfg").matchAll(/^ {2}server (\S+) (\S+):(\d+)$/gm)];
    const { port, adminPort } = settingsOf(NODES[0]![1]);
    for (const at of [port, adminPort]) {
      const there = servers.filter(([, , , one]) => Number(one) === at);
      expect(there.map(([, name, host]) => [name, host])).toEqual(NODES.map(([name]) => [name, name]));
    }
    expect(servers.length).toBe(2 * NODES.length);
  });

  test.each(NODES)("%s: its variables are settings, and the service takes their values", (name, service) => {
    const names = [...Object.keys(service.environment), ...Object.keys(SECRETS.env)];
    expect(names.filter((one) => !DECLARED_SETTINGS.has(one))).toEqual([]);
    const settings = settingsOf(service);
    expect(settings.nodeName).toBe(name);
    expect(service.volumes).toEqual([`${name}:/app/data`]);
    expect(secondsOf(service.stop_grace_period) * 1000).toBeGreaterThan(endMs(settings));
  });

  test("believe the load balancer's network, which has no other balancer in it", () => {
    const [{ subnet }] = COMPOSE.networks.front.ipam.config;
    expect(NODES.map(([, service]) => settingsOf(service).trustProxy)).toEqual(NODES.map(() => [subnet]));
    expect(COMPOSE.services.haproxy.networks).toEqual(["front"]);
    expect(COMPOSE.networks.servers.internal).toBe(true);
  });

  test("reach the database and the bus by the names of services, with the password and the token that these have", () => {
    const { storeUrl, natsUrl } = settingsOf(NODES[0]![1]);
    const hosts = /@([^/]+)\//.exec(storeUrl)![1]!.split(",");
    expect([...hosts, new URL(natsUrl!).hostname].filter((host) => !(host in COMPOSE.services))).toEqual([]);
    const inFile = (name: string) => Bun.file(join(SECRETS.directory, name)).text();
    return Promise.all([
      inFile("mongo-arborgate-password"),
      inFile("nats.env"),
      inFile("metrics-token"),
    ]).then(([password, nats, token]) => {
      expect(storeUrl).toContain(`:${password}@`);
      expect(nats.trim()).toBe(`NATS_TOKEN=${new URL(natsUrl!).username}`);
      expect(token).toBe(SECRETS.env.METRICS_TOKEN!);
    });
  });
});

describe("the load balancer", () => {
  const config = read("deploy/haproxy.cfg");
  const program = programOf("haproxy", "the configuration of HAProxy");

  test.skipIf(program === null)("reads its configuration", () => {
    expect(run([program!, "-c", "-q", "-f", "deploy/haproxy.cfg"])).toMatchObject({ code: 0 });
  });

  test("waits longer than a provider may be silent, and asks whether a node is ready", () => {
    const { upstreamTimeoutMs } = readSettings({}, false);
    // Those of HAProxy, of nginx and of the ingress controller, here and on the pages.
    const silences = [config, read("docs/cluster.md"), read("docs/install.md")].map((text) =>
      [
        ...text.matchAll(
          /\b(?:timeout (?:client|server) |proxy_read_timeout |proxy-read-timeout: ")([^";\s]+)/g,
        ),
      ].map(([, time]) => time!),
    );
    expect(silences.map(({ length }) => length)).toEqual([2, 3, 1]);
    for (const time of silences.flat()) {
      expect([time, Number(/^(\d+)s?$/.exec(time)?.[1]) * 1000 > upstreamTimeoutMs]).toEqual([time, true]);
    }
    expect(config.match(/option httpchk GET \/readyz/g)).toHaveLength(2);
    expect(config).toContain("retry-on conn-failure");
    expect(
      [config, read("docs/cluster.md")].filter((one) => !one.includes("\n  option http-no-delay\n")),
    ).toEqual([]);
  });

  test("may have as many files open as its connections need, two each", () => {
    const connections = Number(/^ {2}maxconn (\d+)$/m.exec(config)![1]);
    const { soft, hard } = COMPOSE.services.haproxy.ulimits.nofile;
    expect(Math.min(soft, hard)).toBeGreaterThan(2 * connections + 100);
  });

  test("notices a node that leaves before the node stops listening", () => {
    const [, inter, fall] = /check inter (\d+)s fall (\d+)/.exec(config)!;
    expect(Number(inter) * (Number(fall) + 1) * 1000).toBeLessThan(settingsOf(NODES[0]![1]).lbWaitMs);
  });

  test("listens where the published ports lead, and where its health check asks", () => {
    const bound = [...config.matchAll(/^ {2}bind :(\d+)$/gm)].map(([, port]) => port!);
    const published = COMPOSE.services.haproxy.ports.map((one: string) => one.split(":")[2]);
    const asked = new URL(COMPOSE.services.haproxy.healthcheck.test.at(-1)).port;
    expect([...published, asked].sort()).toEqual(bound.sort());
  });
});

describe("the bus", () => {
  const program = programOf("nats-server", "the configuration of NATS");

  test.skipIf(program === null)("reads its configuration, and does not start without its token", () => {
    const check = [program!, "-t", "-c", "deploy/nats.conf"];
    expect(run(check, { NATS_TOKEN: new URL(SECRETS.env.NATS_URL!).username })).toMatchObject({ code: 0 });
    expect(run(check)).toMatchObject({ code: 1, text: expect.stringContaining("NATS_TOKEN") });
  });

  test("listens where the nodes look for it, and where its health check asks", () => {
    const config = read("deploy/nats.conf");
    expect(config).toContain(`port: ${new URL(SECRETS.env.NATS_URL!).port}\n`);
    expect(config).toContain(`http: "${new URL(COMPOSE.services.nats.healthcheck.test.at(-1)).host}"`);
  });
});

describe("the replica set", () => {
  /** What the script does with a server of this kind, as the calls that change something. */
  function initiate(state: { member: boolean; users: string[] }): string[] {
    const changes: string[] = [];
    let isSignedIn = false;
    const admin = {
      hello: () =>
        state.member ? { setName: "rs0", primary: "mongo-1:27017", isWritablePrimary: true } : {},
      runCommand: ({ replSetInitiate: { _id, members } }: Yaml) => {
        state.member = true;
        changes.push(`initiate ${_id} ${members.map(({ host }: Yaml) => host).join(" ")}`);
      },
      auth: (user: string) => {
        if (!state.users.includes(user))
          throw Object.assign(new Error("no"), { codeName: "AuthenticationFailed" });
        isSignedIn = true;
        return { ok: 1 };
      },
      getUser: (user: string) => (state.users.includes(user) ? { user } : null),
      createUser: ({ user, pwd }: Yaml) => {
        if (state.users.length > 0 && !isSignedIn) throw new Error("only the first user needs no other");
        state.users.push(user);
        changes.push(`create ${user} with ${pwd}`);
      },
    };
    const secrets = { readFileSync: (path: string) => `what is in ${path}\n` };
    const script = new Function("require", "connect", "sleep", "print", read("deploy/mongo/replica-set.js"));
    script(
      () => secrets,
      () => admin,
      () => {},
      () => {},
    );
    return changes;
  }
  const admin = "create admin with what is in /run/secrets/mongo-admin-password";
  const arborgate = "create arborgate with what is in /run/secrets/mongo-arborgate-password";

  test("is made of the services of its name, with its users", () => {
    const members = Object.keys(COMPOSE.services).filter((name) => /^mongo-\d$/.test(name));
    const made = `initiate rs0 ${members.map((name) => `${name}:27017`).join(" ")}`;
    expect(initiate({ member: false, users: [] })).toEqual([made, admin, arborgate]);
  });

  test("is left as it is by a second start, and finished where the first one was cut off", () => {
    expect(initiate({ member: true, users: ["admin", "arborgate"] })).toEqual([]);
    expect(initiate({ member: true, users: ["admin"] })).toEqual([arborgate]);
    expect(initiate({ member: true, users: [] })).toEqual([admin, arborgate]);
  });

  test("reads the secrets that its service has", () => {
    const named = [...read("deploy/mongo/replica-set.js").matchAll(/secret\("([\w-]+)"\)/g)].map(
      ([, name]) => name!,
    );
    expect([...new Set(named)].sort()).toEqual(COMPOSE.services["mongo-init"].secrets.sort());
  });
});

describe("what watches the nodes", () => {
  const { services } = COMPOSE;

  test("Prometheus asks every node for its metrics at the port that has them, with the token that is mounted", () => {
    const [job] = readYaml("deploy/prometheus/prometheus.yml").scrape_configs;
    const targets = job.static_configs.flatMap((one: Yaml) => one.targets);
    expect(targets).toEqual(NODES.map(([name, service]) => `${name}:${settingsOf(service).adminPort}`));
    const token = job.authorization.credentials_file.replace("/run/secrets/", "");
    expect(services.prometheus.secrets).toContain(token);
  });

  test("Grafana asks Prometheus, and finds the dashboard where it is mounted", () => {
    const folder = "deploy/grafana/provisioning";
    const [{ url }] = readYaml(`${folder}/datasources/prometheus.yaml`).datasources;
    expect([new URL(url).hostname in services, new URL(url).port]).toEqual([
      true,
      services.prometheus.ports[0].split(":")[2],
    ]);
    const [{ options }] = readYaml(`${folder}/dashboards/arborgate.yaml`).providers;
    const [from] = volumesOf(services.grafana).find(([, to]) => to === options.path)!;
    expect(existsSync(join(HOME, from!, "arborgate.json"))).toBe(true);
  });
});
