import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { processesWithMarker } from "./processes-with-marker.ts";

/** The part of a test's result that Vitest passes to hooks. */
export interface TestResult {
  task?: { result?: { state: string } };
}

/**
 * A test that failed midway did not end its own runs, which outlive their fleet. Processes with its
 * folder in their environment are killed, so that a retry starts clean. After a passing test they
 * stay, because there they are leaks that must be found.
 */
export async function killLeftoversIfFailed(
  outcome: TestResult | undefined,
  folder: string,
): Promise<boolean> {
  if (outcome?.task?.result?.state !== "fail") return false;
  for (
    let pids = processesWithMarker(folder);
    pids.length > 0;
    pids = processesWithMarker(folder)
  ) {
    for (const pid of pids) kill(pid);
    await new Promise((done) => setTimeout(done, 20));
  }
  appendFileSync(failedTestsFile(process.env.HERDCTL_TEST_RUN ?? ""), `${folder}\n`);
  return true;
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process ended between listing and reading.
  }
}

/** A failed test may still write files after its folder was removed. */
export function removeFoldersOfFailedTests(runFolder: string): void {
  const list = failedTestsFile(runFolder);
  if (!existsSync(list)) return;
  const folders = readFileSync(list, "utf8").split("\n").filter(Boolean);
  for (const path of [...folders, list]) rmSync(path, { recursive: true, force: true });
}

function failedTestsFile(runFolder: string): string {
  return join(runFolder, "failed-tries");
}
