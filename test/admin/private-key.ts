// A private key as a service account has it, made anew for each run: none lies in the tree.

import { generateKeyPairSync } from "node:crypto";

/** PEM of an RSA key, by default of the size that is asked of one, or of another kind of key. */
export const privateKeyPem = (
  kind: "rsa" | "small" | "ec" = "rsa",
  type: "pkcs8" | "pkcs1" = "pkcs8",
): string => {
  const { privateKey } =
    kind === "ec"
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : generateKeyPairSync("rsa", { modulusLength: kind === "small" ? 1_024 : 2_048 });
  return privateKey.export({ type: kind === "ec" ? "pkcs8" : type, format: "pem" }).toString();
};
