import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  currentProcess,
  isAlive,
  type ProcessIdentity,
  processIdentitySchema,
} from "../../state/process-identity.ts";
import { runFolders } from "../container/spare.ts";
import { gitFolderOf, sweepPrivateGit } from "../git/private-session.ts";
import { removeHostSocket } from "../host-socket.ts";
import { sweepRun } from "../sweep/sweep-run.ts";

const holderName = "runner.json";

/** What a run has beside its job's folder when its `claude` may outlive the job. */
export function makeLiveFolder(stateDir: string, runToken: string): string {
  const folder = join(liveDir(stateDir), runToken);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, holderName), JSON.stringify(currentProcess()), { mode: 0o600 });
  return folder;
}

/** Ends what runners left that are dead by now, and takes their folders away. */
export async function sweepLiveFolders(stateDir: string): Promise<void> {
  for (const runToken of namesIn(liveDir(stateDir))) {
    const folder = join(liveDir(stateDir), runToken);
    if (isHeld(stateDir, runToken)) continue;
    await sweepRun(runToken);
    removeHostSocket(runFolders(folder).doorDir);
    await sweepPrivateGit(gitFolderOf(stateDir, runToken));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What carries the token belongs to a runner that lives, whatever became of its job. */
export function isHeld(stateDir: string, runToken: string): boolean {
  const folder = join(liveDir(stateDir), runToken);
  const holder = holderOf(folder);
  return holder ? isAlive(holder) : isNew(folder);
}

function liveDir(stateDir: string): string {
  return join(stateDir, "live");
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

const newFor = 10_000;

/** A living runner may be about to write its name there. */
function isNew(folder: string): boolean {
  const { mtimeMs = 0 } = statSync(folder, { throwIfNoEntry: false }) ?? {};
  return Date.now() - mtimeMs < newFor;
}

/** A folder without one was just being made, or taken away. */
function holderOf(folder: string): ProcessIdentity | undefined {
  try {
    const text = readFileSync(join(folder, holderName), "utf8");
    return processIdentitySchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
