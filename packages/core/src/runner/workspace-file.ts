import { constants } from "node:fs";
import { type FileHandle, open, readlink, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import type { Place } from "../state/job.ts";
import { inside } from "./container/layout.ts";
import { operatorFiles } from "./container/workspace-facts.ts";
import type { RunOrder } from "./run-order.ts";

export interface OpenedFrom {
  place: Place;
  cwd: string;
  /** Files and folders that the agent does not see, or may only read, wherever a link leads there. */
  closed: readonly string[];
}

export type OpenedFile =
  | { kind: "open"; file: FileHandle; bytes: number }
  | { kind: "missing"; reason: string }
  | { kind: "refused"; reason: string };

/**
 * Opens a file of the workspace that an agent names, by the path that the agent sees. The file that
 * was really opened is looked at, and not its name: an agent in a container could change what a
 * name leads to between two looks.
 */
export async function openInWorkspace(order: OpenedFrom, path: string): Promise<OpenedFile> {
  const seen = order.place === "docker" ? inside.workspace : order.cwd;
  const within = isAbsolute(path) ? relative(seen, path) : relative(".", join(".", path));
  if (within === "" || isAbsolute(within) || within.split(sep).includes(".."))
    return refused(outside);
  try {
    const root = await realpath(order.cwd);
    const closed = await Promise.all(order.closed.map((one) => realpath(one).catch(() => one)));
    const named = join(root, within);
    // Without it, opening a pipe would wait for somebody to write.
    const file = await open(named, constants.O_RDONLY | constants.O_NONBLOCK);
    const opened = await judge(file, { named, root, closed }).catch(async (error) => {
      await file.close();
      throw error;
    });
    if (opened.kind === "refused") await file.close();
    return opened;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "") throw error;
    if (code === "ENOENT" || code === "ENOTDIR") {
      return { kind: "missing", reason: "there is no such file" };
    }
    return refused(reasons[code] ?? `it cannot be read (${code})`);
  }
}

interface Judged {
  named: string;
  root: string;
  closed: readonly string[];
}

async function judge(file: FileHandle, { named, root, closed }: Judged): Promise<OpenedFile> {
  const real = await realPathOf(file, named);
  if (!real.startsWith(root + sep)) return refused(outside);
  if (closed.some((path) => real === path || real.startsWith(path + sep))) {
    return refused("it belongs to the operator and is closed to the agent");
  }
  const stats = await file.stat();
  return stats.isFile()
    ? { kind: "open", file, bytes: stats.size }
    : refused("it is not a file, but a folder or something else");
}

/**
 * What a container does not get to see of its workspace must not come out of it either: secrets,
 * the state of the fleet, the repository's own directory. An agent on the host reads them anyway.
 */
export function closedPaths(
  { place, cwd, agent }: Pick<RunOrder, "place" | "cwd" | "agent">,
  stateDir: string,
): string[] {
  if (place !== "docker") return [];
  const { binding, secret } = operatorFiles(agent, stateDir);
  return [...secret, ...binding, join(cwd, ".git")];
}

/** Where containers are, the system tells what a handle has open. */
async function realPathOf({ fd }: FileHandle, named: string): Promise<string> {
  return process.platform === "linux" ? await readlink(`/proc/self/fd/${fd}`) : realpath(named);
}

const outside = "it does not lie in the working directory";

const reasons: Record<string, string> = {
  EACCES: "it may not be read",
  ELOOP: outside,
};

function refused(reason: string): OpenedFile {
  return { kind: "refused", reason };
}
