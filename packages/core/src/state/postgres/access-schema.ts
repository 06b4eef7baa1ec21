/** The same tables as in `state/sqlite/access-tables.ts`. */
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
