import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { installMissing } from "../engine/install.mjs";

const debian = "/usr/lib/postgresql";
const settings = "/etc/postgresql-common/createcluster.conf.d";

/** Where the programs of the newest PostgreSQL are; Debian's is installed where there is none. */
export async function postgresPrograms() {
  const found = find();
  if (found !== undefined) return found;
  if (process.getuid?.() !== 0) {
    throw new Error(
      "install PostgreSQL first, or run the tests as root: then they do it themselves",
    );
  }
  // Debian would begin a database of its own at once, on the usual port.
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, "herdctl-tests.conf"), "create_main_cluster = false\n");
  await installMissing({ initdb: "postgresql" }, "PostgreSQL");
  const installed = find();
  if (installed === undefined)
    throw new Error("PostgreSQL was installed, but is nowhere to be found");
  return installed;
}

function find() {
  const versions = existsSync(debian) ? readdirSync(debian).map(Number) : [];
  const folders = versions.sort((a, b) => b - a).map((version) => join(debian, `${version}/bin`));
  const known = folders.find((folder) => existsSync(join(folder, "postgres")));
  if (known !== undefined) return known;
  const asked = spawnSync("sh", ["-c", "dirname $(command -v postgres)"], { encoding: "utf8" });
  return asked.status === 0 && asked.stdout.startsWith("/") ? asked.stdout.trim() : undefined;
}
