// What an Owner's configuration consists of, its defaults, and the words for changing it. Data only: who may change it and
// what a change does stands in owner.ts.

import type { SealedSecret } from "../key-pool/provider-key.ts";
import { type Nano, ZERO } from "../money.ts";
import type { Pricing } from "../pricing/price-table.ts";
import type { RateLimits } from "../rate-window.ts";
import { type Cascade, NO_CASCADE } from "./cascade.ts";
import type { MapEdits } from "./map-edits.ts";

/** How mail of this tree is sent. Without `emailSmtp` there is no mail server. */
export interface MailConfig {
  /** Host name or address of the SMTP server; empty: none. */
  readonly emailSmtp: string;
  /** null: the usual one. */
  readonly emailPort: number | null;
  /** The account at the mail server; empty: none is needed. */
  readonly emailAuth: string;
  readonly emailPass: SealedSecret | null;
  /** TLS is demanded: from the first byte on, or by STARTTLS on the ports that begin with it. */
  readonly emailTls: boolean;
  /** From whom mail comes, and who hears of a Level without keys; empty: nobody. */
  readonly serviceMail: string;
}

/** Per pattern of models; what is absent is not limited here. */
export type ModelLimits = Readonly<Record<string, Partial<RateLimits>>>;

/** The maps that are also laid on every account below. */
export interface Cascades {
  readonly modelMapper: Cascade<string>;
  readonly modelLimits: Cascade<Partial<RateLimits>>;
}

export interface OwnerConfig extends MailConfig {
  /** 0: the built-in defaults, nothing was ever set. */
  readonly version: number;
  readonly modelMapper: Readonly<Record<string, string>>;
  readonly levelMapper: Readonly<Record<string, number>>;
  /** Level to backup Level. Chains are followed; a circle is no fault, since routing follows each Level once. */
  readonly switchOver: Readonly<Record<string, number>>;
  /** Model, or pattern of models, to its backups in order of preference. */
  readonly modelFailover: Readonly<Record<string, readonly string[]>>;
  readonly resources: readonly string[];
  readonly modelLimits: ModelLimits;
  /** Beside the Owner's own maps, which are for the whole tree: what overrides the maps of the accounts in it. */
  readonly cascades: Cascades;
  /** The override alone; null: the default prices. */
  readonly pricing: Pricing | null;
  readonly userMinBalance: Nano;
  readonly userApiBalance: Nano;
  /** Of Root's alone it counts: whether the operation log is written, for everybody. */
  readonly logEnable: boolean;
}

export const DEFAULT_CONFIG: OwnerConfig = {
  version: 0,
  modelMapper: {},
  levelMapper: {},
  switchOver: {},
  modelFailover: {},
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

/** Any of the settings; what is absent stays. */
export type ConfigChange = Partial<Omit<OwnerConfig, "version">>;

/** The change that takes these settings back to their defaults. */
export const defaultsOf = (fields: readonly (keyof ConfigChange)[]): ConfigChange =>
  Object.fromEntries(fields.map((field) => [field, DEFAULT_CONFIG[field]]));

type MapField = "modelMapper" | "levelMapper" | "switchOver" | "modelFailover" | "modelLimits";

/** Merged into the maps as they are when the command arrives. */
export type ConfigEdits = {
  readonly [F in MapField]?: MapEdits<OwnerConfig[F][string]>;
};

/** Which of the edits are laid on the accounts below as well. */
export interface CascadeOrder {
  readonly fields: readonly (keyof Cascades)[];
  /** Version of Root's configuration that the front end has read. Of Root's own cascades it does not matter. */
  readonly root: number;
}

/** A change of settings and edits of maps, made together: one version. */
export interface Configuring {
  readonly change: ConfigChange;
  readonly edits?: ConfigEdits;
  readonly cascade?: CascadeOrder;
}
