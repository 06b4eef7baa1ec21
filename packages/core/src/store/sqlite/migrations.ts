import type { SqliteDatabase } from "./database.ts";
import { requestTables } from "./request-tables.ts";
import { searchTables } from "./search-tables.ts";

/** Tables for access and the audit log: tokens, logins, records of actions. */
const accessTables = `
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

/*
 * Records are stored as JSON, which keeps characters that SQLite's text would lose. Columns for
 * searching are derived from the record.
 */
const tables = `
  CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    record TEXT NOT NULL,
    agent TEXT NOT NULL AS (record ->> '$.agent'),
    status TEXT NOT NULL AS (record ->> '$.status'),
    outcome_code TEXT AS (record ->> '$.outcome.code'),
    idempotency_key TEXT AS (record ->> '$.idempotency_key'),
    created_at TEXT NOT NULL AS (record ->> '$.created_at'),
    schedule TEXT AS (record ->> '$.schedule'),
    priority INTEGER AS (record ->> '$.priority'),
    due_at TEXT AS (record ->> '$.due_at'),
    finished_at TEXT AS (record ->> '$.finished_at'),
    chain TEXT AS (record ->> '$.chain.id'),
    waits_for TEXT AS (record ->> '$.waits_for'),
    session_id TEXT AS (record ->> '$.session_id'),
    cost_usd REAL AS (record ->> '$.cost_usd'),
    reserved_usd REAL AS (record ->> '$.reserved_usd')
  ) STRICT;
  CREATE UNIQUE INDEX jobs_key ON jobs (idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX jobs_time ON jobs (created_at);
  CREATE INDEX jobs_agent ON jobs (agent, created_at);
  CREATE INDEX jobs_status ON jobs (status, created_at);
  CREATE INDEX jobs_outcome ON jobs (outcome_code, created_at);
  CREATE INDEX jobs_agent_status ON jobs (agent, status, created_at);
  CREATE INDEX jobs_agent_outcome ON jobs (agent, outcome_code, created_at);
  CREATE INDEX jobs_ended ON jobs (agent, finished_at, id) WHERE finished_at IS NOT NULL;
  CREATE INDEX jobs_owner ON jobs (id, agent);
  CREATE INDEX jobs_schedule ON jobs (agent, schedule, finished_at) WHERE schedule IS NOT NULL;
  CREATE INDEX jobs_ran ON jobs (agent, finished_at)
    WHERE finished_at IS NOT NULL AND status <> 'skipped';
  CREATE INDEX jobs_counted ON jobs (created_at, agent) WHERE status <> 'skipped';
  CREATE INDEX jobs_chain ON jobs (chain, seq);
  CREATE INDEX jobs_live
    ON jobs (agent, schedule, created_at, id, status, priority, due_at, waits_for)
    WHERE status IN ('pending', 'running', 'waiting');
  CREATE INDEX jobs_session ON jobs (session_id, created_at) WHERE session_id IS NOT NULL;

  CREATE TABLE attempts (
    job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    record TEXT NOT NULL,
    finished_at TEXT AS (record ->> '$.finished_at'),
    cost_usd REAL AS (record ->> '$.cost_usd'),
    tokens INTEGER AS (
      coalesce(record ->> '$.usage.input_tokens', 0) +
      coalesce(record ->> '$.usage.output_tokens', 0) +
      coalesce(record ->> '$.usage.cache_creation_input_tokens', 0) +
      coalesce(record ->> '$.usage.cache_read_input_tokens', 0)
    ),
    PRIMARY KEY (job_id, number)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX attempts_spent ON attempts (finished_at, job_id, cost_usd, tokens)
    WHERE finished_at IS NOT NULL;

  CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    record TEXT NOT NULL,
    agent TEXT NOT NULL AS (record ->> '$.agent'),
    session_home TEXT NOT NULL AS (record ->> '$.session_home'),
    last_used_at TEXT NOT NULL AS (record ->> '$.last_used_at'),
    schedule TEXT AS (record ->> '$.schedule'),
    in_chat INTEGER AS (record ->> '$.in_chat')
  ) STRICT;
  CREATE INDEX sessions_agent ON sessions (agent, session_home, last_used_at);

  CREATE TABLE session_leases (
    session_id TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until TEXT NOT NULL
  ) STRICT;

  CREATE TABLE approvals (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    record TEXT NOT NULL,
    answer TEXT AS (record ->> '$.answer'),
    input_hash TEXT NOT NULL AS (record ->> '$.input_hash')
  ) STRICT;
  CREATE INDEX approvals_request ON approvals (job_id, input_hash);
  CREATE INDEX approvals_open ON approvals (seq) WHERE answer IS NULL;

  CREATE TABLE pauses (
    subject TEXT PRIMARY KEY,
    record TEXT NOT NULL
  ) STRICT;

  CREATE TABLE schedule_switches (
    agent TEXT NOT NULL,
    schedule TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    PRIMARY KEY (agent, schedule)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE deliveries (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    record TEXT NOT NULL,
    body TEXT NOT NULL,
    dedup_key TEXT NOT NULL AS (record ->> '$.dedup_key'),
    agent TEXT NOT NULL AS (record ->> '$.agent'),
    received_at TEXT NOT NULL AS (record ->> '$.received_at')
  ) STRICT;
  CREATE UNIQUE INDEX deliveries_key ON deliveries (dedup_key);
  CREATE INDEX deliveries_agent ON deliveries (agent, seq);
  CREATE INDEX deliveries_time ON deliveries (received_at);

  CREATE TABLE schedules (
    agent TEXT NOT NULL,
    schedule TEXT NOT NULL,
    record TEXT NOT NULL,
    settled_through TEXT NOT NULL AS (record ->> '$.settled_through'),
    PRIMARY KEY (agent, schedule)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE due_times (
    agent TEXT NOT NULL,
    schedule TEXT NOT NULL,
    due_at TEXT NOT NULL,
    record TEXT NOT NULL,
    result TEXT NOT NULL AS (record ->> '$.result'),
    last_due_at TEXT NOT NULL AS (record ->> '$.last_due_at'),
    settled_at TEXT NOT NULL AS (record ->> '$.settled_at'),
    PRIMARY KEY (agent, schedule, due_at)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX due_times_time ON due_times (due_at);
  CREATE INDEX due_times_agent ON due_times (agent, due_at);
  CREATE INDEX due_times_last ON due_times (agent, schedule, last_due_at);
  CREATE INDEX due_times_settled ON due_times (settled_at);

  CREATE TABLE budget_raises (
    day TEXT NOT NULL,
    agent TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (day, agent)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE job_end_outbox (
    seq INTEGER PRIMARY KEY,
    job_id TEXT NOT NULL UNIQUE REFERENCES jobs (id) ON DELETE CASCADE
  ) STRICT;

  CREATE TABLE hook_runs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    record TEXT NOT NULL,
    status TEXT NOT NULL AS (record ->> '$.status')
  ) STRICT;
  CREATE INDEX hook_runs_job ON hook_runs (job_id);
  CREATE INDEX hook_runs_status ON hook_runs (status, seq);

  CREATE TABLE work_claims (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    record TEXT NOT NULL,
    source TEXT NOT NULL AS (record ->> '$.source'),
    item TEXT NOT NULL AS (record ->> '$.item'),
    job_id TEXT NOT NULL AS (record ->> '$.job_id'),
    status TEXT NOT NULL AS (record ->> '$.status'),
    failed INTEGER NOT NULL AS (record ->> '$.failed')
  ) STRICT;
  CREATE UNIQUE INDEX work_claims_open ON work_claims (source, item)
    WHERE status IN ('claiming', 'claimed');
  CREATE INDEX work_claims_job ON work_claims (job_id);
  CREATE INDEX work_claims_failed ON work_claims (source, item) WHERE failed = 1;

  CREATE TABLE planned_runs (
    agent TEXT NOT NULL,
    schedule TEXT NOT NULL,
    record TEXT NOT NULL,
    key TEXT NOT NULL UNIQUE,
    PRIMARY KEY (agent, schedule)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE schedule_intervals (
    agent TEXT NOT NULL,
    schedule TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (agent, schedule)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE chat_links (
    agent TEXT NOT NULL,
    platform TEXT NOT NULL,
    received_until TEXT NOT NULL,
    PRIMARY KEY (agent, platform)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    record TEXT NOT NULL,
    key TEXT NOT NULL AS (record ->> '$.key'),
    last_used_at TEXT NOT NULL AS (record ->> '$.last_used_at')
  ) STRICT;
  CREATE UNIQUE INDEX conversations_key ON conversations (key);
  CREATE INDEX conversations_used ON conversations (last_used_at);

  CREATE TABLE chat_messages (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    record TEXT NOT NULL,
    agent TEXT NOT NULL AS (record ->> '$.agent'),
    platform TEXT NOT NULL AS (record ->> '$.platform'),
    message_id TEXT NOT NULL AS (record ->> '$.message_id'),
    conversation_id TEXT NOT NULL AS (record ->> '$.conversation_id'),
    status TEXT NOT NULL AS (record ->> '$.status'),
    sent_at TEXT NOT NULL AS (record ->> '$.sent_at'),
    job_id TEXT AS (record ->> '$.job_id')
  ) STRICT;
  CREATE UNIQUE INDEX chat_messages_name ON chat_messages (agent, platform, message_id);
  CREATE INDEX chat_messages_open ON chat_messages (sent_at)
    WHERE status IN ('waiting', 'working');
  CREATE INDEX chat_messages_conversation ON chat_messages (conversation_id);
  CREATE INDEX chat_messages_job ON chat_messages (job_id) WHERE job_id IS NOT NULL;
  CREATE INDEX chat_messages_time ON chat_messages (sent_at);

  CREATE TABLE chat_posts (
    nonce TEXT NOT NULL UNIQUE,
    message TEXT NOT NULL REFERENCES chat_messages (id) ON DELETE CASCADE,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX chat_posts_message ON chat_posts (message);

  CREATE TABLE day_costs (
    day TEXT NOT NULL,
    agent TEXT NOT NULL,
    schedule TEXT NOT NULL,
    model TEXT NOT NULL,
    runs INTEGER NOT NULL,
    usd REAL NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_read_input_tokens INTEGER NOT NULL,
    cache_creation_input_tokens INTEGER NOT NULL,
    PRIMARY KEY (day, agent, schedule, model)
  ) STRICT, WITHOUT ROWID;

  CREATE TRIGGER jobs_ended_later AFTER UPDATE OF record ON jobs
    WHEN OLD.record ->> '$.finished_at' IS NULL AND NEW.record ->> '$.finished_at' IS NOT NULL
    BEGIN INSERT INTO job_end_outbox (job_id) VALUES (NEW.id); END;
  CREATE TRIGGER jobs_ended_at_once AFTER INSERT ON jobs
    WHEN NEW.record ->> '$.finished_at' IS NOT NULL
    BEGIN INSERT INTO job_end_outbox (job_id) VALUES (NEW.id); END;
  CREATE TRIGGER work_claims_forgotten AFTER DELETE ON jobs
    BEGIN DELETE FROM work_claims WHERE job_id = OLD.id AND status NOT IN ('claiming', 'claimed');
    END;
  CREATE TRIGGER planned_runs_settled AFTER INSERT ON due_times
    BEGIN DELETE FROM planned_runs WHERE agent = NEW.agent AND schedule = NEW.schedule; END
`;

/** Step n upgrades a state from version n to n + 1. */
export const migrations: readonly string[] = [
  `${tables};${accessTables}`,
  searchTables,
  requestTables,
];

/** Runs each step in a separate transaction, so that a crash leaves one version or the next. */
export function migrate(database: SqliteDatabase, steps: readonly string[]): void {
  for (let version = database.schemaVersion; version < steps.length; version++) {
    database.transactionSync(() => {
      if (database.schemaVersion === version) applyStep(database, steps, version);
    });
  }
}

/** Runs all steps in a database that is known to be new. */
export function createSchema(database: SqliteDatabase, steps: readonly string[]): void {
  database.transactionSync(() => {
    for (const version of steps.keys()) applyStep(database, steps, version);
  });
}

function applyStep(database: SqliteDatabase, steps: readonly string[], version: number): void {
  database.exec(`${steps[version]}; PRAGMA user_version = ${version + 1}`);
}
