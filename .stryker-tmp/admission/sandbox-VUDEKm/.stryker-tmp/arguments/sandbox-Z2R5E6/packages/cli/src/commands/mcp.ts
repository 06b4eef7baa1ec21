import { type Allowance, allowances, UserError } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import { printInstallInstructions } from "../mcp/install-instructions.ts";

export async function run(context: CommandContext): Promise<number> {
  const allow = parseAllowances(textOption(context.options, "allow"));
  if (context.options.install === true) return printInstallInstructions(context, allow);
  const [{ serveOnStdio }, { createMcpFleetConnection }] = await Promise.all([
    import("@herdctl/server/mcp"),
    import("../mcp/mcp-fleet-connection.ts"),
  ]);
  const onBug = (error: unknown) =>
    context.terminal.printNote(`herdctl has a bug: ${errorText(error)}`);
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());
  await serveOnStdio(
    { fleetProvider: createMcpFleetConnection(context), allowances: allow, onBug },
    stop.signal,
  );
  return 0;
}

function parseAllowances(text = ""): Allowance[] {
  const names = text.split(",").map((name) => name.trim());
  return names.filter((name) => name !== "").map(parseAllowance);
}

function parseAllowance(name: string): Allowance {
  const found = allowances.find((allowance) => allowance === name);
  if (found) return found;
  const hint = `Use any of these, separated with commas: ${allowances.join(", ")}.`;
  throw new UserError("usage", `"${name}" cannot be allowed`, { hint });
}

function errorText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
