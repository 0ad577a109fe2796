// The nginx configuration of docs/cluster.md and the annotations of docs/install.md: what one node may have done is not sent to another.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Child, startChild } from "../children.ts";
import { until } from "../e2e/harness.ts";
import { announceSkipped } from "../skipped.ts";
import { freePort } from "../store/tcp.ts";
import { read } from "./operator-files.ts";

/** The blocks `upstream` and `server` as they stand on the page. */
const blocks = /```\n(upstream arborgate \{\n.*?)```/s.exec(read("docs/cluster.md"))![1]!;
const nginx = Bun.which("nginx", { PATH: `${process.env.PATH}:/usr/local/sbin:/usr/sbin` });

describe("the nginx configuration on the page", () => {
  test("sends no request of management to a second node", () => {
    const locations = Object.fromEntries(
      [...blocks.matchAll(/ {2}location (.+?) \{\n(.*?)\n {2}\}/gs)].map(([, path, body]) => [path!, body!]),
    );
    expect(Object.keys(locations)).toEqual(["/", "~ ^/(x-|dashboard/)"]);
    expect(locations["~ ^/(x-|dashboard/)"]).toContain("proxy_next_upstream off;");
    // nginx itself repeats a POST that was sent only where `non_idempotent` is named.
    expect(locations["/"]).toContain("proxy_next_upstream error;");
  });

  test("has the same meaning as the annotation for the ingress controller", () => {
    expect(read("docs/install.md")).toContain('`proxy-next-upstream: "off"`');
  });
});

// It is no part of a deployment of the project, so a machine without it is complete: the pages are compared above.
if (nginx === null) announceSkipped("the nginx configuration at work", "no nginx in PATH");
else {
  describe("nginx before nodes that break connections off", () => {
    const folder = mkdtempSync(join(tmpdir(), "arborgate-nginx-"));
    /** The first lines of the requests that nodes received. */
    const received: string[] = [];
    const nodes = [0, 1, 2].map(() =>
      createServer((socket) => {
        socket.on("error", () => {});
        socket.once("data", (head) => {
          received.push(head.toString().split(" HTTP/")[0]!);
          socket.resetAndDestroy();
        });
      }),
    );
    let child: Child;
    let url: string;

    beforeAll(async () => {
      const ports = await Promise.all(
        nodes.map(async (node) => {
          await new Promise<void>((listening) => node.listen(0, "127.0.0.1", listening));
          return (node.address() as AddressInfo).port;
        }),
      );
      const port = await freePort();
      url = `http://127.0.0.1:${port}`;
      const site = blocks
        .replace(/10\.0\.0\.(\d):8080/g, (_, n: string) => `127.0.0.1:${ports[Number(n) - 1]}`)
        // Otherwise the nodes would be passed over after the first request.
        .replaceAll("max_fails=1", "max_fails=0")
        .replace("listen 443 ssl;", `listen 127.0.0.1:${port};`);
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
        .join(" ");
      writeFileSync(
        join(folder, "nginx.conf"),
        `daemon off; master_process off; pid ${folder}/pid; error_log stderr; events {}
         http { access_log off; ${temporary}\n${site} }`,
      );
      child = startChild([nginx, "-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")]);
      await until("nginx answers", async () => {
        if (child.exitCode() !== null) throw new Error(`it ended:\n${child.tail()}`);
        return (await fetch(url).catch(() => null)) !== null;
      });
    });
    afterAll(async () => {
      child.signal("SIGKILL");
      await child.exited;
      for (const node of nodes) node.close();
      rmSync(folder, { recursive: true });
    });

    test.each([
      ["PUT", "/x-users", 1],
      ["DELETE", "/x-users", 1],
      ["POST", "/x-users", 1],
      ["DELETE", "/dashboard/keys", 1],
      ["POST", "/v1/chat/completions", 1],
      // What reads is tried at every node, which also shows that this test would see a repetition.
      ["GET", "/v1/models", 3],
    ])("%s %s arrives %d times", async (method, path, times) => {
      received.length = 0;
      const body = method === "GET" ? null : "{}";
      expect((await fetch(url + path, { method, body })).status).toBe(502);
      expect(received).toEqual(Array(times).fill(`${method} ${path}`));
    });
  });
}
