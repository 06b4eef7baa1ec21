/** What an agent says of its progress with the fleet's tool: `40 % reading the tests`. */
export function progressOf(tool: string, input: unknown): string | undefined {
  if (tool !== "mcp__herd__progress" || typeof input !== "object" || input === null) return;
  const { text, fraction }: { text?: unknown; fraction?: unknown } = input;
  if (typeof text !== "string") return;
  const isFraction = typeof fraction === "number" && fraction >= 0 && fraction <= 1;
  const share = isFraction ? [`${Math.floor(fraction * 100)} %`] : [];
  return [...share, text.trim().replaceAll(/\s+/g, " ")].join(" ");
}
