import { afterAll } from "vitest";
import { openPostgres } from "../../../packages/core/src/state/postgres/open.ts";
import { testDatabase } from "../../support/postgres.ts";
import { useDatabase } from "../support.ts";

/*
 * Imported before a file of tests about the stores: then they stand on PostgreSQL. One database
 * serves the whole file, emptied for each test.
 */

const { database, close } = await openPostgres(await testDatabase(afterAll));
afterAll(close);

useDatabase(async () => {
  await database.execute(emptyAll);
  return database;
});

/** What hangs on others goes with them. A few rows are deleted quicker than tables are truncated. */
const emptyAll = `DO $$ DECLARE name text; BEGIN
  ALTER TABLE herdctl.audit_log DISABLE TRIGGER USER;
  FOR name IN SELECT tablename FROM pg_tables
    WHERE schemaname = 'herdctl' AND tablename <> 'schema_version'
  LOOP EXECUTE format('DELETE FROM herdctl.%I', name); END LOOP;
  ALTER TABLE herdctl.audit_log ENABLE TRIGGER USER;
END $$`;
