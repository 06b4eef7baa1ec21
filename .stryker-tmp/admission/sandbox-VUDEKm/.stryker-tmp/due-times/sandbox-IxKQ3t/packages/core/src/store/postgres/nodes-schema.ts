/**
 * Tables that only a shared store has: nodes, common settings, and logs and files of jobs for other
 * nodes. They reference `jobs`. All times come from the clock of the database.
 */
export const nodesSchema = `
  CREATE TABLE herdctl.nodes (
    id           text COLLATE "C" PRIMARY KEY,
    name         text COLLATE "C" NOT NULL,
    role         text COLLATE "C" NOT NULL,
    labels       text COLLATE "C" NOT NULL,
    capacity     integer NOT NULL,
    version      text COLLATE "C" NOT NULL,
    config_hash text COLLATE "C" NOT NULL,
    address      text COLLATE "C",
    epoch        integer NOT NULL,
    status       text COLLATE "C" NOT NULL,
    joined_at    timestamptz NOT NULL,
    heartbeat_at timestamptz NOT NULL,
    running      integer NOT NULL DEFAULT 0,
    clock_skew_ms      double precision
  );

  CREATE TABLE herdctl.settings (
    name  text COLLATE "C" PRIMARY KEY,
    value text COLLATE "C" NOT NULL
  );

  CREATE TABLE herdctl.outputs (
    job_id text COLLATE "C" NOT NULL REFERENCES herdctl.jobs (id) ON DELETE CASCADE,
    "from" bigint NOT NULL,
    text   text COLLATE "C" NOT NULL,
    -- Length in the log. Characters that PostgreSQL cannot store are longer here.
    bytes  integer NOT NULL,
    PRIMARY KEY (job_id, "from")
  );

  CREATE TABLE herdctl.kept_files (
    job_id  text COLLATE "C" NOT NULL REFERENCES herdctl.jobs (id) ON DELETE CASCADE,
    name    text COLLATE "C" NOT NULL,
    -- Base64, because statements have no binary values.
    content text COLLATE "C" NOT NULL,
    PRIMARY KEY (job_id, name)
  );
`;

/** The peers by which a disconnected node decides whether it may continue. */
export const knownPeersSchema = `
  ALTER TABLE herdctl.nodes ADD COLUMN known_peers text COLLATE "C" NOT NULL DEFAULT '[]';
`;

/** The same tables as in `store/sqlite/access-tables.ts`. */
export const accessSchema = `
  CREATE TABLE herdctl.access_tokens (
    name         text COLLATE "C" PRIMARY KEY,
    record       text COLLATE "C" NOT NULL,
    hash         text COLLATE "C" NOT NULL UNIQUE,
    last_used_at text COLLATE "C"
  );

  CREATE TABLE herdctl.logins (
    id           text COLLATE "C" PRIMARY KEY,
    record       text COLLATE "C" NOT NULL,
    signed_in_at text COLLATE "C" NOT NULL
      GENERATED ALWAYS AS (record::jsonb #>> '{signed_in_at}') STORED,
    expires_at   text COLLATE "C" NOT NULL
      GENERATED ALWAYS AS (record::jsonb #>> '{expires_at}') STORED
  );
  CREATE INDEX logins_expiry ON herdctl.logins (expires_at);

  CREATE TABLE herdctl.audit_log (
    number   bigint PRIMARY KEY,
    record   text COLLATE "C" NOT NULL,
    hash     text COLLATE "C" NOT NULL,
    time     text COLLATE "C" NOT NULL GENERATED ALWAYS AS (record::jsonb #>> '{time}') STORED,
    identity text COLLATE "C" NOT NULL
      GENERATED ALWAYS AS (record::jsonb #>> '{identity}') STORED,
    action   text COLLATE "C" NOT NULL GENERATED ALWAYS AS (record::jsonb #>> '{action}') STORED
  );
  CREATE INDEX audit_log_time ON herdctl.audit_log (time);
  CREATE INDEX audit_log_identity ON herdctl.audit_log (identity, number);
  CREATE INDEX audit_log_action ON herdctl.audit_log (action, number);
  CREATE FUNCTION herdctl.refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$;
  CREATE TRIGGER audit_log_change BEFORE UPDATE OR DELETE ON herdctl.audit_log
    FOR EACH ROW EXECUTE FUNCTION herdctl.refuse_audit_change();
  CREATE TRIGGER audit_log_truncate BEFORE TRUNCATE ON herdctl.audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION herdctl.refuse_audit_change();

  CREATE TABLE herdctl.audit_head (
    id    integer PRIMARY KEY CHECK (id = 1),
    count bigint NOT NULL,
    hash  text COLLATE "C" NOT NULL
  );
`;
