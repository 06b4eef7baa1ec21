import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ResolvedAgent } from "../../config/resolve.ts";
import { type ContainerSite, openContainer, printOf } from "./open-container.ts";
import { runFolders, type SpareContainer, sparesDir } from "./spare.ts";

/** Makes everything of a run's container but its job. */
export async function makeSpare(
  site: ContainerSite,
  agent: ResolvedAgent,
  authFile: string | undefined,
): Promise<SpareContainer> {
  const spare = randomUUID();
  const folder = join(sparesDir(site.stateDir), spare);
  const given = { agent, cwd: agent.working_directory.path, authFile, ...runFolders(folder) };
  for (const path of [given.privateDir, given.doorDir]) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  }
  try {
    const { id, plan } = await openContainer(site, given, { spare }, (made) =>
      site.manager.start(made),
    );
    return { id, folder, print: printOf(site, plan) };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}
