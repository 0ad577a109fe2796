// Bodies that a creation takes, for tests that need something created or refused: all that is required, and nothing beside.

import { fresh } from "../e2e/harness.ts";

/** The body of POST /x-users: a name that nobody has, the least credit; `more` adds to it or replaces. */
export const userBody = (more: object = {}) => ({
  ...{ Name: `user-${fresh()}`, Email: "a@b.example", CreditGranted: 2 },
  ...more,
});

/** The body of POST /x-keys: a key of Level 1 at this provider, with a secret of its own; `more` adds to it or replaces. */
export const keyBody = (Provider: string, more: object = {}) => ({
  ...{ Level: 1, Provider, SecretKey: `sk-of-a-provider-${fresh()}-0123456789` },
  ...more,
});
