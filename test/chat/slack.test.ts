import { describe } from "vitest";
import { conformance } from "./conformance.ts";
import { slackStandIn } from "./slack-stand-in.ts";

const limit = { requests: 1, milliseconds: 1_500 };
const limits = { "chat.postMessage": limit, "chat.update": limit };

describe("Slack", () => {
  conformance((limited) => slackStandIn(limited ? { limits } : {}));
});
