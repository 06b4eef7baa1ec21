import { nodesSchema } from "./nodes-schema.ts";

/*
 * The same tables and names as in SQLite, so that statements are written once. Records are stored
 * as JSON text; columns for searching are derived from them. Names are sorted by bytes, as in
 * SQLite.
 */

/** A column that is derived from the record. */
function derivedColumn(name: string, type = "text", path = name): string {
  const expression = `(record::jsonb #>> '{${path}}')`;
  if (type === "text") return `${name} text COLLATE "C" GENERATED ALWAYS AS ${expression} STORED`;
  // Booleans are 1 or 0, as in SQLite.
  if (type === "switch")
    return `${name} integer GENERATED ALWAYS AS (${expression}::boolean::integer) STORED`;
  return `${name} ${type} GENERATED ALWAYS AS (${expression}::${type}) STORED`;
}

/** A derived column that is never null. */
function requiredColumn(name: string): string {
  return derivedColumn(name).replace(" GENERATED", " NOT NULL GENERATED");
}

const textType = `text COLLATE "C"`;
const requiredText = `${textType} NOT NULL`;
const seq = "bigint GENERATED ALWAYS AS IDENTITY";

const tokenFields = [
  "input_tokens",
  "output_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
];
const tokens = tokenFields
  .map((field) => `coalesce((record::jsonb #>> '{usage,${field}}')::numeric::bigint, 0)`)
  .join(" + ");

/**
 * A job is written often and may contain a long prompt. Each generated column would parse the whole
 * record, so a trigger parses it once and fills the columns.
 */
const jobColumns = [
  ["agent", requiredText, "agent"],
  ["status", requiredText, "status"],
  ["created_at", requiredText, "created_at"],
  ["outcome_code", textType, "outcome,code"],
  ["idempotency_key", textType, "idempotency_key"],
  ["schedule", textType, "schedule"],
  ["due_at", textType, "due_at"],
  ["finished_at", textType, "finished_at"],
  ["session_id", textType, "session_id"],
  ["chain", textType, "chain,id"],
  ["waits_for", textType, "waits_for"],
  ["node", textType, "node"],
  ["assigned", textType, "assigned"],
  ["assigned_node", textType, "assigned,node"],
  ["priority", "integer", "priority"],
  ["cost_usd", "double precision", "cost_usd"],
  ["reserved_usd", "double precision", "reserved_usd"],
] as const;

const jobs = `
  CREATE TABLE jobs (
    seq ${seq} PRIMARY KEY,
    id ${requiredText} UNIQUE,
    record ${requiredText},
    ${jobColumns.map(([name, type]) => `${name} ${type}`).join(", ")}
  );
  CREATE FUNCTION derive_job() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE record jsonb := NEW.record::jsonb;
    BEGIN
      ${jobColumns.map(([name, , path]) => `NEW.${name} := record #>> '{${path}}';`).join("\n      ")}
      RETURN NEW;
    END $$;
  CREATE TRIGGER jobs_derived BEFORE INSERT OR UPDATE ON jobs FOR EACH ROW
    EXECUTE FUNCTION derive_job();
  CREATE UNIQUE INDEX jobs_key ON jobs (idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX jobs_time ON jobs (created_at, seq);
  CREATE INDEX jobs_agent ON jobs (agent, created_at, seq);
  CREATE INDEX jobs_status ON jobs (status, created_at, seq);
  CREATE INDEX jobs_outcome ON jobs (outcome_code, created_at, seq);
  CREATE INDEX jobs_agent_status ON jobs (agent, status, created_at, seq);
  CREATE INDEX jobs_agent_outcome ON jobs (agent, outcome_code, created_at, seq);
  CREATE INDEX jobs_chain ON jobs (chain, seq);
  CREATE INDEX jobs_session ON jobs (session_id, created_at, seq) WHERE session_id IS NOT NULL;
  CREATE INDEX jobs_live ON jobs (agent, schedule, created_at)
    WHERE status IN ('pending', 'running', 'waiting');
  CREATE INDEX jobs_ended ON jobs (agent, finished_at, id) WHERE finished_at IS NOT NULL;
  CREATE INDEX jobs_ran ON jobs (agent, finished_at)
    WHERE finished_at IS NOT NULL AND status <> 'skipped';
  CREATE INDEX jobs_schedule ON jobs (agent, schedule, finished_at) WHERE schedule IS NOT NULL;
  CREATE INDEX jobs_counted ON jobs (created_at, agent) WHERE status <> 'skipped';
  CREATE INDEX jobs_assigned ON jobs (assigned_node) WHERE assigned_node IS NOT NULL;

  CREATE TABLE attempts (
    job_id ${requiredText} REFERENCES jobs (id) ON DELETE CASCADE,
    number integer NOT NULL,
    record ${requiredText},
    ${derivedColumn("finished_at")},
    ${derivedColumn("cost_usd", "double precision")},
    tokens bigint GENERATED ALWAYS AS (${tokens}) STORED,
    PRIMARY KEY (job_id, number)
  );
  CREATE INDEX attempts_spent ON attempts (finished_at, job_id, cost_usd, tokens)
    WHERE finished_at IS NOT NULL;

  CREATE TABLE job_end_outbox (
    seq ${seq} PRIMARY KEY,
    job_id ${requiredText} UNIQUE REFERENCES jobs (id) ON DELETE CASCADE
  );
  CREATE FUNCTION note_ending() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO herdctl.job_end_outbox (job_id) VALUES (NEW.id); RETURN NULL; END $$;
  CREATE TRIGGER jobs_ended_later AFTER UPDATE ON jobs FOR EACH ROW
    WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL)
    EXECUTE FUNCTION note_ending();
  CREATE TRIGGER jobs_ended_at_once AFTER INSERT ON jobs FOR EACH ROW
    WHEN (NEW.finished_at IS NOT NULL) EXECUTE FUNCTION note_ending();
`;

const sessions = `
  CREATE TABLE sessions (
    rowid ${seq} UNIQUE,
    session_id ${requiredText} PRIMARY KEY,
    record ${requiredText},
    ${requiredColumn("agent")},
    ${requiredColumn("session_home")},
    ${requiredColumn("last_used_at")},
    ${derivedColumn("schedule")},
    ${derivedColumn("in_chat", "switch")}
  );
  CREATE INDEX sessions_agent ON sessions (agent, session_home, last_used_at);
  CREATE TABLE session_leases (session_id ${requiredText} PRIMARY KEY, holder ${requiredText}, until ${requiredText});
`;

const approvals = `
  CREATE TABLE approvals (
    seq ${seq} PRIMARY KEY,
    id ${requiredText} UNIQUE,
    job_id ${requiredText} REFERENCES jobs (id) ON DELETE CASCADE,
    record ${requiredText},
    ${derivedColumn("answer")},
    ${requiredColumn("input_hash")}
  );
  CREATE INDEX approvals_request ON approvals (job_id, input_hash);
  CREATE INDEX approvals_open ON approvals (seq) WHERE answer IS NULL;
`;

const schedules = `
  CREATE TABLE schedule_switches (
    agent ${requiredText}, schedule ${requiredText}, enabled integer NOT NULL, PRIMARY KEY (agent, schedule)
  );
  CREATE TABLE schedules (
    agent ${requiredText}, schedule ${requiredText}, record ${requiredText}, ${requiredColumn("settled_through")},
    PRIMARY KEY (agent, schedule)
  );
  CREATE TABLE planned_runs (
    agent ${requiredText}, schedule ${requiredText}, record ${requiredText}, key ${requiredText} UNIQUE,
    PRIMARY KEY (agent, schedule)
  );
  CREATE TABLE schedule_intervals (
    agent ${requiredText}, schedule ${requiredText}, record ${requiredText}, PRIMARY KEY (agent, schedule)
  );
  CREATE TABLE due_times (
    agent ${requiredText}, schedule ${requiredText}, due_at ${requiredText}, record ${requiredText},
    ${requiredColumn("result")}, ${requiredColumn("last_due_at")}, ${requiredColumn("settled_at")},
    PRIMARY KEY (agent, schedule, due_at)
  );
  CREATE INDEX due_times_time ON due_times (due_at, agent, schedule);
  CREATE INDEX due_times_agent ON due_times (agent, due_at, schedule);
  CREATE INDEX due_times_last ON due_times (agent, schedule, last_due_at);
  CREATE INDEX due_times_settled ON due_times (settled_at);
  CREATE FUNCTION settle_planned_run() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM herdctl.planned_runs WHERE agent = NEW.agent AND schedule = NEW.schedule;
      RETURN NULL;
    END $$;
  CREATE TRIGGER planned_runs_settled AFTER INSERT ON due_times FOR EACH ROW
    EXECUTE FUNCTION settle_planned_run();
`;

const costs = `
  CREATE TABLE budget_raises (day ${requiredText}, agent ${requiredText}, record ${requiredText}, PRIMARY KEY (day, agent));
  CREATE TABLE pauses (rowid ${seq} UNIQUE, subject ${requiredText} PRIMARY KEY, record ${requiredText});
  CREATE TABLE day_costs (
    day ${requiredText}, agent ${requiredText}, schedule ${requiredText}, model ${requiredText},
    runs bigint NOT NULL,
    usd double precision NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cache_read_input_tokens bigint NOT NULL,
    cache_creation_input_tokens bigint NOT NULL,
    PRIMARY KEY (day, agent, schedule, model)
  );
`;

const deliveries = `
  CREATE TABLE deliveries (
    seq ${seq} PRIMARY KEY,
    id ${requiredText} UNIQUE,
    record ${requiredText},
    body ${requiredText},
    ${requiredColumn("dedup_key")},
    ${requiredColumn("agent")},
    ${requiredColumn("received_at")}
  );
  -- A sender's key may be too long for an ordinary index.
  CREATE UNIQUE INDEX deliveries_key ON deliveries (md5(dedup_key));
  CREATE INDEX deliveries_by_key ON deliveries USING hash (dedup_key);
  CREATE INDEX deliveries_agent ON deliveries (agent, seq);
  CREATE INDEX deliveries_time ON deliveries (received_at);
`;

const hooks = `
  CREATE TABLE hook_runs (
    seq ${seq} PRIMARY KEY,
    id ${requiredText} UNIQUE,
    job_id ${requiredText} REFERENCES jobs (id) ON DELETE CASCADE,
    record ${requiredText},
    ${requiredColumn("status")}
  );
  CREATE INDEX hook_runs_job ON hook_runs (job_id);
  CREATE INDEX hook_runs_status ON hook_runs (status, seq);
`;

const work = `
  CREATE TABLE work_claims (
    seq ${seq} PRIMARY KEY,
    id ${requiredText} UNIQUE,
    record ${requiredText},
    ${requiredColumn("source")},
    ${requiredColumn("item")},
    ${requiredColumn("job_id")},
    ${requiredColumn("status")},
    ${derivedColumn("failed", "switch")}
  );
  CREATE UNIQUE INDEX work_claims_open ON work_claims (source, item)
    WHERE status IN ('claiming', 'claimed');
  CREATE INDEX work_claims_failed ON work_claims (source, item) WHERE failed = 1;
  CREATE INDEX work_claims_job ON work_claims (job_id);
  CREATE FUNCTION forget_claims() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM herdctl.work_claims
        WHERE job_id = OLD.id AND status NOT IN ('claiming', 'claimed');
      RETURN NULL;
    END $$;
  CREATE TRIGGER work_claims_forgotten AFTER DELETE ON jobs FOR EACH ROW
    EXECUTE FUNCTION forget_claims();
`;

const chat = `
  CREATE TABLE chat_links (
    agent ${requiredText}, platform ${requiredText}, received_until ${requiredText}, PRIMARY KEY (agent, platform)
  );
  CREATE TABLE conversations (
    id ${requiredText} PRIMARY KEY,
    record ${requiredText},
    ${requiredColumn("key")},
    ${requiredColumn("last_used_at")}
  );
  CREATE UNIQUE INDEX conversations_key ON conversations (key);
  CREATE INDEX conversations_used ON conversations (last_used_at);
  CREATE TABLE chat_messages (
    seq ${seq} PRIMARY KEY,
    id ${requiredText} UNIQUE,
    record ${requiredText},
    ${requiredColumn("agent")},
    ${requiredColumn("platform")},
    ${requiredColumn("message_id")},
    ${requiredColumn("conversation_id")},
    ${requiredColumn("status")},
    ${requiredColumn("sent_at")},
    ${derivedColumn("job_id")}
  );
  CREATE UNIQUE INDEX chat_messages_name ON chat_messages (agent, platform, message_id);
  CREATE INDEX chat_messages_open ON chat_messages (sent_at)
    WHERE status IN ('waiting', 'working');
  CREATE INDEX chat_messages_conversation ON chat_messages (conversation_id);
  CREATE INDEX chat_messages_job ON chat_messages (job_id) WHERE job_id IS NOT NULL;
  CREATE INDEX chat_messages_time ON chat_messages (sent_at);
  CREATE TABLE chat_posts (
    rowid ${seq} UNIQUE,
    nonce ${requiredText} UNIQUE,
    message ${requiredText} REFERENCES chat_messages (id) ON DELETE CASCADE,
    record ${requiredText}
  );
  CREATE INDEX chat_posts_message ON chat_posts (message);
`;

/**
 * All writes start here. There is one writer at a time, and a node with a lost lease or an old
 * epoch is refused. Returns the id of the transaction.
 */
// defence: write-needs-live-node
// defence: write-needs-current-epoch
const fenceFunction = `
  CREATE FUNCTION begin_write(writer text, writer_epoch integer) RETURNS text
  LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('herdctl'), hashtext('write'));
      IF writer IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM herdctl.nodes
        WHERE id = writer AND epoch = writer_epoch AND status = 'live'
      ) THEN
        RAISE EXCEPTION 'the node has lost its lease' USING ERRCODE = 'HN001';
      END IF;
      RETURN pg_current_xact_id()::text;
    END $$;
`;

/** All statements, in the order of their references. */
export const firstSchema = [
  jobs,
  sessions,
  approvals,
  schedules,
  costs,
  deliveries,
  hooks,
  work,
  chat,
  nodesSchema,
  fenceFunction,
].join("");
