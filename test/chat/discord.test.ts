import { describe } from "vitest";
import { conformance } from "./conformance.ts";
import { discordStandIn } from "./discord-stand-in.ts";

describe("Discord", () => {
  conformance(() => discordStandIn());
});
