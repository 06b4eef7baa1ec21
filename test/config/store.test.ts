import { showConfig } from "@herdctl/core";
import { expect, test } from "vitest";
import { agentOf, fleetHead, inlineAgent, load, problemsOf } from "../support/fleet.ts";

const fleet = (store: string) => ({ "herdctl.yaml": `${fleetHead}store: ${store}\n` });
const address = "postgres://herd:made%20up-word@db.example.org/herd";

test("a shared store comes out of the environment, and is shown by no more than its variable", () => {
  const loaded = load(fleet("${HERDCTL_STORE}"), { HERDCTL_STORE: address });
  expect(loaded.fleet.store).toBe(address);
  const shown = showConfig(loaded).fleet.find(({ path }) => path === "store");
  expect(shown?.value).toBe("•••••• ($HERDCTL_STORE)");
  expect(JSON.stringify(showConfig(loaded))).not.toContain("made");
});

test("without one the fleet has a database of its own", () => {
  expect(load({ "herdctl.yaml": fleetHead }).fleet.store).toBeUndefined();
});

test.each([
  ["a part of it", "postgres://herd:${WORD}@db.example.org/herd", { WORD: "made-up-word" }],
  ["a part with signs", "postgres://herd:${WORD}@db.example.org/herd", { WORD: "made|up^word" }],
  ["the whole of it", "${STORE}", { STORE: "postgresql://herd:made|up@db.example.org/herd" }],
  ["none of it", "postgres://herd@db.example.org/herd", {}],
])("the password may be %s of the variable", (_, store, env) => {
  expect(load(fleet(store), env).fleet.store).toContain("db.example.org");
});

test.each([
  ["postgres://herd:made-up-word@db.example.org/herd", {}],
  ["postgres://herd@db.example.org/herd?password=made-up-word", {}],
  ["postgres://herd:made-up-word@${HOST}/herd", { HOST: "db.example.org" }],
  ["${HERDCTL_STORE:-postgres://herd:made-up-word@db.example.org/herd}", {}],
])("a password that is written in the file is refused: %s", (store, env) => {
  const problems = problemsOf(fleet(`"${store}"`), env);
  expect(problems).toMatchObject([{ path: "store", line: 3, column: 8 }]);
  expect(problems[0]?.hint).toContain("${HERDCTL_STORE}");
  expect(JSON.stringify(problems)).not.toContain("made-up-word");
});

test.each(["mysql://herd:made-up-word@db/herd", "postgres:/made-up-word", "made-up-word"])(
  "what is no address of PostgreSQL is refused without its words: %s",
  (store) => {
    const problems = problemsOf(fleet("${HERDCTL_STORE}"), { HERDCTL_STORE: store });
    expect(problems).toMatchObject([{ path: "store", line: 3 }]);
    expect(JSON.stringify(problems)).not.toContain("made-up-word");
  },
);

test("a store is the fleet's affair, not an agent's", () => {
  const [problem] = problemsOf(inlineAgent("store: postgres://db/herd"));
  expect(problem?.message).toContain("`store` is not known here");
});

test("an agent says which machines may run it, and what happens when its own is gone", () => {
  const one = (yaml: string) => agentOf(load(inlineAgent(yaml)), "one");
  expect(one("model: x")).toMatchObject({ runs_on: [], when_node_gone: "move" });
  expect(one("runs_on: [gpu, eu]\nwhen_node_gone: wait")).toMatchObject({
    runs_on: ["gpu", "eu"],
    when_node_gone: "wait",
  });
  const problems = problemsOf(inlineAgent("runs_on: [a b]\nwhen_node_gone: fail"));
  expect(problems.map(({ path }) => path)).toEqual(["runs_on[0]", "when_node_gone"]);
});
