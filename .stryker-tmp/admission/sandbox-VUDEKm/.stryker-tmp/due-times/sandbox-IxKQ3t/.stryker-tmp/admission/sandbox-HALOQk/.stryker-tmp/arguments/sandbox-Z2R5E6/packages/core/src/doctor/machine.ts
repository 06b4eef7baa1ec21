import type { StatsFs } from "node:fs";
import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { isOlder } from "../claude/version.ts";
import { withTimeout } from "../lib/timeout.ts";
import { runGit } from "../workspaces/git.ts";
import { type Finding, failed, ok, warning } from "./check.ts";

export interface ClockFacts {
  now: Date;
  /** The time zone that Node uses. */
  zone: string;
  /** `TZ` of the environment. */
  tzVariable: string | undefined;
  /** How far the clock jumped ahead while the doctor was running. */
  clockJumpMs: number;
  /** How far the clock is ahead of the API's; undefined if the API was not queried. */
  apiSkewMs: number | undefined;
}

const name = "clock";

/** Before the first version of herdctl. */
const earliestPlausibleTime = new Date("2025-01-01T00:00:00Z");

const minuteMs = 60_000;

/** Webhook signatures are rejected beyond this. */
const maxSkewForSignaturesMs = 5 * minuteMs;

const maxUnnoticedSkewMs = minuteMs / 2;

const maxJumpMs = 2_000;

const syncClockHint = "Synchronize the clock, for example with `timedatectl set-ntp true`.";

export function evaluateClock({
  now,
  zone,
  tzVariable,
  clockJumpMs,
  apiSkewMs,
}: ClockFacts): Finding {
  if (now < earliestPlausibleTime) {
    return failed(name, `The clock shows ${now.toISOString()}, which is wrong.`, syncClockHint);
  }
  if (apiSkewMs !== undefined && Math.abs(apiSkewMs) > maxUnnoticedSkewMs) {
    const message = `The clock is ${describeOffset(apiSkewMs)} the API's: schedules run at the wrong time.`;
    const isTooMuch = Math.abs(apiSkewMs) > maxSkewForSignaturesMs;
    if (!isTooMuch) return warning(name, message, syncClockHint);
    return failed(name, `${message} Signed webhooks are rejected.`, syncClockHint);
  }
  if (Math.abs(clockJumpMs) > maxJumpMs) {
    return warning(
      name,
      `The clock was changed while the doctor was running: it is ${describeOffset(clockJumpMs)} before.`,
      syncClockHint,
    );
  }
  if (tzVariable !== undefined && tzVariable !== "" && !isTimeZone(tzVariable)) {
    const hint = "Set TZ to a name such as `Europe/Berlin`, or unset it.";
    return warning(name, `TZ is "${tzVariable}", which is not a time zone: ${zone} is used.`, hint);
  }
  const apiAgreement = apiSkewMs === undefined ? "" : "; it agrees with the API's";
  return ok(name, `Time zone ${zone}${apiAgreement}.`);
}

function describeOffset(milliseconds: number): string {
  const seconds = Math.round(Math.abs(milliseconds) / 1_000);
  const text = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  return `${text} ${milliseconds > 0 ? "ahead of" : "behind"}`;
}

function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: text.replace(/^:/, "") });
    return true;
  } catch {
    return false;
  }
}

export interface DiskFacts {
  /** The use of the path: `the state`, `temporary files`. */
  purpose: string;
  path: string;
  freeBytes: number;
  /** The number of files that can still be created; undefined if the file system has no limit. */
  freeFiles: number | undefined;
}

const bytesPerMegabyte = 1024 ** 2;

const minFreeBytes = 100 * bytesPerMegabyte;

const comfortableFreeBytes = 1024 * bytesPerMegabyte;

const minFreeFiles = 1_000;

export async function checkDisk(
  locations: { purpose: string; path: string }[],
): Promise<Finding[]> {
  const facts = await Promise.all(
    locations.map(({ purpose, path }) => readDiskFacts(purpose, path)),
  );
  return facts.map(evaluateDisk);
}

export function evaluateDisk({ purpose, path, freeBytes, freeFiles }: DiskFacts): Finding {
  const name = "disk";
  const free =
    freeBytes < comfortableFreeBytes
      ? `${Math.floor(freeBytes / bytesPerMegabyte)} MB`
      : formatGigabytes(freeBytes);
  const hint = `Free some space on the disk of ${path}; \`fleet.retention\` sets how long jobs are kept.`;
  if (freeFiles !== undefined && freeFiles < minFreeFiles) {
    return failed(name, `Only ${freeFiles} more files can be created for ${purpose}.`, hint);
  }
  if (freeBytes < minFreeBytes) return failed(name, `Only ${free} are free for ${purpose}.`, hint);
  if (freeBytes < comfortableFreeBytes)
    return warning(name, `Only ${free} are free for ${purpose}.`, hint);
  return ok(name, `${free} are free for ${purpose}.`);
}

async function readDiskFacts(purpose: string, path: string): Promise<DiskFacts> {
  const { bavail, bsize, files, ffree } = await statfsNearest(path);
  const freeFiles = files === 0 ? undefined : ffree;
  return { purpose, path, freeBytes: bavail * bsize, freeFiles };
}

/** For a missing path, the file system of its nearest existing parent. */
async function statfsNearest(path: string): Promise<StatsFs> {
  try {
    return await statfs(path);
  } catch (error) {
    if (path === dirname(path)) throw error;
    return await statfsNearest(dirname(path));
  }
}

function formatGigabytes(bytes: number): string {
  return `${Math.floor(bytes / comfortableFreeBytes)} GB`;
}

const gitTimeoutMs = 10_000;

export async function checkGit(
  cloningAgents: readonly string[],
  signal: AbortSignal,
): Promise<Finding> {
  return evaluateGit(await gitVersion(signal), cloningAgents);
}

/** Only agents with a clone need git. */
export function evaluateGit(
  version: string | undefined,
  cloningAgents: readonly string[],
): Finding {
  if (version !== undefined) return ok("git", `git ${version}.`);
  const hint = "Install git, for example with `apt install git` or `brew install git`.";
  if (cloningAgents.length === 0) return warning("git", "There is no git on the PATH.", hint);
  const agents = cloningAgents.join(", ");
  return failed(
    "git",
    `There is no git on the PATH. It is needed to clone the workspace of ${agents}.`,
    hint,
  );
}

async function gitVersion(signal: AbortSignal): Promise<string | undefined> {
  try {
    const { stdout } = await withTimeout(signal, gitTimeoutMs, (limit) =>
      runGit(["--version"], tmpdir(), limit),
    );
    return /^git version (\S+)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}

const minNodeVersion = "22.13.0";

export function evaluateNodeVersion(version: string): Finding {
  if (!isOlder(version, minNodeVersion)) return ok("node", `Node ${version}.`);
  return failed(
    "node",
    `Node ${version} is too old: herdctl needs ${minNodeVersion} or newer.`,
    "Install a newer Node, such as the current LTS release.",
  );
}
