import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { installMissing } from "../docker-engine/install.mjs";

const debian = "/usr/lib/postgresql";
const settings = "/etc/postgresql-common/createcluster.conf.d";

/** The folder with the programs of the newest PostgreSQL. Installs Debian's package if there is none. */
export async function postgresPrograms() {
  const found = find();
  if (found !== undefined) return found;
  if (process.getuid?.() !== 0) {
    throw new Error("install PostgreSQL first, or run the tests as root to have them install it");
  }
  // Prevent Debian from starting a database on the default port.
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, "herdctl-tests.conf"), "create_main_cluster = false\n");
  await installMissing({ initdb: "postgresql" }, "PostgreSQL");
  const installed = find();
  if (installed === undefined)
    throw new Error("PostgreSQL was installed, but its programs were not found");
  return installed;
}

function find() {
  const versions = existsSync(debian) ? readdirSync(debian).map(Number) : [];
  const folders = versions.sort((a, b) => b - a).map((version) => join(debian, `${version}/bin`));
  const installed = folders.find((folder) => existsSync(join(folder, "postgres")));
  if (installed !== undefined) return installed;
  const onPath = spawnSync("sh", ["-c", "dirname $(command -v postgres)"], { encoding: "utf8" });
  return onPath.status === 0 && onPath.stdout.startsWith("/") ? onPath.stdout.trim() : undefined;
}
