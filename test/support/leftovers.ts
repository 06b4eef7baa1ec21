import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { processesWith } from "./processes.ts";

/** What a hook of Vitest is told about the test that is over. */
export interface Over {
  task?: { result?: { state: string } };
}

/**
 * A test that failed half-way never came to end its own runs, which outlive their fleet. Those with
 * its folder in their environment are ended, so that a second try starts from nothing. After a test
 * that passed they stay, to be found: there they are a leak of ours.
 */
export async function endIfFailed(over: Over | undefined, folder: string): Promise<boolean> {
  if (over?.task?.result?.state !== "fail") return false;
  for (let left = processesWith(folder); left.length > 0; left = processesWith(folder)) {
    for (const pid of left) kill(pid);
    await new Promise((done) => setTimeout(done, 20));
  }
  appendFileSync(failedTries(process.env.HERDCTL_TEST_RUN ?? ""), `${folder}\n`);
  return true;
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended between the two looks.
  }
}

/** What a failed test had begun in its own process may have written after all was removed. */
export function removeFoldersOfFailed(run: string): void {
  const list = failedTries(run);
  if (!existsSync(list)) return;
  const folders = readFileSync(list, "utf8").split("\n").filter(Boolean);
  for (const path of [...folders, list]) rmSync(path, { recursive: true, force: true });
}

function failedTries(run: string): string {
  return join(run, "failed-tries");
}
