import { readdirSync } from "node:fs";
import type { Readable } from "node:stream";
import { setImmediate as breathe, setTimeout as delay } from "node:timers/promises";
import { readProc, statFields } from "../sweep/process-table.ts";
import type { ClaudeProcess, ProcessExit } from "./spawn.ts";

/**
 * The end of a process that was told to go, as soon as it is certain. Its parent is told when all
 * its memory is freed, which takes 10 to 30 ms for `claude`; but from its last instruction on each
 * of its threads shows that it is on its way out. Undefined where that cannot be seen, takes long,
 * or was no success: then the system's own word of it counts.
 */
export async function certainEnd({
  pid,
  stdout,
  stderr,
}: ClaudeProcess): Promise<ProcessExit | undefined> {
  if (pid === undefined || !(await endsWell(pid))) return undefined;
  await Promise.all([readOut(stdout), readOut(stderr)]);
  return { code: 0, signal: null };
}

const lookEvery = 1;
const longest = 200;

async function endsWell(pid: number): Promise<boolean> {
  const deadline = performance.now() + longest;
  while (performance.now() < deadline) {
    const stat = readProc(pid, "stat");
    if (stat === undefined) return false;
    const code = isLeaving(stat) ? codeAtEnd(stat, threadsOf(pid)) : undefined;
    if (code !== undefined) return code === 0;
    await delay(lookEvery);
  }
  return false;
}

/** What the parent will be told, once no thread can run any more; the first one may go before others. */
export function codeAtEnd(process: string, threads: readonly string[]): number | undefined {
  return threads.every(isLeaving) ? Number(statFields(process)[49]) : undefined;
}

/** The kernel's PF_EXITING: set before anything of a thread is taken down, and for good. */
function isLeaving(stat: string): boolean {
  return (Number(statFields(stat)[6]) & 0x4) !== 0;
}

function threadsOf(pid: number): string[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.flatMap((thread) => readProc(pid, `task/${thread}/stat`) ?? []);
  } catch {
    return [];
  }
}

/** Whoever reads gets all that lies in the pipe within one turn of the loop, unless there is more. */
async function readOut(stream: Readable): Promise<void> {
  let wasQuiet = false;
  const heard = () => {
    wasQuiet = false;
  };
  stream.on("data", heard);
  while (!wasQuiet) {
    wasQuiet = true;
    // The turn of now may have looked at the pipe before the last of it came.
    await breathe();
    await breathe();
  }
  stream.off("data", heard);
}
