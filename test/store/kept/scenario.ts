// What happens in a store before it becomes a fixture: its accounts, their configuration, their requests and payments. It is
// done over HTTP alone, in three parts, since the service is killed and the clock is moved between them.

import type { Credential } from "./facts.ts";
import { CLIENT_EMAIL, CLOUD_A_SECRET, DEPLOYMENT, type Providers } from "./providers.ts";
import type { Answer, Json, Running } from "./service.ts";

export const SECRETS = {
  first: "sk-provider-kept-first-0123456789",
  second: "sk-provider-kept-second-012345678",
  talking: "sk-provider-kept-talking-01234567",
  sleepy: "sk-provider-kept-sleepy-012345678",
  idle: "sk-provider-kept-idle-01234567890",
  other: "sk-provider-kept-other-0123456789",
};

export interface Made {
  readonly accounts: Record<string, Credential>;
  readonly deleted: number[];
  readonly deadKeys: string[];
  /** Ids of provider keys, by name. */
  readonly keys: Record<string, number>;
  response: string;
  gateway: Json;
  admin: Json;
}

export const nothingMade = (rootKey: string): Made => ({
  accounts: { root: { id: 1, key: rootKey } },
  ...{ deleted: [], deadKeys: [], keys: {}, response: "", gateway: null, admin: null },
});

export interface Scenario {
  readonly service: Running;
  readonly providers: Providers;
  readonly made: Made;
  /** The private key of the service account of cloud_b. */
  readonly pem: string;
  /** Business time, wall ms. */
  readonly now: () => number;
}

export const chatBody = (said: string, more: object = {}) => ({
  ...{ model: "kept-chat", max_tokens: 60 },
  messages: [{ role: "user", content: said }],
  ...more,
});

async function ask(
  { service, made }: Scenario,
  who: string,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await service.call(made.accounts[who]!.key, "POST", path, { body, headers });
  if (answer.status !== 200) throw new Error(`${who} ${path}: ${answer.status} ${answer.text}`);
  return answer;
}

const chat = (
  scenario: Scenario,
  who: string,
  said: string,
  more: object = {},
  headers: Record<string, string> = {},
) => ask(scenario, who, "/v1/chat/completions", chatBody(said, more), headers);

const messages = (scenario: Scenario, who: string, said: string, more: object = {}) => {
  const headers = { "anthropic-version": "2023-06-01" };
  return ask(scenario, who, "/v1/messages", chatBody(said, { model: "kept-talk", ...more }), headers);
};

async function born(scenario: Scenario, parent: string, name: string, fields: object): Promise<void> {
  const { accounts } = scenario.made;
  const body = { Name: name, Email: `${name}@kept.example`, ...fields };
  const { User } = await scenario.service.must(accounts[parent]!.key, "POST", "/x-users", body);
  accounts[name] = { id: User.ID, key: User.SecretKey };
}

const set = ({ service, made }: Scenario, by: string, name: string, fields: object): Promise<Json> =>
  service.must(made.accounts[by]!.key, "PUT", `/x-users/${name}`, fields);

async function addKey(
  { service, made }: Scenario,
  owner: string,
  Name: string,
  fields: object,
): Promise<void> {
  const { key } = await service.must(made.accounts[owner]!.key, "POST", "/x-keys", { Name, ...fields });
  made.keys[Name] = key.ID;
}

/** The first day: everybody is born, everything is configured, and much is asked. */
export async function firstDay(scenario: Scenario): Promise<void> {
  await born(scenario, "root", "acme", { CreditGranted: 500 });
  await born(scenario, "root", "bolt", { CreditGranted: 100.5, Days: 30, Alias: "Bolt & Söhne" });
  await configure(scenario);
  await populate(scenario);
  await publish(scenario);
  await asked(scenario);
  await departures(scenario);
}

async function configure(scenario: Scenario): Promise<void> {
  const { service, made, providers, pem } = scenario;
  const { plain, cloudA, cloudB } = providers;
  const standard = (Level: number, SecretKey: string, Config: object = {}) => ({
    ...{ Level, SecretKey, Provider: plain.url },
    Config: { api_style: "chat", ...Config },
  });
  await addKey(scenario, "acme", "first", standard(1, SECRETS.first));
  await addKey(scenario, "acme", "second", standard(1, SECRETS.second));
  await addKey(scenario, "acme", "talking", standard(2, SECRETS.talking, { api_style: "messages" }));
  const azure = { provider_type: "cloud_a", model_mapping: { [DEPLOYMENT.model]: DEPLOYMENT.name } };
  await addKey(scenario, "acme", "cloudy", {
    Level: 3,
    Provider: cloudA.url,
    SecretKey: CLOUD_A_SECRET,
    Config: azure,
  });
  const robot = {
    provider_type: "cloud_b",
    base_url: cloudB.base,
    client_email: CLIENT_EMAIL,
    private_key: pem,
  };
  const robotKey = {
    Level: 4,
    Provider: cloudB.base,
    SecretKey: "unused-secret-of-a-robot-0123",
    Config: robot,
  };
  await addKey(scenario, "acme", "robotic", robotKey);
  await addKey(scenario, "acme", "sleepy", standard(5, SECRETS.sleepy));
  await addKey(scenario, "acme", "idle", standard(1, SECRETS.idle));
  await addKey(scenario, "bolt", "other", standard(1, SECRETS.other));
  await service.must(made.accounts.acme!.key, "PUT", `/x-keys/${made.keys.idle}`, { Status: false });

  const price = { InputText: 1, OutputText: 2, CachedText: 0.5 };
  const PRICING = {
    ChatPricing: {
      "*": price,
      "kept-chat": { ...price, Rates: 1.25 },
      "kept-dear": { InputText: 10, OutputText: 1_000 },
    },
  };
  const config = {
    PRICING,
    LEVEL_MAPPER: "kept-talk=2,kept-a=3,gemini-kept=4,kept-sleepy=5,*=1",
    MODEL_MAPPER: "alias-*=kept-chat",
    MODEL_FAILOVER: "kept-sleepy=kept-chat|kept-talk",
    SWITCH_OVER: "5=1",
    MODEL_LIMITS: { "kept-chat": { rpm: 5_000, tpd: 50_000_000 } },
    USER_MIN_BALANCE: 0.5,
    USER_API_BALANCE: 0.001,
    SERVICE_MAIL: "billing@acme.example",
    EMAIL_SMTP: "127.0.0.1",
    EMAIL_PORT: 9,
    EMAIL_AUTH: "mailer",
    EMAIL_PASS: "a mail password of the fixture",
  };
  await service.must(made.accounts.acme!.key, "PUT", "/x-config", config);
  await service.must(made.accounts.bolt!.key, "PUT", "/x-config", { PRICING, LEVEL_MAPPER: "*=1" });
  // A second version, so that there is a history to go back in.
  await service.must(made.accounts.bolt!.key, "PUT", "/x-config", { USER_MIN_BALANCE: 1 });
  await service.must(made.accounts.root!.key, "POST", "/x-conf", { ModelMapper: "root-alias=kept-chat" });
  const tree = { ModelMapper: "tree-alias=kept-chat", ModelLimits: { "kept-dear": { rpm: 500 } } };
  await service.must(made.accounts.acme!.key, "POST", "/x-conf", tree);
}

async function populate(scenario: Scenario): Promise<void> {
  const { made, service } = scenario;
  const lists = {
    AllowIPs: "127.0.0.1, ::1, 10.0.0.0/8",
    AllowModels: "kept-*, alias-*, tree-*, mine, root-alias, gemini-*",
  };
  const limits = { RPM: 600, RPD: 50_000, TPM: 9_000_000, HardLimit: 40, SoftLimit: 0.000001 };
  await born(scenario, "acme", "team", { CreditGranted: 50, Rates: 1.5, ...lists, ...limits });
  await set(scenario, "acme", "team", { DailyLimit: 20 });
  const some = { ModelLimits: { "kept-chat": { rpm: 90, tpm: 800_000 } }, Resources: "/v1/*" };
  await born(scenario, "team", "squad", { CreditGranted: 20.123456789, Days: 90, ...some });
  await born(scenario, "squad", "worker", { CreditGranted: 5, Rates: 2 });
  await born(scenario, "acme", "lender", { CreditGranted: 5, Days: 1 });
  await born(scenario, "acme", "auto", { CreditGranted: 2, AutoQuota: 3 });
  await born(scenario, "acme", "turner", { CreditGranted: 3 });
  await born(scenario, "acme", "mover", { CreditGranted: 4 });
  await born(scenario, "acme", "asker", { CreditGranted: 2 });
  await born(scenario, "acme", "paused", { CreditGranted: 2 });
  await born(scenario, "bolt", "client", { CreditGranted: 10 });

  await set(scenario, "acme", "team", { CreditGranted: 10, Days: 60 });
  await set(scenario, "acme", "team", { CreditGranted: -2.5 });
  await set(scenario, "acme", "team", {
    UserLimit: 9,
    AllowLevels: "1 2 3 4 5",
    Tier: 1,
    Factor: 1.1,
    Gear: 2,
  });
  await set(scenario, "acme", "squad", { LevelMapper: "kept-special=2", Level: 1, Role: 3 });
  await set(scenario, "team", "worker", { UserLimit: 0, AllowModels: "kept-*, alias-*, tree-*" });
  await set(scenario, "acme", "paused", { Suspended: true });
  await set(scenario, "root", "client", { XCredit: 1.5, CreditUsed: 0.25 });
  await set(scenario, "root", "mover", { ParentID: made.accounts.bolt!.id });
  await set(scenario, "team", "team", {
    ModelMapper: "mine=kept-chat",
    QRCode: "https://kept.example/qr.png",
  });
  // Refused, and logged as that.
  await service.call(made.accounts.team!.key, "PUT", "/x-users/squad", { body: { Rates: 0.1 } });

  for (const [who, path, deed] of [
    ["turner", "/x-self", "SELF"],
    ["mover", "/x-root", "ROOT"],
  ] as const) {
    const { id, key } = made.accounts[who]!;
    const confirm = `${new Date(scenario.now()).toISOString().slice(0, 10)}-ROTATE-${deed}`;
    const body = deed === "SELF" ? { confirm } : { confirm, name: who };
    const caller = deed === "SELF" ? key : made.accounts.root!.key;
    const { rotate } = await service.must(caller, "POST", path, body);
    made.deadKeys.push(key);
    made.accounts[who] = { id, key: rotate.key };
  }
}

async function publish({ service, made }: Scenario): Promise<void> {
  const { root, acme, team } = made.accounts;
  const item = (title: string) => ({ title, content: `${title}: what is to be known of it.`, days: 300 });
  await service.must(root!.key, "POST", "/x-news", item("Everybody"));
  await service.must(acme!.key, "POST", "/x-news", item("The tree of acme"));
  await service.must(acme!.key, "POST", "/x-news/team", item("One account"));
  await service.must(team!.key, "POST", `/x-news/.1.${acme!.id}.${team!.id}.`, item("Those below team"));
}

async function asked(scenario: Scenario): Promise<void> {
  const { made } = scenario;
  const stream = { stream: true };
  const first = { "x-request-id": "ticket-4711" };
  await chat(scenario, "team", "Say it. [[output=12 prompt=300]]", {}, first);
  await chat(scenario, "team", "Cached. [[output=5 prompt=2000 cached=1200]]");
  await chat(scenario, "team", "Streamed. [[output=14]]", stream, { "x-request-id": "ticket-4712" });
  await chat(scenario, "squad", "Think. [[output=40 reasoning=30]]", stream);
  await chat(scenario, "squad", "Uncounted. [[output=9 usage=none]]");
  await chat(scenario, "squad", "Cut short. [[output=30 fault=cut after=6]]", stream);
  await chat(scenario, "worker", "By an alias. [[output=4]]", { model: "alias-x" });
  await messages(scenario, "worker", "Whole. [[output=7]]");
  await messages(scenario, "worker", "Streamed. [[output=8 cached=20 prompt=90]]", stream);
  await chat(scenario, "worker", "Translated. [[output=6]]", { model: "kept-talk" });
  await messages(scenario, "worker", "Translated too. [[output=6]]", { model: "kept-chat" });
  await chat(scenario, "team", "Cloud a. [[output=3]]", { model: DEPLOYMENT.model });
  await chat(scenario, "team", "Cloud b. [[output=3]]", { model: "gemini-kept" });
  await ask(scenario, "team", "/v1/embeddings", {
    model: "kept-vectors",
    input: ["two texts", "one vector each"],
  });
  await chat(scenario, "client", "Another tree. [[output=21]]");
  await chat(scenario, "acme", "The Owner asks. [[output=3]]");
  await chat(scenario, "auto", "Dear. [[output=1700]]", { model: "kept-dear", max_tokens: 1_750 });
  const response = await ask(scenario, "team", "/v1/responses", {
    model: "kept-chat",
    input: "Keep it. [[output=5]]",
  });
  made.response = response.body.id;
  await ask(scenario, "team", "/v1/responses", {
    model: "kept-chat",
    input: "On. [[output=2]]",
    previous_response_id: made.response,
  });
  await scenario.service.must(made.accounts.team!.key, "GET", "/dashboard/bill?days=60");
}

async function departures(scenario: Scenario): Promise<void> {
  const { service, made } = scenario;
  await born(scenario, "acme", "gone", { CreditGranted: 9 });
  await born(scenario, "gone", "gone-child", { CreditGranted: 4 });
  await born(scenario, "gone-child", "gone-grandchild", { CreditGranted: 2 });
  await chat(scenario, "gone-grandchild", "The last word. [[output=9]]");
  await born(scenario, "acme", "debtor", { CreditGranted: 2 });
  await set(scenario, "root", "debtor", { XCredit: 5 });
  await chat(scenario, "debtor", "Too much. [[output=3100]]", { model: "kept-dear", max_tokens: 3_200 });
  for (const name of ["gone", "debtor"]) {
    await service.must(made.accounts.acme!.key, "DELETE", `/x-users/${name}?recursive=true`);
  }
  for (const name of ["gone", "gone-child", "gone-grandchild", "debtor"]) {
    made.deleted.push(made.accounts[name]!.id);
    made.deadKeys.push(made.accounts[name]!.key);
    delete made.accounts[name];
  }
}

/** Three days later: credit has expired, and a key is put to sleep. */
export async function thirdDay(scenario: Scenario): Promise<void> {
  const { made, providers } = scenario;
  await set(scenario, "acme", "lender", { CreditGranted: 3, Days: 100 });
  await chat(scenario, "lender", "Late. [[output=5]]");
  await chat(scenario, "team", "Another day. [[output=6]]");
  providers.plain.behave(SECRETS.sleepy, "fault=401");
  await chat(scenario, "team", "Nobody is awake. [[output=4]]", { model: "kept-sleepy" });
  providers.plain.behave(SECRETS.sleepy, null);

  const headers = { "idempotency-key": "kept-gateway-1" };
  const body = chatBody("Once. [[output=11]]");
  const answer = await ask(scenario, "squad", "/v1/chat/completions", body, headers);
  made.gateway = { who: "squad", key: headers["idempotency-key"], body, text: answer.text };
  const user = { Name: "newest", Email: "newest@kept.example", CreditGranted: 2 };
  const again = { "idempotency-key": "kept-admin-1" };
  const created = await ask(scenario, "acme", "/x-users", user, again);
  made.admin = { who: "acme", key: again["idempotency-key"], body: user, text: created.text };
  made.accounts.newest = { id: created.body.User.ID, key: created.body.User.SecretKey };
  await born(scenario, "acme", "leaving", { CreditGranted: 6 });
  await born(scenario, "leaving", "leaving-child", { CreditGranted: 3 });
}

/** The last things before the end: requests whose account is saved no more, and a subtree that is being deleted. */
export async function lastRequests(scenario: Scenario): Promise<void> {
  const { service, made, providers } = scenario;
  await chat(scenario, "client", "Almost the end. [[output=2]]");
  await chat(
    scenario,
    "worker",
    "The end. [[output=2]]",
    { stream: true },
    { "x-request-id": "ticket-last" },
  );
  const before = providers.plain.inFlight();
  void chat(scenario, "leaving-child", "Never. [[output=20 fault=hang]]").catch(() => {});
  while (providers.plain.inFlight() === before) await Bun.sleep(5);
  const gone = ["leaving", "leaving-child"].map((name) => made.accounts[name]!);
  void service.call(made.accounts.acme!.key, "DELETE", "/x-users/leaving?recursive=true").catch(() => {});
  for (const { id, key } of gone) {
    made.deleted.push(id);
    made.deadKeys.push(key);
    while ((await service.call(key, "GET", "/dashboard/status")).status !== 401) await Bun.sleep(10);
  }
  delete made.accounts.leaving;
  delete made.accounts["leaving-child"];
}
