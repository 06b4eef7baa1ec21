import { type Allowance, allowances, UserError } from "@herdctl/core/light";
import { type Call, textOption } from "../command.ts";
import { showInstall } from "../mcp/show-install.ts";

export async function run(call: Call): Promise<number> {
  const allow = allowancesIn(textOption(call.options, "allow"));
  if (call.options.install === true) return showInstall(call, allow);
  const [{ serveOnStdio }, { fleetRoad }] = await Promise.all([
    import("@herdctl/server/mcp"),
    import("../mcp/fleet-road.ts"),
  ]);
  const onBug = (error: unknown) => call.terminal.note(`herdctl has a bug: ${storyOf(error)}`);
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());
  await serveOnStdio({ road: fleetRoad(call), allow, onBug }, stop.signal);
  return 0;
}

function allowancesIn(text = ""): Allowance[] {
  const words = text.split(",").map((word) => word.trim());
  return words.filter((word) => word !== "").map(allowanceOf);
}

function allowanceOf(word: string): Allowance {
  const found = allowances.find((one) => one === word);
  if (found) return found;
  const hint = `Any of: ${allowances.join(", ")}, with commas between them.`;
  throw new UserError("usage", `"${word}" is nothing that can be allowed`, { hint });
}

function storyOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
