// The dashboard, the alerts and the runbook against what a service exports: every metric and label that they name exists, every
// alert has a section, and promtool takes all of it. The commands of the runbook are run in runbook.test.ts.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Metric } from "../../src/http/operations/exposition.ts";
import { METRICS } from "../../src/http/operations/metric-table.ts";
import { PROCESS_METRICS } from "../../src/http/operations/process-metrics.ts";
import { useBench } from "../e2e/use-bench.ts";
import { promtool } from "./promtool.ts";

const ROOT = join(import.meta.dir, "../..");
const DEPLOY = join(ROOT, "deploy");
const PROMETHEUS = join(DEPLOY, "prometheus");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const bench = useBench();
const METRIC_TABLE: Readonly<Record<string, Metric>> = { ...PROCESS_METRICS, ...METRICS };

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const yaml = (path: string) => Bun.YAML.parse(read(path)) as never;
const rules = (yaml("deploy/prometheus/alerts.yml") as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const dashboard = JSON.parse(read("deploy/grafana/dashboards/arborgate.json")) as {
  uid: string;
  panels: Panel[];
};
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => [title, expr] as const),
);

/** Words of the query language, in the expressions here. */
const FUNCTIONS =
  /\b(sum|max|rate|increase|count|abs|absent|topk|time|histogram_quantile|\w+_over_time|vector|by|and|or|unless|on)\b/g;
/** Labels that Prometheus gives to every series of a target. */
const TARGET_LABELS = ["job", "instance"];

/** Returns what an expression names: metrics with the labels that select from them, and labels by which it sums. */
function named(expr: string): { metrics: [name: string, labels: string[]][]; by: string[] } {
  const by = [...expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap((match) => match[1]!.split(/, ?/));
  const plain = expr
    .replaceAll(/\b(?:by|on) \([^)]*\)/g, "")
    .replaceAll(/\[[^\]]*\]/g, "")
    .replaceAll(FUNCTIONS, "");
  const metrics = [...plain.matchAll(/([a-z_]\w+)(?:\{([^}]*)\})?/g)]
    .filter((match) => match.index === 0 || !/["$\w]/.test(plain[match.index - 1]!))
    .map((match): [string, string[]] => [
      match[1]!,
      [...(match[2] ?? "").matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map((one) => one[1]!),
    ]);
  return { metrics, by };
}

/** Returns the family of a metric's name, such as that of the buckets of a histogram; undefined for an unknown one. */
function familyOf(name: string): Metric | undefined {
  if (name === "up") return { type: "gauge", help: "", labels: [] };
  const known = METRIC_TABLE[name];
  if (known !== undefined) return known.type === "histogram" ? undefined : known;
  const family = METRIC_TABLE[name.replace(/_(bucket|sum|count)$/, "")];
  return family?.type === "histogram" ? family : undefined;
}

const EXPRESSIONS = [...rules.map(({ alert, expr }) => [alert, expr] as const), ...queries];

describe("every expression of the dashboard and the alerts", () => {
  test("is read by this test: each has a metric", () => {
    expect(rules.length).toBeGreaterThan(15);
    expect(queries.length).toBeGreaterThan(40);
    expect(EXPRESSIONS.filter(([, expr]) => named(expr).metrics.length === 0)).toEqual([]);
  });

  test.each(EXPRESSIONS)("%s: %s", (_, expr) => {
    const { metrics, by } = named(expr);
    const labels = new Set([...TARGET_LABELS, "le"]);
    for (const [name, selected] of metrics) {
      const family = familyOf(name);
      expect([name, family]).not.toContain(undefined);
      for (const label of family!.labels) labels.add(label);
      const known = [...TARGET_LABELS, ...family!.labels];
      expect([name, selected.filter((label) => !known.includes(label))]).toEqual([name, []]);
    }
    expect(by.filter((label) => !labels.has(label))).toEqual([]);
  });

  test("a counter is read by its growth, and what shrinks is not", () => {
    const wrong = EXPRESSIONS.filter(([, expr]) => {
      const growing = [...expr.matchAll(/\b(?:rate|increase)\(([a-z_]\w+)/g)].map((match) => match[1]!);
      const counted = named(expr).metrics.filter(([name]) => familyOf(name)!.type !== "gauge");
      return growing.some((name) => familyOf(name)!.type === "gauge") || counted.length > growing.length;
    });
    expect(wrong).toEqual([]);
  });
});

describe("the dashboard", () => {
  test("has its rows, and each panel an id of its own and a place", () => {
    const rows = dashboard.panels.filter(({ type }) => type === "row").map(({ title }) => title);
    expect(rows).toEqual(["Traffic", "Money", "Latency", "Provider keys", "Cluster", "Process"]);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    expect(dashboard.uid).toBe("arborgate");
  });

  test("uses every metric of the service", () => {
    const used = new Set(queries.flatMap(([, expr]) => named(expr).metrics.map(([name]) => name)));
    const families = new Set(
      [...used].map((name) => (name in METRICS ? name : name.replace(/_bucket$/, ""))),
    );
    expect(Object.keys(METRICS).filter((name) => !families.has(name))).toEqual([]);
  });

  test("finds its data source and its file where they are provisioned", () => {
    const sources = yaml("deploy/grafana/provisioning/datasources/prometheus.yaml") as {
      datasources: { uid: string; type: string }[];
    };
    expect(sources.datasources).toMatchObject([{ uid: "prometheus", type: "prometheus" }]);
    const providers = yaml("deploy/grafana/provisioning/dashboards/arborgate.yaml") as {
      providers: { options: { path: string } }[];
    };
    expect(providers.providers[0]!.options.path).toBe("/var/lib/grafana/dashboards");
  });
});

describe("the runbook", () => {
  const sections = read("docs/runbook.md").split(/^## /m).slice(1);

  test("has a section for each alert, in their order, and no other", () => {
    expect(sections.map((section) => section.split("\n")[0]!)).toEqual(rules.map(({ alert }) => alert));
  });

  test.each(rules.map((rule) => [rule.alert, rule] as const))("%s", (alert, { annotations, labels }) => {
    expect(Object.keys(annotations)).toEqual(["summary", "description", "runbook_url"]);
    expect(annotations.runbook_url).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    const section = sections.find((one) => one.startsWith(`${alert}\n`))!;
    expect(section).toContain(`\n*${labels.severity}.* `);
    const parts = [...section.matchAll(/^\*\*(\w+)\.\*\*/gm)].map((match) => match[1]!);
    expect(parts).toEqual(["Means", "Look", "Do", "Ends"]);
  });
});

describe("Prometheus", () => {
  const check = promtool("the configuration of Prometheus, its alerts and their tests");

  test.skipIf(check === null)("takes the configuration and the alerts", () => {
    // The file of credentials is there only where it is deployed.
    const config = check!(["check", "config", "--syntax-only", "prometheus.yml"], PROMETHEUS);
    expect(config).toMatchObject({ code: 0 });
    const found = check!(["check", "rules", "alerts.yml"], PROMETHEUS);
    expect(found).toMatchObject({ code: 0, text: expect.stringContaining(`${rules.length} rules found`) });
  });

  test.skipIf(check === null)("fires each alert when it should, with its words, and not before", () => {
    expect(check!(["test", "rules", "alerts.test.yml"], PROMETHEUS)).toMatchObject({ code: 0 });
    const tested = [...read("deploy/prometheus/alerts.test.yml").matchAll(/^ {2}- name: (\w+)$/gm)];
    expect(tested.map((match) => match[1]!)).toEqual(rules.map(({ alert }) => alert));
  });

  test.skipIf(check === null)("takes the queries of the dashboard", () => {
    const records = queries.map(([, expr], i) => ({
      record: `query_${i}`,
      expr: expr.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".+"),
    }));
    const file = JSON.stringify({ groups: [{ name: "queries", rules: records }] });
    const found = check!(["check", "rules", "/dev/stdin"], PROMETHEUS, file);
    expect(found).toMatchObject({ code: 0 });
  });

  test.skipIf(check === null)("takes what a service exports", async () => {
    const user = await bench.subaccount(await bench.owner());
    await bench.chat(user.key, "[[output=2]]");
    const { text } = await bench.call(bench.rootKey, "GET", "/metrics");
    const found = check!(["check", "metrics"], PROMETHEUS, text);
    // It parses all of it. What it says of names is advice: names of metrics never change.
    expect(found.text).not.toMatch(/error while linting|parse/i);
    expect(found.code).toBeOneOf([0, 3]);
  });
});
