import { constants } from "node:fs";
import { type FileHandle, open, readlink, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { inside } from "../runner/container/layout.ts";
import type { RunOrder } from "../runner/run-order.ts";

export type OpenedFile =
  | { kind: "open"; file: FileHandle; bytes: number }
  | { kind: "refused"; reason: string };

/**
 * Opens a file of the workspace that an agent names, by the path that the agent sees. The file that
 * was really opened is looked at, and not its name: an agent in a container could change what a
 * name leads to between two looks.
 */
export async function openInWorkspace(
  order: Pick<RunOrder, "place" | "cwd">,
  path: string,
): Promise<OpenedFile> {
  const seen = order.place === "docker" ? inside.workspace : order.cwd;
  const within = isAbsolute(path) ? relative(seen, path) : relative(".", join(".", path));
  if (within === "" || isAbsolute(within) || within.split(sep).includes(".."))
    return refused(outside);
  try {
    const root = await realpath(order.cwd);
    const named = join(root, within);
    // Without it, opening a pipe would wait for somebody to write.
    const file = await open(named, constants.O_RDONLY | constants.O_NONBLOCK);
    const opened = await judge(file, named, root).catch(async (error) => {
      await file.close();
      throw error;
    });
    if (opened.kind === "refused") await file.close();
    return opened;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "") throw error;
    return refused(reasons[code] ?? `it cannot be read (${code})`);
  }
}

async function judge(file: FileHandle, named: string, root: string): Promise<OpenedFile> {
  const real = await realPathOf(file, named);
  if (!real.startsWith(root + sep)) return refused(outside);
  const stats = await file.stat();
  return stats.isFile()
    ? { kind: "open", file, bytes: stats.size }
    : refused("it is not a file, but a folder or something else");
}

/** Where containers are, the system tells what a handle has open. */
async function realPathOf({ fd }: FileHandle, named: string): Promise<string> {
  return process.platform === "linux" ? await readlink(`/proc/self/fd/${fd}`) : realpath(named);
}

const outside = "it does not lie in the working directory";

const reasons: Record<string, string> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EACCES: "it may not be read",
  ELOOP: outside,
};

function refused(reason: string): OpenedFile {
  return { kind: "refused", reason };
}
