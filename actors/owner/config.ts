// Types and defaults of an Owner's configuration and of its changes. Data only: owner.ts decides changes,
// configure.ts computes them.

import type { SealedSecret } from "../key-pool/provider-key.ts";
import { type Nano, ZERO } from "../money.ts";
import type { Pricing } from "../pricing/price-table.ts";
import type { RateLimits } from "../rate-window.ts";
import { type Cascade, NO_CASCADE } from "./cascade.ts";
import type { MapEdits } from "./map-edits.ts";

/** How mail of this Owner's accounts is sent. Without `emailSmtp` no mail is sent. */
export interface MailConfig {
  /** Host name or address of the SMTP server; empty means none. */
  readonly emailSmtp: string;
  /** Null means the default port. */
  readonly emailPort: number | null;
  /** User name at the mail server; empty means no authentication. */
  readonly emailAuth: string;
  readonly emailPass: SealedSecret | null;
  /** Requires TLS: from the first byte, or by STARTTLS on ports that start in plain text. */
  readonly emailTls: boolean;
  /** Sender of mails, and recipient of alerts about Levels without keys; empty means none. */
  readonly serviceMail: string;
}

/** Rate limits by model pattern; absent figures are not limited here. */
export type ModelLimits = Readonly<Record<string, Partial<RateLimits>>>;

/** The values of `LEVEL_AFFINITY`, the default first. */
export const LEVEL_AFFINITIES = ["on", "off"] as const;
export type LevelAffinity = (typeof LEVEL_AFFINITIES)[number];

/** The cascades of the maps that can also apply to every account below. */
export interface Cascades {
  readonly modelMapper: Cascade<string>;
  readonly modelLimits: Cascade<Partial<RateLimits>>;
}

/** An Owner's configuration. It is replaced as a whole and never changed in place. */
export interface OwnerConfig extends MailConfig {
  /** Grows by 1 with each change; 0 means the built-in defaults. */
  readonly version: number;
  readonly modelMapper: Readonly<Record<string, string>>;
  readonly levelMapper: Readonly<Record<string, number>>;
  /** Level to backup Level. Chains are followed; cycles are allowed, since routing visits each Level once. */
  readonly switchOver: Readonly<Record<string, number>>;
  /** Model or model pattern to its backup models, in order of preference. */
  readonly modelFailover: Readonly<Record<string, readonly string[]>>;
  /** Whether the turns of a conversation go to the same key of a Level. */
  readonly levelAffinity: LevelAffinity;
  readonly resources: readonly string[];
  readonly modelLimits: ModelLimits;
  /** Changes that override the accounts' own maps, in addition to the Owner's maps above. */
  readonly cascades: Cascades;
  /** The override of the default prices; null means none. */
  readonly pricing: Pricing | null;
  readonly userMinBalance: Nano;
  readonly userApiBalance: Nano;
  /**
   * Whether the operation log is written. Only the value in Root's configuration counts, for all accounts.
   */
  readonly logEnable: boolean;
}

/** The built-in configuration of version 0. */
export const DEFAULT_CONFIG: OwnerConfig = {
  version: 0,
  modelMapper: {},
  levelMapper: {},
  switchOver: {},
  modelFailover: {},
  levelAffinity: "on",
  resources: [],
  modelLimits: {},
  cascades: { modelMapper: NO_CASCADE, modelLimits: NO_CASCADE },
  pricing: null,
  userMinBalance: ZERO,
  userApiBalance: ZERO,
  logEnable: true,
  emailSmtp: "",
  emailPort: null,
  emailAuth: "",
  emailPass: null,
  emailTls: false,
  serviceMail: "",
};

/** Settings to replace; absent ones stay. */
export type ConfigChange = Partial<Omit<OwnerConfig, "version">>;

/** Returns the change that resets these settings to their defaults. */
export const defaultsOf = (fields: readonly (keyof ConfigChange)[]): ConfigChange =>
  Object.fromEntries(fields.map((field) => [field, DEFAULT_CONFIG[field]]));

type MapField = "modelMapper" | "levelMapper" | "switchOver" | "modelFailover" | "modelLimits";

/** Edits of maps, which are merged into the maps as they are when the command is decided. */
export type ConfigEdits = {
  readonly [F in MapField]?: MapEdits<OwnerConfig[F][string]>;
};

/** Names the edits that also apply to the accounts below. */
export interface CascadeOrder {
  readonly fields: readonly (keyof Cascades)[];
  /** Version of Root's configuration that the caller has read; ignored for Root's own cascades. */
  readonly root: number;
}

/** A change of settings and edits of maps that together make one version. */
export interface Configuring {
  readonly change: ConfigChange;
  readonly edits?: ConfigEdits;
  readonly cascade?: CascadeOrder;
}
