import { describe } from "vitest";
import { conformance } from "./conformance.ts";
import { discordStandIn } from "./discord-stand-in.ts";

const limit = { requests: 1, milliseconds: 1_500 };

describe("Discord", () => {
  conformance((limited) => discordStandIn(limited ? { limit } : {}));
});
