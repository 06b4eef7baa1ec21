import { expect, test } from "vitest";
import { summarizeRefusals } from "../../packages/core/src/runner/gateway/traffic-meter.ts";

const refusal = { port: 443, count: 2, reason: "not in `egress`" };

test("leaves Claude Code's own connections out of the job's warnings, and nothing else", () => {
  const hosts = ["api.anthropic.com", "registry.example.com"].map((host) => ({ host, ...refusal }));
  expect(summarizeRefusals(undefined, hosts).map(({ target }) => target)).toEqual([
    "registry.example.com:443",
  ]);
  const otherPort = { ...refusal, host: "api.anthropic.com", port: 80 };
  expect(summarizeRefusals(undefined, [otherPort])).toHaveLength(1);
});
