// Says why an address of the settings cannot be listened at. It opens a socket for an instant to find out, and must not
// keep one.

import { BadSetting } from "./settings.ts";

/** An address that was tried, with the settings that make it. */
export interface TriedAddress {
  readonly names: string;
  readonly hostname: string;
  readonly port: number;
}

/**
 * Returns the BadSetting for an address at which listening failed with `error`. Throws `error` when no setting can be its
 * cause.
 */
export function listenFault({ names, hostname, port }: TriedAddress, error: unknown): BadSetting {
  const fault = `${names}: nothing can listen at ${hostname}:${port}`;
  if (!isOwnHost(hostname)) {
    return new BadSetting(`${fault}: "${hostname}" is no name and no address of this machine`);
  }
  if (!(error instanceof Error && "code" in error)) throw error;
  return new BadSetting(`${fault} (${error.code})`);
}

/**
 * Whether any port can be listened at there. For a name without an address the runtime fails with no code, or with the code
 * of an earlier error such as EADDRINUSE, so that the code does not tell.
 */
function isOwnHost(hostname: string): boolean {
  try {
    Bun.listen({ hostname, port: 0, socket: { data() {} } }).stop(true);
    return true;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}
