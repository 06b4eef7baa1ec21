import { afterAll } from "vitest";
import { openPostgres } from "../../../packages/core/src/store/postgres/open.ts";
import { createTestDatabase } from "../../support/postgres.ts";
import { useDatabaseFactory } from "../test-stores.ts";

/*
 * Imported by test files about the stores to run them on PostgreSQL. One database serves the whole
 * file and is emptied for each test.
 */

const { database, close } = await openPostgres(await createTestDatabase(afterAll));
afterAll(close);

useDatabaseFactory(async () => {
  await database.execute(truncateAllTables);
  return database;
});

/** Deletes dependent rows as well. Deleting a few rows is faster than truncating tables. */
const truncateAllTables = `DO $$ DECLARE name text; BEGIN
  ALTER TABLE herdctl.audit_log DISABLE TRIGGER USER;
  FOR name IN SELECT tablename FROM pg_tables
    WHERE schemaname = 'herdctl' AND tablename <> 'schema_version'
  LOOP EXECUTE format('DELETE FROM herdctl.%I', name); END LOOP;
  ALTER TABLE herdctl.audit_log ENABLE TRIGGER USER;
END $$`;
