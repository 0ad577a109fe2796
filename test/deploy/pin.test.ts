// deploy/pin.sh against programs in the place of the registry's clients: it writes only what they said, all of it or nothing.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { HOME } from "./build-image.ts";
import { parseDockerfile } from "./dockerfile.ts";
import { EXACT_IMAGE, read, run, type Yaml } from "./operator-files.ts";

const home = mkdtempSync(join(tmpdir(), "arborgate-pin-"));
const FILES = ["Dockerfile", "compose.yaml"];
const DIGEST = `sha256:${"0123456789abcdef".repeat(4)}`;
const OTHER = `sha256:${"fedcba9876543210".repeat(4)}`;

beforeEach(() => {
  rmSync(home, { recursive: true });
  mkdirSync(join(home, "deploy"), { recursive: true });
  mkdirSync(join(home, "bin"));
  for (const path of [...FILES, "deploy/pin.sh"]) copyFileSync(join(HOME, path), join(home, path));
});
afterAll(() => rmSync(home, { recursive: true }));

/** Puts a program into the place of a registry's client, and asks it alone. */
function pin(tool: string, script: string): { code: number; text: string } {
  writeFileSync(join(home, "bin", tool), `#!/bin/sh\n${script}\n`);
  chmodSync(join(home, "bin", tool), 0o755);
  return run(["sh", join(home, "deploy/pin.sh"), tool], { PATH: `${join(home, "bin")}:/usr/bin:/bin` });
}

const written = (path: string): string => readFileSync(join(home, path), "utf8");
const images = (): string[] => [
  ...parseDockerfile(written("Dockerfile")).map(({ image }) => image),
  ...Object.values<Yaml>(parse(written("compose.yaml"), { merge: true }).services).map(({ image }) => image),
];
const unpinned = (text: string): string => text.replaceAll(/@sha256:[0-9a-f]{64}/g, "");

describe("where digests can be fetched", () => {
  test.each([
    ["crane", `echo ${DIGEST}`],
    ["skopeo", `echo ${DIGEST}`],
    ["docker", `echo ${DIGEST}`],
    [
      "curl",
      `case "$*" in *token*) echo '{"token":"t"}' ;; *) printf 'HTTP/2 200\\r\\nDocker-Content-Digest: ${DIGEST}\\r\\n' ;; esac`,
    ],
  ])("by %s, each image has its own behind its tag, and nothing else changes", (tool, script) => {
    expect(pin(tool, script)).toMatchObject({ code: 0 });
    expect(
      images().filter((image) => !image.endsWith(`@${DIGEST}`) && !image.startsWith("arborgate:")),
    ).toEqual([]);
    expect(images().filter((image) => !EXACT_IMAGE.test(image))).toEqual([]);
    expect(FILES.map((path) => unpinned(written(path)))).toEqual(FILES.map((path) => unpinned(read(path))));
  });

  test("and another digest takes the place of an older one", () => {
    pin("crane", `echo ${DIGEST}`);
    expect(pin("crane", `echo ${OTHER}`)).toMatchObject({ code: 0 });
    expect(FILES.some((path) => written(path).includes(DIGEST))).toBe(false);
  });
});

describe("where they cannot", () => {
  test.each([
    ["without a network", "crane", "echo 'no such host' >&2; exit 1"],
    ["for one of the images", "crane", `case $2 in nats:*) exit 1 ;; esac; echo ${DIGEST}`],
    ["with an answer that is no digest", "skopeo", "echo sha256:abc"],
    ["with a page in the place of an answer", "curl", "echo '<html>'"],
  ])("%s it says so, exits 1 and writes nothing", (_, tool, script) => {
    const { code, text } = pin(tool, script);
    expect([code, text]).toEqual([1, expect.stringContaining("Nothing was changed.")]);
    expect(FILES.map(written)).toEqual(FILES.map(read));
  });
});
