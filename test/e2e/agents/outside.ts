// What a program that is run here would reach outside of this machine: nothing. A program gets an environment of its own, in
// which every address but loopback is behind a proxy that refuses and remembers.

export interface Outside {
  /** The environment that sends a program's other connections here. */
  readonly env: Readonly<Record<string, string>>;
  /** The first line of each connection, such as `CONNECT example.com:443 HTTP/1.1`. */
  readonly asked: readonly string[];
  close(): void;
}

export function watchOutside(): Outside {
  const asked: string[] = [];
  const listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, bytes) {
        asked.push(bytes.toString().split("\r\n")[0]!);
        socket.terminate();
      },
    },
  });
  const proxy = `http://127.0.0.1:${listener.port}`;
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
  const both = (name: string, value: string) => [
    [name, value],
    [name.toLowerCase(), value],
  ];
  return {
    env: Object.fromEntries([
      ...names.flatMap((name) => both(name, proxy)),
      ...both("NO_PROXY", "127.0.0.1,localhost"),
    ]),
    asked,
    close: () => listener.stop(true),
  };
}
