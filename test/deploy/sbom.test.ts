// The bill of materials against the schema of CycloneDX 1.6 and against the lock file; the licenses of what is shipped; and the
// audit against a registry of the test's own, which has advisories, has none, or does not know the question.

import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv from "ajv";
import packageJson from "../../package.json";
import { billOfMaterials, licenseSummary } from "../../scripts/sbom.ts";
import { shippedPackages } from "../../scripts/shipped-packages.ts";
import { guarded } from "../children.ts";
import { HOME } from "./build-image.ts";
import { read, type Yaml } from "./operator-files.ts";

const TEXT = billOfMaterials();
const BOM: Yaml = JSON.parse(TEXT);

describe("the bill of materials", () => {
  test("is valid by the schema of CycloneDX 1.6, and says which one that is", () => {
    const folder = join(HOME, "node_modules/@cyclonedx/cyclonedx-library/res/schema");
    const schema = (name: string): Yaml => JSON.parse(readFileSync(join(folder, name), "utf8"));
    const named = ["spdx.SNAPSHOT.schema.json", "jsf-0.82.SNAPSHOT.schema.json"];
    // Patterns and shapes are checked; formats of texts, such as dates, need a library of their own, and there are none here.
    const ajv = new Ajv({
      ...{ strict: false, validateFormats: false },
      schemas: Object.fromEntries(
        named.map((name) => [`http://cyclonedx.org/schema/${name}`, { ...schema(name), $id: undefined }]),
      ),
    });
    const validate = ajv.compile(schema("bom-1.6.SNAPSHOT.schema.json"));
    validate(BOM);
    expect(validate.errors).toBeNull();
    expect([BOM.bomFormat, BOM.specVersion]).toEqual(["CycloneDX", "1.6"]);
    expect(validate({ ...BOM, components: [{ name: "x" }] })).toBe(false);
  });

  test("is the same each time", () => expect(billOfMaterials()).toBe(TEXT));

  test("has each package once, with version, purl, license, and the hash of the lock file", () => {
    const refs = BOM.components.map((one: Yaml) => one["bom-ref"]);
    expect(new Set(refs).size).toBe(refs.length);
    const lock = read("bun.lock");
    for (const { group, name, version, purl, hashes, licenses } of BOM.components) {
      const whole = group === undefined ? name : `${group}/${name}`;
      const hash = Buffer.from(hashes[0].content, "hex").toString("base64");
      expect(lock).toContain(`["${whole}@${version}", `);
      expect(lock).toContain(`"sha512-${hash}"`);
      expect(purl).toBe(`pkg:npm/${whole.replace("@", "%40")}@${version}`);
      expect([hashes[0].alg, licenses.length]).toEqual(["SHA-512", 1]);
    }
  });

  test("has what the service depends on and what the console imports, and no tool", () => {
    const parts = new Map([...shippedPackages().values()].map(({ name, part }) => [name, part]));
    expect(Object.keys(packageJson.dependencies).filter((name) => parts.get(name) !== "service")).toEqual([]);
    expect(
      ["react", "react-dom", "@mantine/core", "wouter"].filter((name) => parts.get(name) !== "console"),
    ).toEqual([]);
    expect(
      ["typescript", "@biomejs/biome", "playwright-core", "ajv"].filter((name) => parts.has(name)),
    ).toEqual([]);
  });

  test("says what needs what, and every reference is found", () => {
    const known = new Set([
      BOM.metadata.component["bom-ref"],
      ...BOM.components.map((one: Yaml) => one["bom-ref"]),
    ]);
    const named = BOM.dependencies.flatMap(({ ref, dependsOn = [] }: Yaml) => [ref, ...dependsOn]);
    expect(named.filter((ref: string) => !known.has(ref))).toEqual([]);
    const whole = BOM.dependencies.find(({ ref }: Yaml) => ref === BOM.metadata.component["bom-ref"]);
    for (const [name, version] of Object.entries(packageJson.dependencies)) {
      expect(whole.dependsOn).toContain(`pkg:npm/${name.replace("@", "%40")}@${version}`);
    }
  });
});

/** Licenses that let anybody use, change and pass on what they cover, at most with a notice. */
const PERMISSIVE = new Set(
  "MIT ISC Apache-2.0 BSD-2-Clause BSD-3-Clause 0BSD MIT-0 Unlicense (MIT OR CC0-1.0)".match(/\(.+\)|\S+/g),
);

test("every shipped package has a license that allows this use", () => {
  expect(licenseSummary().filter(([license]) => !PERMISSIVE.has(license))).toEqual([]);
});

describe("the audit", () => {
  let answer: () => Response = () => Response.json({});
  const asked: string[] = [];
  const registry = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      asked.push(`${request.method} ${new URL(request.url).pathname}`);
      return answer();
    },
  });
  afterAll(() => registry.stop(true));

  async function audit(url: string = registry.url.href): Promise<{ code: number; text: string }> {
    const child = guarded(
      Bun.spawn([process.execPath, join(HOME, "scripts/audit.ts")], {
        ...{ cwd: HOME, stdin: "ignore", stdout: "pipe", stderr: "pipe", timeout: 60_000 },
        env: { ...process.env, BUN_CONFIG_REGISTRY: url, npm_config_registry: url },
      }),
    );
    const texts = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { code: await child.exited, text: texts.join("") };
  }
  const weakness = (title: string) => ({
    ...{ id: 1, title, severity: "high", url: "https://advisories.example/1", vulnerable_versions: "*" },
  });

  test("passes when the registry knows of nothing", async () => {
    answer = () => Response.json({});
    expect(await audit()).toEqual({ code: 0, text: expect.stringContaining("audit: 0 weaknesses in ") });
    expect(asked).toEqual(["POST /-/npm/v1/security/advisories/bulk"]);
  });

  test("fails for a shipped package, and lists those of tests beside it", async () => {
    answer = () =>
      Response.json({ mongodb: [weakness("READS TOO MUCH")], "smtp-server": [weakness("WRITES TOO MUCH")] });
    const { code, text } = await audit();
    expect(code).toBe(1);
    expect(text).toMatch(/^shipped {2}high {2}mongodb \*: READS TOO MUCH/m);
    expect(text).toMatch(/^tests {2}high {2}smtp-server \*: WRITES TOO MUCH/m);
    expect(text).toMatch(/^audit: 1 weaknesses in \d+ shipped packages, 1 in others$/m);
  });

  test("passes, and says so, where the registry keeps no advisories", async () => {
    answer = () => new Response("no such method", { status: 405 });
    expect(await audit()).toEqual({
      code: 0,
      text: expect.stringContaining("keeps no advisories; nothing was compared"),
    });
  });

  test("is no success where the registry cannot be asked", async () => {
    expect(await audit("http://127.0.0.1:1/")).toEqual({
      code: 2,
      text: expect.stringContaining("could not be asked"),
    });
  });
});
