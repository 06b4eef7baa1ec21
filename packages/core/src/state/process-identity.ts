import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { z } from "zod";

/** A process that cannot be mistaken for a later one with the same number. */
export const processIdentitySchema = z.object({
  pid: z.number().int().positive(),
  start_time: z.string(),
  boot_id: z.string(),
});
export type ProcessIdentity = z.infer<typeof processIdentitySchema>;

/** Undefined when no such process runs. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const read = process.platform === "linux" ? readProc : askPs;
  const start_time = read(pid);
  return start_time === undefined ? undefined : { pid, start_time, boot_id: bootId() };
}

export function isAlive(identity: ProcessIdentity): boolean {
  const running = identifyProcess(identity.pid);
  return running?.start_time === identity.start_time && running.boot_id === identity.boot_id;
}

let own: ProcessIdentity | undefined;

export function currentProcess(): ProcessIdentity {
  own ??= identifyProcess(process.pid);
  if (own === undefined) throw new Error("this process cannot find itself");
  return own;
}

function readProc(pid: number): string | undefined {
  const stat = tryRead(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  if (stat === undefined) return undefined;
  // The program's name stands in parentheses and may itself hold spaces and parentheses.
  const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return state === "Z" || state === "X" ? undefined : rest[18];
}

function askPs(pid: number): string | undefined {
  const env = { ...process.env, LC_ALL: "C" };
  const started = tryRead(() => run("ps", ["-o", "lstart=", "-p", String(pid)], env));
  return started === "" ? undefined : started;
}

let knownBootId: string | undefined;

function bootId(): string {
  knownBootId ??= (
    process.platform === "linux"
      ? readFileSync("/proc/sys/kernel/random/boot_id", "utf8")
      : run("sysctl", ["-n", "kern.bootsessionuuid"], process.env)
  ).trim();
  return knownBootId;
}

function run(program: string, args: string[], env: NodeJS.ProcessEnv): string {
  return execFileSync(program, args, {
    encoding: "utf8",
    env,
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}

function tryRead(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
