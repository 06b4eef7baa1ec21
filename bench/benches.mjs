import { chat } from "./chat.mjs";
import { commands } from "./commands.mjs";
import { config } from "./config.mjs";
import { dashboardEvents, dashboardFirstPage } from "./dashboard.mjs";
import { dockerTurn } from "./docker.mjs";
import { deafness, dueTimes } from "./due-times.mjs";
import { fleets } from "./fleets.mjs";
import { installSize } from "./install-size.mjs";
import { largeMessage } from "./large-message-memory.mjs";
import { liveTurn } from "./live.mjs";
import { messages } from "./messages.mjs";
import { nodePickup, nodeRate, nodeStore } from "./nodes.mjs";
import { aloneTurn, oneTurn, warmTurn } from "./one-turn.mjs";
import { runnerMemory } from "./runner-memory.mjs";
import { spawnTime } from "./spawn-time.mjs";
import { store } from "./store.mjs";
import { streamReaders } from "./stream-readers.mjs";
import { webhooks } from "./webhooks.mjs";

/** All there is to measure, in the order of the table. */
export const benches = {
  "One turn": { oneTurn, warmTurn, aloneTurn, liveTurn, dockerTurn },
  "The way of a job": { spawnTime, messages, largeMessage, webhooks, dueTimes, deafness },
  Growth: { store, fleets, config },
  "Many machines": { nodePickup, nodeRate, nodeStore },
  "Memory and size": { runnerMemory, streamReaders, installSize },
  "Chat and dashboard": { chat, dashboardFirstPage, dashboardEvents },
  Commands: { commands },
};
