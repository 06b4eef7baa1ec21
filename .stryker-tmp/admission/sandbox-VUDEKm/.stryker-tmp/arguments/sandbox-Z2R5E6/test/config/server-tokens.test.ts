import { expect, test } from "vitest";
import { configProblems, fleetHeader, loadTestFleet } from "../support/fleet-config.ts";

const fleet = (server: string) => ({ "herdctl.yaml": `${fleetHeader}server: { ${server} }\n` });
const token = "a-token-that-is-long-enough";

test.each(["0.0.0.0", "192.168.1.7", "::", "herd.example.org"])(
  "requires a user-defined token to listen on %s",
  (host) => {
    const [problem, ...others] = configProblems(fleet(`host: "${host}"`));
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ path: "server.host", line: 3 });
    expect(problem?.message).toContain("no token protects it");
    const guarded = loadTestFleet(fleet(`host: "${host}", token_env: T`), { T: token });
    expect(guarded.fleet.server).toMatchObject({ host, token_env: "T" });
  },
);

test.each(["127.0.0.1", "127.1.2.3", "::1", "localhost"])(
  "requires no token to listen on %s",
  (host) => {
    expect(loadTestFleet(fleet(`host: "${host}"`)).fleet.server.host).toBe(host);
  },
);

test.each([
  ["is not set", {}],
  ["is not set", { T: "" }],
  ["is not set", { T: "   " }],
  ["is too short", { T: "short" }],
  ["contains whitespace", { T: "a token with blanks in it" }],
])("refuses a token that %s before listening", (message, env) => {
  for (const key of ["token_env", "read_only_token_env"]) {
    const problems = configProblems(fleet(`${key}: T`), env);
    expect(problems).toMatchObject([{ path: `server.${key}` }]);
    expect(problems[0]?.message).toContain(message);
    expect(problems[0]?.message).not.toContain("a token with");
  }
});
