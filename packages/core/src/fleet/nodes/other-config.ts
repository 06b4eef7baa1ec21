import { UserError } from "../../errors/user-error.ts";

/** What is wrong with a node that has not the files of the others. */
export const differs =
  "this node has read another configuration than the one in force: it takes no new jobs; bring it the same files, or run `herdctl reload` where the right ones are";

export function refused(
  own: string,
  { print, nodes }: { print: string; nodes: string[] },
): UserError {
  const short = (text: string) => text.slice(0, 12);
  const who = `${nodes.join(", ")} ${nodes.length === 1 ? "runs" : "run"}`;
  return new UserError(
    "node_refused",
    `${who} another configuration (${short(print)}) than the one here (${short(own)})`,
  );
}
