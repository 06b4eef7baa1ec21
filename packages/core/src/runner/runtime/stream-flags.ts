import type { ExecuteOptions } from "./interface.ts";

/** Makes `claude` speak the stream of JSON messages in both directions. */
export function streamFlags({
  onPermission,
  partialMessages,
}: Pick<ExecuteOptions, "onPermission" | "partialMessages">): string[] {
  return [
    "-p",
    "--output-format=stream-json",
    "--verbose",
    "--input-format=stream-json",
    ...(onPermission ? ["--permission-prompt-tool=stdio"] : []),
    ...(partialMessages ? ["--include-partial-messages"] : []),
  ];
}
