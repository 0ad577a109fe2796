// Combines the upstreams of all provider types into one, which selects by the `provider_type` in a key's
// Config.

import type { Clock } from "../base/clock.ts";
import { type ApiKind, cloudA } from "./cloud-a.ts";
import { cloudB } from "./cloud-b.ts";
import { createConnect } from "./http-client.ts";
import { createHttpUpstream } from "./http-upstream.ts";
import { MissingPaths } from "./missing-paths.ts";
import { createTokens } from "./service-account-token.ts";
import type { SsrfGuard } from "./ssrf-guard.ts";
import { type HostBook, standard } from "./standard.ts";
import type { Transport } from "./transport.ts";
import { isCloud, type ProviderType, type Upstream, type UpstreamKey } from "./upstream.ts";

/** What the upstreams need from the node. */
export interface UpstreamParts {
  readonly guard: SsrfGuard;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly hostFacts: HostBook;
  readonly cloudAApiVersions: Readonly<Record<ApiKind, string>>;
  readonly cloudBTokenUrl: string;
}

/** Creates the upstream for all provider types. An unknown type is treated as `standard`. */
export function createUpstreams(parts: UpstreamParts): Upstream {
  const { guard, transport, clock } = parts;
  const connect = createConnect(guard, transport);
  const tokens = createTokens({ connect, clock, url: parts.cloudBTokenUrl });
  const shared = { connect, clock, missingPaths: new MissingPaths(clock) };
  const by: Readonly<Record<ProviderType, Upstream>> = {
    standard: createHttpUpstream(standard(parts.hostFacts), shared),
    cloud_a: createHttpUpstream(cloudA(parts.cloudAApiVersions), shared),
    cloud_b: createHttpUpstream(cloudB(tokens), shared),
  };
  const of = ({ provider_type: type }: UpstreamKey["config"]): Upstream =>
    isCloud(type) ? by[type] : by.standard;
  return {
    naming: (to) => of(to.config).naming(to),
    address: (to) => of(to.config).address(to),
    lacks: by.standard.lacks,
    send: (attempt) => of(attempt.key.config).send(attempt),
  };
}
