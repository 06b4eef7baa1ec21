import { describe } from "vitest";
import { conformance } from "./conformance.ts";
import { slackStandIn } from "./slack-stand-in.ts";

describe("Slack", () => {
  conformance(() => slackStandIn());
});
