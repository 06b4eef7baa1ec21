import { describe } from "vitest";
import { describeConnectorConformance } from "./connector-conformance.ts";
import { startDiscordStandIn } from "./discord-stand-in.ts";

const limit = { maxRequests: 1, windowMs: 1_500 };

describe("Discord", () => {
  describeConnectorConformance((limited) =>
    startDiscordStandIn(limited ? { rateLimit: limit } : {}),
  );
});
