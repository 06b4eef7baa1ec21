// From a message in a chat to the first visible sign of an answer, the platform's own time beside it.
import { setTimeout as pause } from "node:timers/promises";
import { DiscordStandIn } from "@herdctl/discord/stand-in";
import { inTurns } from "./measure.mjs";
import { startFleet } from "./running-fleet.mjs";
import { rehearsedFleet } from "./stage.mjs";

export async function chat() {
  const discord = await DiscordStandIn.start({ limit: { requests: 1000, milliseconds: 1000 } });
  const { world } = discord;
  const room = world.direct(world.user("ann").id).id;
  const block = `token_env: DISCORD_TOKEN, base_url: "${discord.url}", direct_messages: ["${world.user("ann").id}"]`;
  const fleetFile = `version: 1
fleet: { name: bench }
agents:
  - { name: hello, runtime: cli, permission_mode: bypassPermissions, chat: { discord: { ${block} } } }
`;
  const stage = await rehearsedFleet({ fleetFile });
  const fleet = await startFleet({
    ...stage,
    env: { ...stage.env, DISCORD_TOKEN: discord.token },
  });
  const posts = () => world.in(room).filter(({ author }) => author === world.bot.id);
  try {
    while ((await fleet.control.chat())[0]?.state !== "connected") await pause(20);
    const times = await inTurns(12, {
      ours: async () => {
        const before = posts().length;
        const began = performance.now();
        discord.say({ channel: room, user: "ann", text: "hello" });
        while (posts().length === before) await pause(1);
        const took = performance.now() - began;
        while (posts().some(({ content }) => content.includes("⏳"))) await pause(20);
        await pause(1_200);
        return took;
      },
      bare: async () => {
        const began = performance.now();
        await fetch(`${discord.url}/v10/gateway/bot`, {
          headers: { authorization: `Bot ${discord.token}` },
        });
        return performance.now() - began;
      },
    });
    const what = "chat message to first sign";
    return { what, beside: "a request to the platform", ...times, bound: { median: 150 } };
  } finally {
    await fleet.stop();
    await stage.dispose();
    await discord.stop();
  }
}
