/** Tables for access and the audit log: tokens, logins, records of actions. */
export const accessTables = `
  CREATE TABLE access_tokens (
    name TEXT PRIMARY KEY,
    record TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    last_used_at TEXT
  ) STRICT;

  CREATE TABLE logins (
    id TEXT PRIMARY KEY,
    record TEXT NOT NULL,
    signed_in_at TEXT NOT NULL AS (record ->> '$.signed_in_at'),
    expires_at TEXT NOT NULL AS (record ->> '$.expires_at')
  ) STRICT;
  CREATE INDEX logins_expiry ON logins (expires_at);

  CREATE TABLE audit_log (
    number INTEGER PRIMARY KEY,
    record TEXT NOT NULL,
    hash TEXT NOT NULL,
    time TEXT NOT NULL AS (record ->> '$.time'),
    identity TEXT NOT NULL AS (record ->> '$.identity'),
    action TEXT NOT NULL AS (record ->> '$.action')
  ) STRICT;
  CREATE INDEX audit_log_time ON audit_log (time);
  CREATE INDEX audit_log_identity ON audit_log (identity, number);
  CREATE INDEX audit_log_action ON audit_log (action, number);
  CREATE TRIGGER audit_log_update BEFORE UPDATE ON audit_log
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
  CREATE TRIGGER audit_log_delete BEFORE DELETE ON audit_log
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

  CREATE TABLE audit_head (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    count INTEGER NOT NULL,
    hash TEXT NOT NULL
  ) STRICT
`;
