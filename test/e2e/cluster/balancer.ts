// HAProxy before the nodes, as an operator would set it up: it asks each node whether it is ready, tries another node only
// when no connection came about, and keeps the connections of clients open. Nodes that come back with another address are
// told to it on its socket. Where it is not installed, tests that need it are skipped, loudly; with CI=true that is a failure.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startChild } from "../../children.ts";
import { freePort } from "../../store/tcp.ts";
import { until } from "../harness.ts";

export interface Balancer {
  readonly url: string;
  /** A node is found at this address from now on. */
  point(node: string, url: string): Promise<void>;
  /** Nodes that it sends requests to. */
  serving(): Promise<string[]>;
  tail(): string;
  close(): Promise<void>;
}

export const haproxy = (): string | null =>
  Bun.which("haproxy", { PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` });

/** Returns the lines of a text by which an account's requests go to the node that serves it. */
export const accountRulesIn = (text: string): string =>
  text.match(/^ {2}(stick-table|use-server|http-re).*$/gm)!.join("\n");

/**
 * Returns the rules of deploy/haproxy.cfg for accounts and their nodes, in a backend of this name and these nodes. A node
 * that the file has no number for gets no account by its name.
 */
export function accountRules(backend: string, nodes: readonly string[]): string {
  const file = readFileSync(join(import.meta.dir, "../../../deploy/haproxy.cfg"), "utf8");
  const [, gateways] = /^backend gateways\n(.*?)\n\n/ms.exec(file)!;
  return accountRulesIn(gateways!)
    .replace("(gateways)", `(${backend})`)
    .replace(/gateway-(\d)/g, (_, n: string) => nodes[Number(n) - 1]!);
}

const config = (port: number, socket: string, nodes: readonly string[], rules: string): string => `
global
  nbthread 1
  stats socket ${socket} mode 600 level admin
defaults
  mode http
  timeout connect 1s
  timeout client 60s
  timeout server 60s
  timeout http-keep-alive 60s
  retries 3
  retry-on conn-failure
  option redispatch 1
frontend clients
  bind 127.0.0.1:${port}
  default_backend nodes
backend nodes
  balance roundrobin
${rules}
  option httpchk GET /readyz
  http-check expect status 200
  timeout check 1500ms
  default-server check inter 250ms fall 2 rise 1
${nodes.map((node) => `  server ${node} 127.0.0.1:1`).join("\n")}
`;

const TRIES = 5;

/**
 * Starts it without any node; `point` sets where they are. With `byAccount` it sends an account's requests to the node that
 * serves it, which nodes name with LB_NODE_HEADER; otherwise to the nodes in turn.
 */
export async function startBalancer(
  directory: string,
  nodes: readonly string[],
  byAccount: boolean,
): Promise<Balancer> {
  const program = haproxy();
  if (program === null) throw new Error("haproxy is not installed");
  const socket = join(directory, "haproxy.sock");
  const file = join(directory, "haproxy.cfg");
  // Somebody may take the port between the look and the start: then another is tried.
  for (let tries = 1; ; tries++) {
    const port = await freePort();
    writeFileSync(file, config(port, socket, nodes, byAccount ? accountRules("nodes", nodes) : ""));
    const child = startChild([program, "-db", "-f", file]);
    await until(
      "HAProxy runs",
      async () => child.exitCode() !== null || (existsSync(socket) && (await up())),
    );
    if (child.exitCode() === null) {
      return {
        url: `http://127.0.0.1:${port}`,
        async point(node, url) {
          const said = await commandHaproxy(
            socket,
            `set server nodes/${node} addr 127.0.0.1 port ${new URL(url).port}`,
          );
          if (!/changed|no need|nothing changed/i.test(said)) throw new Error(`HAProxy: ${said}`);
        },
        serving: async () => (await states()).filter(([, state]) => state === "2").map(([name]) => name),
        tail: () => `--- haproxy\n${child.tail()}`,
        async close() {
          child.signal("SIGKILL");
          await child.exited;
        },
      };
    }
    if (tries === TRIES) throw new Error(`HAProxy does not start:\n${child.tail()}`);
  }

  async function up(): Promise<boolean> {
    return commandHaproxy(socket, "show info").then(
      (said) => said.includes("Pid"),
      () => false,
    );
  }

  /** Name and operational state (2: up) of each server. */
  async function states(): Promise<[name: string, state: string][]> {
    const rows = (await commandHaproxy(socket, "show servers state nodes"))
      .split("\n")
      .map((row) => row.split(" "));
    return rows.filter((row) => row[1] === "nodes").map((row) => [row[3]!, row[5]!]);
  }
}

/** Sends a command to a HAProxy on its socket. Returns what it answers. */
export async function commandHaproxy(socket: string, command: string): Promise<string> {
  const ended = Promise.withResolvers<string>();
  let said = "";
  const connection = await Bun.connect({
    unix: socket,
    socket: {
      data(_, data) {
        said += data.toString();
      },
      close: () => ended.resolve(said),
      error: (_, error) => ended.reject(error),
    },
  });
  connection.write(`${command}\n`);
  return ended.promise;
}
