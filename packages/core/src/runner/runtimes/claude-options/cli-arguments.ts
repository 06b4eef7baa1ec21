import type { ExecuteOptions } from "../runtime-interface.ts";
import type { Invocation } from "./build-invocation.ts";

type CliRun = Pick<ExecuteOptions, "agent" | "onPermission">;

/** The arguments of `claude` for streams of JSON messages on stdin and stdout. */
export function buildCliArguments(
  { flags }: Pick<Invocation, "flags">,
  { agent, onPermission }: CliRun,
): string[] {
  return [
    "-p",
    "--output-format=stream-json",
    "--verbose",
    "--input-format=stream-json",
    ...(onPermission && !agent.permission_prompt_tool ? ["--permission-prompt-tool=stdio"] : []),
    ...flags.map(([name, value]) => (value === null ? `--${name}` : `--${name}=${value}`)),
  ];
}
