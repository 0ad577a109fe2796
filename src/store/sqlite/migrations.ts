// The SQLite tables, as the numbered steps that make them. A released step must not change, because databases
// that ran it would differ from those that did not. What is new is a step of its own at the end.

/** The SQL statements of one step from version n to n + 1. */
export type Migration = readonly string[];

// The ledger grows in rowid order and is found by UNIQUE(actor, seq). Clustered by actor, each commit of a
// transaction would dirty a page of its own. The small columns come first, so that reading them touches no
// overflow page.
// `actorsToRecover` reads by `at` alone, which only appends; an index that leads with the shard costs a third
// more per commit.
const JOURNAL: Migration = [
  `CREATE TABLE commits (
     row INTEGER PRIMARY KEY, actor TEXT NOT NULL, seq INTEGER NOT NULL, shard INTEGER NOT NULL,
     epoch INTEGER NOT NULL, at INTEGER NOT NULL, linesTo INTEGER NOT NULL, lines INTEGER NOT NULL,
     v INTEGER NOT NULL, "by" TEXT NOT NULL, done TEXT NOT NULL, marks TEXT NOT NULL, events TEXT NOT NULL,
     UNIQUE (actor, seq)
   ) STRICT`,
  "CREATE INDEX commitsAt ON commits (at)",
  `CREATE TABLE marks (
     mark TEXT NOT NULL, actor TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (mark, actor, seq)
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE snapshots (
     actor TEXT NOT NULL PRIMARY KEY, shard INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL,
     epoch INTEGER NOT NULL, linesTo INTEGER NOT NULL, v INTEGER NOT NULL, pending INTEGER NOT NULL,
     state TEXT NOT NULL, done TEXT NOT NULL
   ) STRICT`,
  "CREATE INDEX snapshotsPending ON snapshots (shard) WHERE pending = 1",
];

const SMALL_ROWS: Migration = [
  `CREATE TABLE claims (
     key TEXT NOT NULL PRIMARY KEY, account INTEGER NOT NULL, "by" TEXT NOT NULL, at INTEGER NOT NULL,
     confirmed INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX claimsUnconfirmed ON claims (at, key) WHERE confirmed = 0",
  "CREATE TABLE counters (name TEXT NOT NULL PRIMARY KEY, next INTEGER NOT NULL) STRICT, WITHOUT ROWID",
  "CREATE TABLE registry (key TEXT NOT NULL PRIMARY KEY, rev INTEGER NOT NULL, value TEXT NOT NULL) STRICT",
];

/** Each index contains `key`, which breaks the ties of every order. */
const DOCUMENTS: Migration = [
  `CREATE TABLE accounts (
     key TEXT NOT NULL PRIMARY KEY, seq INTEGER NOT NULL, id INTEGER, parent INTEGER, dna TEXT, nameLower TEXT,
     email TEXT, level INTEGER, gear INTEGER, role INTEGER, tier INTEGER, factor REAL, closed INTEGER,
     dueAt INTEGER, body TEXT NOT NULL
   ) STRICT`,
  "CREATE INDEX accounts_id ON accounts (id, key)",
  "CREATE INDEX accounts_parent_id ON accounts (parent, id, key)",
  "CREATE INDEX accounts_dna ON accounts (dna, key)",
  "CREATE INDEX accounts_email ON accounts (email, key)",
  "CREATE INDEX accounts_nameLower ON accounts (nameLower, key)",
  "CREATE INDEX accounts_dueAt ON accounts (dueAt, key) WHERE dueAt IS NOT NULL",
  `CREATE TABLE usage (
     key TEXT NOT NULL PRIMARY KEY, seq INTEGER NOT NULL, account INTEGER, dna TEXT, day TEXT, body TEXT NOT NULL
   ) STRICT`,
  "CREATE INDEX usage_account_day ON usage (account, day, key)",
  "CREATE INDEX usage_dna_day ON usage (dna, day, key)",
  "CREATE INDEX usage_day ON usage (day, key)",
];

const ANSWERS: Migration = [
  `CREATE TABLE answers (
     row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, account INTEGER NOT NULL, kind TEXT NOT NULL,
     at INTEGER NOT NULL, until INTEGER NOT NULL, body TEXT NOT NULL
   ) STRICT`,
  "CREATE INDEX answersOf ON answers (account, kind)",
  "CREATE INDEX answersUntil ON answers (until)",
];

// Lists of accounts combine any filter with any of the three ways to find accounts. These indexes contain
// every field that can be filtered, so that a count or a page reads nothing else, and a body only if it is
// returned.
const FILTERS = "closed, level, gear, role, tier, factor, nameLower, email";
const ACCOUNT_LISTS: Migration = [
  "DROP INDEX accounts_id",
  `CREATE INDEX accounts_id ON accounts (id, key, dna, parent, ${FILTERS})`,
  "DROP INDEX accounts_parent_id",
  `CREATE INDEX accounts_parent_id ON accounts (parent, id, key, dna, ${FILTERS})`,
  "DROP INDEX accounts_dna",
  `CREATE INDEX accounts_dna ON accounts (dna, id, key, parent, ${FILTERS})`,
];

const LOGS: Migration = [
  `CREATE TABLE logs (
     key TEXT NOT NULL PRIMARY KEY, id INTEGER, at INTEGER, action TEXT, operator INTEGER, target INTEGER,
     targetType TEXT, targetDna TEXT, status TEXT, body TEXT NOT NULL
   ) STRICT`,
  "CREATE INDEX logs_at ON logs (at, key, targetDna, operator, target, targetType, action, status)",
  "CREATE INDEX logs_operator_at ON logs (operator, at, key, targetDna, target, targetType, action, status)",
  "CREATE INDEX logs_target_at ON logs (target, at, key, targetDna, operator, targetType, action, status)",
  "CREATE INDEX logs_targetDna ON logs (targetDna, at, key, operator, target, targetType, action, status)",
];

const NEWS: Migration = [
  `CREATE TABLE news (
     key TEXT NOT NULL PRIMARY KEY, id INTEGER, kind TEXT, publisher INTEGER, publisherDna TEXT, target INTEGER,
     dna TEXT, at INTEGER, until INTEGER, body TEXT NOT NULL
   ) STRICT`,
  "CREATE INDEX news_id ON news (id, key)",
  "CREATE INDEX news_kind_dna ON news (kind, dna, id, key)",
  "CREATE INDEX news_target ON news (target, id, key)",
  "CREATE INDEX news_publisher ON news (publisher, id, key)",
  "CREATE INDEX news_until ON news (until, key)",
];

const OUTBOX: Migration = [
  `CREATE TABLE outbox (
     key TEXT NOT NULL PRIMARY KEY, seq INTEGER NOT NULL, id TEXT, state TEXT, dueAt INTEGER, body TEXT NOT NULL
   ) STRICT`,
  "CREATE INDEX outbox_id ON outbox (id, key)",
  "CREATE INDEX outbox_dueAt ON outbox (dueAt, key) WHERE dueAt IS NOT NULL",
];

// Usage documents as rows that can be added up. On each day the rows of a branch of the tree are adjacent,
// and sums by model or day over large branches walk an index in their own order instead of sorting every row.
const USAGE_SUMS: Migration = [
  `CREATE TABLE usageSums (
     day TEXT NOT NULL, dna TEXT NOT NULL, account INTEGER NOT NULL, model TEXT NOT NULL,
     requests INTEGER NOT NULL, prompt INTEGER NOT NULL, completion INTEGER NOT NULL, cached INTEGER NOT NULL,
     cacheWrite INTEGER NOT NULL, reasoning INTEGER NOT NULL, cost INTEGER NOT NULL,
     PRIMARY KEY (day, dna, account, model)
   ) STRICT, WITHOUT ROWID`,
  `INSERT INTO usageSums
     SELECT usage.day, usage.dna, usage.account, model.key,
       ifnull(value->>'requests', 0), ifnull(value->>'prompt', 0), ifnull(value->>'completion', 0),
       ifnull(value->>'cached', 0), ifnull(value->>'cacheWrite', 0), ifnull(value->>'reasoning', 0),
       ifnull(value->>'cost', 0)
     FROM usage JOIN json_each(usage.body, '$.models') AS model`,
  "CREATE INDEX usageSums_account_day ON usageSums (account, day)",
  `CREATE INDEX usageSums_day_model ON usageSums
     (day, model, dna, requests, prompt, completion, cached, cacheWrite, reasoning, cost)`,
];

const CONFIGS: Migration = [
  `CREATE TABLE configs (
     key TEXT NOT NULL PRIMARY KEY, seq INTEGER NOT NULL, owner INTEGER, version INTEGER, at INTEGER, body TEXT NOT NULL
   ) STRICT`,
  "CREATE INDEX configs_owner_version ON configs (owner, version, key, at)",
];

const OBJECTS: Migration = [
  `CREATE TABLE objects (
     key TEXT NOT NULL PRIMARY KEY, id TEXT, account INTEGER, until INTEGER, body TEXT NOT NULL
   ) STRICT`,
  "CREATE INDEX objects_id ON objects (id, key)",
  "CREATE INDEX objects_until ON objects (until, key)",
];

// Ledger lines as rows that filters read (line-rows.ts). The lines of an actor are adjacent and in order, so
// that a page is one walk. No column has an index of its own, because each would cost every charge a
// microsecond and more. `lines` in `meta` is the last row of `commits` whose lines are there.
const LINES: Migration = [
  `CREATE TABLE lines (
     actor TEXT NOT NULL, at INTEGER NOT NULL, number INTEGER NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL,
     model TEXT, apiKey INTEGER, tags TEXT, amount INTEGER NOT NULL,
     PRIMARY KEY (actor, at, number)
   ) STRICT, WITHOUT ROWID`,
  "INSERT INTO meta (key, value) VALUES ('lines', 0)",
];

// Lines that are no charges are few among many, and are found without walking over the charges, for which this index costs nothing.
const OTHER_LINES: Migration = [
  `CREATE INDEX lines_other ON lines (actor, at, number, seq, type, model, apiKey, tags, amount)
     WHERE type <> 'charge'`,
];

// Usage of API keys and tags by day, and of everything by hour (usage-parts.ts), written in one transaction with the lines
// that it is made of. Bills of a branch walk the rows of one kind and period. All lines are projected again, because those
// that are there are in no row yet.
const USAGE_PARTS: Migration = [
  `CREATE TABLE usageParts (
     period TEXT NOT NULL, kind INTEGER NOT NULL, actor TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
     label TEXT, requests INTEGER NOT NULL, prompt INTEGER NOT NULL, completion INTEGER NOT NULL,
     cached INTEGER NOT NULL, cacheWrite INTEGER NOT NULL, reasoning INTEGER NOT NULL, cost INTEGER NOT NULL,
     PRIMARY KEY (period, kind, actor, name, value)
   ) STRICT, WITHOUT ROWID`,
  "DELETE FROM lines",
  "UPDATE meta SET value = 0 WHERE key = 'lines'",
];

// Sums of the newest two days by provider key (key-costs.ts). They are made with the lines, all of which are projected again
// since the step before.
const KEY_COSTS: Migration = [
  `CREATE TABLE keyCosts (
     day TEXT NOT NULL, providerKey INTEGER NOT NULL, cost INTEGER NOT NULL, PRIMARY KEY (day, providerKey)
   ) STRICT, WITHOUT ROWID`,
];

// What happened to the keys of Levels, as documents of the Levels.
const LEVEL_EVENTS: Migration = [
  `CREATE TABLE levelEvents (
     key TEXT NOT NULL PRIMARY KEY, seq INTEGER NOT NULL, owner INTEGER, at INTEGER, body TEXT NOT NULL
   ) STRICT`,
  "CREATE INDEX levelEvents_owner_at ON levelEvents (owner, at, key)",
];

// The sums of credit of each account up to a seq (money-fold.ts), made of the same commits as the lines. All
// commits of an older database are read again, which stores its lines as they are.
const MONEY: Migration = [
  `CREATE TABLE money (actor TEXT NOT NULL PRIMARY KEY, seq INTEGER NOT NULL, sums TEXT NOT NULL)
   STRICT, WITHOUT ROWID`,
  "UPDATE meta SET value = 0 WHERE key = 'lines'",
];

// Accounts that need somebody (`/x-attention`): an index for each reason, in the order of its list. It also has
// what else these lists ask for, so that a count reads nothing else. What an older document does not have is
// added to it as the account would write it.
const ATTENTION: Migration = [
  ...[
    "status INTEGER",
    "suspended INTEGER",
    "balance INTEGER",
    "nearMonth TEXT",
    "nearDay TEXT",
    "activeDay TEXT",
  ].map((column) => `ALTER TABLE accounts ADD COLUMN ${column}`),
  `UPDATE accounts SET status = body->>'status', suspended = body->>'suspended', balance = body->>'balance',
     activeDay = ifnull((SELECT max(day) FROM usage WHERE account = accounts.id),
       strftime('%Y-%m-%d', ifnull(body->>'createdAt', 0) / 1000, 'unixepoch'))`,
  "UPDATE accounts SET body = json_set(body, '$.activeDay', activeDay)",
  ...["status", "suspended", "nearMonth", "nearDay"].map(
    (field) => `CREATE INDEX accounts_${field} ON accounts (${field}, id, key, dna, closed)`,
  ),
  ...["balance", "activeDay"].map(
    (field) => `CREATE INDEX accounts_${field} ON accounts (${field}, key, dna, closed, id)`,
  ),
  "DROP INDEX accounts_dueAt",
  "CREATE INDEX accounts_dueAt ON accounts (dueAt, key, dna, closed, id) WHERE dueAt IS NOT NULL",
];

// The figures by which lists of accounts are ordered (account-ranks.ts), in small rows of their own: they change with every charge,
// and an index over them would more than double what saving an account costs, where a list of 100,000 rows of this size is
// ordered in some ten milliseconds. What a month has cost is in usage documents until an account is saved again.
const ACCOUNT_FIGURES: Migration = [
  `CREATE TABLE accountFigures (
     account INTEGER PRIMARY KEY, balance INTEGER NOT NULL, month TEXT NOT NULL, monthCost INTEGER NOT NULL
   ) STRICT`,
  `INSERT INTO accountFigures
     SELECT id, ifnull(body->>'balance', 0), ifnull(newest, ''), ifnull(min(${Number.MAX_SAFE_INTEGER},
       (SELECT sum(cost) FROM usageSums WHERE account = id AND day >= newest)), 0)
     FROM (SELECT id, body, (SELECT substr(max(day), 1, 7) FROM usageSums WHERE account = id) AS newest FROM accounts)
     WHERE id IS NOT NULL`,
];

// When credit expires next, apart from `dueAt`, which is the end of a secret where that comes first. The index of `dueAt` serves the
// sweep alone from here on, so it has no more than the sweep asks for.
const CREDIT_EXPIRY: Migration = [
  "ALTER TABLE accounts ADD COLUMN creditExpiresAt INTEGER",
  `UPDATE accounts SET creditExpiresAt = body->>'$.entries[0].expiresAt',
     body = json_set(body, '$.creditExpiresAt', body->>'$.entries[0].expiresAt')`,
  `CREATE INDEX accounts_creditExpiresAt ON accounts (creditExpiresAt, key, dna, closed, id)
     WHERE creditExpiresAt IS NOT NULL`,
  "DROP INDEX accounts_dueAt",
  "CREATE INDEX accounts_dueAt ON accounts (dueAt, key) WHERE dueAt IS NOT NULL",
];

// The commits of a transaction in one row (ledger-rows.ts), found by an index that is written behind them (index-projection.ts):
// a row of its own, with an entry of an index at once, had each commit dirty a page for its actor. A commit of an older
// database is in a row of its own with the same number, so what has been projected stays so. `commitIndex` in `meta` is the
// last row that is indexed, with its dedup ids in `marks`.
const LEDGER: Migration = [
  `CREATE TABLE ledger (
     row INTEGER PRIMARY KEY, at INTEGER NOT NULL, v INTEGER NOT NULL, heads TEXT NOT NULL, bodies TEXT NOT NULL
   ) STRICT`,
  `INSERT INTO ledger SELECT row, at, v,
     json_array(json_array(actor, seq, shard, epoch, "by", at, linesTo, lines, json(marks))),
     '[' || done || ',' || events || ']'
   FROM commits ORDER BY row`,
  "CREATE INDEX ledgerAt ON ledger (at)",
  `CREATE TABLE commitIndex (
     actor TEXT NOT NULL, seq INTEGER NOT NULL, row INTEGER NOT NULL, nth INTEGER NOT NULL, linesTo INTEGER NOT NULL,
     PRIMARY KEY (actor, seq)
   ) STRICT, WITHOUT ROWID`,
  "INSERT INTO commitIndex SELECT actor, seq, row, 0, linesTo FROM commits ORDER BY actor, seq",
  "INSERT INTO meta SELECT 'commitIndex', ifnull(max(row), 0) FROM commits",
  "DROP TABLE commits",
];

/** Version n of the schema consists of the first n steps. */
export const MIGRATIONS: readonly Migration[] = [
  [...JOURNAL, ...SMALL_ROWS, ...DOCUMENTS],
  ANSWERS,
  [...ACCOUNT_LISTS, ...LOGS, ...NEWS, ...OUTBOX, ...USAGE_SUMS],
  CONFIGS,
  OBJECTS,
  LINES,
  OTHER_LINES,
  USAGE_PARTS,
  [...KEY_COSTS, ...LEVEL_EVENTS],
  MONEY,
  ATTENTION,
  ACCOUNT_FIGURES,
  CREDIT_EXPIRY,
  LEDGER,
];
