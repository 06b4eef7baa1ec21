import { viewConfig } from "@herdctl/config";
import { expect, test } from "vitest";
import {
  agentOf,
  configProblems,
  fleetHeader,
  inlineAgent,
  loadTestFleet,
} from "../support/fleet-config.ts";

const fleet = (store: string) => ({ "herdctl.yaml": `${fleetHeader}store: ${store}\n` });
const address = "postgres://herd:made%20up-word@db.example.org/herd";

test("reads a shared store from the environment and shows only the variable's name", () => {
  const loaded = loadTestFleet(fleet("${HERDCTL_STORE}"), { HERDCTL_STORE: address });
  expect(loaded.fleet.store).toBe(address);
  const shown = viewConfig(loaded).fleet.find(({ path }) => path === "store");
  expect(shown?.value).toBe("•••••• ($HERDCTL_STORE)");
  expect(JSON.stringify(viewConfig(loaded))).not.toContain("made");
});

test("uses an embedded database without one", () => {
  expect(loadTestFleet({ "herdctl.yaml": fleetHeader }).fleet.store).toBeUndefined();
});

test.each([
  [
    "a variable for the password",
    "postgres://herd:${WORD}@db.example.org/herd",
    { WORD: "made-up-word" },
  ],
  [
    "special characters in such a variable",
    "postgres://herd:${WORD}@db.example.org/herd",
    { WORD: "made|up^word" },
  ],
  [
    "a variable for the whole address",
    "${STORE}",
    { STORE: "postgresql://herd:made|up@db.example.org/herd" },
  ],
  ["no password", "postgres://herd@db.example.org/herd", {}],
])("accepts an address with %s", (_, store, env) => {
  expect(loadTestFleet(fleet(store), env).fleet.store).toContain("db.example.org");
});

test.each([
  ["postgres://herd:made-up-word@db.example.org/herd", {}],
  ["postgres://herd@db.example.org/herd?password=made-up-word", {}],
  ["postgres://herd:made-up-word@${HOST}/herd", { HOST: "db.example.org" }],
  ["${HERDCTL_STORE:-postgres://herd:made-up-word@db.example.org/herd}", {}],
])("refuses a password written in the file: %s", (store, env) => {
  const problems = configProblems(fleet(`"${store}"`), env);
  expect(problems).toMatchObject([{ path: "store", line: 3, column: 8 }]);
  expect(problems[0]?.hint).toContain("${HERDCTL_STORE}");
  expect(JSON.stringify(problems)).not.toContain("made-up-word");
});

test.each(["mysql://herd:made-up-word@db/herd", "postgres:/made-up-word", "made-up-word"])(
  "refuses an invalid PostgreSQL address without repeating it: %s",
  (store) => {
    const problems = configProblems(fleet("${HERDCTL_STORE}"), { HERDCTL_STORE: store });
    expect(problems).toMatchObject([{ path: "store", line: 3 }]);
    expect(JSON.stringify(problems)).not.toContain("made-up-word");
  },
);

test("refuses a store in an agent", () => {
  const [problem] = configProblems(inlineAgent("store: postgres://db/herd"));
  expect(problem?.message).toContain("unknown key `store`");
});

test("lets an agent say which nodes may run it and what happens when its node is lost", () => {
  const one = (yaml: string) => agentOf(loadTestFleet(inlineAgent(yaml)), "one");
  expect(one("model: x")).toMatchObject({ runs_on: [], when_node_gone: "move" });
  expect(one("runs_on: [gpu, eu]\nwhen_node_gone: wait")).toMatchObject({
    runs_on: ["gpu", "eu"],
    when_node_gone: "wait",
  });
  const problems = configProblems(inlineAgent("runs_on: [a b]\nwhen_node_gone: fail"));
  expect(problems.map(({ path }) => path)).toEqual(["runs_on[0]", "when_node_gone"]);
});
