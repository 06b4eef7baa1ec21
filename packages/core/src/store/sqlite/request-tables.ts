/** Tables for requests to people: notifications, rules from their answers, subscribed browsers. */
export const requestTables = `
  CREATE TABLE job_notices (
    seq INTEGER PRIMARY KEY,
    job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    record TEXT NOT NULL
  ) STRICT;

  CREATE TABLE permission_rules (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    job_id TEXT REFERENCES jobs (id) ON DELETE CASCADE,
    record TEXT NOT NULL,
    agent TEXT NOT NULL AS (record ->> '$.agent')
  ) STRICT;
  CREATE INDEX permission_rules_agent ON permission_rules (agent, job_id);

  CREATE TABLE push_subscriptions (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    record TEXT NOT NULL,
    endpoint TEXT NOT NULL AS (record ->> '$.endpoint')
  ) STRICT;
  CREATE UNIQUE INDEX push_subscriptions_endpoint ON push_subscriptions (endpoint);

  CREATE TABLE push_keys (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    record TEXT NOT NULL
  ) STRICT
`;
