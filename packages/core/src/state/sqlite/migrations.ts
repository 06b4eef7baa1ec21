import { accessTables } from "./access-tables.ts";
import type { Database } from "./database.ts";

/**
 * Step n brings a state from version n to n + 1. Records are kept whole as JSON, which loses no
 * character that SQLite's text would; what is searched by stands beside it, derived.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    record TEXT NOT NULL,
    agent TEXT NOT NULL AS (record ->> '$.agent'),
    status TEXT NOT NULL AS (record ->> '$.status'),
    outcome_code TEXT AS (record ->> '$.outcome.code'),
    idempotency_key TEXT AS (record ->> '$.idempotency_key'),
    created_at TEXT NOT NULL AS (record ->> '$.created_at')
  ) STRICT;
  CREATE UNIQUE INDEX jobs_key ON jobs (idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX jobs_time ON jobs (created_at);
  CREATE INDEX jobs_agent ON jobs (agent, created_at);
  CREATE INDEX jobs_status ON jobs (status, created_at);
  CREATE INDEX jobs_outcome ON jobs (outcome_code, created_at);
  CREATE INDEX jobs_agent_status ON jobs (agent, status, created_at);
  CREATE INDEX jobs_agent_outcome ON jobs (agent, outcome_code, created_at);

  CREATE TABLE attempts (
    job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (job_id, number)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    record TEXT NOT NULL,
    agent TEXT NOT NULL AS (record ->> '$.agent'),
    place TEXT NOT NULL AS (record ->> '$.place'),
    last_used_at TEXT NOT NULL AS (record ->> '$.last_used_at')
  ) STRICT;
  CREATE INDEX sessions_agent ON sessions (agent, place, last_used_at);

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
  CREATE INDEX approvals_open ON approvals (seq) WHERE answer IS NULL
  `,
  `
  UPDATE jobs SET record = json_set(record, '$.due_at', NULL, '$.crashes', 0);
  ALTER TABLE jobs ADD COLUMN schedule TEXT AS (record ->> '$.schedule');
  ALTER TABLE jobs ADD COLUMN priority INTEGER AS (record ->> '$.priority');
  ALTER TABLE jobs ADD COLUMN due_at TEXT AS (record ->> '$.due_at');
  ALTER TABLE jobs ADD COLUMN finished_at TEXT AS (record ->> '$.finished_at');
  CREATE INDEX jobs_live ON jobs (agent, schedule, created_at, id, status, priority, due_at)
    WHERE status IN ('pending', 'running', 'waiting');
  CREATE INDEX jobs_ended ON jobs (agent, finished_at, id) WHERE finished_at IS NOT NULL;
  CREATE INDEX jobs_owner ON jobs (id, agent);

  UPDATE attempts SET record = json_set(record, '$.usage', NULL, '$.crashed', json('false'));
  ALTER TABLE attempts ADD COLUMN finished_at TEXT AS (record ->> '$.finished_at');
  ALTER TABLE attempts ADD COLUMN cost_usd REAL AS (record ->> '$.cost_usd');
  CREATE INDEX attempts_cost ON attempts (finished_at, job_id, cost_usd)
    WHERE cost_usd IS NOT NULL;

  CREATE TABLE pauses (
    subject TEXT PRIMARY KEY,
    record TEXT NOT NULL
  ) STRICT
  `,
  `
  CREATE TABLE schedule_switches (
    agent TEXT NOT NULL,
    schedule TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    PRIMARY KEY (agent, schedule)
  ) STRICT, WITHOUT ROWID
  `,
  `
  CREATE TABLE deliveries (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    record TEXT NOT NULL,
    body TEXT NOT NULL,
    key TEXT NOT NULL AS (record ->> '$.key'),
    agent TEXT NOT NULL AS (record ->> '$.agent'),
    received_at TEXT NOT NULL AS (record ->> '$.received_at')
  ) STRICT;
  CREATE UNIQUE INDEX deliveries_key ON deliveries (key);
  CREATE INDEX deliveries_agent ON deliveries (agent, seq);
  CREATE INDEX deliveries_time ON deliveries (received_at)
  `,
  `
  CREATE TABLE schedules (
    agent TEXT NOT NULL,
    schedule TEXT NOT NULL,
    record TEXT NOT NULL,
    through TEXT NOT NULL AS (record ->> '$.through'),
    PRIMARY KEY (agent, schedule)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE due_times (
    agent TEXT NOT NULL,
    schedule TEXT NOT NULL,
    due_at TEXT NOT NULL,
    record TEXT NOT NULL,
    result TEXT NOT NULL AS (record ->> '$.result'),
    until TEXT NOT NULL AS (record ->> '$.until'),
    settled_at TEXT NOT NULL AS (record ->> '$.settled_at'),
    PRIMARY KEY (agent, schedule, due_at)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX due_times_time ON due_times (due_at);
  CREATE INDEX due_times_agent ON due_times (agent, due_at);
  CREATE INDEX due_times_until ON due_times (agent, schedule, until);
  CREATE INDEX due_times_settled ON due_times (settled_at);

  UPDATE jobs SET record = json_set(record, '$.reserved_usd', NULL);
  CREATE INDEX jobs_schedule ON jobs (agent, schedule, finished_at) WHERE schedule IS NOT NULL;
  CREATE INDEX jobs_ran ON jobs (agent, finished_at)
    WHERE finished_at IS NOT NULL AND status <> 'skipped';
  CREATE INDEX jobs_counted ON jobs (created_at, agent) WHERE status <> 'skipped';

  ALTER TABLE attempts ADD COLUMN tokens INTEGER AS (
    coalesce(record ->> '$.usage.input_tokens', 0) +
    coalesce(record ->> '$.usage.output_tokens', 0) +
    coalesce(record ->> '$.usage.cache_creation_input_tokens', 0) +
    coalesce(record ->> '$.usage.cache_read_input_tokens', 0)
  );
  CREATE INDEX attempts_spent ON attempts (finished_at, job_id, cost_usd, tokens)
    WHERE finished_at IS NOT NULL;

  CREATE TABLE budget_raises (
    day TEXT NOT NULL,
    agent TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (day, agent)
  ) STRICT, WITHOUT ROWID
  `,
  `
  CREATE TABLE endings (
    seq INTEGER PRIMARY KEY,
    job_id TEXT NOT NULL UNIQUE REFERENCES jobs (id) ON DELETE CASCADE
  ) STRICT;
  CREATE TRIGGER jobs_ended_later AFTER UPDATE OF record ON jobs
    WHEN OLD.record ->> '$.finished_at' IS NULL AND NEW.record ->> '$.finished_at' IS NOT NULL
    BEGIN INSERT INTO endings (job_id) VALUES (NEW.id); END;
  CREATE TRIGGER jobs_ended_at_once AFTER INSERT ON jobs
    WHEN NEW.record ->> '$.finished_at' IS NOT NULL
    BEGIN INSERT INTO endings (job_id) VALUES (NEW.id); END;

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
  CREATE INDEX work_claims_failed ON work_claims (source, item) WHERE failed;
  CREATE INDEX work_claims_job ON work_claims (job_id);
  CREATE TRIGGER work_claims_forgotten AFTER DELETE ON jobs
    BEGIN DELETE FROM work_claims WHERE job_id = OLD.id AND status NOT IN ('claiming', 'claimed');
    END
  `,
  "UPDATE sessions SET record = json_set(record, '$.schedule', NULL)",
  `
  UPDATE jobs SET record = json_set(record,
    '$.chain', json_object('id', id, 'parent', NULL, 'depth', 0, 'agents', json('[]'), 'max_usd', NULL),
    '$.waits_for', json('[]'),
    '$.untrusted', json(iif(record ->> '$.trigger_type' IN ('webhook', 'chat', 'work_item'), 'true', 'false')));
  ALTER TABLE jobs ADD COLUMN chain TEXT AS (record ->> '$.chain.id');
  ALTER TABLE jobs ADD COLUMN waits_for TEXT AS (record ->> '$.waits_for');
  CREATE INDEX jobs_chain ON jobs (chain, seq);
  DROP INDEX jobs_live;
  CREATE INDEX jobs_live
    ON jobs (agent, schedule, created_at, id, status, priority, due_at, waits_for)
    WHERE status IN ('pending', 'running', 'waiting');

  CREATE TABLE one_shots (
    agent TEXT NOT NULL,
    schedule TEXT NOT NULL,
    record TEXT NOT NULL,
    key TEXT NOT NULL UNIQUE,
    PRIMARY KEY (agent, schedule)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER one_shots_settled AFTER INSERT ON due_times
    BEGIN DELETE FROM one_shots WHERE agent = NEW.agent AND schedule = NEW.schedule; END;
  CREATE TABLE schedule_intervals (
    agent TEXT NOT NULL,
    schedule TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (agent, schedule)
  ) STRICT, WITHOUT ROWID
  `,
  `
  UPDATE approvals SET record = json_set(record,
    '$.kind', 'permission', '$.request_id', NULL, '$.question', NULL, '$.choices', NULL,
    '$.free_text', json('false'), '$.several', json('false'), '$.default_reply', NULL,
    '$.reply', NULL)
  `,
  `
  UPDATE jobs SET record = json_set(record, '$.report', NULL, '$.artifacts', json('[]'))
  `,
  `
  UPDATE sessions SET record = json_set(record, '$.in_chat', json('false'));

  CREATE TABLE chat_links (
    agent TEXT NOT NULL,
    platform TEXT NOT NULL,
    heard_until TEXT NOT NULL,
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
  CREATE INDEX chat_posts_message ON chat_posts (message)
  `,
  `
  ALTER TABLE jobs ADD COLUMN session_id TEXT AS (record ->> '$.session_id');
  CREATE INDEX jobs_session ON jobs (session_id, created_at) WHERE session_id IS NOT NULL
  `,
  `
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
  INSERT INTO day_costs
    SELECT substr(attempts.finished_at, 1, 10), jobs.agent, coalesce(jobs.schedule, ''), used.key,
      count(*), sum(used.value ->> '$.cost_usd'), sum(used.value ->> '$.input_tokens'),
      sum(used.value ->> '$.output_tokens'), sum(used.value ->> '$.cache_read_input_tokens'),
      sum(used.value ->> '$.cache_creation_input_tokens')
    FROM attempts JOIN jobs ON jobs.id = attempts.job_id,
      json_each(attempts.record, '$.usage.models') AS used
    WHERE attempts.finished_at IS NOT NULL GROUP BY 1, 2, 3, 4;
  INSERT INTO day_costs
    SELECT substr(attempts.finished_at, 1, 10), jobs.agent, coalesce(jobs.schedule, ''), '',
      count(*), sum(round(max(0, coalesce(attempts.cost_usd, 0) - coalesce((
        SELECT sum(used.value ->> '$.cost_usd')
        FROM json_each(attempts.record, '$.usage.models') AS used), 0)), 6)), 0, 0, 0, 0
    FROM attempts JOIN jobs ON jobs.id = attempts.job_id
    WHERE attempts.finished_at IS NOT NULL GROUP BY 1, 2, 3, 4
  `,
  `
  ALTER TABLE jobs ADD COLUMN cost_usd REAL AS (record ->> '$.cost_usd');
  ALTER TABLE jobs ADD COLUMN reserved_usd REAL AS (record ->> '$.reserved_usd');
  ALTER TABLE sessions ADD COLUMN schedule TEXT AS (record ->> '$.schedule');
  ALTER TABLE sessions ADD COLUMN in_chat INTEGER AS (record ->> '$.in_chat');
  DROP INDEX work_claims_failed;
  CREATE INDEX work_claims_failed ON work_claims (source, item) WHERE failed = 1;
  DROP INDEX attempts_cost
  `,
  accessTables,
];

/** Each step in a transaction of its own, so that a crash leaves one version or the next. */
export function migrate(database: Database, steps: readonly string[]): void {
  for (let version = database.version; version < steps.length; version++) {
    database.atOnce(() => {
      if (database.version === version) applyStep(database, steps, version);
    });
  }
}

/** The whole way in a database that is known to be new. */
export function migrateNew(database: Database, steps: readonly string[]): void {
  database.atOnce(() => {
    for (const version of steps.keys()) applyStep(database, steps, version);
  });
}

function applyStep(database: Database, steps: readonly string[], version: number): void {
  database.exec(`${steps[version]}; PRAGMA user_version = ${version + 1}`);
}
