import { spawn } from "node:child_process";
import { Writable } from "node:stream";
import type { Environment } from "../config/environment.ts";
import type { HookOf } from "../config/schema/hooks.ts";
import { runMarker } from "../runner/environment.ts";
import { Leash } from "../runner/sweep/leash.ts";
import type { HookAttempt } from "./hook-attempt.ts";
import { failed, type HookResult, succeeded } from "./hook-result.ts";
import { TailBuffer } from "./tail-buffer.ts";

/** A command on the host, in the fleet's folder. Nothing that it started outlives it. */
export async function runShell(hook: HookOf<"shell">, attempt: HookAttempt): Promise<HookResult> {
  const { run, folder, signal } = attempt;
  const token = hookToken(run.id, run.attempts);
  const child = spawn("/bin/sh", ["-c", onceHeld, "sh", hook.command], {
    cwd: folder,
    env: environmentOf(hook, attempt, token),
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    detached: true,
  });
  const leash = new Leash(token);
  if (child.pid !== undefined) leash.hold(child.pid);
  letGo(child.stdio[3]);
  const output = new TailBuffer();
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => output.add(data));
  // A command need not read what it is told.
  child.stdin.on("error", () => undefined);
  child.stdin.end(`${JSON.stringify(attempt.context)}\n`);

  const ended = new Promise<End>((resolve) => {
    child.once("error", (error) => resolve({ error }));
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const end = await Promise.race([ended, aborted(signal)]);
  await leash.kill();
  await Promise.race([ended, pause(lastWords)]);
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  return { ...resultOf(end, signal), output: output.text };
}

/** What it forked before it is on the leash would not be on it, so it waits for a word first. */
const onceHeld = 'read -r _ <&3; exec /bin/sh -c "$1" 3<&-';

function letGo(stream: unknown): void {
  if (!(stream instanceof Writable)) return;
  stream.on("error", () => undefined);
  stream.end("\n");
}

/** The mark of one attempt, by which its processes are found though their fleet is dead. */
export function hookToken(id: string, attempt: number): string {
  return `${id}-${attempt}`;
}

type End = { code: number | null; signal: string | null } | { error: Error } | "aborted";

const lastWords = 1_000;

function resultOf(end: End, signal: AbortSignal): HookResult {
  if (end === "aborted") return failed(String(signal.reason));
  if ("error" in end) return failed(`the command could not be started: ${end.error.message}`);
  if (end.code === 0) return succeeded("exit 0");
  return failed(end.code === null ? `ended by ${end.signal}` : `exit ${end.code}`);
}

const inherited = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TZ|TMPDIR|LC_\w+)$/;

function environmentOf(
  hook: HookOf<"shell">,
  { run, context, environment }: HookAttempt,
  token: string,
): Record<string, string> {
  return {
    ...shortList(environment),
    ...hook.env,
    HERDCTL_JOB: context.job.id,
    HERDCTL_AGENT: context.job.agent,
    HERDCTL_STATUS: context.job.status,
    HERDCTL_OUTCOME: context.job.outcome?.code ?? "",
    HERDCTL_EVENT: run.event,
    HERDCTL_HOOK: run.id,
    HERDCTL_ATTEMPT: String(run.attempts),
    [runMarker]: token,
  };
}

function shortList(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && inherited.test(name) ? [[name, value]] : [],
    ),
  );
}

function aborted(signal: AbortSignal): Promise<"aborted"> {
  if (signal.aborted) return Promise.resolve("aborted");
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve("aborted"), { once: true }),
  );
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
