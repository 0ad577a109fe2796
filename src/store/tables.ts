// The tables that can be searched: their indexed fields, and what a query may say about them. Nothing here
// reads or writes; every store must give these conditions the same meaning (see `checkedGroups`, and the
// suites in test/suites).

/**
 * The tables and their indexed fields. Other fields of a body are stored and returned, but cannot be
 * searched.
 */
export const TABLES = {
  accounts: {
    id: "integer",
    parent: "integer",
    dna: "text",
    nameLower: "text",
    email: "text",
    level: "integer",
    gear: "integer",
    role: "integer",
    tier: "integer",
    factor: "real",
    /** 0 is open, 1 closing, 2 closed. Lists show accounts with 0. */
    closed: "integer",
    /** Wall-clock milliseconds of the next expiry of credit or end of a secret, for which the sweep has to look; absent without. */
    dueAt: "integer",
    /** Wall-clock milliseconds of the next expiry of credit; absent when no credit expires. */
    creditExpiresAt: "integer",
    /** 0 is disabled. */
    status: "integer",
    suspended: "integer",
    /** The book balance in nano-dollars; it changes with nearly every save. */
    balance: "integer",
    /** The month (`YYYY-MM`) and the day in which the cost has come near HardLimit, or DailyLimit; absent before. */
    nearMonth: "text",
    nearDay: "text",
    /** The day of the last charge, or of the creation. */
    activeDay: "text",
  },
  /** The usage of an account on a day, by model: one document per account and day. */
  usage: {
    account: "integer",
    dna: "text",
    /** `YYYY-MM-DD`, UTC. */
    day: "text",
  },
  /** Mail that has to be sent for accounts, one document per message. */
  outbox: {
    id: "text",
    /** `waiting` or `sent`. */
    state: "text",
    /** Wall-clock milliseconds of the next attempt; absent once the message is sent. */
    dueAt: "integer",
  },
  /** What each version of an Owner's configuration changed, for the newest versions of each Owner. */
  configs: {
    owner: "integer",
    version: "integer",
    /** Wall ms. */
    at: "integer",
  },
  /** What happened to the provider keys of an Owner's Levels: the newest events of each Level. */
  levelEvents: {
    owner: "integer",
    /** Wall ms. */
    at: "integer",
  },
  /** The operation log: which account did what to which target. */
  logs: {
    id: "integer",
    /** Wall ms. */
    at: "integer",
    action: "text",
    /** The account that acted. */
    operator: "integer",
    /** The number of the target, such as an account or a key; absent when there was no single target. */
    target: "integer",
    /** `user`, `key`, `config` or `news`. */
    targetType: "text",
    /**
     * The target account's position in the tree, itself included: ".1.2.7." for account 7 with the DNA
     * ".1.2.".
     */
    targetDna: "text",
    /** `success` or `failed`. */
    status: "text",
  },
  news: {
    id: "integer",
    /** `system`, `user` or `dna`; it selects which of the fields below names the recipients. */
    kind: "text",
    /** The account that published it, and its DNA. */
    publisher: "integer",
    publisherDna: "text",
    /** The account that an item of kind `user` is addressed to. */
    target: "integer",
    /** An item of kind `dna` is for the accounts whose DNA starts with this. */
    dna: "text",
    /**
     * `at` is when it was published, `until` when it ceases to be shown; both are wall-clock milliseconds.
     */
    at: "integer",
    until: "integer",
  },
  /**
   * Objects that a provider stores under an id: which provider key created the object, for which account.
   */
  objects: {
    /** The format is `<account>:<the provider's id>`. */
    id: "text",
    account: "integer",
    /** Wall-clock milliseconds at which the record expires. */
    until: "integer",
  },
} as const satisfies Record<string, Record<string, "integer" | "text" | "real">>;

/**
 * Fields that change with nearly every save of a document. Lists by them are read from their own index and not counted
 * in parts, so that such a save rewrites that index alone.
 */
export const CHANGING_FIELDS: ReadonlySet<string> = new Set(["balance"]);

export type Table = keyof typeof TABLES;
export const TABLE_NAMES = Object.keys(TABLES) as readonly Table[];
/**
 * Tables of records that no actor owns: they are put and removed directly and are not derived from the
 * ledger.
 */
export const RECORD_TABLES = ["logs", "news", "objects"] as const satisfies readonly Table[];
export type RecordTable = (typeof RECORD_TABLES)[number];
/** Tables of documents that actors materialize, each document at one seq of its actor. */
export type DocumentTable = Exclude<Table, RecordTable>;
export type IndexedField<T extends Table> = keyof (typeof TABLES)[T] & string;

/** The body of a document or record: plain data. */
export type DocumentBody = Readonly<Record<string, unknown>>;

/**
 * A condition on one field. `starts` matches a prefix, `has` a substring; both are case-sensitive. An absent
 * value meets no condition. A boolean counts as 0 or 1.
 */
export interface Where<T extends Table> {
  readonly field: IndexedField<T>;
  readonly is: "=" | ">=" | "<=" | "starts" | "has" | "in";
  readonly value: string | number | readonly (string | number)[];
}

/**
 * A document matches when it meets all of `where` and, if `anyOf` is given, all conditions of at least one of
 * its groups.
 */
export interface Conditions<T extends Table> {
  readonly table: T;
  readonly where: readonly Where<T>[];
  /**
   * An empty group always matches; an empty list of groups never does. A document that several groups match
   * is found once.
   */
  readonly anyOf?: readonly (readonly Where<T>[])[];
}

/** All documents that meet the conditions, in order, without pages. */
export interface ScanQuery<T extends Table> extends Conditions<T> {
  /** Absent values come first, text is ordered by code point, and ties by the document's id. */
  readonly order: IndexedField<T>;
  readonly descending?: boolean;
}

/** A page of the documents that meet the conditions. The default of `limit` is all. */
export interface Find<T extends Table> extends ScanQuery<T> {
  readonly offset?: number;
  readonly limit?: number;
}
