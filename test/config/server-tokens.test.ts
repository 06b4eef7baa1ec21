import { expect, test } from "vitest";
import { fleetHead, load, problemsOf } from "../support/fleet.ts";

const fleet = (server: string) => ({ "herdctl.yaml": `${fleetHead}server: { ${server} }\n` });
const token = "a-token-that-is-long-enough";

test.each(["0.0.0.0", "192.168.1.7", "::", "herd.example.org"])(
  "listening on %s needs a token of the user's own",
  (host) => {
    const [problem, ...others] = problemsOf(fleet(`host: "${host}"`));
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ path: "server.host", line: 3 });
    expect(problem?.message).toContain("no token of yours guards it");
    const guarded = load(fleet(`host: "${host}", token_env: T`), { T: token });
    expect(guarded.fleet.server).toMatchObject({ host, token_env: "T" });
  },
);

test.each(["127.0.0.1", "127.1.2.3", "::1", "localhost"])("listening on %s needs none", (host) => {
  expect(load(fleet(`host: "${host}"`)).fleet.server.host).toBe(host);
});

test.each([
  ["is not set", {}],
  ["is not set", { T: "" }],
  ["is not set", { T: "   " }],
  ["is too short", { T: "short" }],
  ["has blanks", { T: "a token with blanks in it" }],
])("a token that %s is refused before anything listens", (message, env) => {
  for (const key of ["token_env", "read_only_token_env"]) {
    const problems = problemsOf(fleet(`${key}: T`), env);
    expect(problems).toMatchObject([{ path: `server.${key}` }]);
    expect(problems[0]?.message).toContain(message);
    expect(problems[0]?.message).not.toContain("a token with");
  }
});
