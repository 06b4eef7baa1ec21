import type { ExecuteOptions } from "../runtime-interface.ts";
import type { Invocation } from "./build-invocation.ts";

/** The arguments of `claude` for streams of JSON messages on stdin and stdout. */
export function buildCliArguments(
  { flags }: Pick<Invocation, "flags">,
  { onPermission }: Pick<ExecuteOptions, "onPermission">,
): string[] {
  return [
    "-p",
    "--output-format=stream-json",
    "--verbose",
    "--input-format=stream-json",
    ...(onPermission ? ["--permission-prompt-tool=stdio"] : []),
    ...flags.map(([name, value]) => (value === null ? `--${name}` : `--${name}=${value}`)),
  ];
}
