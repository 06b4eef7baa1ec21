import { isOlder } from "../../runner/claude-version.ts";
import { type Finding, failed, ok } from "../check.ts";

const oldestNode = "20.19.0";

export function judgeNode(version: string): Finding {
  if (!isOlder(version, oldestNode)) return ok("node", `Node ${version}.`);
  return failed(
    "node",
    `Node ${version} is too old: herdctl needs ${oldestNode} or newer.`,
    "Install a newer Node, such as the current LTS release.",
  );
}
