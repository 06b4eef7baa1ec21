import type { HookOf } from "../config/schema/hooks.ts";
import { type CommandEnd, runHostCommand } from "../runner/sweep/host-command.ts";
import { hostEnvironment } from "../runner/sweep/host-environment.ts";
import type { HookAttempt } from "./hook-attempt.ts";
import { failed, type HookResult, succeeded } from "./hook-result.ts";
import { TailBuffer } from "./tail-buffer.ts";

/** A command on the host, in the fleet's folder, with the job on its standard input. */
export async function runShell(hook: HookOf<"shell">, attempt: HookAttempt): Promise<HookResult> {
  const { run, folder, signal, context } = attempt;
  const output = new TailBuffer();
  const keep = (data: Buffer) => output.add(data);
  const end = await runHostCommand({
    command: hook.command,
    folder,
    env: environmentOf(hook, attempt),
    token: hookToken(run.id, run.attempts),
    input: `${JSON.stringify(context)}\n`,
    signal,
    onStdout: keep,
    onStderr: keep,
  });
  return { ...resultOf(end, signal), output: output.text };
}

/** The mark of one attempt, by which its processes are found though their fleet is dead. */
export function hookToken(id: string, attempt: number): string {
  return `${id}-${attempt}`;
}

function resultOf(end: CommandEnd, signal: AbortSignal): HookResult {
  if (end.kind === "aborted") return failed(String(signal.reason));
  if (end.kind === "unstarted") {
    return failed(`the command could not be started: ${end.error.message}`);
  }
  if (end.code === 0) return succeeded("exit 0");
  return failed(end.code === null ? `ended by ${end.signal}` : `exit ${end.code}`);
}

function environmentOf(
  hook: HookOf<"shell">,
  { run, context, environment }: HookAttempt,
): Record<string, string> {
  return {
    ...hostEnvironment(environment),
    ...hook.env,
    HERDCTL_JOB: context.job.id,
    HERDCTL_AGENT: context.job.agent,
    HERDCTL_STATUS: context.job.status,
    HERDCTL_OUTCOME: context.job.outcome?.code ?? "",
    HERDCTL_EVENT: run.event,
    HERDCTL_HOOK: run.id,
    HERDCTL_ATTEMPT: String(run.attempts),
  };
}
