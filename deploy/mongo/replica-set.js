// Makes three servers one replica set, and its two users: run by mongosh beside mongo-1 at every start, on its loopback, where
// MongoDB lets the first user be made. What is there already stays as it is.

const { readFileSync } = require("node:fs");

const secret = (name) => readFileSync(`/run/secrets/${name}`, "utf8").trim();
const MEMBERS = [1, 2, 3].map((n) => ({ _id: n - 1, host: `mongo-${n}:27017`, priority: n === 1 ? 2 : 1 }));
/** Seconds that an election may take. */
const WAIT_SECONDS = 120;

const admin = connect("mongodb://127.0.0.1:27017/admin?directConnection=true");

function waitFor(what, holds) {
  for (let waited = 0; !holds(); waited++) {
    if (waited === WAIT_SECONDS) throw new Error(`not in time: ${what}`);
    sleep(1000);
  }
}

/** Signs in as the administrator. Returns false when there is no such user yet. */
function signIn() {
  try {
    return admin.auth("admin", secret("mongo-admin-password")).ok === 1;
  } catch (error) {
    if (error.codeName === "AuthenticationFailed") return false;
    throw error;
  }
}

if (admin.hello().setName === undefined) {
  admin.runCommand({ replSetInitiate: { _id: "rs0", members: MEMBERS } });
}
waitFor("a primary", () => admin.hello().primary !== undefined);
if (!signIn()) {
  // Loopback and a set without any user: that is where the first one may be made, and only at the primary.
  waitFor("mongo-1 as the primary", () => admin.hello().isWritablePrimary);
  admin.createUser({ user: "admin", pwd: secret("mongo-admin-password"), roles: ["root"] });
  if (!signIn()) throw new Error("the administrator that was made cannot sign in");
}
if (admin.getUser("arborgate") === null) {
  admin.createUser({
    user: "arborgate",
    pwd: secret("mongo-arborgate-password"),
    roles: [{ role: "readWrite", db: "arborgate" }],
  });
}
print("replica set rs0: ready");
