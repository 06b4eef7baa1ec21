import { loadFleet } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import { chatPlatformSchema } from "@herdctl/protocol/schemas";
import { chatPlatforms } from "../chat-platforms.ts";
import type { CommandContext } from "../command.ts";
import { findAgent } from "../find-agent.ts";
import { resolveFleetFile } from "../find-fleet.ts";
import { checkLines } from "../render/doctor-check-lines.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const [name = ""] = context.arguments;
  const { fleet, environment } = loadFleet(resolveFleetFile(context), context.env);
  const agent = findAgent(name, fleet);
  const settings = agent.chat;
  const platforms = chatPlatformSchema.options.filter((platform) => settings?.[platform]);
  if (!settings || platforms.length === 0) {
    throw new UserError("usage", `\`${agent.name}\` has no chat configured`, {
      hint: "Add a `chat` block with `discord` or `slack` to the agent.",
    });
  }
  const checks = [];
  for (const platform of platforms) {
    const load = chatPlatforms[platform];
    const found = await (await load?.())?.check({ agent: agent.name, settings, environment });
    for (const check of found ?? []) checks.push({ ...check, name: `${platform} ${check.name}` });
  }
  const isOk = checks.every(({ verdict }) => verdict !== "failed");
  if (terminal.isJson) terminal.printJson({ ok: isOk, checks });
  for (const check of terminal.isJson ? [] : checks) {
    checkLines(check, terminalStyleOf(terminal)).forEach(terminal.print);
  }
  return isOk ? 0 : 1;
}
