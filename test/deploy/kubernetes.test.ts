// deploy/kubernetes as a cluster would take it: there is none here, so what has to agree is compared (selectors, ports, settings,
// probes, the time to drain), and what the restricted profile asks of pods is written out.

import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import packageJson from "../../package.json";
import { BadSetting, readSettings } from "../../src/settings/settings.ts";
import { DECLARED_SETTINGS } from "../declared-settings.ts";
import { HOME } from "./build-image.ts";
import { named, parseDockerfile } from "./dockerfile.ts";
import { endMs, newSecrets, read, readYaml, readYamls, type Yaml } from "./operator-files.ts";
import { promtool } from "./promtool.ts";

const FOLDER = "deploy/kubernetes";
const KUSTOMIZATION = readYaml(`${FOLDER}/kustomization.yaml`);
const RESOURCES: Yaml[] = KUSTOMIZATION.resources.flatMap((path: string) => readYamls(`${FOLDER}/${path}`));
const SECRET = readYaml(`${FOLDER}/secret.example.yaml`);
const SECRETS = newSecrets();
afterAll(() => SECRETS.remove());

const only = (kind: string): Yaml => {
  const found = RESOURCES.filter((one) => one.kind === kind);
  expect([kind, found.length]).toEqual([kind, 1]);
  return found[0];
};
const NODES = only("StatefulSet");
const POD = NODES.spec.template;
const CONTAINER = POD.spec.containers[0];
const CONFIG: Record<string, string> = only("ConfigMap").data;
const LABELS = POD.metadata.labels;
const image = parseDockerfile(read("Dockerfile")).at(-1)!;

describe("the kustomization", () => {
  test("names every file but the example of the Secret and what is for Prometheus", () => {
    const there = readdirSync(join(HOME, FOLDER)).filter((name) => name !== "kustomization.yaml");
    const others = ["secret.example.yaml", "prometheus.yaml"];
    expect([...KUSTOMIZATION.resources, ...others].sort()).toEqual(there.sort());
  });

  test("has each resource once, in one namespace, with the version of package.json", () => {
    const names = RESOURCES.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    expect(only("Namespace").metadata.name).toBe(KUSTOMIZATION.namespace);
    expect(SECRET.metadata.namespace).toBe(KUSTOMIZATION.namespace);
    expect(KUSTOMIZATION.images).toMatchObject([{ name: CONTAINER.image, newTag: packageJson.version }]);
  });

  test.each([
    ["Namespace", "v1"],
    ["ConfigMap", "v1"],
    ["Service", "v1"],
    ["StatefulSet", "apps/v1"],
    ["PodDisruptionBudget", "policy/v1"],
    ["HorizontalPodAutoscaler", "autoscaling/v2"],
    ["NetworkPolicy", "networking.k8s.io/v1"],
  ])("has a %s of %s", (kind, version) => {
    const found = RESOURCES.filter((one) => one.kind === kind).map(({ apiVersion }) => apiVersion);
    expect([...new Set(found)]).toEqual([version]);
  });
});

describe("settings", () => {
  const fromPod = Object.fromEntries(
    CONTAINER.env.map(({ name }: Yaml) => [name, `${NODES.metadata.name}-0`]),
  );

  test("are what ConfigMap, Secret and pod set, each in one place", () => {
    const names = [CONFIG, SECRET.stringData, fromPod].flatMap(Object.keys);
    expect(names.filter((name) => !DECLARED_SETTINGS.has(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    expect(Object.keys(SECRET.stringData).sort()).toEqual(Object.keys(SECRETS.env).sort());
    expect(CONTAINER.envFrom).toEqual([
      { configMapRef: { name: only("ConfigMap").metadata.name } },
      { secretRef: { name: SECRET.metadata.name } },
    ]);
  });

  test("are taken by the service, with a spool in the volume that outlives the pod", () => {
    const settings = readSettings({ ...CONFIG, ...SECRETS.env, ...fromPod }, false);
    expect(settings.nodeName).toBe("arborgate-0");
    const [{ mountPath }] = CONTAINER.volumeMounts.filter(({ name }: Yaml) => name === "data");
    expect(settings.spoolDir).toStartWith(`${mountPath}/`);
    expect(NODES.spec.volumeClaimTemplates.map(({ metadata }: Yaml) => metadata.name)).toEqual(["data"]);
    expect(named(image, "VOLUME")[0]!.args).toEqual([mountPath]);
  });

  test("that the example leaves open stop the start, each by itself, or are empty", () => {
    for (const [name, value] of Object.entries<string>(SECRET.stringData)) {
      const env = { ...CONFIG, ...SECRETS.env, ...fromPod, [name]: value };
      if (value !== "") expect(() => readSettings(env, false)).toThrow(BadSetting);
    }
  });

  test("give the process the time that it may need to end", () => {
    const settings = readSettings({ ...CONFIG, ...SECRETS.env }, false);
    expect(POD.spec.terminationGracePeriodSeconds * 1000).toBeGreaterThan(endMs(settings));
    const { periodSeconds, failureThreshold } = CONTAINER.readinessProbe;
    expect(periodSeconds * (failureThreshold + 1) * 1000).toBeLessThan(settings.lbWaitMs);
  });
});

describe("the pods", () => {
  test("meet the restricted profile, which their namespace enforces", () => {
    expect(only("Namespace").metadata.labels["pod-security.kubernetes.io/enforce"]).toBe("restricted");
    expect(POD.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(CONTAINER.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(POD.spec).toMatchObject({ automountServiceAccountToken: false });
    expect(
      ["hostNetwork", "hostPID", "hostIPC", "initContainers"].filter((name) => name in POD.spec),
    ).toEqual([]);
    const kinds = POD.spec.volumes.flatMap((one: Yaml) => Object.keys(one).filter((key) => key !== "name"));
    expect(kinds).toEqual(["emptyDir"]);
  });

  test("run as the user of the image", () => {
    const { runAsUser, runAsGroup, fsGroup } = POD.spec.securityContext;
    expect(named(image, "USER")[0]!.args).toEqual([`${runAsUser}:${runAsGroup}`]);
    expect(fsGroup).toBe(runAsGroup);
  });

  test("are asked at the paths of the service, by names of their ports", () => {
    const paths = ["startupProbe", "livenessProbe", "readinessProbe"].map((name) => CONTAINER[name].httpGet);
    expect(paths).toEqual([
      { path: "/healthz", port: "http" },
      { path: "/healthz", port: "http" },
      { path: "/readyz", port: "http" },
    ]);
    const ports = Object.fromEntries(
      CONTAINER.ports.map(({ name, containerPort }: Yaml) => [name, `${containerPort}`]),
    );
    expect(ports).toEqual({ http: CONFIG.PORT!, admin: CONFIG.ADMIN_PORT! });
  });

  test("say what they need and what they may take, and stand apart", () => {
    const { requests, limits } = CONTAINER.resources;
    expect([Object.keys(requests), Object.keys(limits)]).toEqual([["cpu", "memory"], ["memory"]]);
    const spread = POD.spec.topologySpreadConstraints;
    expect(spread.map(({ topologyKey }: Yaml) => topologyKey)).toEqual([
      "kubernetes.io/hostname",
      "topology.kubernetes.io/zone",
    ]);
    expect(spread.map(({ labelSelector }: Yaml) => labelSelector.matchLabels)).toEqual([LABELS, LABELS]);
  });
});

describe("what leads to the pods", () => {
  const services = RESOURCES.filter(({ kind }) => kind === "Service");

  test("selects them by their labels", () => {
    expect(services.map(({ spec }) => spec.selector)).toEqual(services.map(() => LABELS));
    expect(NODES.spec.selector.matchLabels).toEqual(LABELS);
    expect(only("PodDisruptionBudget").spec.selector.matchLabels).toEqual(LABELS);
    expect(only("NetworkPolicy").spec.podSelector.matchLabels).toEqual(LABELS);
  });

  test("uses their ports", () => {
    const targets = services.flatMap(({ spec }) => spec.ports.map(({ targetPort }: Yaml) => targetPort));
    expect([...new Set(targets)].sort()).toEqual(CONTAINER.ports.map(({ name }: Yaml) => name).sort());
    const headless = services
      .filter(({ spec }) => spec.clusterIP === "None")
      .map(({ metadata }) => metadata.name);
    expect(headless).toEqual([NODES.spec.serviceName]);
    const { ingress, egress, policyTypes } = only("NetworkPolicy").spec;
    const admitted = ingress.flatMap(({ ports }: Yaml) => ports.map(({ port }: Yaml) => `${port}`));
    expect(admitted).toEqual([CONFIG.PORT, CONFIG.ADMIN_PORT]);
    expect([policyTypes, egress.every(({ to }: Yaml) => to.length > 0)]).toEqual([
      ["Ingress", "Egress"],
      true,
    ]);
  });

  test("keeps enough of them: the autoscaler's least number stands more than one leaving, and it takes none away", () => {
    const { scaleTargetRef, minReplicas, maxReplicas } = only("HorizontalPodAutoscaler").spec;
    expect(scaleTargetRef).toEqual({
      apiVersion: NODES.apiVersion,
      kind: NODES.kind,
      name: NODES.metadata.name,
    });
    // An outage of the database lets CPU fall, and each pod that went then would take its spool along.
    expect(only("HorizontalPodAutoscaler").spec.behavior).toEqual({
      scaleDown: { selectPolicy: "Disabled" },
    });
    expect(only("PodDisruptionBudget").spec.maxUnavailable).toBeLessThan(minReplicas);
    expect([minReplicas >= 3, maxReplicas > minReplicas, NODES.spec.replicas]).toEqual([
      true,
      true,
      undefined,
    ]);
  });
});

describe("what watches the pods", () => {
  const [job] = readYaml(`${FOLDER}/prometheus.yaml`).scrape_configs;
  const check = promtool("the scrape configuration of Kubernetes");

  test.skipIf(check === null)("is taken by Prometheus", () => {
    // Debian's promtool is built without the discovery of pods: the rest of the job is checked with one fixed target.
    const { kubernetes_sd_configs: _, ...rest } = job;
    const config = { scrape_configs: [{ ...rest, static_configs: [{ targets: ["10.0.0.1:8081"] }] }] };
    const found = check!(["check", "config", "--syntax-only", "/dev/stdin"], HOME, JSON.stringify(config));
    expect(found).toMatchObject({ code: 0 });
  });

  test("asks each pod at the port of administration, as the job that the alerts name", () => {
    const [ofCompose] = readYaml("deploy/prometheus/prometheus.yml").scrape_configs;
    expect([job.job_name, job.scrape_timeout]).toEqual([ofCompose.job_name, ofCompose.scrape_timeout]);
    expect(read("deploy/prometheus/alerts.yml")).toContain(`job="${job.job_name}"`);
    expect(job.kubernetes_sd_configs).toEqual([
      { role: "pod", namespaces: { names: [KUSTOMIZATION.namespace] } },
    ]);
    const [keep, name] = job.relabel_configs;
    const port = CONTAINER.ports.find((one: Yaml) => `${one.containerPort}` === CONFIG.ADMIN_PORT);
    expect(keep).toEqual({
      source_labels: [
        "__meta_kubernetes_pod_label_app_kubernetes_io_name",
        "__meta_kubernetes_pod_container_port_name",
      ],
      regex: `${LABELS["app.kubernetes.io/name"]};${port.name}`,
      action: "keep",
    });
    expect(name).toEqual({ source_labels: ["__meta_kubernetes_pod_name"], target_label: "instance" });
    expect(job.authorization).toBeUndefined();
  });

  test("may get traces by a rule that waits in a comment, to the port of OTLP over HTTP", () => {
    const text = read(`${FOLDER}/network-policy.yaml`).replace(/^( {4})# (- to:| {2})/gm, "$1$2");
    const { egress } = parse(text).spec;
    expect(egress.length).toBe(only("NetworkPolicy").spec.egress.length + 1);
    const { tracing } = readSettings({ OTEL_TRACES_EXPORTER: "otlp" }, false);
    expect(egress.at(-1)).toEqual({
      to: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
      ports: [{ protocol: "TCP", port: Number(new URL(tracing!.url).port) }],
    });
  });
});
