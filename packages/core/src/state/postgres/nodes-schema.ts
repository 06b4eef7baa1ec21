/**
 * What only a shared store has: who takes part, what all of them agree on, and logs and files
 * for nodes on which a job does not run. Comes after `jobs`. All times are those of the database's own clock.
 */
export const nodesSchema = `
  CREATE TABLE herdctl.nodes (
    id           text COLLATE "C" PRIMARY KEY,
    name         text COLLATE "C" NOT NULL,
    role         text COLLATE "C" NOT NULL,
    labels       text COLLATE "C" NOT NULL,
    capacity     integer NOT NULL,
    version      text COLLATE "C" NOT NULL,
    config_print text COLLATE "C" NOT NULL,
    address      text COLLATE "C",
    epoch        integer NOT NULL,
    status       text COLLATE "C" NOT NULL,
    joined_at    timestamptz NOT NULL,
    heartbeat_at timestamptz NOT NULL,
    running      integer NOT NULL DEFAULT 0,
    skew_ms      double precision
  );

  CREATE TABLE herdctl.settings (
    name  text COLLATE "C" PRIMARY KEY,
    value text COLLATE "C" NOT NULL
  );

  CREATE TABLE herdctl.outputs (
    job_id text COLLATE "C" NOT NULL REFERENCES herdctl.jobs (id) ON DELETE CASCADE,
    "from" bigint NOT NULL,
    text   text COLLATE "C" NOT NULL,
    -- In the log: here a character that PostgreSQL cannot hold is written longer.
    bytes  integer NOT NULL,
    PRIMARY KEY (job_id, "from")
  );

  CREATE TABLE herdctl.kept_files (
    job_id  text COLLATE "C" NOT NULL REFERENCES herdctl.jobs (id) ON DELETE CASCADE,
    name    text COLLATE "C" NOT NULL,
    -- In base64: the statements know no bytes.
    content text COLLATE "C" NOT NULL,
    PRIMARY KEY (job_id, name)
  );
`;

/** By which peers a node that is cut off finds out whether it may go on. */
export const knownPeers = `
  ALTER TABLE herdctl.nodes ADD COLUMN knows text COLLATE "C" NOT NULL DEFAULT '[]';
`;
