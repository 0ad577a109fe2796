// The tables that can be searched: their indexed fields, and what a find may ask of them. Nothing here reads or writes;
// every store must give these words the same meaning (indexed-fields.ts, test/suites).

/** The tables and their indexed fields. Other fields of a body are stored and returned, not searched. */
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
    /** 0 open, 1 closing, 2 closed: lists show what is 0. */
    closed: "integer",
    /** Wall ms of the next expiry of credit; absent: none. */
    dueAt: "integer",
  },
  /** What an account used on a day, by model: one document for each account and day. */
  usage: {
    account: "integer",
    dna: "text",
    /** `YYYY-MM-DD`, UTC. */
    day: "text",
  },
  /** Mail that accounts owe, one document a message. */
  outbox: {
    id: "text",
    /** `waiting` or `sent`. */
    state: "text",
    /** Wall ms of the next attempt; absent: sent. */
    dueAt: "integer",
  },
  /** What each version of an Owner's configuration changed, the newest versions of each. */
  configs: {
    owner: "integer",
    version: "integer",
    /** Wall ms. */
    at: "integer",
  },
  /** The operation log: who did what to whom. */
  logs: {
    id: "integer",
    /** Wall ms. */
    at: "integer",
    action: "text",
    /** The account that acted. */
    operator: "integer",
    /** The number of what it was done to, an account's, a key's; absent: it was not one thing. */
    target: "integer",
    /** `user`, `key`, `config` or `news`. */
    targetType: "text",
    /** The target account's place in the tree, itself included: ".1.2.7." for account 7 with the DNA ".1.2.". */
    targetDna: "text",
    /** `success` or `failed`. */
    status: "text",
  },
  news: {
    id: "integer",
    /** `system`, `user` or `dna`: which of the fields below says whom it reaches. */
    kind: "text",
    /** The account that published it, and its DNA. */
    publisher: "integer",
    publisherDna: "text",
    /** Of kind `user`: the account it is addressed to. */
    target: "integer",
    /** Of kind `dna`: the accounts whose DNA starts with this. */
    dna: "text",
    /** Wall ms, both: published, and shown no longer. */
    at: "integer",
    until: "integer",
  },
  /** What a provider keeps under an id: which key made it, for the account that it was made for. */
  objects: {
    /** `<account>:<the provider's id>`. */
    id: "text",
    account: "integer",
    /** Wall ms: forgotten from then on. */
    until: "integer",
  },
} as const satisfies Record<string, Record<string, "integer" | "text" | "real">>;

export type Table = keyof typeof TABLES;
/** Tables of records that no actor owns: they are put and removed, and have no place in a ledger. */
export const RECORD_TABLES = ["logs", "news", "objects"] as const satisfies readonly Table[];
export type RecordTable = (typeof RECORD_TABLES)[number];
/** Tables of what actors materialise, each document at one seq of its actor. */
export type DocumentTable = Exclude<Table, RecordTable>;
export type IndexedField<T extends Table> = keyof (typeof TABLES)[T] & string;

/** What a document or record holds: plain data. */
export type DocumentBody = Readonly<Record<string, unknown>>;

/**
 * A condition on one field. `starts` is a prefix, `has` a substring; both mind case. An absent value meets none.
 * A boolean counts as 0 or 1.
 */
export interface Where<T extends Table> {
  readonly field: IndexedField<T>;
  readonly is: "=" | ">=" | "<=" | "starts" | "has" | "in";
  readonly value: string | number | readonly (string | number)[];
}

/** What is asked for: all of `where`, and, when `anyOf` is there, all of at least one of its groups. */
export interface Conditions<T extends Table> {
  readonly table: T;
  readonly where: readonly Where<T>[];
  /** An empty group always holds; of no groups none does. What several groups meet is found once. */
  readonly anyOf?: readonly (readonly Where<T>[])[];
}

/** Everything that meets the conditions, one after another: a list without pages. */
export interface ScanQuery<T extends Table> extends Conditions<T> {
  /** Absent values first, text by code point, ties by the document's id. */
  readonly order: IndexedField<T>;
  readonly descending?: boolean;
}

export interface Find<T extends Table> extends ScanQuery<T> {
  readonly offset?: number;
  readonly limit?: number;
}
