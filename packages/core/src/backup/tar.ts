import { tmpdir } from "node:os";
import { UserError } from "@herdctl/protocol";
import { runProgram } from "../process-tree/host-command.ts";

/** Runs the system's `tar`. Files that change while they are read are no error. */
export async function runTar(
  args: readonly string[],
  parts: readonly { folder: string; names: readonly string[] }[],
): Promise<void> {
  const inputs = parts
    .filter(({ names }) => names.length > 0)
    .flatMap(({ folder, names }) => ["-C", folder, ...names]);
  const result = await runProgram(
    {
      ...{ file: "tar", args: [...args, ...inputs], cwd: tmpdir() },
      env: { PATH: process.env.PATH ?? "" },
    },
    new AbortController().signal,
  );
  const isChange = result.code === 1 && /file changed|removed before/i.test(result.stderr);
  if (result.code === 0 || isChange) return;
  const reason = result.failure ?? result.stderr.trim().split("\n").at(-1) ?? "";
  throw new UserError("file_unreadable", `the archive could not be processed: ${reason}`, {
    hint: "Check that `tar` is installed, that there is free space, and that the file is a backup.",
  });
}
