import { nodesSchema } from "./nodes-schema.ts";

/*
 * The same tables as SQLite's, with the same names, so that a statement is written once. Records
 * are kept whole as JSON text; what is searched by stands beside it, derived. Names sort by their
 * bytes, as SQLite sorts them.
 */

/** A column that is read out of the record. */
function derived(name: string, type = "text", path = name): string {
  const read = `(record::jsonb #>> '{${path}}')`;
  if (type === "text") return `${name} text COLLATE "C" GENERATED ALWAYS AS ${read} STORED`;
  // What is true or false is 1 or 0, as in SQLite.
  if (type === "switch")
    return `${name} integer GENERATED ALWAYS AS (${read}::boolean::integer) STORED`;
  return `${name} ${type} GENERATED ALWAYS AS (${read}::${type}) STORED`;
}

/** The same, and never null. */
function told(name: string): string {
  return derived(name).replace(" GENERATED", " NOT NULL GENERATED");
}

const word = `text COLLATE "C"`;
const text = `${word} NOT NULL`;
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
 * A job is written often and may hold a long prompt. Columns that are each derived from the record
 * would each read all of it: so for jobs it is read once, and they are filled in from that.
 */
const jobColumns = [
  ["agent", text, "agent"],
  ["status", text, "status"],
  ["created_at", text, "created_at"],
  ["outcome_code", word, "outcome,code"],
  ["idempotency_key", word, "idempotency_key"],
  ["schedule", word, "schedule"],
  ["due_at", word, "due_at"],
  ["finished_at", word, "finished_at"],
  ["session_id", word, "session_id"],
  ["chain", word, "chain,id"],
  ["waits_for", word, "waits_for"],
  ["node", word, "node"],
  ["assigned", word, "assigned"],
  ["assigned_node", word, "assigned,node"],
  ["priority", "integer", "priority"],
  ["cost_usd", "double precision", "cost_usd"],
  ["reserved_usd", "double precision", "reserved_usd"],
] as const;

const jobs = `
  CREATE TABLE jobs (
    seq ${seq} PRIMARY KEY,
    id ${text} UNIQUE,
    record ${text},
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
    job_id ${text} REFERENCES jobs (id) ON DELETE CASCADE,
    number integer NOT NULL,
    record ${text},
    ${derived("finished_at")},
    ${derived("cost_usd", "double precision")},
    tokens bigint GENERATED ALWAYS AS (${tokens}) STORED,
    PRIMARY KEY (job_id, number)
  );
  CREATE INDEX attempts_spent ON attempts (finished_at, job_id, cost_usd, tokens)
    WHERE finished_at IS NOT NULL;

  CREATE TABLE endings (
    seq ${seq} PRIMARY KEY,
    job_id ${text} UNIQUE REFERENCES jobs (id) ON DELETE CASCADE
  );
  CREATE FUNCTION note_ending() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO herdctl.endings (job_id) VALUES (NEW.id); RETURN NULL; END $$;
  CREATE TRIGGER jobs_ended_later AFTER UPDATE ON jobs FOR EACH ROW
    WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL)
    EXECUTE FUNCTION note_ending();
  CREATE TRIGGER jobs_ended_at_once AFTER INSERT ON jobs FOR EACH ROW
    WHEN (NEW.finished_at IS NOT NULL) EXECUTE FUNCTION note_ending();
`;

const sessions = `
  CREATE TABLE sessions (
    rowid ${seq} UNIQUE,
    session_id ${text} PRIMARY KEY,
    record ${text},
    ${told("agent")},
    ${told("place")},
    ${told("last_used_at")},
    ${derived("schedule")},
    ${derived("in_chat", "switch")}
  );
  CREATE INDEX sessions_agent ON sessions (agent, place, last_used_at);
  CREATE TABLE session_leases (session_id ${text} PRIMARY KEY, holder ${text}, until ${text});
`;

const approvals = `
  CREATE TABLE approvals (
    seq ${seq} PRIMARY KEY,
    id ${text} UNIQUE,
    job_id ${text} REFERENCES jobs (id) ON DELETE CASCADE,
    record ${text},
    ${derived("answer")},
    ${told("input_hash")}
  );
  CREATE INDEX approvals_request ON approvals (job_id, input_hash);
  CREATE INDEX approvals_open ON approvals (seq) WHERE answer IS NULL;
`;

const schedules = `
  CREATE TABLE schedule_switches (
    agent ${text}, schedule ${text}, enabled integer NOT NULL, PRIMARY KEY (agent, schedule)
  );
  CREATE TABLE schedules (
    agent ${text}, schedule ${text}, record ${text}, ${told("through")},
    PRIMARY KEY (agent, schedule)
  );
  CREATE TABLE one_shots (
    agent ${text}, schedule ${text}, record ${text}, key ${text} UNIQUE,
    PRIMARY KEY (agent, schedule)
  );
  CREATE TABLE schedule_intervals (
    agent ${text}, schedule ${text}, record ${text}, PRIMARY KEY (agent, schedule)
  );
  CREATE TABLE due_times (
    agent ${text}, schedule ${text}, due_at ${text}, record ${text},
    ${told("result")}, ${told("until")}, ${told("settled_at")},
    PRIMARY KEY (agent, schedule, due_at)
  );
  CREATE INDEX due_times_time ON due_times (due_at, agent, schedule);
  CREATE INDEX due_times_agent ON due_times (agent, due_at, schedule);
  CREATE INDEX due_times_until ON due_times (agent, schedule, until);
  CREATE INDEX due_times_settled ON due_times (settled_at);
  CREATE FUNCTION settle_one_shot() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM herdctl.one_shots WHERE agent = NEW.agent AND schedule = NEW.schedule;
      RETURN NULL;
    END $$;
  CREATE TRIGGER one_shots_settled AFTER INSERT ON due_times FOR EACH ROW
    EXECUTE FUNCTION settle_one_shot();
`;

const costs = `
  CREATE TABLE budget_raises (day ${text}, agent ${text}, record ${text}, PRIMARY KEY (day, agent));
  CREATE TABLE pauses (rowid ${seq} UNIQUE, subject ${text} PRIMARY KEY, record ${text});
  CREATE TABLE day_costs (
    day ${text}, agent ${text}, schedule ${text}, model ${text},
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
    id ${text} UNIQUE,
    record ${text},
    body ${text},
    ${told("key")},
    ${told("agent")},
    ${told("received_at")}
  );
  -- A sender may make its key longer than an ordinary index takes.
  CREATE UNIQUE INDEX deliveries_key ON deliveries (md5(key));
  CREATE INDEX deliveries_by_key ON deliveries USING hash (key);
  CREATE INDEX deliveries_agent ON deliveries (agent, seq);
  CREATE INDEX deliveries_time ON deliveries (received_at);
`;

const hooks = `
  CREATE TABLE hook_runs (
    seq ${seq} PRIMARY KEY,
    id ${text} UNIQUE,
    job_id ${text} REFERENCES jobs (id) ON DELETE CASCADE,
    record ${text},
    ${told("status")}
  );
  CREATE INDEX hook_runs_job ON hook_runs (job_id);
  CREATE INDEX hook_runs_status ON hook_runs (status, seq);
`;

const work = `
  CREATE TABLE work_claims (
    seq ${seq} PRIMARY KEY,
    id ${text} UNIQUE,
    record ${text},
    ${told("source")},
    ${told("item")},
    ${told("job_id")},
    ${told("status")},
    ${derived("failed", "switch")}
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
    agent ${text}, platform ${text}, heard_until ${text}, PRIMARY KEY (agent, platform)
  );
  CREATE TABLE conversations (
    id ${text} PRIMARY KEY,
    record ${text},
    ${told("key")},
    ${told("last_used_at")}
  );
  CREATE UNIQUE INDEX conversations_key ON conversations (key);
  CREATE INDEX conversations_used ON conversations (last_used_at);
  CREATE TABLE chat_messages (
    seq ${seq} PRIMARY KEY,
    id ${text} UNIQUE,
    record ${text},
    ${told("agent")},
    ${told("platform")},
    ${told("message_id")},
    ${told("conversation_id")},
    ${told("status")},
    ${told("sent_at")},
    ${derived("job_id")}
  );
  CREATE UNIQUE INDEX chat_messages_name ON chat_messages (agent, platform, message_id);
  CREATE INDEX chat_messages_open ON chat_messages (sent_at)
    WHERE status IN ('waiting', 'working');
  CREATE INDEX chat_messages_conversation ON chat_messages (conversation_id);
  CREATE INDEX chat_messages_job ON chat_messages (job_id) WHERE job_id IS NOT NULL;
  CREATE INDEX chat_messages_time ON chat_messages (sent_at);
  CREATE TABLE chat_posts (
    rowid ${seq} UNIQUE,
    nonce ${text} UNIQUE,
    message ${text} REFERENCES chat_messages (id) ON DELETE CASCADE,
    record ${text}
  );
  CREATE INDEX chat_posts_message ON chat_posts (message);
`;

/**
 * Every write begins here. One writer at a time; and a node whose lease is gone, or that was
 * started anew, is refused. Answers with the number of the transaction.
 */
const fence = `
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

/** Everything, in the order in which one names the other. */
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
  fence,
].join("");
