import { loadFleet, platformSchema, UserError } from "@herdctl/core";
import { chatPlatforms } from "../chat-platforms.ts";
import type { Call } from "../command.ts";
import { fleetFileOf } from "../fleet-access.ts";
import { findAgent } from "../named-agent.ts";
import { checkLines } from "../show/check-lines.ts";
import { lookOf } from "../show/look.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  const [name = ""] = call.arguments;
  const { fleet, environment } = loadFleet(fleetFileOf(call), call.env);
  const agent = findAgent(name, fleet);
  const settings = agent.chat;
  const platforms = platformSchema.options.filter((platform) => settings?.[platform]);
  if (!settings || platforms.length === 0) {
    throw new UserError("usage", `\`${agent.name}\` is in no chat`, {
      hint: "Add a `chat:` block with `discord` or `slack` to the agent.",
    });
  }
  const checks = [];
  for (const platform of platforms) {
    const load = chatPlatforms[platform];
    const found = await (await load?.())?.examine({ agent: agent.name, settings, environment });
    for (const check of found ?? []) checks.push({ ...check, name: `${platform} ${check.name}` });
  }
  const isWell = checks.every(({ verdict }) => verdict !== "failed");
  if (terminal.json) terminal.printJson({ ok: isWell, checks });
  for (const check of terminal.json ? [] : checks) {
    checkLines(check, lookOf(terminal)).forEach(terminal.print);
  }
  return isWell ? 0 : 1;
}
