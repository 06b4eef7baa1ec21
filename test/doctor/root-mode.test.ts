import { findRootProblems } from "@herdctl/core/internal";
import { expect, test } from "vitest";

type Agent = Parameters<typeof findRootProblems>[0][number];

const host = { docker: { enabled: false }, env: {}, permission_mode: "bypassPermissions" };
const agentsOf = (...changes: object[]) =>
  changes.map((change, index) => ({ name: `agent-${index}`, ...host, ...change }) as Agent);

test("names the agents that Claude Code refuses to start as root", () => {
  const agents = agentsOf(
    {},
    { permission_mode: "default" },
    { docker: { enabled: true } },
    { env: { IS_SANDBOX: "1" } },
  );
  expect(findRootProblems(agents, {}, 0)).toMatchObject([
    { agents: ["agent-0"], hint: expect.stringContaining("IS_SANDBOX=1") },
  ]);
  expect(findRootProblems(agents, {}, 1001)).toEqual([]);
  expect(findRootProblems(agents, { IS_SANDBOX: "1" }, 0)).toEqual([]);
});
