import type { Environment } from "@herdctl/config";
import { type Job, type RewindPoint, UserError } from "@herdctl/protocol";
import { withTimeout } from "../lib/timeout.ts";
import { hostEnvironment, type ProgramResult, runProgram } from "../process-tree/host-command.ts";
import { readSessionFile } from "./session-files/follow-session-file.ts";
import { blocksOf, roleOf, type SessionLine } from "./session-files/session-line.ts";

type JobTimes = Pick<Job, "started_at" | "finished_at">;

/** The prompts of a session, oldest first. */
export async function readRewindPoints(transcript: string, job: JobTimes): Promise<RewindPoint[]> {
  const points: RewindPoint[] = [];
  for await (const { line, subagent } of readSessionFile(transcript)) {
    if (subagent || line.isSidechain || line.uuid === undefined) continue;
    if (roleOf(line) !== "prompt") continue;
    const at = line.timestamp ?? null;
    points.push({ message: line.uuid, at, prompt: firstWords(line), of_job: isDuring(at, job) });
  }
  return points;
}

const maxPromptLength = 80;

function firstWords({ message }: SessionLine): string {
  const [block] = blocksOf(message, "text");
  const text = typeof message?.content === "string" ? message.content : String(block?.text ?? "");
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > maxPromptLength ? `${line.slice(0, maxPromptLength - 1)}…` : line;
}

function isDuring(at: string | null, { started_at, finished_at }: JobTimes): boolean {
  if (at === null || started_at === null) return false;
  const time = Date.parse(at);
  return (
    time >= Date.parse(started_at) && (finished_at === null || time <= Date.parse(finished_at))
  );
}

/** The point that the caller named, by default the first of the job. */
export function chooseRewindPoint(points: readonly RewindPoint[], to?: string): RewindPoint {
  const found =
    to === undefined
      ? points.filter(({ of_job }) => of_job).slice(0, 1)
      : points.filter(({ message }) => to !== "" && message.startsWith(to));
  const [point, ...others] = found;
  if (point && others.length === 0) return point;
  const hint = "Run `herdctl rewind JOB --list` to see the messages.";
  if (point) throw new UserError("usage", `several messages begin with ${to}`, { hint });
  const missing =
    to === undefined
      ? "the transcript contains no message of this job"
      : `there is no message ${to} of the user in the session`;
  throw new UserError("usage", missing, { hint });
}

interface RewindRequest {
  program: string;
  sessionId: string;
  message: string;
  cwd: string;
  environment: Environment;
  /** Undefined for Claude Code's default. */
  configDir: string | undefined;
}

export const rewindTimeoutMs = 60_000;

/**
 * Restores the files with `claude`, which calls no model: it gets no credential, and no settings of
 * the user or the repository, whose hooks it would run.
 */
export async function rewindFiles(request: RewindRequest): Promise<void> {
  const { program, sessionId, message, cwd } = request;
  const args = [
    ...["-p", `--resume=${sessionId}`, `--rewind-files=${message}`],
    ...["--setting-sources=", "--strict-mcp-config", `--settings=${JSON.stringify(settings)}`],
  ];
  const env = rewindEnvironment(request);
  const { code, failure, stderr } = await runLimited({ file: program, args, cwd, env });
  if (code === 0) return;
  const said = failure ?? (stderr.trim().slice(-300) || `it ended with code ${code}`);
  throw new UserError("session_unavailable", `Claude Code could not restore the files: ${said}`, {
    hint: "Claude Code backs up files only while `file_checkpointing` is set.",
  });
}

/** Claude Code deletes old transcripts at its start, by default after 30 days. */
const settings = { disableAllHooks: true, cleanupPeriodDays: 36_500 };

function rewindEnvironment({ environment, configDir }: RewindRequest): Record<string, string> {
  return {
    ...hostEnvironment(environment),
    ...(configDir !== undefined && { CLAUDE_CONFIG_DIR: configDir }),
    CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: "true",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  };
}

async function runLimited(program: Parameters<typeof runProgram>[0]): Promise<ProgramResult> {
  const never = new AbortController().signal;
  return await withTimeout(never, rewindTimeoutMs, async (limit) => {
    try {
      return await runProgram(program, limit);
    } catch (error) {
      if (!limit.aborted) throw error;
      const failure = `it did not end within ${rewindTimeoutMs / 1000} seconds`;
      return { code: undefined, stdout: "", stderr: "", failure };
    }
  });
}
