// The providers that a kept store's keys point at: a plain one, and the stand-ins of both clouds. A test that opens a store
// starts them anew, elsewhere, and points the keys at them: the secrets in the store must still open their doors.

import type { CryptoKey } from "jose";
import { startCloudA } from "../../provider/cloud-a.ts";
import { startCloudB } from "../../provider/cloud-b.ts";
import { startProvider } from "../../provider/provider.ts";

export const CLOUD_A_SECRET = "cloud-a-key-of-the-fixture-0001";
export const CLIENT_EMAIL = "robot@kept.example";
/** What the deployment of cloud_a is called, and its model. */
export const DEPLOYMENT = { name: "dep-kept", model: "kept-a" };

export function startProviders(robot: CryptoKey, now: () => number) {
  const plain = startProvider();
  const cloudA = startCloudA({ key: CLOUD_A_SECRET, deployments: { [DEPLOYMENT.name]: DEPLOYMENT.model } });
  const accounts = { [CLIENT_EMAIL]: robot };
  const cloudB = startCloudB({ accounts, project: "p-kept", location: "l-kept", now });
  return {
    ...{ plain, cloudA, cloudB },
    close() {
      plain.close();
      cloudA.close();
      cloudB.close();
    },
  };
}

export type Providers = ReturnType<typeof startProviders>;
