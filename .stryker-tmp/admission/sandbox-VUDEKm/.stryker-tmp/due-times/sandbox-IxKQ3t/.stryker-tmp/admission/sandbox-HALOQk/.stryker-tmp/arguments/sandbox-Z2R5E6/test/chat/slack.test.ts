import { describe } from "vitest";
import { describeConnectorConformance } from "./connector-conformance.ts";
import { startSlackStandIn } from "./slack-stand-in.ts";

const limit = { maxRequests: 1, windowMs: 1_500 };
const limits = { "chat.postMessage": limit, "chat.update": limit };

describe("Slack", () => {
  describeConnectorConformance((limited) => startSlackStandIn(limited ? { limits } : {}));
});
