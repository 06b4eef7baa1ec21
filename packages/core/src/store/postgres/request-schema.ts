/** The same tables as in `store/sqlite/request-tables.ts`. */
export const requestSchema = `
  CREATE TABLE herdctl.job_notices (
    seq    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id text COLLATE "C" NOT NULL REFERENCES herdctl.jobs (id) ON DELETE CASCADE,
    record text COLLATE "C" NOT NULL
  );

  CREATE TABLE herdctl.permission_rules (
    seq    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id     text COLLATE "C" NOT NULL UNIQUE,
    job_id text COLLATE "C" REFERENCES herdctl.jobs (id) ON DELETE CASCADE,
    record text COLLATE "C" NOT NULL,
    agent  text COLLATE "C" NOT NULL GENERATED ALWAYS AS (record::jsonb #>> '{agent}') STORED
  );
  CREATE INDEX permission_rules_agent ON herdctl.permission_rules (agent, job_id);

  CREATE TABLE herdctl.push_subscriptions (
    seq      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id       text COLLATE "C" NOT NULL UNIQUE,
    record   text COLLATE "C" NOT NULL,
    endpoint text COLLATE "C" NOT NULL
      GENERATED ALWAYS AS (record::jsonb #>> '{endpoint}') STORED
  );
  CREATE UNIQUE INDEX push_subscriptions_endpoint ON herdctl.push_subscriptions (endpoint);

  CREATE TABLE herdctl.push_keys (
    id     integer PRIMARY KEY CHECK (id = 1),
    record text COLLATE "C" NOT NULL
  );
`;
